"""Opens a CUDA device, and asks for its free memory."""

from cuda.bindings import driver
from cuda.core import Device

from engine.cuda.memory import cuda_errors
from engine.errors import DeviceError
from engine.types import DeviceId


def open_device(device: DeviceId) -> Device:
    """Make ``cuda:N`` the current device. Raises DeviceError if there is no driver, or no such device."""
    try:
        found = len(Device.get_all_devices())
    except Exception as problem:  # cuda-core raises various errors for a missing, old or broken driver
        raise DeviceError(f"{device}: no NVIDIA driver answers ({problem}); 'framefleet doctor' says what is missing") from problem
    if int(device.name) >= found:
        raise DeviceError(f"{device}: there are {found} CUDA devices; 'framefleet devices' lists yours")
    with cuda_errors(device, "open the device"):
        cuda = Device(int(device.name))
        cuda.set_current()
    return cuda


def free_memory(cuda: Device) -> int | None:
    """Return the free memory of a device, bytes, or None if the driver does not tell. Makes the device the current one."""
    cuda.set_current()
    status, free, _ = driver.cuMemGetInfo()
    return int(free) if status == driver.CUresult.CUDA_SUCCESS else None
