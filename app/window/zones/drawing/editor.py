"""Edits the lines and zones of one camera, with undo. No painting."""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

from PySide6.QtCore import QObject, Signal

from framefleet.app.window.widgets.translation import translate
from framefleet.engine.zones.checks import problem_of
from framefleet.engine.zones.shapes import Line, Point, Reference, Shape, Zone, ZoneSet

EMPTY = ZoneSet((1, 1))


class ZoneEditor(QObject):
    """Holds a set of lines and zones, the selected one, and the points of one that is being drawn.

    changed: the set has changed. drawn: the selection or the points that are being drawn have changed. refused: why a change is impossible.
    """

    changed = Signal()
    drawn = Signal()
    refused = Signal(str)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.zones = EMPTY
        self.selected: int | None = None
        self.draft: list[Point] = []
        self.drawing: type[Line] | type[Zone] | None = None
        self._undo: list[ZoneSet] = []
        self._redo: list[ZoneSet] = []
        self._merged: ZoneSet | None = None  # the result of a small step, to which the next one belongs

    @property
    def can_undo(self) -> bool:
        """Whether there is a change to undo."""
        return bool(self._undo)

    @property
    def can_redo(self) -> bool:
        """Whether there is a change to do again."""
        return bool(self._redo)

    def load(self, zones: ZoneSet) -> None:
        """Edit another set."""
        self.zones, self.selected = zones, None
        self._undo, self._redo = [], []
        self.cancel()
        self.changed.emit()

    def begin(self, kind: type[Line] | type[Zone]) -> None:
        """Start to draw a line or a zone."""
        self.drawing, self.draft, self.selected = kind, [], None
        self.drawn.emit()

    def cancel(self) -> None:
        """Stop drawing, or select nothing."""
        if self.drawing is None:
            self.selected = None
        self.drawing, self.draft = None, []
        self.drawn.emit()

    def add_point(self, point: Point) -> None:
        """Add a point to the line or zone that is being drawn. A line is complete with its second point."""
        if self.drawing is None:
            return
        self.draft.append(self.inside(point))
        if self.drawing is Line and len(self.draft) == 2:
            self.finish()
        self.drawn.emit()

    def remove_last_point(self) -> None:
        """Remove the last point of the line or zone that is being drawn."""
        if self.draft:
            self.draft.pop()
            self.drawn.emit()

    def finish(self) -> None:
        """Complete the line or zone that is being drawn. A line with fewer than two points stays as it is."""
        points, kind = tuple(self.draft), self.drawing
        if kind is None or (kind is Line and len(points) < 2):
            return
        name = self._free_name(translate("zones", "Line") if kind is Line else translate("zones", "Zone"))
        shape: Shape = Line(name, points[0], points[1]) if kind is Line else Zone(name, points)
        if self._accept(replace(self.zones, shapes=(*self.zones.shapes, shape)), shape):
            self.drawing, self.draft, self.selected = None, [], len(self.zones.shapes) - 1
        elif kind is Line:
            self.draft.pop()
        self.drawn.emit()

    def select(self, number: int | None) -> None:
        """Select a line or zone."""
        self.selected = number
        self.drawn.emit()

    def delete(self) -> None:
        """Delete the selected line or zone."""
        if self.selected is not None:
            shapes = list(self.zones.shapes)
            del shapes[self.selected]
            self.selected = None
            self._accept(replace(self.zones, shapes=tuple(shapes)))
            self.drawn.emit()

    def rename(self, number: int, name: str) -> bool:
        """Give a line or zone another name. Returns whether it is possible: names are unique."""
        name = name.strip()
        others = {shape.name.casefold() for other, shape in enumerate(self.zones.shapes) if other != number}
        if not name or not name.isprintable() or name.casefold() in others:
            self.refused.emit(
                translate("zones", "Another line or zone has the name '{name}'.").format(name=name)
                if name
                else translate("zones", "A line or zone needs a name.")
            )
            return False
        return self._change(number, lambda shape: replace(shape, name=name))

    def set_classes(self, number: int, classes: Sequence[str]) -> None:
        """Count only these classes at a line or zone, none = all."""
        self._change(number, lambda shape: replace(shape, classes=tuple(classes)))

    def set_points(self, number: int, points: Sequence[Point], merge: bool = False) -> bool:
        """Move the points of a line or zone. merge: undo takes back such steps together. Returns whether it is possible."""
        before = len(self._undo) if merge and self._merged is self.zones else None
        done = self._change(number, lambda shape: shape.moved_to([self.inside(point) for point in points]))
        if done and before is not None:
            del self._undo[before:]
        self._merged = self.zones if merge and done else None
        return done

    def reverse(self, number: int) -> None:
        """Swap the directions of a line."""
        self._change(number, lambda shape: shape.moved_to(shape.points[::-1]))

    def set_reference(self, reference: Reference) -> None:
        """Count another point of the boxes."""
        if reference is not self.zones.reference:
            self._accept(replace(self.zones, reference=reference))

    def undo(self) -> None:
        """Undo the last change, or remove the last point while drawing."""
        if self.draft:
            self.remove_last_point()
        elif self._undo:
            self._redo.append(self.zones)
            self._set(self._undo.pop())

    def redo(self) -> None:
        """Do the last undone change again."""
        if self._redo:
            self._undo.append(self.zones)
            self._set(self._redo.pop())

    def _set(self, zones: ZoneSet) -> None:
        self.zones, self.selected = zones, None
        self.changed.emit()
        self.drawn.emit()

    def _change(self, number: int, change: Callable[[Shape], Shape]) -> bool:
        shapes = list(self.zones.shapes)
        changed = change(shapes[number])
        if changed == shapes[number]:
            return True
        shapes[number] = changed
        return self._accept(replace(self.zones, shapes=tuple(shapes)), changed)

    def _accept(self, zones: ZoneSet, shape: Shape | None = None) -> bool:
        """Take a changed set unless its changed shape is impossible."""
        problem = problem_of(shape, zones.size) if shape is not None else ""
        if problem and shape is not None:
            self.refused.emit(f"'{shape.name}' {problem}.")
            return False
        self._undo.append(self.zones)
        self._redo = []
        self.zones = zones
        self.changed.emit()
        return True

    def inside(self, point: Point) -> Point:
        """The nearest point of the picture, in tenths of a pixel."""
        width, height = self.zones.size
        x, y = point
        return round(min(max(x, 0.0), width), 1), round(min(max(y, 0.0), height), 1)

    def _free_name(self, kind: str) -> str:
        names = {shape.name.casefold() for shape in self.zones.shapes}
        return next(name for number in range(1, len(names) + 2) if (name := f"{kind} {number}").casefold() not in names)


def nearest(points: Sequence[Point], point: Point) -> tuple[int, float]:
    """The number of the point nearest to another one, and its distance."""
    distances = [math.dist(each, point) for each in points]
    number = min(range(len(points)), key=distances.__getitem__)
    return number, distances[number]


def nearest_edge(shape: Shape, point: Point) -> tuple[int, float]:
    """The number of the edge nearest to a point, and its distance. Edge n begins at point n."""
    points = shape.points
    ends = points[1:] if isinstance(shape, Line) else (*points[1:], points[0])
    distances = []
    for (x1, y1), (x2, y2) in zip(points[: len(ends)], ends, strict=True):
        across, down = x2 - x1, y2 - y1
        share = min(max(((point[0] - x1) * across + (point[1] - y1) * down) / max(across**2 + down**2, 1e-9), 0.0), 1.0)
        distances.append(math.dist(point, (x1 + share * across, y1 + share * down)))
    number = min(range(len(distances)), key=distances.__getitem__)
    return number, distances[number]
