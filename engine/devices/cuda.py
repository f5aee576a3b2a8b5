"""Describes NVIDIA's GPUs, numbered as in CUDA, with the reason if one cannot be used.

CUDA and NVML number GPUs differently, and CUDA_VISIBLE_DEVICES hides and reorders them: both are matched by UUID. This module loads
both libraries: use it in a separate process.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from framefleet.engine.cuda import DRIVER
from framefleet.engine.devices.discovery import DeviceDescription
from framefleet.engine.devices.nvml import Gpu, NoNvmlError, Nvml
from framefleet.engine.notices import DeviceError, Notice, install_extra
from framefleet.engine.settings import Precision
from framefleet.engine.types import DeviceId

BACKEND = "TensorRT"
PRECISIONS = (Precision.FP32, Precision.FP16)

_MIN_CUDA = (13, 0)  # the version of the extra "cuda": kernels and cuda-python
_MIN_DRIVER = "580"
_REMEDIES = {
    "SYSTEM_NOT_READY": Notice("devices.start_fabric_manager"),
    "SYSTEM_DRIVER_MISMATCH": Notice("devices.driver_mismatch"),
    "COMPAT_NOT_SUPPORTED": Notice("devices.compatibility_library"),
}

FindLibrary: TypeAlias = Callable[[tuple[int, int]], object]
"""Returns the library that builds engines for a compute capability, shown by its ``str``. Raises DeviceError if there is none."""


@dataclass(frozen=True)
class CudaDevice:
    """A device as CUDA describes it. number: CUDA's. uuid: without its prefix. pci: the PCI address."""

    number: int
    uuid: str
    name: str
    compute_capability: tuple[int, int]
    multiprocessors: int
    pci: str


def describe_devices(find_library: FindLibrary) -> Iterator[DeviceDescription]:
    """Describe all NVIDIA GPUs, usable or not: first those that CUDA shows, in its order, then the others."""
    try:
        nvml = Nvml()
    except NoNvmlError as problem:
        if DRIVER.exists():
            yield _unknown(Notice("devices.no_libraries", problem=problem.notice))
        return
    except DeviceError as problem:
        yield _unknown(problem.notice)
        return
    try:
        visible: Sequence[CudaDevice] = cuda_devices()
        reason = None
    except DeviceError as problem:
        visible, reason = (), problem.notice
    yield from describe(nvml, visible, reason, find_library)
    nvml.close()


def cuda_devices() -> tuple[CudaDevice, ...]:
    """The devices that CUDA shows.

    Raises
    ------
    DeviceError
        cuda-python is not installed, or CUDA cannot be started; the message says what to do.
    """
    try:
        from cuda.core import Device
    except ImportError as problem:
        advice = install_extra("rtx")
        raise DeviceError(Notice("devices.no_cuda_python", problem=str(problem), advice=advice)) from problem
    try:
        devices = Device.get_all_devices()
    except Exception as problem:  # cuda-core has no common error for a driver that is missing, too old or broken
        if "CUDA_ERROR_NO_DEVICE" in str(problem):
            return ()
        remedy = next((remedy for name, remedy in _REMEDIES.items() if name in str(problem)), Notice("devices.restart"))
        raise DeviceError(Notice("devices.cuda_not_started", problem=str(problem), remedy=remedy)) from problem
    return tuple(
        CudaDevice(
            number,
            device.uuid,
            device.name,
            (device.compute_capability.major, device.compute_capability.minor),
            device.properties.multiprocessor_count,
            device.pci_bus_id,
        )
        for number, device in enumerate(devices)
    )


def describe(
    nvml: Nvml, visible: Sequence[CudaDevice], reason: Notice | None, find_library: FindLibrary = lambda _: BACKEND
) -> Iterator[DeviceDescription]:
    """Combine the descriptions of the driver and of CUDA. reason: why CUDA shows no device; None = it works."""
    driver, cuda = nvml.driver, nvml.cuda
    supported = None if cuda is None else f"{cuda[0]}.{cuda[1]}"
    shown = set()
    for device in visible:
        gpu = nvml.gpu(f"GPU-{device.uuid}") or nvml.gpu(f"MIG-{device.uuid}")
        shown.add(gpu.uuid if gpu else None)
        problem = (_refusal(gpu) if gpu else None) or _outdated(driver, cuda)
        backend = BACKEND
        try:
            backend = str(find_library(device.compute_capability))
        except DeviceError as error:
            problem = problem or error.notice
        yield DeviceDescription(
            DeviceId("cuda", str(device.number)),
            gpu.name if gpu else device.name,
            backend,
            tuple(map(str, PRECISIONS)) if problem is None else (),
            device.multiprocessors,
            gpu.memory[1] if gpu else None,
            problem,
            gpu.uuid if gpu else f"GPU-{device.uuid}",
            _version(device.compute_capability),
            driver,
            supported,
            (gpu.pci if gpu else None) or device.pci,
        )
    hidden = [gpu for gpu in nvml.gpus() if not {gpu.uuid, *(instance.uuid for instance in gpu.mig_instances())} & shown]
    for number, gpu in enumerate(hidden, len(visible)):
        yield DeviceDescription(
            DeviceId("cuda", str(number)),
            gpu.name,
            BACKEND,
            (),
            memory=gpu.memory[1],
            problem=_hidden(gpu, reason),
            uuid=gpu.uuid,
            compute_capability=_version(gpu.compute_capability),
            driver=driver,
            cuda=supported,
            pci=gpu.pci,
        )


def _refusal(gpu: Gpu) -> Notice | None:
    """Why the GPU's compute mode forbids this process to use the GPU; None = it may."""
    mode = gpu.compute_mode
    if mode == "prohibited":
        return Notice("devices.mode_prohibited", uuid=gpu.uuid)
    others = [process for process in gpu.processes or () if process != os.getpid()]
    if mode == "exclusive" and others:
        return Notice("devices.mode_exclusive", process=others[0], uuid=gpu.uuid)
    return None


def _outdated(driver: str | None, cuda: tuple[int, int] | None) -> Notice | None:
    if cuda is None or cuda >= _MIN_CUDA:
        return None
    needed = {"needed": _version(_MIN_CUDA), "needed_driver": _MIN_DRIVER}
    return Notice("devices.driver_too_old", driver=driver, supported=_version(cuda), **needed)


def _hidden(gpu: Gpu, reason: Notice | None) -> Notice:
    if reason is not None:
        return reason
    if gpu.mig_mode and not gpu.mig_instances():
        return Notice("devices.mig_without_instance", uuid=gpu.uuid)
    setting = os.environ.get("CUDA_VISIBLE_DEVICES")
    if setting is not None:
        return Notice("devices.hidden_by_variable", setting=setting)
    return Notice("devices.not_shown")


def _unknown(problem: Notice) -> DeviceDescription:
    return DeviceDescription(DeviceId("cuda", "0"), "NVIDIA GPU", BACKEND, (), problem=problem)


def _version(parts: tuple[int, int] | None) -> str | None:
    return None if parts is None else f"{parts[0]}.{parts[1]}"
