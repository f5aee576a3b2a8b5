"""A GPU for testing kernels: uploads inputs, runs steps, and downloads the results."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from cuda.core import Device
from numpy.typing import NDArray

from framefleet.engine.cuda.graph import Step, copy, record
from framefleet.engine.cuda.memory import Memory
from framefleet.plugins.cache import FileCache
from framefleet.plugins.kernels import Kernels

POISON = 0xCD
"""The byte that fills memory before use: as half precision -23.2, as float32 -4.3e8, as int32 -842150451."""


class Gpu:
    """The first device, a stream, and the compiled kernels."""

    def __init__(self, folder: FileCache | None = None, *names: str) -> None:
        device = Device(0)
        device.set_current()
        self.device, self.stream = device, device.create_stream()
        self._memory = Memory(device, self.stream)
        self.kernels = Kernels(f"sm_{device.arch}", folder, names)

    def upload(self, values: NDArray[Any]) -> int:
        """Copy values to the device. Returns the address."""
        return self._memory.constant(values)

    def overwrite(self, address: int, values: NDArray[Any]) -> None:
        """Copy values to an address."""
        contents = np.ascontiguousarray(values).view(np.uint8).ravel()
        copy(address, contents.ctypes.data, contents.nbytes, self.stream)
        self.stream.sync()

    def poisoned(self, nbytes: int) -> int:
        """Allocate memory filled with POISON. Returns the address."""
        return self._memory.constant(np.full(nbytes, POISON, np.uint8))

    def pinned(self, nbytes: int) -> NDArray[np.uint8]:
        """Allocate host memory into which kernels may write, zeroed."""
        return self._memory.pinned(nbytes)

    def download(self, address: int, shape: Sequence[int] | int, dtype: Any) -> NDArray[Any]:
        """Copy an array of this shape and dtype from an address."""
        values = np.empty(shape, dtype)
        copy(values.ctypes.data, address, values.nbytes, self.stream)
        self.stream.sync()
        return values

    def run(self, *steps: Step) -> None:
        """Launch the steps on the stream and wait until they are done."""
        for step in steps:
            step.launch(self.stream)
        self.stream.sync()

    def record(self, *steps: Step) -> Any:
        """Capture a graph of the steps in global mode, which fails if a step waits, allocates or uses the default stream."""
        return record(steps, self.stream, "global")

    def close(self) -> None:
        """Free the memory."""
        self.stream.sync()
        self._memory.close()
