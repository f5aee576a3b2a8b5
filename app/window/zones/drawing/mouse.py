"""What the mouse does to lines and zones: it draws, moves and reshapes them. No painting."""

import math
from dataclasses import dataclass

from PySide6.QtCore import Qt

from framefleet.app.window.zones.drawing.editor import ZoneEditor, nearest, nearest_edge
from framefleet.engine.zones.shapes import Line, Point

GRAB = 9.0
"""Distance within which the mouse takes a point or an edge, logical pixels."""


@dataclass(frozen=True)
class Held:
    """What the mouse moves: the line or zone with this number as a whole, or only one corner. start: of the mouse. points: before."""

    shape: int
    corner: int | None
    start: Point
    points: tuple[Point, ...]


class ShapeMouse:
    """Applies the mouse to the lines and zones of an editor. Places are pixels of the picture; ``factor``: logical pixels of one of these.

    Attributes: at: the mouse. held: what it moves. moved: the points of the held line or zone now.
    """

    def __init__(self, editor: ZoneEditor) -> None:
        self._editor = editor
        self.at: Point | None = None
        self.held: Held | None = None
        self.moved: tuple[Point, ...] = ()

    def press(self, point: Point, factor: float, button: Qt.MouseButton) -> bool:
        """Add a point, or take a point or a whole line or zone. The right button completes, or removes a corner. Returns whether it did."""
        editor, right = self._editor, button is Qt.MouseButton.RightButton
        if editor.drawing is not None:
            closes = len(editor.draft) > 2 and math.dist(editor.draft[0], point) * factor < GRAB
            editor.finish() if right or closes else editor.add_point(point)
            return True
        shape, corner = self.found(point, factor)
        editor.select(shape)
        if shape is None:
            return False
        points = editor.zones.shapes[shape].points
        if not right:
            self.held, self.moved = Held(shape, corner, point, points), points
        elif corner is not None and len(points) > 3:
            editor.set_points(shape, [each for number, each in enumerate(points) if number != corner])
        return True

    def move(self, point: Point) -> bool:
        """Move what the mouse holds. Returns whether it holds anything."""
        self.at = point
        if self.held is None:
            return False
        corner, points = self.held.corner, self.held.points
        if corner is not None:
            self.moved = (*points[:corner], point, *points[corner + 1 :])
        else:
            across, down = point[0] - self.held.start[0], point[1] - self.held.start[1]
            self.moved = tuple((x + across, y + down) for x, y in points)
        return True

    def release(self) -> bool:
        """Put down what the mouse holds. Returns whether it held anything."""
        held, self.held = self.held, None
        if held is not None and self.moved != held.points:
            self._editor.set_points(held.shape, self.moved)
        return held is not None

    def double_click(self, point: Point, factor: float) -> bool:
        """Complete a zone, or add a corner to an edge. Returns whether it did."""
        editor = self._editor
        if editor.drawing is not None:
            editor.finish()
            return True
        number, _ = self.found(point, factor)
        if number is None or isinstance(editor.zones.shapes[number], Line):
            return False
        points = editor.zones.shapes[number].points
        edge, _ = nearest_edge(editor.zones.shapes[number], point)
        self.held = None
        editor.set_points(number, (*points[: edge + 1], point, *points[edge + 1 :]))
        return True

    def found(self, point: Point, factor: float) -> tuple[int | None, int | None]:
        """The line or zone at a point, and its corner there, if any. The selected one comes first."""
        shapes = self._editor.zones.shapes
        order = sorted(range(len(shapes)), key=lambda number: number != self._editor.selected)
        for number in order:
            corner, distance = nearest(shapes[number].points, point)
            if distance * factor < GRAB:
                return number, corner
        near = (number for number in order if nearest_edge(shapes[number], point)[1] * factor < GRAB)
        return next(near, None), None
