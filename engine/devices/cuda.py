"""Describes NVIDIA's GPUs, numbered as in CUDA, with the reason if one cannot be used.

CUDA and NVML number GPUs differently, and CUDA_VISIBLE_DEVICES hides and reorders them: both are matched by UUID. This module loads
both libraries: use it in a separate process.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from framefleet.engine.devices.description import DeviceDescription
from framefleet.engine.devices.nvml.driver import NoNvmlError, Nvml
from framefleet.engine.devices.nvml.gpu import Gpu
from framefleet.engine.errors import DeviceError
from framefleet.engine.settings import Precision
from framefleet.engine.types import DeviceId

BACKEND = "TensorRT"
PRECISIONS = (Precision.FP32, Precision.FP16)

DRIVER = Path("/proc/driver/nvidia/version")
_LEAST_CUDA = (13, 0)  # the version of the extra "cuda": kernels and cuda-python
_LEAST_DRIVER = "580"
_EXTRAS = "pip install 'framefleet[tensorrt]' or 'framefleet[rtx]'"
_REMEDIES = {
    "SYSTEM_NOT_READY": "the fabric manager of its NVSwitches does not run: 'systemctl start nvidia-fabricmanager', as administrator",
    "SYSTEM_DRIVER_MISMATCH": "the driver's libraries and its kernel module are of different versions: restart the machine",
    "COMPAT_NOT_SUPPORTED": "a compatibility library is loaded instead of the driver's own: remove it from LD_LIBRARY_PATH",
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
            yield _unknown(f"its libraries are not installed: {_EXTRAS} ({problem})")
        return
    except DeviceError as problem:
        yield _unknown(str(problem))
        return
    try:
        visible: Sequence[CudaDevice] = cuda_devices()
        reason = None
    except DeviceError as problem:
        visible, reason = (), str(problem)
    yield from describe(nvml, visible, reason, find_library)
    nvml.close()


def cuda_devices() -> tuple[CudaDevice, ...]:
    """The devices that CUDA shows.

    Raises DeviceError if cuda-python is not installed, or CUDA cannot be started; the message says what to do.
    """
    try:
        from cuda.core import Device
    except ImportError as problem:
        raise DeviceError(f"cuda-python is not installed ({problem}): {_EXTRAS}") from problem
    try:
        devices = Device.get_all_devices()
    except Exception as problem:  # cuda-core has no common error for a driver that is missing, too old or broken
        if "CUDA_ERROR_NO_DEVICE" in str(problem):
            return ()
        remedy = next((remedy for name, remedy in _REMEDIES.items() if name in str(problem)), "restart the machine")
        raise DeviceError(f"CUDA cannot be started ({problem}): {remedy}") from problem
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
    nvml: Nvml, visible: Sequence[CudaDevice], reason: str | None, find_library: FindLibrary = lambda _: BACKEND
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
            problem = problem or str(error)
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


def _refusal(gpu: Gpu) -> str | None:
    """Why the GPU's compute mode forbids this process to use the GPU; None = it may."""
    mode, remedy = gpu.compute_mode, f"'nvidia-smi -i {gpu.uuid} -c DEFAULT', as administrator, allows it"
    if mode == "prohibited":
        return f"its compute mode is Prohibited: {remedy}"
    others = [process for process in gpu.processes or () if process != os.getpid()]
    if mode == "exclusive" and others:
        return f"process {others[0]} uses it, and its compute mode is Exclusive: end that process, or {remedy}"
    return None


def _outdated(driver: str | None, cuda: tuple[int, int] | None) -> str | None:
    if cuda is None or cuda >= _LEAST_CUDA:
        return None
    return f"its driver {driver} supports CUDA {_version(cuda)}, {_version(_LEAST_CUDA)} is needed: install driver {_LEAST_DRIVER} or newer"


def _hidden(gpu: Gpu, reason: str | None) -> str:
    if reason is not None:
        return reason
    if gpu.mig_mode and not gpu.mig_instances():
        return (
            f"MIG mode is on without an instance: 'nvidia-smi mig -i {gpu.uuid} -cgi PROFILE -C' creates one,"
            f" 'nvidia-smi -i {gpu.uuid} -mig 0' turns MIG off (both as administrator)"
        )
    setting = os.environ.get("CUDA_VISIBLE_DEVICES")
    if setting is not None:
        return f"hidden by CUDA_VISIBLE_DEVICES={setting}"
    return "CUDA does not show it: restart the machine, or install the driver again"


def _unknown(problem: str) -> DeviceDescription:
    return DeviceDescription(DeviceId("cuda", "0"), "NVIDIA GPU", BACKEND, (), problem=problem)


def _version(parts: tuple[int, int] | None) -> str | None:
    return None if parts is None else f"{parts[0]}.{parts[1]}"
