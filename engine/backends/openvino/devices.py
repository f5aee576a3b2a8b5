"""Describes the devices of OpenVINO for ``framefleet devices``."""

from collections.abc import Iterator

import openvino as ov

from framefleet.engine.backends.openvino.library import BACKEND, device_name, offered_precisions, process_core
from framefleet.engine.devices.affinity import usable_cores
from framefleet.engine.devices.discovery import DeviceDescription
from framefleet.engine.devices.host_memory import read_host_memory
from framefleet.engine.notices import Notice
from framefleet.engine.types import DeviceId

_UNITS, _BYTES = "GPU_EXECUTION_UNITS_COUNT", "GPU_DEVICE_TOTAL_MEM_SIZE"


def describe_devices() -> Iterator[DeviceDescription]:
    """Yield the CPU, then all GPUs and NPUs with a driver. The CPU comes before any driver is loaded."""
    core = process_core()
    yield _describe(core, "CPU", DeviceId("cpu", "0"))
    for name in core.available_devices:
        if name != "CPU":
            # a single GPU is called just "GPU", which also names the first of several
            yield _describe(core, name, DeviceId("openvino", name))


def _describe(core: ov.Core, name: str, device: DeviceId) -> DeviceDescription:
    try:
        full_name, precisions = device_name(core, name), offered_precisions(core, name)
    except RuntimeError as error:
        return DeviceDescription(device, name, BACKEND, (), problem=Notice("backends.driver_fails", error=str(error)))
    cores, memory = _number(core, name, _UNITS), _number(core, name, _BYTES)
    if name == "CPU":
        host = read_host_memory()
        cores, memory = usable_cores(), None if host is None else host.total
    return DeviceDescription(device, full_name, BACKEND, tuple(map(str, precisions)), cores, memory)


def _number(core: ov.Core, name: str, key: str) -> int | None:
    try:
        return int(core.get_property(name, key))
    except (RuntimeError, TypeError, ValueError):
        return None  # NPUs and older drivers do not answer
