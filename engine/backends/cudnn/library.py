"""Finds cuDNN and its Python frontend."""

import importlib
from dataclasses import dataclass
from functools import cache
from typing import Any

from framefleet.engine.notices import DeviceError, Notice, install_extra

Capability = tuple[int, int]

_MIN_VERSION = 90100
_MIN_CAPABILITY = (8, 0)


@dataclass(frozen=True)
class Library:
    """The imported frontend. version: of cuDNN, as its numbers."""

    cudnn: Any
    version: str

    def __str__(self) -> str:
        return f"cuDNN {self.version}"


def find_cudnn(capability: Capability) -> Library:
    """The library, if it is installed and supports a device of this compute capability.

    Raises DeviceError if it is not installed, too old, or does not support the device. The message says what to do.
    """
    if capability < _MIN_CAPABILITY:
        raise DeviceError(Notice("backends.cudnn_device_too_old", capability="{}.{}".format(*_MIN_CAPABILITY)))
    return _load()


@cache
def _load() -> Library:
    try:
        module = importlib.import_module("cudnn")
        number = int(module.backend_version())
    except Exception as problem:  # the frontend raises various errors if it finds no cuDNN
        raise DeviceError(Notice("backends.cudnn_not_loaded", problem=str(problem), advice=install_extra("cudnn"))) from problem
    version = f"{number // 10000}.{number // 100 % 100}.{number % 100}"
    if number < _MIN_VERSION:
        raise DeviceError(Notice("backends.cudnn_too_old", version=version, advice=install_extra("cudnn")))
    return Library(module, version)
