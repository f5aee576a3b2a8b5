"""The place of the picture inside the canvas, and its enlargement. Plain numbers in logical pixels, no Qt."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from framefleet.engine.media.annotation.layout import Rect


@dataclass(frozen=True)
class Placement:
    """A picture of ``source`` pixels (width, height) shown whole and undistorted in the rectangle x, y, width, height."""

    x: float
    y: float
    width: float
    height: float
    source: tuple[int, int]

    def rects(self, boxes: NDArray[np.float32]) -> NDArray[np.float64]:
        """Boxes (n, 4), x1 y1 x2 y2 in source pixels, as rectangles x, y, width, height of the canvas, cut at the picture's edge."""
        rects: NDArray[np.float64] = np.minimum(np.maximum(boxes, 0, dtype=np.float64), np.array(self.source * 2))
        rects *= np.array((self.width / self.source[0], self.height / self.source[1]) * 2)
        rects[:, 2:] -= rects[:, :2]
        np.maximum(rects[:, 2:], 0.0, out=rects[:, 2:])
        rects[:, :2] += (self.x, self.y)
        return rects

    def visible(self, canvas: tuple[float, float]) -> Rect:
        """The part of the picture that lies inside a canvas (width, height)."""
        left, top = max(self.x, 0.0), max(self.y, 0.0)
        return left, top, min(self.x + self.width, canvas[0]) - left, min(self.y + self.height, canvas[1]) - top


@lru_cache(maxsize=256)
def fit(canvas: tuple[float, float], source: tuple[int, int], zoom: float = 1.0, centre: tuple[float, float] = (0.5, 0.5)) -> Placement:
    """The largest centred placement of a picture (width, height) in a canvas (width, height), enlarged by ``zoom``.

    centre: the point of the picture in the middle of the canvas, 0..1. It is moved where there would be room beside the picture.
    """
    scale = min(canvas[0] / source[0], canvas[1] / source[1]) * zoom
    sizes = source[0] * scale, source[1] * scale
    x, y = (
        (room - size) / 2 if size <= room else min(max(room / 2 - size * middle, room - size), 0.0)
        for room, size, middle in zip(canvas, sizes, centre, strict=True)
    )
    return Placement(x, y, *sizes, source)


MAX_ZOOM = 16.0


class Zoom:
    """How far a picture is enlarged, and which part of it is visible. factor: 1 = the whole picture fits the canvas."""

    def __init__(self) -> None:
        self.factor = 1.0
        self._centre = (0.5, 0.5)

    def place(self, canvas: tuple[float, float], source: tuple[int, int]) -> Placement:
        """The place of a picture (width, height) in a canvas (width, height)."""
        return fit(canvas, source, self.factor, self._centre)

    def enlarge(self, factor: float, at: tuple[float, float], canvas: tuple[float, float], source: tuple[int, int]) -> bool:
        """Enlarge the picture by this factor, while the point ``at`` of the canvas keeps its place. Returns whether that changes it."""
        before, factor = self.place(canvas, source), min(max(factor, 1.0), MAX_ZOOM)
        grown, self.factor = factor / self.factor, factor
        self.move(tuple((start - place) * (grown - 1) for start, place in zip((before.x, before.y), at, strict=True)), before, canvas)
        return grown != 1

    def move(self, by: tuple[float, ...], before: Placement, canvas: tuple[float, float]) -> None:
        """Move the picture, but leave no room beside it."""
        source = before.source
        size = fit(canvas, source, self.factor)
        self._centre = _centre(before.x + by[0], before.y + by[1], size, canvas)
        now = self.place(canvas, source)
        self._centre = _centre(now.x, now.y, now, canvas)


def _centre(x: float, y: float, size: Placement, canvas: tuple[float, float]) -> tuple[float, float]:
    """The point in the middle of the canvas, as a share of a picture of this size with this top left corner."""
    return (canvas[0] / 2 - x) / size.width, (canvas[1] / 2 - y) / size.height
