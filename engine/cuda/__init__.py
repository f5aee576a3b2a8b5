"""CUDA devices, memory, graphs and transfers: all CUDA calls of the engine."""

from contextlib import suppress
from pathlib import Path

DRIVER = Path("/proc/driver/nvidia/version")
"""Linux has this file where NVIDIA's driver is loaded."""

_WINDOWS_SUBSYSTEM = Path("/dev/dxg")


def has_driver() -> bool:
    """Whether this machine may have NVIDIA's driver. Needs no library of CUDA."""
    return not Path("/proc").is_dir() or DRIVER.exists() or _WINDOWS_SUBSYSTEM.exists()


def only_gpu() -> int | None:
    """The index of this machine's GPU if it has exactly one, as far as NVIDIA's driver tells without a library of CUDA."""
    folder = DRIVER.parent / "gpus"
    return 0 if folder.is_dir() and sum(1 for _ in folder.iterdir()) == 1 else None


def open_driver() -> None:
    """Open NVIDIA's driver, but no device: that takes a part of a second, without Python's lock. Does nothing if it cannot be opened."""
    with suppress(Exception):
        from cuda.bindings import driver

        driver.cuInit(0)


def open_context(index: int) -> None:
    """Open a device until the process ends, as ``open_device`` will need it. Does nothing if it cannot be opened."""
    with suppress(Exception):
        from cuda.bindings import driver

        driver.cuInit(0)
        _, device = driver.cuDeviceGet(index)
        driver.cuDevicePrimaryCtxSetFlags(device, driver.CUctx_flags.CU_CTX_SCHED_BLOCKING_SYNC)
        driver.cuDevicePrimaryCtxRetain(device)
