"""Mish as a layer of its own, for convolutions whose activation was left out."""

from __future__ import annotations

from typing import Any

import numpy as np

from plugins.kernels import Kernels

_THREADS, _PER_THREAD = 256, 8


class Mish:
    """Mish in place. values: address, aligned to 16, of ``count`` FP16 numbers in any layout."""

    def __init__(self, kernels: Kernels, values: int, count: int) -> None:
        from cuda.core import LaunchConfig

        self._kernel = kernels["mish"]
        blocks = min(-(-count // (_THREADS * _PER_THREAD)), 1 << 16)
        self._config = LaunchConfig(grid=blocks, block=_THREADS)
        self._arguments = (np.uint64(values), np.int64(count))

    def launch(self, stream: Any) -> None:
        """Put it on the stream."""
        from cuda.core import launch

        launch(stream, self._config, self._kernel, *self._arguments)
