"""Host memory that all processes of a group see: a picture is written into it once, and nobody copies it on its way to a device.

On Linux it is anonymous memory that the others open by way of ``/proc``, elsewhere a temporary file: nothing of it outlives its
owner, and no helper process of Python's believes that it has to tidy it up.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import tempfile
import weakref
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Lock

import numpy as np

from engine.processes.watchdog import waiting_for_room
from engine.types import Image

CHUNK_BYTES = 64 * 2**20
"""Memory is taken, and made known to the devices' drivers, in pieces of about this size."""

_PAGE = 4096
_WAIT_SECONDS = 0.05


@dataclass(frozen=True)
class Chunk:
    """A piece of shared memory as others know it. path: where they open it."""

    number: int
    path: str
    nbytes: int


@dataclass(frozen=True)
class Place:
    """Where a picture lies, uint8 (height, width, 3). offset: bytes from the chunk's start. pitch: bytes from row to row."""

    chunk: int
    offset: int
    height: int
    width: int
    pitch: int


@dataclass(eq=False)
class _Memory:
    """A chunk in its owner's process, cut into slots of equal size."""

    chunk: Chunk
    descriptor: int
    slot: int
    mapped: mmap.mmap
    free: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.address = _address(self.mapped)
        self.free = list(range(0, self.chunk.nbytes, self.slot))[::-1]

    @property
    def idle(self) -> bool:
        return len(self.free) * self.slot == self.chunk.nbytes


class SharedPictures:
    """Room for pictures of any size, each given back when the last array that shows it is gone. Thread-safe.

    limit: bytes, which may be changed; a single picture that is larger gets its room all the same, when no other one is left.
    """

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self._taking = Lock()
        self._memories: dict[int, _Memory] = {}
        self._made = 0
        # filled by finalizers, which may run in the middle of anything: this queue's ``put`` is made for that
        self._returned: SimpleQueue[tuple[_Memory, int]] = SimpleQueue()

    @property
    def chunks(self) -> Sequence[Chunk]:
        """Those there are now."""
        return [memory.chunk for memory in list(self._memories.values())]

    @property
    def nbytes(self) -> int:
        """Bytes taken from the system."""
        return sum(chunk.nbytes for chunk in self.chunks)

    def put(self, image: Image, urgent: bool = False) -> Image:
        """A copy of a picture in here; waits until there is room. urgent: takes more than the limit rather than to wait."""
        memory, offset = self._take(image.nbytes, urgent)
        held = (ctypes.c_uint8 * image.nbytes).from_buffer(memory.mapped, offset)
        weakref.finalize(held, self._returned.put, (memory, offset)).atexit = False
        copy: Image = np.ndarray(image.shape, np.uint8, held)  # type: ignore[arg-type]
        np.copyto(copy, image)
        return copy

    def locate(self, image: Image) -> Place | None:
        """Where a picture, or a part of one, lies; None if it does not lie here."""
        if image.strides[1:] != (3, 1):
            return None
        address = image.__array_interface__["data"][0]
        for memory in list(self._memories.values()):
            if 0 <= address - memory.address < memory.chunk.nbytes:
                height, width = image.shape[:2]
                return Place(memory.chunk.number, address - memory.address, height, width, image.strides[0])
        return None

    def close(self) -> None:
        """Take no more; what is in use goes with the last array."""
        with self._taking:
            for number in list(self._memories):
                self._drop(number)

    def _take(self, nbytes: int, urgent: bool) -> tuple[_Memory, int]:
        slot = -(-nbytes // _PAGE) * _PAGE
        while True:
            with self._taking:
                self._collect()
                if (place := self._find(slot, urgent)) is not None:
                    return place
            # not for ever: what comes back may have gone to another thread that waits
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

    def _collect(self) -> None:
        while not self._returned.empty():
            _give_back(*self._returned.get())

    def _create(self, nbytes: int, slot: int) -> _Memory:
        descriptor, path = _new_file()
        os.ftruncate(descriptor, nbytes)
        chunk = Chunk(self._made, path, nbytes)
        self._made += 1
        memory = self._memories[chunk.number] = _Memory(chunk, descriptor, slot, mmap.mmap(descriptor, nbytes))
        return memory

    def _drop(self, number: int) -> None:
        memory = self._memories.pop(number)
        os.close(memory.descriptor)
        if not memory.chunk.path.startswith("/proc/"):
            with suppress(OSError):
                Path(memory.chunk.path).unlink()


class MappedChunk:
    """A chunk in a process that it was told to. address, nbytes: where it lies there.

    Raises:
        OSError: its owner is gone.
    """

    def __init__(self, chunk: Chunk) -> None:
        with Path(chunk.path).open("r+b") as file:
            self._mapped = mmap.mmap(file.fileno(), chunk.nbytes)
        self.address, self.nbytes = _address(self._mapped), chunk.nbytes

    def image(self, place: Place) -> Image:
        """The picture at a place of this chunk, without copying."""
        return np.ndarray((place.height, place.width, 3), np.uint8, self._mapped, place.offset, (place.pitch, 3, 1))


def _give_back(memory: _Memory, offset: int) -> None:
    memory.free.append(offset)


def _address(mapped: mmap.mmap) -> int:
    return ctypes.addressof(ctypes.c_char.from_buffer(mapped))


def _new_file() -> tuple[int, str]:
    """An open file for memory, and the path by which another process opens it."""
    if hasattr(os, "memfd_create"):
        descriptor = os.memfd_create("framefleet pictures")
        return descriptor, f"/proc/{os.getpid()}/fd/{descriptor}"
    return tempfile.mkstemp(prefix="framefleet-")
