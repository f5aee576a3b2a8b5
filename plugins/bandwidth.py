"""A matrix-vector product and a sum, limited by memory bandwidth alone: what devices and their links are tried with.

All arrays are float32. Addresses may be those of device memory or of pinned host memory; ``AddParts`` also takes other devices', where
access to them is enabled.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from plugins.kernels import Kernels

SOURCES = ("bandwidth.cu",)

PRODUCT_ROWS = 8
"""The rows of a matrix are a multiple of this, as in the kernel."""

_BLOCK = 256
_BLOCKS = 1056  # eight for each multiprocessor of a large device


def value_at(places: NDArray[np.uint64]) -> NDArray[np.float32]:
    """What ``Fill`` writes at these places: 0 ≤ value < 1, all of 24 bits."""
    low, high = places.astype(np.uint32), (places >> np.uint64(32)).astype(np.uint32)
    bits = low + np.uint32(2654435769) * high
    bits = (bits ^ bits >> np.uint32(16)) * np.uint32(2246822519)
    bits = (bits ^ bits >> np.uint32(13)) * np.uint32(3266489917)
    values: NDArray[np.float32] = ((bits ^ bits >> np.uint32(16)) >> np.uint32(8)).astype(np.float32) / np.float32(1 << 24)
    return values


class _Launch:
    """A step of one launch. arguments: NumPy scalars."""

    def __init__(self, kernels: Kernels, name: str, grid: int, *arguments: Any) -> None:
        from cuda.core import LaunchConfig

        self._kernel, self._arguments = kernels[name], arguments
        self._config = LaunchConfig(grid=grid, block=_BLOCK)

    def launch(self, stream: Any) -> None:
        """Put it on the stream."""
        from cuda.core import launch

        launch(stream, self._config, self._kernel, *self._arguments)


class Fill(_Launch):
    """values: (rows, columns), filled with the columns ``first`` … of an array that is ``total`` columns wide."""

    def __init__(self, kernels: Kernels, values: int, rows: int, columns: int, first: int, total: int) -> None:
        super().__init__(kernels, "fill", _BLOCKS, *map(np.uint64, (values, rows, columns, first, total)))


class Sum:
    """total: float64, the sum of ``count`` values, a multiple of 4. parts: address of ``PARTS`` bytes for its own use."""

    PARTS = 8 * _BLOCKS

    def __init__(self, kernels: Kernels, values: int, count: int, parts: int, total: int) -> None:
        if count % 4:
            raise ValueError(f"{count} values to add: they are read in fours")
        blocks = min(_BLOCKS, -(-count // (16 * _BLOCK)))
        self._parts = _Launch(kernels, "sum_parts", blocks, np.uint64(values), np.uint64(count // 4), np.uint64(parts))
        self._total = _Launch(kernels, "sum_total", 1, np.uint64(parts), np.int32(blocks), np.uint64(total))

    def launch(self, stream: Any) -> None:
        """Put it on the stream."""
        self._parts.launch(stream)
        self._total.launch(stream)


class Product(_Launch):
    """y: (rows,) = matrix (rows, columns) · x (columns,). rows: a multiple of PRODUCT_ROWS, columns: of 4."""

    def __init__(self, kernels: Kernels, matrix: int, x: int, rows: int, columns: int, y: int) -> None:
        if rows % PRODUCT_ROWS or columns % 4:
            raise ValueError(f"a matrix of {rows} × {columns}: rows must be a multiple of {PRODUCT_ROWS}, columns of 4")
        super().__init__(kernels, "product", rows // PRODUCT_ROWS, np.uint64(matrix), np.uint64(x), np.int32(columns), np.uint64(y))


class AddParts(_Launch):
    """The entries ``first`` … ``first + count`` of y = the sum of vectors. addresses: address of uint64 (devices,), where those lie."""

    def __init__(self, kernels: Kernels, addresses: int, devices: int, first: int, count: int, y: int) -> None:
        grid = -(-count // _BLOCK)
        super().__init__(
            kernels, "add_parts", grid, np.uint64(addresses), np.int32(devices), np.int32(first), np.int32(count), np.uint64(y)
        )
