"""Finds the TensorRT library for a device: the full TensorRT, else TensorRT for RTX."""

import importlib
import os
import re
from dataclasses import dataclass
from functools import cache
from typing import Any

from framefleet.engine.errors import DeviceError

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
        return f"{self.name} {'.'.join(map(str, self.version))}"


@dataclass(frozen=True)
class _Candidate:
    module: str
    name: str
    least: tuple[int, ...]
    extra: str


_CANDIDATES = (
    _Candidate("tensorrt", "TensorRT", (10, 8), "tensorrt"),
    _Candidate("tensorrt_rtx", "TensorRT-RTX", (1, 4), "rtx"),
)


def find_library(capability: Capability) -> Library:
    """The first library that supports a device of this compute capability.

    Raises DeviceError if none is installed, or none supports the device. The message says what to install.
    """
    reasons = []
    for candidate in _CANDIDATES:
        try:
            library = _load(candidate)
        except (ImportError, OSError) as problem:  # OSError: a shared library that it needs is missing
            reasons.append(f"{candidate.module} is not installed" if _absent(problem, candidate) else f"{candidate.module}: {problem}")
            continue
        reason = refusal(library.name, library.version, capability)
        if reason is None:
            return library
        reasons.append(reason)
    raise DeviceError(
        f"no TensorRT for compute capability {capability[0]}.{capability[1]} ({'; '.join(reasons)}): "
        f"pip install 'framefleet[tensorrt]', or 'framefleet[rtx]' for GeForce and RTX cards"
    )


def refusal(name: str, version: tuple[int, ...], capability: Capability) -> str | None:
    """Why this version does not support a device, and what to install; None if no reason is known."""
    shown, device = f"{name} {'.'.join(map(str, version))}", f"compute capability {capability[0]}.{capability[1]}"
    least = next(candidate.least for candidate in _CANDIDATES if candidate.name == name)
    if version < least:
        return f"{shown} is too old: version {'.'.join(map(str, least))} or newer is needed"
    if capability < (7, 5):
        return f"{shown} does not support {device} (7.5 or newer is needed)"
    if name == "TensorRT-RTX" and version >= (1, 7) and capability == (9, 0):  # measured: it refuses H100 and H200
        return f"{shown} refuses {device}: pip install tensorrt-rtx==1.6.1.120"
    return None


@cache
def _load(candidate: _Candidate) -> Library:
    # TensorRT-RTX 1.6 multiplies FP32 numbers in TF32 even if the builder's flag TF32 is cleared.
    os.environ.setdefault("NVIDIA_TF32_OVERRIDE", "0")
    module = importlib.import_module(candidate.module)
    if not hasattr(module, "Builder"):  # package indexes without NVIDIA's wheels have an empty package of that name
        raise ImportError(f"the installed package {candidate.module} contains no TensorRT")
    return Library(module, candidate.name, tuple(int(part) for part in re.findall(r"\d+", module.__version__)[:4]))


def _absent(problem: BaseException, candidate: _Candidate) -> bool:
    return isinstance(problem, ModuleNotFoundError) and problem.name == candidate.module


@cache
def logger(trt: Any) -> Any:
    """The one logger of a library. The library keeps the first logger that it gets."""
    return trt.Logger(trt.Logger.ERROR)
