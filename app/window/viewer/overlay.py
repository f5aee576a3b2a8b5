"""The boxes and labels of one frame, computed once and drawn with few calls.

A call into Qt waits for the interpreter's lock, and Qt's pens are slow. So boxes are thin filled rectangles, one call for all of
a colour, and a label is a picture that is drawn once for each class and percentage.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache, lru_cache

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPixmap

from app.window.viewer.layout import Placement
from app.window.widgets import theme
from engine.media.annotation.colours import class_colour
from engine.media.annotation.label_position import LabelPlaces, Rect
from engine.types import Detections

NARROW = 420
"""Width of the picture below which labels are smaller, logical pixels."""
_RIM = QColor(8, 10, 14, 150)
"""A dark rim makes boxes visible on any picture."""
_AROUND = np.array((-1, -1, 1, 1))


class Overlay:
    """The detections of one frame as shapes. rects: x, y, width, height on the canvas, float64 (n, 4).

    area: the visible part of the picture. name: the name of a class id. ratio: device pixels of a logical pixel.
    """

    def __init__(self, found: Detections, placement: Placement, area: Rect, name: Callable[[int], str], ratio: float) -> None:
        self.rects = placement.rects(found.boxes)
        self._classes = found.class_ids.tolist()
        edges = np.rint(np.hstack([self.rects[:, :2], self.rects[:, :2] + self.rects[:, 2:]])).astype(np.int64)
        self._rims = _shapes(_frames(edges + _AROUND, 4))
        shapes = _shapes(_frames(edges, 2))
        self._boxes: dict[int, list[QRect]] = {}
        for index in range(len(self._classes) - 1, -1, -1):  # the strongest detections last, on top
            self._boxes.setdefault(self._classes[index], []).extend(shapes[4 * index : 4 * index + 4])
        self._labels: list[tuple[int, int, QPixmap]] = []
        step = -3 if placement.width < NARROW else -1
        places = LabelPlaces(area, _label_height(step))
        (left, top, across, down), (x, y, width, height) = area, self.rects.T
        seen = (x < left + across) & (y < top + down) & (x + width > left) & (y + height > top)
        percents = (found.scores.astype(np.float64) * 100 + 0.5).astype(np.int64).tolist()
        boxes = self.rects.tolist()
        for index in np.flatnonzero(seen).tolist():
            class_id = self._classes[index]
            text = f"{name(class_id)} {percents[index]}%"
            place = places.place(boxes[index], _label_width(len(text), name(class_id), step))
            if place is not None:  # without room, a weaker box has only its colour and its tooltip
                self._labels.append((round(place[0]), round(place[1]), _label(text, class_id, step, ratio)))

    def at(self, point: QPointF) -> int | None:
        """The index of the smallest box at this point, None without a box."""
        x, y, width, height = self.rects.T
        inside = (x <= point.x()) & (point.x() <= x + width) & (y <= point.y()) & (point.y() <= y + height)
        return int(np.argmin(np.where(inside, width * height, np.inf))) if inside.any() else None

    def paint(self, painter: QPainter, highlighted: int | None = None) -> None:
        """Draw the boxes, then the labels. highlighted: the index of a box to fill."""
        if highlighted is not None:
            inside = QColor(_colour(self._classes[highlighted]))
            inside.setAlpha(60)
            painter.fillRect(QRectF(*self.rects[highlighted].tolist()), inside)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(_RIM)
        painter.drawRects(self._rims)
        for class_id, shapes in self._boxes.items():
            painter.setBrush(_colour(class_id))
            painter.drawRects(shapes)
        for x, y, label in self._labels:
            painter.drawPixmap(x, y, label)


def _frames(edges: NDArray[np.int64], thickness: int) -> NDArray[np.int64]:
    """The four sides of boxes as filled rectangles x, y, width, height, int64 (n, 4, 4). edges: left, top, right, bottom (n, 4)."""
    left, top, right, bottom = edges.T
    across, down = right - left, bottom - top
    thick = np.minimum(thickness, np.minimum(across, down))
    between = down - 2 * thick
    sides = (
        (left, top, across, thick),
        (left, bottom - thick, across, thick),
        (left, top + thick, thick, between),
        (right - thick, top + thick, thick, between),
    )
    return np.maximum(np.array(sides).transpose(2, 0, 1), np.iinfo(np.int32).min)


def _shapes(frames: NDArray[np.int64]) -> list[QRect]:
    return [QRect(*side) for side in frames.reshape(-1, 4).tolist()]


@cache
def _colour(class_id: int) -> QColor:
    return QColor(*class_colour(class_id))


@cache
def _font(step: int) -> tuple[QFont, QFontMetricsF]:
    font = theme.font(step, bold=True)
    return font, QFontMetricsF(font)


def _label_height(step: int) -> int:
    return math.ceil(_font(step)[1].height()) + 1


@cache
def _label_width(length: int, name: str, step: int) -> int:
    """The width of a label with a percentage, which is written in digits of equal width. length: characters."""
    text = name.ljust(length, "8")
    return math.ceil(_font(step)[1].horizontalAdvance(text)) + 8


@lru_cache(maxsize=8192)
def _label(text: str, class_id: int, step: int, ratio: float) -> QPixmap:
    """A label: its text on the class's colour."""
    font, metrics = _font(step)
    made = QPixmap(QSize(math.ceil(metrics.horizontalAdvance(text)) + 8, _label_height(step)) * ratio)
    made.setDevicePixelRatio(ratio)
    made.fill(_colour(class_id))
    with QPainter(made) as painter:
        painter.setFont(font)
        painter.setPen(QColor(theme.ON_ACCENT))
        painter.drawText(QPointF(4, metrics.ascent() + 0.5), text)
    return made
