"""Mish as a custom layer, for convolutions whose plan leaves the activation out."""

from __future__ import annotations

from typing import Any

import numpy as np

from plugins.kernels import Kernels

THREADS, PER_THREAD = 256, 8

_MOST = 2**31 - PER_THREAD


class Mish:
    """Mish of FP16 numbers, in place. values: address of ``count`` numbers in any layout, aligned to 16.

    Raises:
        ValueError: there are no numbers, or more than the kernel can count.
    """

    def __init__(self, kernels: Kernels, values: int, count: int) -> None:
        from cuda.core import LaunchConfig

        if not 0 < count <= _MOST:
            raise ValueError(f"Mish of {count} numbers at once: at least one, at most {_MOST}")
        self._kernel = kernels["mish"]
        self._config = LaunchConfig(grid=min(-(-count // (THREADS * PER_THREAD)), 1 << 16), block=THREADS)
        self._arguments = (np.uint64(values), np.int32(count))

    def launch(self, stream: Any) -> None:
        """Put the kernel on the stream."""
        from cuda.core import launch

        launch(stream, self._config, self._kernel, *self._arguments)
