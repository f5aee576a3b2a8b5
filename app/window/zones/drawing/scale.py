"""Converts between pixels of the lines and zones and places on the canvas."""

from dataclasses import dataclass

from PySide6.QtCore import QPointF

from app.window.viewer.layout import Placement
from engine.zones.shapes import Point


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
