"""Draws lines, zones, their counts, and the one that the user is drawing."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen, QPixmap, QPolygonF

from app.window.widgets import theme
from app.window.widgets.chips import chip
from app.window.widgets.translation import translate
from app.window.zones.scale import Scale
from engine.zones.counts import Counts
from engine.zones.shapes import Line, Point, Shape

COLOUR, PICKED = QColor("#f5d76e"), QColor("#ffffff")
_RIM, _INSIDE = QColor(8, 10, 14, 170), QColor(245, 215, 110, 38)


def draw_shape(painter: QPainter, scale: Scale, shape: Shape, points: Sequence[Point], chosen: bool, handles: bool) -> None:
    """Draw a line or zone with these points. chosen: in the colour of the selected one. handles: also draw what the mouse can take."""
    places = [scale.to_canvas(point) for point in points]
    colour = PICKED if chosen else COLOUR
    for width, pen in ((4.5, _RIM), (2.2, colour)):
        painter.setPen(QPen(pen, width, c=Qt.PenCapStyle.RoundCap, j=Qt.PenJoinStyle.RoundJoin))
        if isinstance(shape, Line):
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawLine(*places)
            painter.drawPolyline(_arrow(*places))
        else:
            painter.setBrush(_INSIDE if width < 3 else Qt.BrushStyle.NoBrush)
            painter.drawPolygon(QPolygonF(places))
    if handles:
        _draw_handles(painter, places, colour)


def draw_draft(painter: QPainter, scale: Scale, points: Sequence[Point], mouse: Point | None) -> None:
    """Draw the points of a line or zone that is not complete, and a line to the mouse."""
    places = [scale.to_canvas(point) for point in points]
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.setPen(QPen(PICKED, 2, Qt.PenStyle.DashLine))
    painter.drawPolyline(QPolygonF(places if mouse is None else [*places, scale.to_canvas(mouse)]))
    _draw_handles(painter, places, PICKED)


def _draw_handles(painter: QPainter, places: Sequence[QPointF], colour: QColor) -> None:
    painter.setBrush(_RIM)
    painter.setPen(QPen(colour, 1.5))
    for place in places:
        painter.drawEllipse(place, 4.0, 4.0)


def count_text(shape: Shape, number: int, now: Counts | None, time: float) -> str:
    """The name of a line or zone, and what was counted there up to a time, seconds. now: the counts up to this time."""
    if now is None or number >= len(now.zones.shapes):
        return shape.name
    if isinstance(shape, Line):
        return f"{shape.name}   → {now.crossed(number, forward=True)}   ← {now.crossed(number, forward=False)}"
    return translate("zones", "{name}   {inside} inside · {total} in all").format(
        name=shape.name, inside=now.inside(number, time), total=now.visited(number)
    )


def draw_texts(painter: QPainter, texts: Sequence[tuple[str, Sequence[QPointF]]], area: QRectF, ratio: float) -> None:
    """Write a text in the middle of each line or zone, moved up or down where it would cover another one.

    texts: each text with the points of its line or zone, logical pixels. area: where there may be text. ratio: device pixels of a
    logical pixel.
    """
    taken: list[QRectF] = []
    for text, places in texts:
        picture = chip(text, theme.TEXT, round(area.width()), ratio)
        place = next((each for each in _places(picture, places, area, ratio) if not any(each.intersects(other) for other in taken)), None)
        if place is not None:  # without room, the table below the picture has the counts
            taken.append(place)
            painter.drawPixmap(place.topLeft(), picture)


def _places(picture: QPixmap, points: Sequence[QPointF], area: QRectF, ratio: float) -> Iterator[QRectF]:
    """Where a text may stand: in the middle of the points, then ever farther above and below."""
    width, height = picture.width() / ratio, picture.height() / ratio
    middle = sum((point.x() for point in points), 0.0) / len(points), sum((point.y() for point in points), 0.0) / len(points)
    left = max(min(middle[0] - width / 2, area.right() - width - 4), area.left() + 4)
    for step in range(2 * math.ceil(area.height() / height)):
        up = (step + 1) // 2 * (1 if step % 2 else -1)
        top = max(min(middle[1] - height / 2 + up * (height + 2), area.bottom() - height - 4), area.top() + 4)
        yield QRectF(left, top, width, height)


def _arrow(start: QPointF, end: QPointF) -> QPolygonF:
    """An arrow in the middle of a line, in the direction of objects that cross it forward."""
    middle, along = (start + end) / 2, end - start
    length = max(math.hypot(along.x(), along.y()), 1.0)
    ahead = QPointF(-along.y(), along.x()) / length
    side = along / length
    tip = middle + ahead * 22
    return QPolygonF([middle, tip, tip - ahead * 8 + side * 6, tip, tip - ahead * 8 - side * 6])
