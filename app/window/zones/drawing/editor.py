"""Edits the lines and zones of one camera. No painting."""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QUndoCommand, QUndoStack

from framefleet.app.window.widgets.translation import marked, of_engine, translate
from framefleet.engine.zones.shapes import Line, Point, Reference, Shape, Zone, ZoneSet, problem_of

EMPTY = ZoneSet((1, 1))
ZONES_COMMAND = 2


class ZoneEditor(QObject):
    """Holds a set of lines and zones, the selected one, and the points of one that is being drawn.

    changed: the set has changed. drawn: the selection or the points that are being drawn have changed. refused: why a change is impossible.

    undo: takes all changes. Attributes: reach: returns a function that loads the present set again, and says whether it could.
    """

    changed = Signal()
    drawn = Signal()
    refused = Signal(str)

    def __init__(self, parent: QObject | None = None, undo: QUndoStack | None = None) -> None:
        super().__init__(parent)
        self.undo = undo or QUndoStack(self)
        self.reach: Callable[[], Callable[[], bool]] = lambda: lambda: True
        self.zones = EMPTY
        self.selected: int | None = None
        self.draft: list[Point] = []
        self.drawing: type[Line] | type[Zone] | None = None

    def load(self, zones: ZoneSet) -> None:
        """Edit another set."""
        self.zones, self.selected = zones, None
        self.cancel()
        self.changed.emit()

    def restore(self, zones: ZoneSet) -> None:
        """Take the lines and zones of an earlier or later state of the same set."""
        self.zones, self.selected = zones, None
        self.changed.emit()
        self.drawn.emit()

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
        drawn = translate("zones", "Draw '{name}'").format(name=name)
        if self._accept(replace(self.zones, shapes=(*self.zones.shapes, shape)), drawn, shape):
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
            deleted = shapes.pop(self.selected)
            self.selected = None
            done = translate("zones", "Delete '{name}'").format(name=deleted.name)
            self._accept(replace(self.zones, shapes=tuple(shapes)), done)
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
        return self._change(number, lambda shape: replace(shape, name=name), marked("zones", "Rename '{name}'"))

    def set_classes(self, number: int, classes: Sequence[str]) -> None:
        """Count only these classes at a line or zone, none = all."""
        self._change(number, lambda shape: replace(shape, classes=tuple(classes)), marked("zones", "Classes of '{name}'"))

    def set_points(self, number: int, points: Sequence[Point], merge: bool = False) -> bool:
        """Move the points of a line or zone. merge: undo takes back such steps together. Returns whether it is possible."""
        inside = [self.inside(point) for point in points]
        return self._change(number, lambda shape: shape.moved_to(inside), marked("zones", "Move '{name}'"), merge)

    def reverse(self, number: int) -> None:
        """Swap the directions of a line."""
        self._change(number, lambda shape: shape.moved_to(shape.points[::-1]), marked("zones", "Swap the directions of '{name}'"))

    def set_reference(self, reference: Reference) -> None:
        """Count another point of the boxes."""
        if reference is not self.zones.reference:
            self._accept(replace(self.zones, reference=reference), translate("zones", "Point that counts"))

    def _change(self, number: int, change: Callable[[Shape], Shape], words: str, merge: bool = False) -> bool:
        shapes = list(self.zones.shapes)
        before, changed = shapes[number], change(shapes[number])
        if changed == before:
            return True
        shapes[number] = changed
        return self._accept(replace(self.zones, shapes=tuple(shapes)), translate("zones", words).format(name=before.name), changed, merge)

    def _accept(self, zones: ZoneSet, words: str, shape: Shape | None = None, merge: bool = False) -> bool:
        """Take a changed set unless its changed shape is impossible. words: what is done. merge: undo takes back such steps together."""
        problem = problem_of(shape, zones.size) if shape is not None else None
        if problem is not None and shape is not None:
            self.refused.emit(f"'{shape.name}' {of_engine(problem)}.")
            return False
        before, self.zones = self.zones, zones
        self.changed.emit()
        self.undo.push(_ZonesCommand(self, before, words, merge))
        return True

    def inside(self, point: Point) -> Point:
        """The nearest point of the picture, in tenths of a pixel."""
        width, height = self.zones.size
        x, y = point
        return round(min(max(x, 0.0), width), 1), round(min(max(y, 0.0), height), 1)

    def _free_name(self, kind: str) -> str:
        names = {shape.name.casefold() for shape in self.zones.shapes}
        return next(name for number in range(1, len(names) + 2) if (name := f"{kind} {number}").casefold() not in names)


class _ZonesCommand(QUndoCommand):
    """The user changed lines and zones. before: the set without the change, which is in the editor already. words: what was done."""

    def __init__(self, editor: ZoneEditor, before: ZoneSet, words: str, merge: bool) -> None:
        super().__init__(words)
        self._editor, self.before, self.after, self._merge = editor, before, editor.zones, merge
        self._reach = editor.reach()

    def id(self) -> int:
        """Commands with the same number can become one."""
        return ZONES_COMMAND if self._merge else -1

    def mergeWith(self, other: QUndoCommand) -> bool:
        """Become one with the following small step."""
        if not isinstance(other, _ZonesCommand) or other.before is not self.after:
            return False
        self.after = other.after
        return True

    def undo(self) -> None:
        """Restore the set without the change."""
        self._set(self.before)

    def redo(self) -> None:
        """Make the change again."""
        if self._editor.zones is not self.after:
            self._set(self.after)

    def _set(self, zones: ZoneSet) -> None:
        if self._reach():
            self._editor.restore(zones)
        else:
            self.setObsolete(True)


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
