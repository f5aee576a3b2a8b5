"""Opens a CUDA device, and asks for its free memory."""

from functools import cache

from cuda.bindings import driver
from cuda.core import Device

from framefleet.engine.cuda import has_driver
from framefleet.engine.cuda.memory import cuda_errors
from framefleet.engine.notices import DeviceError, Notice
from framefleet.engine.types import DeviceId, of_device


def open_device(device: DeviceId, sleep: bool = True) -> Device:
    """Make ``cuda:N`` the current device. Raises DeviceError if the driver or the device is missing.

    sleep: a thread that waits for a stream of the device sleeps. Otherwise it uses a processor until the stream's work is done. The last
    call decides for all threads of this process.
    """
    try:
        found = len(Device.get_all_devices())
    except Exception as problem:  # cuda-core raises various errors for a missing, old or broken driver
        why = Notice("cuda.no_driver", problem=str(problem)) if has_driver() else Notice("cuda.no_gpu")
        raise DeviceError(of_device(device, why)) from problem
    if int(device.name) >= found:
        raise DeviceError(of_device(device, Notice("cuda.no_such_device", count=found)))
    with cuda_errors(device, Notice("cuda.open_device")):
        cuda = Device(int(device.name))
        flags = driver.CUctx_flags
        way = flags.CU_CTX_SCHED_BLOCKING_SYNC if sleep else flags.CU_CTX_SCHED_AUTO
        driver.cuDevicePrimaryCtxSetFlags(cuda.device_id, way)  # an error leaves the driver's default
        _keep_context(cuda.device_id)
        cuda.set_current()
    return cuda


@cache
def _keep_context(index: int) -> None:
    """Retain a device's primary context until the process ends.

    cuda-core holds it once for each thread that uses the device, and lets it go when the thread ends. After the last one the driver would
    destroy the context, while libraries keep handles that belong to it and use them for the next engine.
    """
    status, _ = driver.cuDevicePrimaryCtxRetain(index)
    if status != driver.CUresult.CUDA_SUCCESS:
        raise RuntimeError(f"CUDA cannot retain the context of device {index}: {status.name}")


def free_memory(cuda: Device) -> int | None:
    """Return the free memory of a device, bytes, or None if the driver does not tell. Makes the device the current one."""
    cuda.set_current()
    status, free, _ = driver.cuMemGetInfo()
    return int(free) if status == driver.CUresult.CUDA_SUCCESS else None


def total_memory(cuda: Device) -> int:
    """Return the memory of a device, bytes; 0 if the driver does not tell."""
    _, total = driver.cuDeviceTotalMem(cuda.device_id)
    return int(total or 0)
