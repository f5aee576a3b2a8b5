"""A matrix-vector product and a sum for measurements: only the memory bandwidth of devices and links limits them.

All arrays are float32. Addresses refer to device memory or pinned host memory. ``AddParts`` also reads the memory of other devices with
enabled access.
"""

from typing import Any

import numpy as np

from framefleet.plugins.kernels import Kernels, Launch

SOURCES = ("bandwidth.cu",)

PRODUCT_ROWS = 8
"""The number of rows of a matrix must be a multiple of this."""

_BLOCK = 256
_BLOCKS = 1056  # eight per multiprocessor of a large device


class Fill(Launch):
    """Fills values (rows, columns) with the columns from ``first`` on of an array that is ``total`` columns wide."""

    def __init__(self, kernels: Kernels, values: int, rows: int, columns: int, first: int, total: int) -> None:
        super().__init__(kernels, "fill", _BLOCKS, _BLOCK, *map(np.uint64, (values, rows, columns, first, total)))


class Sum:
    """Adds ``count`` values, a multiple of 4. total: address of the float64 sum. parts: address of ``PARTS`` bytes of scratch memory."""

    PARTS = 8 * _BLOCKS

    def __init__(self, kernels: Kernels, values: int, count: int, parts: int, total: int) -> None:
        if count % 4:
            raise ValueError(f"{count} values to add: they are read in fours")
        blocks = min(_BLOCKS, -(-count // (16 * _BLOCK)))
        self._parts = Launch(kernels, "sum_parts", blocks, _BLOCK, np.uint64(values), np.uint64(count // 4), np.uint64(parts))
        self._total = Launch(kernels, "sum_total", 1, _BLOCK, np.uint64(parts), np.int32(blocks), np.uint64(total))

    def launch(self, stream: Any) -> None:
        """Put both kernels on a stream."""
        self._parts.launch(stream)
        self._total.launch(stream)


class Product(Launch):
    """Computes y (rows,) = matrix (rows, columns) · x (columns,). rows: a multiple of PRODUCT_ROWS. columns: a multiple of 4."""

    def __init__(self, kernels: Kernels, matrix: int, x: int, rows: int, columns: int, y: int) -> None:
        if rows % PRODUCT_ROWS or columns % 4:
            raise ValueError(f"a matrix of {rows} × {columns}: rows must be a multiple of {PRODUCT_ROWS}, columns of 4")
        super().__init__(kernels, "product", rows // PRODUCT_ROWS, _BLOCK, np.uint64(matrix), np.uint64(x), np.int32(columns), np.uint64(y))


class AddParts(Launch):
    """Adds vectors into the entries ``first`` … ``first + count`` of y. addresses: address of uint64 (devices,), the vectors' addresses."""

    def __init__(self, kernels: Kernels, addresses: int, devices: int, first: int, count: int, y: int) -> None:
        grid = -(-count // _BLOCK)
        super().__init__(
            kernels, "add_parts", grid, _BLOCK, np.uint64(addresses), np.int32(devices), np.int32(first), np.int32(count), np.uint64(y)
        )
