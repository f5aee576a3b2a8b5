"""The OpenVINO library in this process: its one core, the devices' names, and the precisions they compute in."""

from functools import cache
from threading import Lock

import openvino as ov

from framefleet.engine.errors import DeviceError
from framefleet.engine.notices import Notice
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
