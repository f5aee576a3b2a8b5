"""Shared host memory for all processes of a group: each picture is written once, and not copied again on its way to a device.

On Linux this is anonymous memory that other processes open through ``/proc``, elsewhere a temporary file. The memory ends with its owner,
and Python's resource tracker does not try to remove it.
"""

import ctypes
import mmap
import os
import tempfile
import weakref
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Lock
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from framefleet.engine.detection.frame_format import FrameFormat, HostImage, Planes
from framefleet.engine.processes.watchdog import waiting_for_room
from framefleet.engine.types import Image

CHUNK_BYTES = 64 * 2**20
"""Approximate size of the pieces in which memory is allocated and registered with the devices' drivers."""

_PAGE = 4096
_WAIT_SECONDS = 0.05


@dataclass(frozen=True)
class Chunk:
    """A piece of shared memory, as other processes know it. path: the file that they open."""

    number: int
    path: str
    nbytes: int


@dataclass(frozen=True)
class PictureLocation:
    """The location of a picture, uint8 (height, width, 3), or of a frame. offset: bytes from the chunk's start.

    pitch: bytes from row to row. format: of a frame, None for a picture.
    """

    chunk: int
    offset: int
    height: int
    width: int
    pitch: int
    format: FrameFormat | None = None


@dataclass(eq=False)
class _Memory:
    """A chunk in its owner's process, cut into slots of equal size."""

    chunk: Chunk
    descriptor: int
    slot: int
    mapped: mmap.mmap
    free: list[int] = field(init=False)

    def __post_init__(self) -> None:
        self.address = _address(self.mapped)
        self.free = list(range(0, self.chunk.nbytes, self.slot))[::-1]

    @property
    def idle(self) -> bool:
        return len(self.free) * self.slot == self.chunk.nbytes


class PageLock(Protocol):
    """Locks the pages of memory for a device. Any thread calls these functions."""

    def add(self, address: int, nbytes: int) -> None:
        """Lock these pages."""

    def remove(self, address: int) -> None:
        """Unlock the pages that begin here."""


class SharedPictures:
    """Allocates memory for pictures of any size. Each picture's memory is freed with the last array that refers to it. Thread-safe.

    limit: bytes; may be changed. A larger picture still gets memory when it is the only one. page_lock: locks the chunks that are created
    from now on; set it before ``take`` is called.
    """

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.page_lock: PageLock | None = None
        self._taking = Lock()
        self._memories: dict[int, _Memory] = {}
        self._made = 0
        # finalizers may run at any point of any thread; ``SimpleQueue.put`` is reentrant
        self._returned: SimpleQueue[tuple[_Memory, int]] = SimpleQueue()

    @property
    def chunks(self) -> list[Chunk]:
        """The current chunks."""
        return [memory.chunk for memory in list(self._memories.values())]

    @property
    def nbytes(self) -> int:
        """Bytes allocated."""
        return sum(chunk.nbytes for chunk in self.chunks)

    def put(self, image: HostImage, urgent: bool = False) -> HostImage:
        """Copy a picture or frame into shared memory; waits until there is room. urgent: exceed the limit instead of waiting."""
        block = self.take(image.nbytes, lambda: urgent)
        if isinstance(image, Planes):
            return image.copy_to(block)
        copy: Image = block.reshape(image.shape)
        np.copyto(copy, image)
        return copy

    def take(self, nbytes: int, urgent: Callable[[], bool] = lambda: False) -> NDArray[np.uint8]:
        """Allocate memory for a picture, uint8 (nbytes,), not initialized; waits until there is room.

        urgent: asked while there is too little room. True: exceed the limit instead of waiting.
        """
        memory, offset = self._take(nbytes, urgent)
        held = (ctypes.c_uint8 * nbytes).from_buffer(memory.mapped, offset)
        weakref.finalize(held, self._returned.put, (memory, offset)).atexit = False
        return np.ndarray(nbytes, np.uint8, held)  # type: ignore[arg-type]

    def locate(self, image: HostImage) -> PictureLocation | None:
        """The location of a picture, of a part of one, or of a frame; None if it is not in this memory."""
        pixels, layout = (image.luma, image.format) if isinstance(image, Planes) else (image, None)
        if layout is None and pixels.strides[1:] != (3, 1):
            return None
        address = pixels.__array_interface__["data"][0]
        for memory in list(self._memories.values()):
            if 0 <= address - memory.address < memory.chunk.nbytes:
                height, width = pixels.shape[:2]
                return PictureLocation(memory.chunk.number, address - memory.address, height, width, pixels.strides[0], layout)
        return None

    def close(self) -> None:
        """Free unused memory. Memory in use is freed with the last array."""
        with self._taking:
            for number in list(self._memories):
                self._drop(number)

    def _take(self, nbytes: int, urgent: Callable[[], bool]) -> tuple[_Memory, int]:
        slot = -(-nbytes // _PAGE) * _PAGE
        at_once = False  # usually there is room, and ``urgent`` may have to wait for a lock
        while True:
            with self._taking:
                while not self._returned.empty():
                    _give_back(*self._returned.get())
                if (place := self._find(slot, at_once)) is not None:
                    return place
            if at_once := urgent():
                continue
            # with a timeout, since another waiting thread may have taken the returned memory
            with suppress(Empty), waiting_for_room():
                _give_back(*self._returned.get(timeout=_WAIT_SECONDS))

    def _find(self, slot: int, urgent: bool) -> tuple[_Memory, int] | None:
        for memory in self._memories.values():
            if memory.slot == slot and memory.free:
                return memory, memory.free.pop()
        size = max(1, CHUNK_BYTES // slot) * slot
        if self.nbytes + size > self.limit:
            for number in [number for number, memory in self._memories.items() if memory.idle]:
                self._drop(number)
        if self.nbytes + size > self.limit and self._memories:
            if not urgent:
                return None
            size = slot
        memory = self._create(size, slot)
        return memory, memory.free.pop()

    def _create(self, nbytes: int, slot: int) -> _Memory:
        descriptor, path = _new_file()
        os.ftruncate(descriptor, nbytes)
        chunk = Chunk(self._made, path, nbytes)
        self._made += 1
        memory = self._memories[chunk.number] = _Memory(chunk, descriptor, slot, mmap.mmap(descriptor, nbytes))
        if self.page_lock is not None:
            self.page_lock.add(memory.address, nbytes)
        return memory

    def _drop(self, number: int) -> None:
        memory = self._memories.pop(number)
        if self.page_lock is not None:
            self.page_lock.remove(memory.address)
        os.close(memory.descriptor)
        if not memory.chunk.path.startswith("/proc/"):
            with suppress(OSError):
                Path(memory.chunk.path).unlink()


class MappedChunk:
    """A chunk, mapped in another process than its owner's. address, nbytes: its range there. Raises OSError if the owner has ended."""

    def __init__(self, chunk: Chunk) -> None:
        with Path(chunk.path).open("r+b") as file:
            self._mapped = mmap.mmap(file.fileno(), chunk.nbytes)
        self.address, self.nbytes = _address(self._mapped), chunk.nbytes

    def image(self, place: PictureLocation) -> HostImage:
        """The picture or frame at a place of this chunk, without copying."""
        if place.format is not None:
            return Planes.of(place.format, np.ndarray(place.format.nbytes, np.uint8, self._mapped, place.offset))
        return np.ndarray((place.height, place.width, 3), np.uint8, self._mapped, place.offset, (place.pitch, 3, 1))


def _give_back(memory: _Memory, offset: int) -> None:
    memory.free.append(offset)


def _address(mapped: mmap.mmap) -> int:
    return ctypes.addressof(ctypes.c_char.from_buffer(mapped))


def _new_file() -> tuple[int, str]:
    """An open file for shared memory, and the path under which another process opens it."""
    if hasattr(os, "memfd_create"):
        descriptor = os.memfd_create("framefleet pictures")
        return descriptor, f"/proc/{os.getpid()}/fd/{descriptor}"
    return tempfile.mkstemp(prefix="framefleet-")
