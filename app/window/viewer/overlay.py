"""The boxes and labels of one frame, computed once and drawn with few calls. Also text over the picture on a dark ground.

A call into Qt waits for the interpreter's lock, and Qt's pens are slow. So boxes are thin filled rectangles in one array, one call for all
of a colour, and a label consists of pictures, which are drawn once for each class and each percentage.
"""

import math
from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from itertools import pairwise
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPen, QPixmap
from shiboken6 import Shiboken

from framefleet.app.window.viewer.layout import Placement
from framefleet.app.window.widgets import theme
from framefleet.app.window.widgets.painting import draw_box
from framefleet.engine.media.annotation.layout import BARE, VERIFIED, LabelPlaces, Rect, Rgb, class_colour, class_pattern, ink_on
from framefleet.engine.types import Detections

_GROUND = QColor(14, 16, 20, 215)


@lru_cache(maxsize=256)
def text_label(text: str, colour: str, most: int, ratio: float, larger: int = -1) -> QPixmap:
    """Draw text, which may have several lines, each elided to ``most`` logical pixels.

    ratio: device pixels of a logical pixel. larger: the size of the font, as for ``theme.font``.
    """
    font = theme.font(larger)
    metrics = QFontMetricsF(font)
    text = "\n".join(metrics.elidedText(line, Qt.TextElideMode.ElideRight, most) for line in text.splitlines())
    area = metrics.boundingRect(QRectF(0, 0, most + 1, 10_000), Qt.AlignmentFlag.AlignLeft, text)
    size = QSize(round(area.width()) + 19, round(area.height()) + 9)
    made = QPixmap(size * ratio)
    made.setDevicePixelRatio(ratio)
    made.fill(Qt.GlobalColor.transparent)
    with QPainter(made) as painter:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        draw_box(painter, QRectF(0, 0, size.width(), size.height()), 5, _GROUND)
        painter.setFont(font)
        painter.setPen(QColor(colour))
        painter.drawText(QRectF(9, 4, area.width() + 2, area.height() + 2), Qt.AlignmentFlag.AlignLeft, text)
    return made


NARROW = 420
"""Width of the picture below which labels are smaller, logical pixels."""
ROOMY = 5.0
"""Height of a box from which its label may be inside, in heights of a label. A lower box has a small label outside; none covers it."""
_RIM: Final = QColor(8, 10, 14)
"""A dark rim makes boxes visible on any picture. It is opaque because Qt blends half as fast as it fills."""
_INK: Final = QColor(232, 236, 242)
"""Text on the rim's colour, in any theme: the picture stays the same."""
_AROUND = np.array((-1, -1, 1, 1), np.int32)
_GAP, _SHORTEST_BROKEN = 8, 48  # logical pixels
_FAR = 30_000  # Qt's painter takes no larger coordinates; boxes of an enlarged picture reach far beyond the canvas


class Overlay:
    """The detections of one frame as shapes. rects: x, y, width, height on the canvas, float64 (n, 4).

    canvas: its size. name: the name of a class id. ratio: device pixels of a logical pixel. numbers: whether to show those of tracks.
    reserved: where there may be no labels. labelled: whether boxes have labels; one that the mouse points at always has.
    """

    def __init__(
        self,
        found: Detections,
        placement: Placement,
        canvas: tuple[float, float],
        name: Callable[[int], str],
        ratio: float,
        numbers: bool = False,
        reserved: Sequence[Rect] = (),
        labelled: bool = True,
    ) -> None:
        self.rects = placement.rects(found.boxes)
        self._classes = found.class_ids
        corners = self.rects.copy()
        corners[:, 2:] += corners[:, :2]
        np.minimum(np.maximum(corners, -_FAR, out=corners), _FAR, out=corners)
        edges = np.rint(corners, out=corners).astype(np.int32)[::-1]  # the strongest detections last, on top
        self._rims = _frames(edges[np.argsort(edges[:, 1])] + _AROUND, 4)  # from top to bottom, so that the pixels are still in the cache
        self._boxes = _coloured(edges, self._classes[::-1])
        self._step, self._ratio, self._area = -3 if placement.width < NARROW else -1, ratio, placement.visible(canvas)
        self._percents = (found.scores.astype(np.float64) * 100 + 0.5).astype(np.int64)
        if found.verified is not None:
            self._percents[found.verified] = VERIFIED
        self._tracks = found.tracks if numbers and found.tracks is not None else np.full(len(found), -1)
        self._names = {class_id: name(class_id) for class_id, _, _ in self._boxes[1]}
        self.labels = self._place_labels(reserved) if labelled else []

    def _place_labels(self, reserved: Sequence[Rect]) -> list[tuple[int, int, QPixmap]]:
        """Place the labels so that they overlap neither each other nor low boxes. Without room, a box has no percentage or no label."""
        (left, top, across, down), (x, y, width, height) = self._area, self.rects.T
        seen = np.flatnonzero((x < left + across) & (y < top + down) & (x + width > left) & (y + height > top))
        if not seen.size:
            return []
        step, boxes = self._step, self.rects[seen]
        low = boxes[:, 3] < ROOMY * _label_height(step)
        classes, percents, tracks = self._classes[seen], self._percents[seen], self._tracks[seen]
        widths = self._widths(classes, percents, tracks, low)
        kept = np.concatenate([np.array(reserved, np.float64).reshape(-1, 4), boxes[low]])
        places = LabelPlaces(self._area, _label_height(step)).place_all(boxes, widths, ~low, kept)
        lift, names, ratio = _label_height(step) - _label_height(step - 2), self._names, self._ratio
        labels: list[tuple[int, int, QPixmap]] = []
        rows = (each.tolist() for each in (classes, percents, tracks, low, boxes[:, 1]))
        for class_id, percent, track, small, top, place in zip(*rows, places, strict=True):
            if place is not None:
                text, (left_edge, upper, _, _) = place
                upper += lift * (small and upper < top)  # a small label above its box stands on it
                small_step = step - 2 if small else step
                parts = _label(names[class_id], class_id, BARE if text else percent, track, small_step, ratio)[1]
                labels += _beside(parts, left_edge, upper)
        return labels

    def _widths(
        self, classes: NDArray[np.int32], percents: NDArray[np.int64], tracks: NDArray[Any], low: NDArray[np.bool_]
    ) -> NDArray[np.float64]:
        """The widths of labels with and without their percentages (n, 2). low: which are small."""
        steps = self._step, self._step - 2
        names = np.array([[(_advance(f"{name} ", step), _advance(name, step)) for name in self._names.values()] for step in steps])
        small = low.astype(np.intp)
        widths: NDArray[np.float64] = names[small, np.searchsorted(list(self._names), classes)]
        widths[:, 0] += np.array([_percent_advances(step) for step in steps])[small, percents]
        np.ceil(widths, out=widths)
        widths += 2 * _MARGIN
        for at in np.flatnonzero(tracks >= 0).tolist():
            widths[at] += _number_width(int(tracks[at]), steps[int(small[at])])
        return widths

    def _label_at(self, index: int) -> list[tuple[int, int, QPixmap]]:
        """The whole label of one box, also where it has no room."""
        class_id, percent, track = (int(each[index]) for each in (self._classes, self._percents, self._tracks))
        wide, parts = _label(self._names[class_id], class_id, percent, track, self._step, self._ratio)
        box = tuple(self.rects[index].tolist())
        place = LabelPlaces(self._area, _label_height(self._step)).place(box, wide)
        return _beside(parts, place[0], place[1]) if place is not None else []

    def at(self, point: QPointF) -> int | None:
        """The index of the smallest box at this point, None without a box."""
        x, y, width, height = self.rects.T
        inside = (x <= point.x()) & (point.x() <= x + width) & (y <= point.y()) & (point.y() <= y + height)
        return int(np.argmin(np.where(inside, width * height, np.inf))) if inside.any() else None

    def paint(self, painter: QPainter, pointed: int | None = None, selected: int | None = None, boxes: bool = True) -> None:
        """Draw the boxes, then the labels. pointed: the index of a box to fill. selected: of one to mark. boxes: draw also the others."""
        if pointed is not None:
            inside = QColor(_colour(int(self._classes[pointed])))
            inside.setAlpha(60)
            painter.fillRect(QRectF(*self.rects[pointed].tolist()), inside)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(_RIM)
        if boxes:
            _draw(painter, self._rims.ctypes.data, self._rims.size // 4)
            lines, classes = self._boxes
            address = lines.ctypes.data
            for class_id, first, count in classes:
                painter.setBrush(_colour(class_id))
                _draw(painter, address + first * lines.itemsize * 4, count)
        if selected is not None:
            self._mark(painter, QRectF(*self.rects[selected].tolist()))
        for x, y, label in (*self.labels, *(self._label_at(pointed) if pointed is not None else ())):
            painter.drawPixmap(x, y, label)

    @staticmethod
    def _mark(painter: QPainter, box: QRectF) -> None:
        """A light frame around the box, and its inside brightened."""
        painter.fillRect(box, QColor(255, 255, 255, 70))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(_RIM, 5))
        painter.drawRect(box.adjusted(-4, -4, 4, 4))
        painter.setPen(QPen(QColor(255, 255, 255), 2))
        painter.drawRect(box.adjusted(-4, -4, 4, 4))
        painter.setPen(Qt.PenStyle.NoPen)


_DASH_LABEL = 200
"""The largest width of the label of a dashed box, logical pixels."""


def draw_dashed(
    painter: QPainter, found: Detections, placement: Placement, name: Callable[[int], str], ratio: float, labelled: NDArray[np.bool_]
) -> None:
    """Draw detections in the style of other results: white dashed boxes, some with dark labels below. labelled: which, bool (n,).

    The other parameters are those of ``Overlay``.
    """
    rects = placement.rects(found.boxes)
    boxes = [QRectF(*rect) for rect in rects.tolist()]
    painter.setBrush(Qt.BrushStyle.NoBrush)
    for pen in (QPen(_RIM, 4), QPen(Qt.GlobalColor.white, 2, Qt.PenStyle.DashLine)):
        painter.setPen(pen)
        painter.drawRects(boxes)
    for at in np.flatnonzero(labelled).tolist():
        text = f"{name(int(found.class_ids[at]))} {round(100 * float(found.scores[at]))}%"
        place = boxes[at].bottomLeft() + QPointF(-1, 2)
        painter.drawPixmap(place, text_label(text, theme.ON_STAGE, _DASH_LABEL, ratio, -3))


def _beside(parts: Sequence[tuple[int, QPixmap]], x: float, y: float) -> list[tuple[int, int, QPixmap]]:
    """The parts of a label with their places on the canvas. x, y: of the label."""
    left, top = round(x), round(y)
    return [(left + before, top, picture) for before, picture in parts]


def _frames(edges: NDArray[np.int32], thickness: int) -> NDArray[np.int32]:
    """The four sides of boxes as filled rectangles in the layout of QRect: left, top, right and bottom pixel, int32 (n, 4, 4).

    edges: left, top, right, bottom (n, 4).
    """
    left, top, right, bottom = edges.T
    thick = np.minimum(thickness, np.minimum(right - left, bottom - top))
    inner_top = top + thick
    inner_bottom = np.maximum(bottom - thick, inner_top)
    sides = (
        (left, top, right - 1, inner_top - 1),
        (left, inner_bottom, right - 1, bottom - 1),
        (left, inner_top, left + thick - 1, inner_bottom - 1),
        (right - thick, inner_top, right - 1, inner_bottom - 1),
    )
    frames = np.empty((len(edges), 4, 4), np.int32)
    for side, values in enumerate(sides):
        for number, value in enumerate(values):
            frames[:, side, number] = value
    return frames


def _coloured(edges: NDArray[np.int32], classes: NDArray[np.int32]) -> tuple[NDArray[np.int32], list[tuple[int, int, int]]]:
    """Return the lines of boxes as rectangles (n, 4), and which ones each class has: its id, the number of the first one, and how many.

    A class's pattern breaks long sides by gaps; short sides stay whole. edges: left, top, right, bottom (n, 4).
    """
    order = np.argsort(classes, kind="stable")  # the strongest detections of a class stay last
    ids, sides = classes[order], _frames(edges[order], 2)
    first = np.concatenate([sides[:, :2, 0], sides[:, 2:, 1]], 1).ravel()  # of each side, along its direction
    length = np.concatenate([sides[:, :2, 2], sides[:, 2:, 3]], 1).ravel() - first + 1
    pieces = np.where(length < _SHORTEST_BROKEN, 1, np.repeat(class_pattern(ids) + 1, 4)).astype(np.int32)
    ends = np.cumsum(pieces, dtype=np.int32)
    side = np.repeat(np.arange(len(first), dtype=np.int32), pieces)
    lines = sides.reshape(-1, 4)[side]
    at = np.arange(len(side), dtype=np.int32)
    piece, total = at - (ends - pieces)[side], pieces[side]
    first, length = first[side], length[side]
    numbers, begin = lines.reshape(-1), 4 * at + (side >> 1 & 1)  # the last two of four sides are vertical
    numbers[begin] = first + length * piece // total + (_GAP // 2) * (piece > 0)
    numbers[begin + 2] = first + length * (piece + 1) // total - 1 - (_GAP // 2) * (piece < total - 1)
    last = [*np.flatnonzero(np.diff(ids)).tolist(), len(ids) - 1] if len(ids) else []
    ends_of_classes = [0, *ends[3::4][last].tolist()]
    return lines, [(class_id, one, end - one) for class_id, (one, end) in zip(ids[last].tolist(), pairwise(ends_of_classes), strict=True)]


def _draw(painter: QPainter, address: int, count: int) -> None:
    """Fill rectangles in the layout of QRect, without a Python object for each."""
    if count:
        first: Any = Shiboken.wrapInstance(address, QRect)
        painter.drawRects(first, count)


@cache
def _colour(class_id: int) -> QColor:
    return QColor(*class_colour(class_id))


@cache
def _font(step: int) -> tuple[QFont, QFontMetricsF]:
    font = theme.font(step, bold=True)
    font.setStyleStrategy(QFont.StyleStrategy.NoSubpixelAntialias)  # names and percentages look the same, on colours and on nothing
    return font, QFontMetricsF(font)


@cache
def _label_height(step: int) -> int:
    return math.ceil(_font(step)[1].height()) + 1


_MARGIN = 4
"""At the left and the right of a label's text, logical pixels."""


@lru_cache(maxsize=8192)
def _advance(text: str, step: int) -> float:
    """The width of a text in a label, logical pixels."""
    return _font(step)[1].horizontalAdvance(text)


@cache
def _percent_advances(step: int) -> tuple[float, ...]:
    """The widths of percentages, also at ``BARE`` and ``VERIFIED``, which are the last but one and the last."""
    return (*(_advance(f"{percent}%", step) for percent in range(101)), 0.0, _advance("✓", step))


@lru_cache(maxsize=16384)
def _label(name: str, class_id: int, percent: int, track: int, step: int, ratio: float) -> tuple[int, tuple[tuple[int, QPixmap], ...]]:
    """The width of a label, and its parts with their places in it: the number of the track, the class, and the percentage."""
    before, parts = 0, []
    if track >= 0:
        before, number = _number(track, step, ratio)
        parts.append((0, number))
    room = _percent_advances(step)[percent]
    width = math.ceil(_advance(f"{name} " if room else name, step) + room) + 2 * _MARGIN
    parts.append((before, _name(name, class_id, width, step, ratio)))
    if room:
        picture = _percentage(percent, ink_on(class_colour(class_id)), step, ratio)
        parts.append((before + width - _MARGIN - math.ceil(room), picture))
    return before + width, tuple(parts)


@lru_cache(maxsize=4096)
def _name(name: str, class_id: int, width: int, step: int, ratio: float) -> QPixmap:
    """A class's name on its colour, with room for a percentage. width: of the whole, logical pixels."""
    return _written(name, width, _colour(class_id), QColor(*ink_on(class_colour(class_id))), step, ratio)


@lru_cache(maxsize=1024)
def _percentage(percent: int, ink: Rgb, step: int, ratio: float) -> QPixmap:
    """A percentage on no ground, so that a new one needs no picture for each class."""
    text = "✓" if percent == VERIFIED else f"{percent}%"
    return _written(text, math.ceil(_percent_advances(step)[percent]), QColor(Qt.GlobalColor.transparent), QColor(*ink), step, ratio, 0)


def _number_width(track: int, step: int) -> int:
    return math.ceil(_advance(str(track), step)) + 2 * _MARGIN


@lru_cache(maxsize=8192)
def _number(track: int, step: int, ratio: float) -> tuple[int, QPixmap]:
    """The width of a track's number, and the number: light on dark, so that it differs from the class."""
    width = _number_width(track, step)
    return width, _written(str(track), width, _RIM, _INK, step, ratio)


def _written(text: str, width: int, ground: QColor, ink: QColor, step: int, ratio: float, margin: int = _MARGIN) -> QPixmap:
    font, metrics = _font(step)
    made = QPixmap(QSize(width, _label_height(step)) * ratio)
    made.setDevicePixelRatio(ratio)
    made.fill(ground)
    with QPainter(made) as painter:
        painter.setFont(font)
        painter.setPen(ink)
        painter.drawText(QPointF(margin, metrics.ascent() + 0.5), text)
    return made
