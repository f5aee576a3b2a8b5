"""When objects of each class were seen, as one lane for each class."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QImage, QPainter, QPixmap

from app.window.timeline.view import TimeView
from engine.media.annotation.colours import class_colour


@dataclass(frozen=True)
class Lane:
    """When objects of a class were seen. counts: detections in each slice of the length, int64 (BINS,)."""

    name: str
    class_id: int
    counts: NDArray[np.int64]

    def image(self, view: TimeView, columns: int) -> QImage:
        """A picture of the view, at most this wide: the more detections, the stronger the class's colour."""
        first, last = int(view.start * len(self.counts)), max(math.ceil(view.end * len(self.counts)), 1)
        starts = np.unique(np.linspace(first, last, columns, endpoint=False).astype(np.int64))
        counts = np.maximum.reduceat(self.counts[:last], starts)  # not every second one, which would hide rare objects
        pixels = np.empty((1, len(counts), 4), np.uint8)
        pixels[..., :3] = class_colour(self.class_id)
        shares = np.sqrt(counts / max(self.counts.max(), 1))  # with the square root, single objects stay visible beside many
        pixels[0, :, 3] = np.where(counts > 0, 60 + 195 * shares, 0)
        return QImage(pixels.tobytes(), len(counts), 1, QImage.Format.Format_RGBA8888).copy()


def draw_lanes(lanes: Sequence[Lane], view: TimeView, columns: int, size: QSize, area: QRectF, ratio: float) -> QPixmap:
    """Draw the lanes into a picture of this size, logical pixels, below each other in the area.

    columns: the finest division of the whole length. ratio: device pixels of a logical pixel.
    """
    columns = max(min(round(columns * view.span), round(area.width() * ratio)), 1)
    drawn = QPixmap(size * ratio)
    drawn.setDevicePixelRatio(ratio)
    drawn.fill(Qt.GlobalColor.transparent)
    height = area.height() / len(lanes)
    with QPainter(drawn) as painter:
        for number, lane in enumerate(lanes):
            slices, place = len(lane.counts), area.top() + number * height
            first, last = int(view.start * slices), max(math.ceil(view.end * slices), 1)
            left, right = (area.left() + area.width() * view.place(each / slices) for each in (first, last))
            painter.setClipRect(area)
            painter.drawImage(QRectF(left, place, right - left, max(height - 1, 1)), lane.image(view, columns))
    return drawn
