"""The devices OpenVINO can run networks on."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import cache
from threading import Lock

import openvino as ov

from engine.devices.description import DeviceDescription
from engine.settings import Precision
from engine.types import DeviceId

BACKEND = f"OpenVINO {ov.__version__.split('-')[0]}"

ELEMENT_TYPES = {Precision.FP32: "f32", Precision.BF16: "bf16", Precision.FP16: "f16"}

_making = Lock()


def process_core() -> ov.Core:
    """The one core of this process, which is never let go of.

    Where a processor has AMX, OpenVINO's CPU plugin gives the thread that loads it another stack for signals. The plugin takes that
    memory along when its core goes, in whatever thread that happens: the next signal to the first thread would end the process.
    """
    with _making:
        return _only_core()


@cache
def _only_core() -> ov.Core:
    return ov.Core()


def device_name(core: ov.Core, name: str) -> str:
    """The full name of a device ("Intel(R) Arc(TM) …") by its short one ("GPU.0").

    Raises:
        RuntimeError: there is no such device.
    """
    return str(core.get_property(name, "FULL_DEVICE_NAME")).strip()


def offered_precisions(core: ov.Core, name: str) -> tuple[Precision, ...]:
    """What a device computes in at its own speed, fp32 first where it has it."""
    capabilities = core.get_property(name, "OPTIMIZATION_CAPABILITIES")
    offered = tuple(precision for precision in ELEMENT_TYPES if precision.name in capabilities)
    return (*offered, Precision.MIXED) if {Precision.FP32, Precision.BF16} <= set(offered) else offered


def describe_devices() -> Iterator[DeviceDescription]:
    """The CPU, then whatever GPUs and NPUs have a driver. The CPU comes before any driver is touched."""
    core = process_core()
    yield _describe(core, "CPU", DeviceId("cpu", "0"))
    for name in core.available_devices:
        if name != "CPU":
            # a single GPU is called just "GPU", which is also how one asks for the first of several
            yield _describe(core, name, DeviceId("openvino", name))


def _describe(core: ov.Core, name: str, device: DeviceId) -> DeviceDescription:
    try:
        full_name, precisions = device_name(core, name), offered_precisions(core, name)
    except RuntimeError as error:
        return DeviceDescription(device, name, BACKEND, (), problem=f"its driver fails: {error}")
    cores, memory = (_processors(), _memory()) if name == "CPU" else (_number(core, name, _UNITS), _number(core, name, _BYTES))
    return DeviceDescription(device, full_name, BACKEND, tuple(map(str, precisions)), cores, memory)


_UNITS, _BYTES = "GPU_EXECUTION_UNITS_COUNT", "GPU_DEVICE_TOTAL_MEM_SIZE"


def _number(core: ov.Core, name: str, key: str) -> int | None:
    try:
        return int(core.get_property(name, key))
    except (RuntimeError, TypeError, ValueError):
        return None  # NPUs and older drivers do not tell


def _processors() -> int | None:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()


def _memory() -> int | None:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return None  # Windows
