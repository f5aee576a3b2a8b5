"""A kernel with its arguments, as a step for a stream."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from framefleet.plugins.kernels import Kernels

Number = type[np.float16] | type[np.float32]
"""The type of an engine's numbers."""


def kernel_name(name: str, number: Number) -> str:
    """The name of a kernel's variant for a type of numbers."""
    return f"{name}_fp{8 * np.dtype(number).itemsize}"


class Launch:
    """One launch of a kernel. name: of the kernel. grid, block: blocks and threads. arguments: NumPy scalars. shared: bytes."""

    def __init__(
        self, kernels: Kernels, name: str, grid: int | Sequence[int], block: int | Sequence[int], *arguments: Any, shared: int = 0
    ) -> None:
        from cuda.core import LaunchConfig

        self._kernel, self._arguments = kernels[name], arguments
        self._config = LaunchConfig(grid=grid, block=block, shmem_size=shared)

    def launch(self, stream: Any) -> None:
        """Put the kernel on a stream."""
        from cuda.core import launch

        launch(stream, self._config, self._kernel, *self._arguments)
