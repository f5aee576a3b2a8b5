"""CUDA devices, memory, graphs and transfers: all CUDA calls of the engine."""

from contextlib import suppress
from pathlib import Path

DRIVER = Path("/proc/driver/nvidia/version")
"""Linux has this file where NVIDIA's driver is loaded."""

_WINDOWS_SUBSYSTEM = Path("/dev/dxg")


def has_driver() -> bool:
    """Whether this machine may have NVIDIA's driver. Needs no library of CUDA."""
    return not Path("/proc").is_dir() or DRIVER.exists() or _WINDOWS_SUBSYSTEM.exists()


def open_driver() -> None:
    """Open NVIDIA's driver, but no device: that takes a part of a second, without Python's lock. Does nothing if it cannot be opened."""
    with suppress(Exception):
        from cuda.bindings import driver

        driver.cuInit(0)
