"""CUDA devices, memory, graphs and transfers: all CUDA calls of the engine."""

from pathlib import Path

DRIVER = Path("/proc/driver/nvidia/version")
"""Linux has this file where NVIDIA's driver is loaded."""

_WINDOWS_SUBSYSTEM = Path("/dev/dxg")


def has_driver() -> bool:
    """Whether this machine may have NVIDIA's driver. Needs no library of CUDA."""
    return not Path("/proc").is_dir() or DRIVER.exists() or _WINDOWS_SUBSYSTEM.exists()
