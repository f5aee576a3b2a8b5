"""Finds the TensorRT library for a device (the full TensorRT, else TensorRT for RTX), and describes the devices."""

import importlib
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from framefleet.engine.devices import cuda
from framefleet.engine.devices.discovery import DeviceDescription
from framefleet.engine.notices import DeviceError, Notice, install_extra

Capability = tuple[int, int]
"""A GPU's compute capability, major and minor."""


@dataclass(frozen=True)
class Library:
    """An imported library. trt: its module."""

    trt: Any
    name: str
    version: tuple[int, ...]

    @property
    def full(self) -> bool:
        """Whether this is the full TensorRT. TensorRT-RTX compiles kernels for the device when a plan is loaded."""
        return self.name == "TensorRT"

    def __str__(self) -> str:
        return f"{self.name} {_dotted(self.version)}"


@dataclass(frozen=True)
class _Candidate:
    module: str
    name: str
    least: tuple[int, ...]


_CANDIDATES = (
    _Candidate("tensorrt", "TensorRT", (10, 8)),
    _Candidate("tensorrt_rtx", "TensorRT-RTX", (1, 4)),
)


def find_library(capability: Capability) -> Library:
    """The first library that supports a device of this compute capability.

    Raises DeviceError if none is installed, or none supports the device. The message says what to install.
    """
    reasons: list[Notice] = []
    for candidate in _CANDIDATES:
        try:
            library = _load(candidate)
        except (ImportError, OSError) as problem:  # OSError: a shared library that it needs is missing
            absent = isinstance(problem, ModuleNotFoundError) and problem.name == candidate.module
            if absent:
                reasons.append(Notice("backends.not_installed", module=candidate.module))
            else:
                reasons.append(Notice("backends.not_importable", module=candidate.module, problem=str(problem)))
            continue
        reason = refusal(library.name, library.version, capability)
        if reason is None:
            return library
        reasons.append(reason)
    advice = install_extra("rtx")
    raise DeviceError(Notice("backends.no_tensorrt", capability=_dotted(capability), reasons=tuple(reasons), advice=advice))


def refusal(name: str, version: tuple[int, ...], capability: Capability) -> Notice | None:
    """Why this version does not support a device, and what to install; None if no reason is known."""
    shown, device = f"{name} {_dotted(version)}", _dotted(capability)
    least = next(candidate.least for candidate in _CANDIDATES if candidate.name == name)
    if version < least:
        return Notice("backends.tensorrt_too_old", shown=shown, least=_dotted(least))
    if capability < (7, 5):
        return Notice("backends.device_too_old", shown=shown, capability=device)
    if name == "TensorRT-RTX" and version >= (1, 7) and capability == (9, 0):  # measured: it refuses H100 and H200
        return Notice("backends.device_refused", shown=shown, capability=device)
    return None


def _dotted(version: tuple[int, ...]) -> str:
    return ".".join(map(str, version))


@cache
def _load(candidate: _Candidate) -> Library:
    # TensorRT-RTX 1.6 multiplies FP32 numbers in TF32 even if the builder's flag TF32 is cleared.
    os.environ.setdefault("NVIDIA_TF32_OVERRIDE", "0")
    module = importlib.import_module(candidate.module)
    if not hasattr(module, "Builder"):  # package indexes without NVIDIA's wheels have an empty package of that name
        raise ImportError(f"the installed package {candidate.module} contains no TensorRT")
    return Library(module, candidate.name, tuple(int(part) for part in re.findall(r"\d+", module.__version__)[:4]))


@cache
def logger(trt: Any) -> Any:
    """The one logger of a library. The library keeps the first logger that it gets."""
    return trt.Logger(trt.Logger.ERROR)


def describe_devices() -> Iterator[DeviceDescription]:
    """All NVIDIA GPUs, usable or not."""
    return cuda.describe_devices(find_library)
