"""The OpenVINO library in this process: its one core, and the names and precisions of its devices."""

from collections.abc import Iterator
from functools import cache
from threading import Lock

import openvino as ov

from framefleet.engine.devices import affinity, discovery, host_memory
from framefleet.engine.notices import DeviceError, Notice
from framefleet.engine.settings import Precision
from framefleet.engine.types import DeviceId, of_device

BACKEND = f"OpenVINO {ov.__version__.split('-')[0]}"

ELEMENT_TYPES = {Precision.FP32: "f32", Precision.BF16: "bf16", Precision.FP16: "f16"}

_making = Lock()


def process_core() -> ov.Core:
    """The one core of this process, which is never released.

    Where a processor has AMX, OpenVINO's CPU plugin gives the thread that loads it another stack for signals. The plugin frees that
    memory with the core, in whatever thread that happens: the next signal to the first thread would end the process.
    """
    with _making:
        return _only_core()


@cache
def _only_core() -> ov.Core:
    return ov.Core()


def openvino_name(device: DeviceId) -> str:
    """OpenVINO's name of a device: "CPU", "GPU.0", …"""
    return "CPU" if device.kind == "cpu" else device.name


def device_name(core: ov.Core, name: str) -> str:
    """The full name of a device ("Intel(R) Arc(TM) …") by its short one ("GPU.0"). Raises RuntimeError if there is no such device."""
    return str(core.get_property(name, "FULL_DEVICE_NAME")).strip()


def find_device(device: DeviceId) -> str:
    """The full name of a device. Raises DeviceError if OpenVINO does not find it. The message lists the devices that it finds."""
    core, name = process_core(), openvino_name(device)
    try:
        return device_name(core, name)
    except RuntimeError as problem:
        why = Notice("backends.openvino_no_device", name=name, available=tuple(core.available_devices))
        raise DeviceError(of_device(device, why)) from problem


def offered_precisions(core: ov.Core, name: str) -> tuple[Precision, ...]:
    """The precisions that a device supports natively; fp32 first, if supported."""
    capabilities = core.get_property(name, "OPTIMIZATION_CAPABILITIES")
    offered = tuple(precision for precision in ELEMENT_TYPES if precision.name in capabilities)
    return (*offered, Precision.MIXED) if {Precision.FP32, Precision.BF16} <= set(offered) else offered


_UNITS, _BYTES = "GPU_EXECUTION_UNITS_COUNT", "GPU_DEVICE_TOTAL_MEM_SIZE"


def describe_devices() -> Iterator[discovery.DeviceDescription]:
    """Yield the CPU, then all GPUs and NPUs with a driver. The CPU comes before any driver is loaded."""
    core = process_core()
    yield _describe(core, "CPU", DeviceId("cpu", "0"))
    for name in core.available_devices:
        if name != "CPU":
            # a single GPU is called just "GPU", which also names the first of several
            yield _describe(core, name, DeviceId("openvino", name))


def _describe(core: ov.Core, name: str, device: DeviceId) -> discovery.DeviceDescription:
    try:
        full_name, precisions = device_name(core, name), offered_precisions(core, name)
    except RuntimeError as error:
        return discovery.DeviceDescription(device, name, BACKEND, (), problem=Notice("backends.driver_fails", error=str(error)))
    cores, memory = _number(core, name, _UNITS), _number(core, name, _BYTES)
    if name == "CPU":
        host = host_memory.read_host_memory()
        cores, memory = affinity.usable_cores(), None if host is None else host.total
    return discovery.DeviceDescription(device, full_name, BACKEND, tuple(map(str, precisions)), cores, memory)


def _number(core: ov.Core, name: str, key: str) -> int | None:
    try:
        return int(core.get_property(name, key))
    except (RuntimeError, TypeError, ValueError):
        return None  # NPUs and older drivers do not answer
