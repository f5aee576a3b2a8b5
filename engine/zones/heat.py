"""Where objects were: a small grid over the picture with the time that objects spent in each cell."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from framefleet.engine.zones.geometry import Array, reference_points
from framefleet.engine.zones.shapes import Reference

COLUMNS = 96
_BLUR = np.array([1, 4, 6, 4, 1]) / 16


class HeatMap:
    """Counts the middles of boxes' lower edges in the cells of a grid. size: width and height of the pictures, pixels.

    Attributes: cells: int64 (rows, ``COLUMNS``), the number of detections in each cell.
    """

    def __init__(self, size: tuple[int, int]) -> None:
        rows = max(1, round(COLUMNS * size[1] / size[0]))
        self.size = size
        self.cells: NDArray[np.int64] = np.zeros((rows, COLUMNS), np.int64)

    def add(self, boxes: Array) -> None:
        """Add boxes x1 y1 x2 y2, pixels, float64 (n, 4)."""
        rows, columns = self.cells.shape
        x, y = reference_points(boxes, Reference.BOTTOM).T
        column = np.clip(x / self.size[0] * columns, 0, columns - 1).astype(np.int64)
        row = np.clip(y / self.size[1] * rows, 0, rows - 1).astype(np.int64)
        self.cells += np.bincount(row * columns + column, minlength=rows * columns).reshape(rows, columns)

    def shares(self) -> NDArray[np.float32]:
        """How strong each cell is, 0..1, smoothed, float32 (rows, columns). The square root keeps rare places visible."""
        smooth = self.cells.astype(np.float64)
        for axis in (0, 1):
            padded = np.pad(smooth, [(2, 2) if each == axis else (0, 0) for each in (0, 1)])
            length = smooth.shape[axis]
            smooth = sum(weight * padded.take(range(shift, shift + length), axis) for shift, weight in enumerate(_BLUR.tolist()))
        most = smooth.max()
        return np.sqrt(smooth / most).astype(np.float32) if most else smooth.astype(np.float32)
