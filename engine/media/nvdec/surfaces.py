"""Device memory for decoded frames: a limited number of surfaces, shared by decode threads and engine."""

import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Protocol

from cuda.core import Device, Stream

from framefleet.engine.cuda.memory import Memory, cuda_errors
from framefleet.engine.notices import DeviceError, Notice
from framefleet.engine.processes.watchdog import waiting_for_room
from framefleet.engine.types import DeviceId


class Allocation(Protocol):
    """Allocated memory. address: of its first byte."""

    address: int

    def close(self) -> None:
        """Free it."""


@dataclass(eq=False, slots=True)
class Surface:
    """Memory for one frame. lease: changes at every acquire and release."""

    allocation: Allocation
    nbytes: int
    lease: int = field(default=0)

    @property
    def address(self) -> int:
        """Address of the surface in the device's memory."""
        return self.allocation.address


class SurfaceRing:
    """Surfaces for any number of decode threads.

    Memory is allocated when a surface is first needed, and later only for larger frames. count: most surfaces. budget: most bytes of all
    surfaces together; large frames get fewer surfaces. allocate: allocates bytes, or raises DeviceError.
    """

    def __init__(self, count: int, budget: int, allocate: Callable[[int], Allocation]) -> None:
        self._count, self._budget, self._allocate = count, budget, allocate
        self._free: list[Surface] = []
        self._surfaces = 0
        self._closed = False
        self._lock = threading.Lock()
        self._all_back = threading.Condition(self._lock)
        # waiting threads are served in order, so that large frames also get a surface
        self._waiting: deque[threading.Condition] = deque()
        self.used = 0

    def grow(self, count: int) -> None:
        """Allow this many more surfaces."""
        with self._lock:
            self._count += count
            self._call_next()

    def room_for(self, nbytes: int) -> int:
        """Number of frames of this size that the budget allows."""
        return self._budget // max(nbytes, 1)

    def plenty(self) -> bool:
        """Whether less than half of the surfaces are in use, so that the engine is faster than the decoder."""
        with self._lock:
            free = sum(surface.nbytes for surface in self._free)
            return 2 * (self._surfaces - len(self._free)) < self._count and 2 * (self.used - free) < self._budget

    def acquire(self, nbytes: int) -> tuple[Surface, Callable[[], None]]:
        """Wait for a surface of at least this size. Returns it and a function that releases it.

        Any thread may call the function; repeated calls are harmless.

        Raises DeviceError if the ring is closed, or the memory does not suffice.
        """
        return self.acquire_several(nbytes, 1)[0]

    def acquire_several(self, nbytes: int, most: int, more: bool = False) -> list[tuple[Surface, Callable[[], None]]]:
        """Wait for one surface, and take up to ``most`` that are free by then. Returns and raises as ``acquire``.

        more: allocate more surfaces, as far as there is room, if fewer are free.
        """
        with self._lock:
            free = self._free
            taken: list[Surface] = []
            leased: list[tuple[Surface, Callable[[], None]]] = []
            while len(taken) < most and free and free[-1].nbytes >= nbytes and not self._waiting and not self._closed:  # almost always
                taken.append(free.pop())
            if not taken:
                taken = self._wait_for(nbytes, most)
            with suppress(DeviceError):  # then these have to do
                while more and len(taken) < most and not self._waiting and not self._closed and self._available(nbytes):
                    taken.append(self._take(nbytes))
            for surface in taken:
                surface.lease += 1
                leased.append((surface, partial(self._release, surface, surface.lease)))
            return leased

    def _wait_for(self, nbytes: int, most: int) -> list[Surface]:
        """Wait for one surface, and take up to ``most`` of those that are free by then: an engine releases a whole batch at once."""
        if not self.room_for(nbytes):
            raise DeviceError(Notice("media.frame_exceeds_memory", size=nbytes >> 20, limit=self._budget >> 20))
        if self._waiting or not self._available(nbytes):
            turn = threading.Condition(self._lock)
            self._waiting.append(turn)
            with waiting_for_room():
                while not self._closed and (self._waiting[0] is not turn or not self._available(nbytes)):
                    turn.wait()
            self._waiting.remove(turn)
        try:
            if self._closed:
                raise DeviceError(Notice("media.frame_memory_freed"))
            taken = [self._take(nbytes)]
            while len(taken) < most and self._free and self._free[-1].nbytes >= nbytes:
                taken.append(self._free.pop())
            return taken
        finally:
            self._call_next()

    def close(self) -> None:
        """Wake waiting threads, wait until all surfaces are released, and free the memory; harmless when repeated."""
        with self._lock:
            self._closed = True
            for turn in self._waiting:
                turn.notify()
            while len(self._free) < self._surfaces:
                self._all_back.wait()
            while self._free:
                self._drop(self._free[-1])

    def _release(self, surface: Surface, lease: int) -> None:
        with self._lock:
            if surface.lease != lease:
                return
            surface.lease += 1
            self._free.append(surface)
            if self._closed:
                self._all_back.notify()
            self._call_next()

    def _call_next(self) -> None:
        if self._waiting:
            self._waiting[0].notify()

    def _available(self, nbytes: int) -> bool:
        if any(surface.nbytes >= nbytes for surface in self._free):
            return True
        held = self.used - sum(surface.nbytes for surface in self._free)
        return self._surfaces - len(self._free) < self._count and held + nbytes <= self._budget

    def _take(self, nbytes: int) -> Surface:
        for surface in reversed(self._free):  # the surface used last is most likely in the caches
            if surface.nbytes >= nbytes:
                self._free.remove(surface)
                return surface
        while self._free and (self._surfaces == self._count or self.used + nbytes > self._budget):
            self._drop(self._free[0])
        surface = Surface(self._allocate(nbytes), nbytes)
        self._surfaces += 1
        self.used += nbytes
        return surface

    def _drop(self, surface: Surface) -> None:
        self._free.remove(surface)
        self._surfaces -= 1
        self.used -= surface.nbytes
        surface.allocation.close()


def device_surfaces(index: int, count: int, budget: int) -> SurfaceRing:
    """A ring on a CUDA device: at most ``count`` frames and ``budget`` bytes."""
    device = Device(index)
    device.set_current()
    stream = device.create_stream()
    return SurfaceRing(count, budget, lambda nbytes: _DeviceMemory(index, stream, nbytes))


class _DeviceMemory:
    """An ``Allocation`` on a GPU."""

    def __init__(self, index: int, stream: Stream, nbytes: int) -> None:
        device = Device(index)
        device.set_current()
        self._memory = Memory(device, stream)
        with cuda_errors(DeviceId("cuda", str(index)), Notice("cuda.hold_frames")):
            self.address = self._memory.device(nbytes)

    def close(self) -> None:
        self._memory.close()
