"""Draws lines, zones, their counts, and the one that the user is drawing."""

import math
from collections.abc import Iterator, Sequence

from PySide6.QtCore import QPointF, QRectF, QSizeF, Qt
from PySide6.QtGui import QColor, QPainter, QPen, QPixmap, QPolygonF

from app.window.widgets import theme
from app.window.widgets.chips import chip
from app.window.widgets.translation import translate
from app.window.zones.scale import Scale
from engine.zones.counts import Counts
from engine.zones.shapes import Line, Point, Shape

COLOUR, PICKED = QColor("#f5d76e"), QColor("#ffffff")
_ARM = 14.0  # half the size of the cross hair, logical pixels
_RIM, _INSIDE = QColor(8, 10, 14, 170), QColor(245, 215, 110, 38)


def draw_shape(
    painter: QPainter, scale: Scale, shape: Shape, points: Sequence[Point], chosen: bool, handles: bool, corner: int | None
) -> None:
    """Draw a line or zone with these points.

    chosen: in the colour of the selected one. handles: also draw what the mouse can take. corner: filled, None = no corner.
    """
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
        if corner is not None:
            painter.setBrush(colour)
            painter.drawEllipse(places[corner], 5.0, 5.0)


def draw_draft(painter: QPainter, scale: Scale, points: Sequence[Point], next_point: Point | None, cross_hair: bool) -> None:
    """Draw the points of a line or zone that is not complete, and a line to the next one. cross_hair: also draw one there."""
    places = [scale.to_canvas(point) for point in points]
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.setPen(QPen(PICKED, 2, Qt.PenStyle.DashLine))
    painter.drawPolyline(QPolygonF(places if next_point is None else [*places, scale.to_canvas(next_point)]))
    _draw_handles(painter, places, PICKED)
    if cross_hair and next_point is not None:
        middle = scale.to_canvas(next_point)
        for pen in (QPen(_RIM, 4), QPen(PICKED, 1.5)):
            painter.setPen(pen)
            for arm in (QPointF(_ARM, 0), QPointF(0, _ARM)):
                painter.drawLine(middle - arm, middle + arm)


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
        return translate("zones", "{name}   {forward} forward · {backward} backward so far").format(
            name=shape.name, forward=now.crossed(number, forward=True), backward=now.crossed(number, forward=False)
        )
    return translate("zones", "{name}   {inside} inside · {total} so far").format(
        name=shape.name, inside=now.inside(number, time), total=now.visited(number)
    )


def place_texts(texts: Sequence[tuple[str, Sequence[QPointF]]], area: QRectF, ratio: float) -> list[tuple[QRectF, QPixmap]]:
    """Find a place for the text of each line or zone: in its middle, or at another point of it where that would cover another text.

    texts: each text with the points of its line or zone, logical pixels. area: where there may be text. ratio: device pixels of a
    logical pixel. Without room, a text is left out; the table below the picture has the counts.
    """
    placed: list[tuple[QRectF, QPixmap]] = []
    for text, points in texts:
        picture = chip(text, theme.ON_STAGE, round(area.width()), ratio)
        size = QSizeF(picture.width() / ratio, picture.height() / ratio)
        for middle in _middles(points):
            place = QRectF(middle - QPointF(size.width(), size.height()) / 2, size)
            place.moveLeft(max(min(place.left(), area.right() - size.width() - 4), area.left() + 4))
            place.moveTop(max(min(place.top(), area.bottom() - size.height() - 4), area.top() + 4))
            if not any(place.intersects(other) for other, _ in placed):
                placed.append((place, picture))
                break
    return placed


def _middles(points: Sequence[QPointF]) -> Iterator[QPointF]:
    """Where a text may stand: the middle of the points, then between it and the points, ever farther out."""
    middle = QPointF()
    for point in points:
        middle += point / len(points)
    yield middle
    edges = [(one + other) / 2 for one, other in zip(points, [*points[1:], points[0]], strict=True)]
    for share in (0.3, 0.6, 0.9):
        yield from (middle + (point - middle) * share for point in (*edges, *points))


def _arrow(start: QPointF, end: QPointF) -> QPolygonF:
    """An arrow in the middle of a line, in the direction of objects that cross it forward."""
    middle, along = (start + end) / 2, end - start
    length = max(math.hypot(along.x(), along.y()), 1.0)
    ahead = QPointF(-along.y(), along.x()) / length
    side = along / length
    tip = middle + ahead * 22
    return QPolygonF([middle, tip, tip - ahead * 8 + side * 6, tip, tip - ahead * 8 - side * 6])
