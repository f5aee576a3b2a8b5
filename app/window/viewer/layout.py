"""The place of the picture inside the canvas. Plain numbers in logical pixels, no Qt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from engine.media.annotation.label_position import Rect


@dataclass(frozen=True)
class Placement:
    """A picture of ``source`` pixels (width, height) shown whole and undistorted in the rectangle x, y, width, height."""

    x: float
    y: float
    width: float
    height: float
    source: tuple[int, int]

    def rect(self, box: Sequence[float]) -> Rect:
        """A box x1 y1 x2 y2 in source pixels as a rectangle of the canvas, cut at the picture's edge."""
        across, down = self.width / self.source[0], self.height / self.source[1]
        x1, x2 = (min(max(float(v), 0.0), self.source[0]) for v in (box[0], box[2]))
        y1, y2 = (min(max(float(v), 0.0), self.source[1]) for v in (box[1], box[3]))
        return self.x + x1 * across, self.y + y1 * down, max(x2 - x1, 0.0) * across, max(y2 - y1, 0.0) * down


def fit(canvas: tuple[float, float], source: tuple[int, int]) -> Placement:
    """The largest centred placement of a picture (width, height) in a canvas (width, height)."""
    scale = min(canvas[0] / source[0], canvas[1] / source[1])
    width, height = source[0] * scale, source[1] * scale
    return Placement((canvas[0] - width) / 2, (canvas[1] - height) / 2, width, height, source)
