"""Draws lines, zones, their counts, and the one that the user is drawing."""

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QColor, QPainter, QPen, QPolygonF

from framefleet.app.window.viewer.chips import chip
from framefleet.app.window.viewer.layout import Placement
from framefleet.app.window.widgets import theme
from framefleet.app.window.widgets.translation import translate
from framefleet.engine.media.annotation.label_position import Rect
from framefleet.engine.media.annotation.shape_position import arrow_points, place_texts
from framefleet.engine.zones.counts import Counts
from framefleet.engine.zones.shapes import Line, Point, Shape

ARROW = 22.0
"""Length of the arrows of lines, logical pixels."""
MOST_LETTERS = 24
"""Letters of a name over the picture."""
COLOUR, PICKED = QColor("#f5d76e"), QColor("#ffffff")
_ARM = 14.0  # half the size of the cross hair, logical pixels
_RIM, _INSIDE = QColor(8, 10, 14, 170), QColor(245, 215, 110, 38)


@dataclass(frozen=True)
class Scale:
    """Lines and zones for pictures of ``size`` lie over a picture at this place. Pictures of one folder may differ in size."""

    placement: Placement
    size: tuple[int, int]

    @property
    def factor(self) -> float:
        """Logical pixels of one pixel."""
        return self.placement.width / self.size[0]

    def to_canvas(self, point: Point) -> QPointF:
        """Where a point lies on the canvas, logical pixels."""
        place = self.placement
        return QPointF(place.x + point[0] * place.width / self.size[0], place.y + point[1] * place.height / self.size[1])

    def to_picture(self, place: QPointF) -> Point:
        """The point at a place of the canvas."""
        left, top = place.x() - self.placement.x, place.y() - self.placement.y
        return left * self.size[0] / self.placement.width, top * self.size[1] / self.placement.height


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
            arrow = arrow_points([(place.x(), place.y()) for place in places], ARROW)
            painter.drawPolyline(QPolygonF([QPointF(*point) for point in arrow]))
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
    name = shape.name if len(shape.name) <= MOST_LETTERS else f"{shape.name[: MOST_LETTERS - 1]}…"
    if now is None or number >= len(now.zones.shapes):
        return name
    if isinstance(shape, Line):
        return f"{name}   {now.crossed_text(number)}"
    return translate("zones", "{name}   {inside} inside · {total} until now").format(
        name=name, inside=now.inside(number, time), total=now.visited(number)
    )


def write_texts(painter: QPainter, texts: Sequence[tuple[str, Sequence[Point]]], area: Rect, ratio: float) -> list[Rect]:
    """Write the text of each line or zone where it has room, and return these places. The table below the picture has all counts.

    texts: each text with the points of its line or zone, logical pixels. area: where there may be text. ratio: device pixels of a
    logical pixel.
    """
    chips = [chip(text, theme.ON_STAGE, round(area[2]) - 27, ratio) for text, _ in texts]
    sizes = [(picture.width() / ratio, picture.height() / ratio) for picture in chips]
    wished = tuple((tuple(points), size) for (_, points), size in zip(texts, sizes, strict=True))
    inner = (area[0] + 4, area[1] + 4, area[2] - 8, area[3] - 8)
    placed = []
    for place, picture in zip(place_texts(wished, inner, ARROW), chips, strict=True):
        if place is not None:
            painter.drawPixmap(QPointF(*place[:2]), picture)
            placed.append(place)
    return placed
