"""One GPU of the device benchmarks: memory, a stream, kernels, and calls of the CUDA driver API."""

from typing import Any, Self

import numpy as np
from cuda.bindings import driver
from cuda.core import Event, EventOptions
from numpy.typing import NDArray

from framefleet.engine.cuda.device import open_device
from framefleet.engine.types import DeviceId
from framefleet.plugins.bandwidth import SOURCES
from framefleet.plugins.kernels import Kernels


def ask(answer: tuple[Any, ...], doing: str) -> Any:
    """The result of a driver call.

    Raises:
        MemoryError: not enough memory.
        RuntimeError: the call failed.
    """
    status, *values = answer
    if status == driver.CUresult.CUDA_ERROR_OUT_OF_MEMORY:
        raise MemoryError(f"not enough memory to {doing}")
    if status != driver.CUresult.CUDA_SUCCESS:
        raise RuntimeError(f"CUDA cannot {doing}: {status.name}")
    return values[0] if values else None


class Card:
    """A GPU. Uses plain device memory: enabling peer access to a device does not include CUDA's memory pools.

    Raises:
        DeviceError: there is no driver, or no such device.
        KernelError: the kernels cannot be compiled.
    """

    def __init__(self, device: DeviceId) -> None:
        self.id, self.number = device, int(device.name)
        self.device = open_device(device, sleep=False)
        self._context = ask(driver.cuCtxGetCurrent(), "name its context")
        self.name = str(self.device.name)
        self.stream = self.device.create_stream()
        self.kernels = Kernels(f"sm_{self.device.arch}", names=SOURCES)
        self._memory: list[int] = []
        self._host: list[int] = []
        self._peers: dict[int, bool] = {self.number: True}

    def use(self) -> None:
        """Make this GPU the thread's current device."""
        ask(driver.cuCtxSetCurrent(self._context), f"turn to {self.id}")

    def event(self, timing: bool = False) -> Event:
        """A new event."""
        self.use()
        return self.device.create_event(EventOptions(timing_enabled=timing))

    @property
    def free(self) -> int:
        """Bytes of free memory."""
        self.use()
        status, free, _ = driver.cuMemGetInfo()
        ask((status,), "tell its free memory")
        return int(free)

    def memory(self, nbytes: int) -> int:
        """Allocate device memory. Returns its address."""
        self.use()
        address = int(ask(driver.cuMemAlloc(nbytes), f"hold {nbytes / 1e9:.1f} GB on {self.id}"))
        self._memory.append(address)
        return address

    def pinned(self, nbytes: int) -> NDArray[np.uint8]:
        """Pinned host memory that all devices access at the same address, uint8 (nbytes,)."""
        import ctypes

        self.use()
        flags = driver.CU_MEMHOSTALLOC_PORTABLE | driver.CU_MEMHOSTALLOC_DEVICEMAP
        address = int(ask(driver.cuMemHostAlloc(nbytes, flags), f"pin {nbytes / 1e9:.1f} GB of host memory"))
        self._host.append(address)
        return np.ctypeslib.as_array((ctypes.c_uint8 * nbytes).from_address(address))

    def reaches(self, other: Self) -> bool:
        """Enable access to the other card's memory. Returns whether that is possible."""
        if other.number not in self._peers:
            can = bool(self.device.can_access_peer(other.device))
            if can:
                self.use()
                (status,) = driver.cuCtxEnablePeerAccess(other._context, 0)
                already = driver.CUresult.CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED
                can = status in (driver.CUresult.CUDA_SUCCESS, already)
            self._peers[other.number] = can
        return self._peers[other.number]

    def copy_to(self, other: Self, destination: int, source: int, nbytes: int) -> None:
        """Queue a copy to the other card on this card's stream; it goes through host memory without peer access."""
        self.use()
        answer = driver.cuMemcpyPeerAsync(destination, other._context, source, self._context, nbytes, self.stream.handle)
        ask(answer, f"copy from {self.id} to {other.id}")

    def give_back(self) -> None:
        """Free all memory. No work may be queued."""
        self.use()
        self.stream.sync()
        for address in self._memory:
            ask(driver.cuMemFree(address), "free memory")
        for address in self._host:
            ask(driver.cuMemFreeHost(address), "free host memory")
        self._memory.clear()
        self._host.clear()
