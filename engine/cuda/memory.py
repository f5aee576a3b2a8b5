"""Allocates a GPU worker's memory, and turns CUDA's errors into ours."""

import ctypes
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from cuda.bindings import driver
from cuda.core import Buffer, Device, LegacyPinnedMemoryResource, Stream
from numpy.typing import NDArray

from framefleet.engine.cuda.graph import copy
from framefleet.engine.notices import DeviceError, Notice
from framefleet.engine.types import Closing, DeviceId, of_device

_log = logging.getLogger(__name__)


class OutOfMemoryError(DeviceError):
    """The device's memory does not suffice; a smaller batch may fit."""


@contextmanager
def cuda_errors(device: DeviceId, doing: Notice) -> Iterator[None]:
    """Turn CUDA's exceptions in this block into DeviceError. doing: what the block does, for the message.

    Raises
    ------
    OutOfMemoryError
        The device's memory does not suffice.
    DeviceError
        Any other error of CUDA.
    """
    try:
        yield
    except Exception as problem:
        if not (type(problem).__name__ in ("CUDAError", "NVRTCError") or isinstance(problem, MemoryError)):
            raise
        text = str(problem)
        if "OUT_OF_MEMORY" in text or isinstance(problem, MemoryError):
            raise OutOfMemoryError(of_device(device, Notice("cuda.out_of_memory", doing=doing))) from problem
        raise DeviceError(of_device(device, Notice("cuda.failed", doing=doing, text=text))) from problem


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


class PageLock:
    """Adds memory to ``REGISTERED`` and removes it, in threads without a current device. index: of a CUDA device."""

    def __init__(self, index: int) -> None:
        self._device = Device(index)

    def add(self, address: int, nbytes: int) -> None:
        """Lock these pages."""
        self._device.set_current()
        REGISTERED.add(address, nbytes)

    def remove(self, address: int) -> None:
        """Unlock the pages that begin at this address."""
        self._device.set_current()
        REGISTERED.remove(address)


class Memory:
    """Device and pinned memory of one owner, allocated piece by piece and freed as a whole. For one device and stream."""

    def __init__(self, device: Device, stream: Stream) -> None:
        self._device, self._stream = device, stream
        self._host = LegacyPinnedMemoryResource()
        self._buffers: list[Buffer] = []
        self._owned: list[Closing] = []

    def own(self, resource: Closing) -> None:
        """Close this together with the memory, while the memory's device is the current one.

        Libraries release what they hold on the device that is current at that time, so an object must not outlive this call of ``close``.
        """
        self._owned.append(resource)

    def device(self, nbytes: int) -> int:
        """Allocate bytes on the device and return their address, aligned to 256."""
        buffer = self._device.allocate(max(nbytes, 1), stream=self._stream)
        self._stream.sync()  # so that every other stream may use it
        self._buffers.append(buffer)
        return int(buffer.handle)

    def pinned(self, nbytes: int) -> NDArray[np.uint8]:
        """Allocate pinned host memory, uint8 (nbytes,), zeroed."""
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
        """Free everything. No work may use the memory any more, and no view of it may be used afterwards. Makes the device current."""
        if self._owned or self._buffers:
            self._device.set_current()
        for resource in reversed(self._owned):
            resource.close()
        self._owned.clear()
        for buffer in reversed(self._buffers):
            buffer.close()
        self._buffers.clear()
