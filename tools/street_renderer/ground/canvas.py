"""A map of the ground seen from above, with drawing functions in metres."""

from __future__ import annotations

from collections.abc import Sequence

import cv2
import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from tools.street_renderer.street.layout import Layout


class Canvas:
    """A map of the ground around a junction.

    map: uint8 RGB (height, width, 3), ``cell`` metres a pixel, pixel 0 at ``low``. wear: smooth noise (height, width), about ±1.
    """

    def __init__(self, rng: Generator, lay: Layout, cell: float) -> None:
        self.rng, self.lay, self.cell = rng, lay, cell
        self.low = (-lay.side - 4, lay.near)
        self.width, self.height = (int(n / cell) for n in (2 * lay.side + 8, lay.far + 6 - lay.near))
        self.map = np.empty((self.height, self.width, 3), np.uint8)
        self.wear = cloud(rng, self.width, self.height, cell)

    def px(self, points: Sequence[Sequence[float]] | NDArray[np.float64]) -> NDArray[np.int32]:
        """Convert points (n, 2) from metres to 1/16 pixels, for OpenCV's drawing functions."""
        return np.round((np.asarray(points, float) - self.low) / self.cell * 16 - 8).astype(np.int32)

    def fill(self, canvas: NDArray[np.uint8], points: Sequence[Sequence[float]], color: Sequence[int] | int) -> None:
        """Fill a polygon."""
        cv2.fillPoly(canvas, [self.px(points)], color, cv2.LINE_AA, 4)

    def rect(self, canvas: NDArray[np.uint8], x0: float, x1: float, y0: float, y1: float, color: Sequence[int] | int) -> None:
        """Fill an upright rectangle."""
        self.fill(canvas, [(x0, y0), (x1, y0), (x1, y1), (x0, y1)], color)

    def disc(self, canvas: NDArray[np.uint8], x: float, y: float, radius: float, color: Sequence[int] | int) -> None:
        """Fill a disc."""
        center = self.px([(x, y)])[0]
        cv2.circle(canvas, (int(center[0]), int(center[1])), int(radius / self.cell * 16), color, -1, cv2.LINE_AA, 4)

    def road_mask(self, grow: float = 0.0) -> NDArray[np.uint8]:
        """A mask, 255 where the roads are, widened by ``grow`` metres."""
        lay, mask = self.lay, np.zeros((self.height, self.width), np.uint8)
        h, c, r = lay.half + grow, lay.cross_half + grow, max(lay.radius - grow, 0.05)
        self.rect(mask, -h, h, lay.near - 9, lay.far + 9, 255)
        self.rect(mask, -lay.side - 9, lay.side + 9, lay.yc - c, lay.yc + c, 255)
        for sx in (-1, 1):
            for sy in (-1, 1):
                self.rect(mask, *ordered(sx * h, sx * (h + r)), *ordered(lay.yc + sy * c, lay.yc + sy * (c + r)), 255)
                self.disc(mask, sx * (h + r), lay.yc + sy * (c + r), r, 0)
        return mask

    def blend(self, mask: NDArray[np.uint8], color: NDArray[np.floating]) -> None:
        """Blend a colour (3,) or a picture (height, width, 3) into the map by a mask (0 … 255)."""
        where = cv2.boundingRect(mask)
        x, y, w, h = where
        part, m = self.map[y : y + h, x : x + w], mask[y : y + h, x : x + w, None].astype(np.float32) / 255
        source = color[y : y + h, x : x + w] if color.ndim == 3 else color
        part[:] = np.clip(part + (source - part) * m, 0, 255).astype(np.uint8)


def ordered(a: float, b: float) -> tuple[float, float]:
    """Return the smaller number, then the larger one."""
    return (a, b) if a <= b else (b, a)


def tile(noise: NDArray[np.float32], width: int, height: int) -> NDArray[np.float32]:
    """Repeat noise until it fills a map of this size."""
    reps = (-(-height // noise.shape[0]), -(-width // noise.shape[1]))
    return np.tile(noise, reps)[:height, :width]


def cloud(rng: Generator, width: int, height: int, cell: float) -> NDArray[np.float32]:
    """Smooth noise of several sizes (8 m … 0.5 m), about ±1."""
    total = np.zeros((height, width), np.float32)
    for size, weight in ((9.0, 0.55), (3.0, 0.3), (0.9, 0.2)):
        rows, cols = int(height * cell / size) + 3, int(width * cell / size) + 3
        total += weight * cv2.resize(rng.normal(0, 1, (rows, cols)).astype(np.float32), (width, height), interpolation=cv2.INTER_CUBIC)
    return total
