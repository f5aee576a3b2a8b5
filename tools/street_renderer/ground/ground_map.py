"""Looks up the colour and wetness of the ground in a painted map."""

from __future__ import annotations

import cv2
import numpy as np
from cv2.typing import MatLike
from numpy.random import Generator
from numpy.typing import NDArray

from tools.street_renderer.ground.canvas import Canvas, cloud
from tools.street_renderer.ground.paving import paint
from tools.street_renderer.street.layout import Layout

LINEAR = (((np.arange(256) / 255 + 0.055) / 1.055) ** 2.4).astype(np.float32)
LEVELS = 5


class Ground:
    """Albedo and puddles of the ground around a junction. cell: metres per pixel of the map."""

    def __init__(self, rng: Generator, lay: Layout, cell: float) -> None:
        self.lay, self.cell = lay, cell
        canvas = Canvas(rng, lay, cell)
        paint(canvas)
        self.low = canvas.low
        self.levels: list[MatLike] = [canvas.map]
        for _ in range(LEVELS - 1):
            self.levels.append(cv2.pyrDown(self.levels[-1]))
        width, height = canvas.width, canvas.height
        self.puddles: MatLike = cv2.resize(
            np.clip((cloud(rng, width // 4, height // 4, cell * 4) - 0.05) * 2.2, 0, 1), (width // 2, height // 2)
        )

    def sample(self, x: NDArray[np.float32], y: NDArray[np.float32], footprint: NDArray[np.float32]) -> NDArray[np.float32]:
        """Linear albedo (n, 3) at ground points (n,). footprint: (n,) metres that a pixel of the picture covers there."""
        level = np.clip(np.log2(np.maximum(footprint / self.cell, 1e-3)) + 0.3, 0, LEVELS - 1).astype(np.int32)
        found = np.empty((len(x), 3), np.uint8)
        u, v = (x - self.low[0]) / self.cell, (y - self.low[1]) / self.cell
        for i, layer in enumerate(self.levels):
            here = np.flatnonzero(level == i)
            if len(here):
                found[here] = interpolate(layer, u[here] / 2**i - 0.5, v[here] / 2**i - 0.5)
        return LINEAR[found]

    def puddle(self, x: NDArray[np.float32], y: NDArray[np.float32]) -> NDArray[np.float32]:
        """Depth of puddles at ground points, 0 … 1 (n,)."""
        u, v = (x - self.low[0]) / (2 * self.cell), (y - self.low[1]) / (2 * self.cell)
        return np.asarray(interpolate(self.puddles, u, v), np.float32)


def interpolate(layer: MatLike, u: NDArray[np.floating], v: NDArray[np.floating]) -> MatLike:
    """Values of a map at columns u and rows v (n,), interpolated linearly."""
    # remap accepts at most 32767 pixels a side: fold the list of points into rows
    n, side = len(u), 4096
    rows = -(-n // side)
    grid = np.zeros((2, rows * side), np.float32)
    grid[0, :n], grid[1, :n] = u, v
    a, b = grid.reshape(2, rows, side)
    out = cv2.remap(layer, a, b, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    return out.reshape(rows * side, *out.shape[2:])[:n]
