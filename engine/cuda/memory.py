"""A GPU worker's memory, and CUDA's errors as ours: the one place where allocations are made."""

from __future__ import annotations

import ctypes
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from cuda.bindings import driver
from cuda.core import Buffer, Device, LegacyPinnedMemoryResource, Stream
from numpy.typing import NDArray

from engine.cuda.graph import copy
from engine.errors import DeviceError
from engine.types import DeviceId

_log = logging.getLogger(__name__)


class OutOfMemoryError(DeviceError):
    """The device's memory does not suffice: a smaller batch may do."""


@contextmanager
def cuda_errors(device: DeviceId, doing: str) -> Iterator[None]:
    """Turn what CUDA raises while ``doing`` this into DeviceError.

    Raises:
        OutOfMemoryError: the device's memory does not suffice.
        DeviceError: anything else that CUDA said.
    """
    try:
        yield
    except Exception as problem:
        if not (type(problem).__name__ in ("CUDAError", "NVRTCError") or isinstance(problem, MemoryError)):
            raise
        text = str(problem)
        if "OUT_OF_MEMORY" in text or isinstance(problem, MemoryError):
            raise OutOfMemoryError(f"{device}: not enough memory to {doing}: close other programs that use the GPU") from problem
        raise DeviceError(f"{device}: CUDA failed to {doing}: {text}") from problem


class RegisteredMemory:
    """Host memory of other owners whose pages are locked, so that every CUDA device of this process copies straight from it."""

    def __init__(self) -> None:
        self._ranges: dict[int, int] = {}

    def add(self, address: int, nbytes: int) -> None:
        """Lock these pages; a CUDA device must be current. Where the system refuses, copies go through other pinned memory."""
        (status,) = driver.cuMemHostRegister(address, nbytes, driver.CU_MEMHOSTREGISTER_PORTABLE)
        if status == driver.CUresult.CUDA_SUCCESS:
            self._ranges[address] = nbytes
        else:
            _log.warning("%d bytes of host memory cannot be locked for the device: %s", nbytes, status.name)

    def remove(self, address: int) -> None:
        """Unlock the pages that begin here. No copy from them may be under way."""
        if self._ranges.pop(address, None) is not None:
            driver.cuMemHostUnregister(address)

    def covers(self, address: int) -> bool:
        """Whether the picture that begins here lies in registered memory."""
        return any(0 <= address - start < nbytes for start, nbytes in self._ranges.items())


REGISTERED = RegisteredMemory()
"""The registered memory of this process."""


class Memory:
    """Device and pinned memory, taken piece by piece, given back as a whole. Belongs to one device and stream."""

    def __init__(self, device: Device, stream: Stream) -> None:
        self._device, self._stream = device, stream
        self._host = LegacyPinnedMemoryResource()
        self._buffers: list[Buffer] = []
        self.used = 0

    def device(self, nbytes: int) -> int:
        """The address of so many bytes on the device, aligned to 256."""
        buffer = self._device.allocate(max(nbytes, 1), stream=self._stream)
        self._stream.sync()  # so that every other stream may use it
        self._buffers.append(buffer)
        self.used += nbytes
        return int(buffer.handle)

    def pinned(self, nbytes: int) -> NDArray[np.uint8]:
        """So many bytes of host memory that the device copies from and to without a detour, uint8 (nbytes,), zeroed."""
        buffer = self._host.allocate(max(nbytes, 1))
        self._buffers.append(buffer)
        view = np.ctypeslib.as_array((ctypes.c_uint8 * nbytes).from_address(int(buffer.handle)))
        view[:] = 0
        return view

    def constant(self, values: NDArray[Any]) -> int:
        """The address of a copy of these values on the device."""
        contents = np.ascontiguousarray(values).view(np.uint8).ravel()
        address = self.device(contents.nbytes)
        copy(address, contents.ctypes.data, contents.nbytes, self._stream)
        self._stream.sync()
        return address

    def close(self) -> None:
        """Give everything back. Nothing may be under way any more, and no view be used."""
        for buffer in reversed(self._buffers):
            buffer.close()
        self._buffers.clear()
        self.used = 0
