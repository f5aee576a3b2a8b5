"""What keyboard and mouse do to lines and zones: they draw, move and reshape them. No painting."""

import math
from dataclasses import dataclass

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QKeyEvent, QKeySequence

from framefleet.app.window.widgets.translation import marked, translate
from framefleet.app.window.zones.drawing.editor import ZoneEditor, nearest, nearest_edge
from framefleet.engine.zones.shapes import Line, Point, Shape, Zone

STEP, FAR = 0.01, 0.1
"""How far an arrow key moves, and with Shift, as shares of the picture's width. With Ctrl it is one pixel."""

_ARROWS = {Qt.Key.Key_Left: (-1, 0), Qt.Key.Key_Right: (1, 0), Qt.Key.Key_Up: (0, -1), Qt.Key.Key_Down: (0, 1)}
_ENTER = (Qt.Key.Key_Return, Qt.Key.Key_Enter)
_DRAW = marked(
    "zones", "Arrow keys move the cross hair, with Shift farther; Enter sets a point; Backspace removes it; Esc stops. It is at {x}, {y}."
)
_MOUSE = {
    Line: (
        marked("zones", "Press where the line begins and drag to its end, or press an arrow key to draw with the keyboard."),
        marked("zones", "Drag or click to where the line ends. Esc stops."),
    ),
    Zone: (
        marked("zones", "Click the first corner of the zone, or press an arrow key to draw with the keyboard."),
        *[marked("zones", "Click the next corner. Backspace removes the last one, Esc stops.")] * 2,
        marked("zones", "Click the next corner, or the first one again to complete the zone."),
    ),
}
"""Hints for the mouse, by the number of points that are drawn."""
_CLOSE = marked("zones", "Point {count} is at {x}, {y}. Enter here again, or on the first point, completes the zone.")


class ShapeKeyboard(QObject):
    """Applies keys to the lines and zones of an editor.

    said: what has changed, in a sentence. Attributes: at: the cross hair, None = hidden. corner: of the selected line or zone, moved by
    the arrow keys; None = they move the whole.
    """

    said = Signal(str)

    def __init__(self, editor: ZoneEditor, parent: QObject) -> None:
        super().__init__(parent)
        self._editor = editor
        self.at: Point | None = None
        self.corner: int | None = None
        self._shape: int | None = None
        self._drawing = False
        editor.drawn.connect(self._selected)

    def yield_to_mouse(self) -> None:
        """Hide the cross hair, because the user draws with the mouse."""
        if self.at is not None:
            self.at = None
            self._say_next()

    def takes(self, event: QKeyEvent) -> bool:
        """Whether a key draws or changes a line or zone now. The player has other uses for the arrow keys."""
        editor, key = self._editor, event.key()
        if editor.drawing is not None:
            return key in (*_ARROWS, *_ENTER, Qt.Key.Key_Escape) or (bool(editor.draft) and _removes_point(event))
        return editor.selected is not None and key in (
            *(*_ARROWS, *_ENTER, Qt.Key.Key_Escape, Qt.Key.Key_Insert),
            *([Qt.Key.Key_Backspace] if self.corner is not None else []),
        )

    def press(self, event: QKeyEvent) -> bool:
        """Obey a key. Returns whether it did."""
        editor, key = self._editor, event.key()
        if not self.takes(event):
            return False
        if key == Qt.Key.Key_Escape:
            editor.cancel()
            self.said.emit("")
        elif editor.drawing is not None:
            self._draw(Qt.Key.Key_Backspace if _removes_point(event) else key, self._step(event))
        elif editor.selected is not None:
            self._change(editor.selected, editor.zones.shapes[editor.selected], key, self._step(event))
        return True

    def _draw(self, key: int, step: Point) -> None:
        editor, at = self._editor, self.at
        if key == Qt.Key.Key_Backspace:
            editor.remove_last_point()
            self.said.emit(translate("zones", "The last point is removed."))
        elif key in _ENTER and ((at is None and editor.draft and editor.drawing is Zone) or self._closes(at)):
            editor.finish()
            self._completed()
        elif key in _ENTER and at is not None:
            editor.add_point(at)
            if editor.drawing is None:
                self._completed()
            else:
                self._say(_CLOSE if len(editor.draft) > 2 else marked("zones", "Point {count} is at {x}, {y}."), at)
        else:
            width, height = editor.zones.size
            x, y = at or (width / 2, height / 2)
            self.at = editor.inside((x + step[0], y + step[1]))
            self._say(_DRAW if at is None else marked("zones", "{x}, {y}"), self.at)

    def _closes(self, at: Point | None) -> bool:
        """Whether the zone that is drawn is complete with Enter at this point."""
        draft = self._editor.draft
        return self._editor.drawing is Zone and len(draft) > 2 and at in (draft[0], draft[-1])

    def _change(self, number: int, shape: Shape, key: int, step: Point) -> None:
        editor, points, corner = self._editor, shape.points, self.corner
        if key in _ENTER:
            following = 0 if corner is None else corner + 1
            self.corner = following if following < len(points) else None
        elif key in _ARROWS:
            moved = [(x + step[0], y + step[1]) if corner in (None, place) else (x, y) for place, (x, y) in enumerate(points)]
            if all(editor.inside(point) == (round(point[0], 1), round(point[1], 1)) for point in moved):
                editor.set_points(number, moved, merge=True)
        elif isinstance(shape, Zone) and key == Qt.Key.Key_Insert:
            place = corner or 0
            (x1, y1), (x2, y2) = points[place], points[(place + 1) % len(points)]
            if editor.set_points(number, (*points[: place + 1], ((x1 + x2) / 2, (y1 + y2) / 2), *points[place + 1 :])):
                self.corner = place + 1
        elif corner is not None and key == Qt.Key.Key_Backspace and len(points) > 3:
            editor.set_points(number, (*points[:corner], *points[corner + 1 :]))
            self.corner = None
        editor.drawn.emit()
        self._say_selected(editor.zones.shapes[number])

    def _step(self, event: QKeyEvent) -> Point:
        """How far the key moves something, pixels of the picture."""
        across, down = _ARROWS.get(Qt.Key(event.key()), (0, 0))
        modifiers, width = event.modifiers(), self._editor.zones.size[0]
        length = (
            1.0
            if modifiers & Qt.KeyboardModifier.ControlModifier
            else (max(1.0, width * (FAR if modifiers & Qt.KeyboardModifier.ShiftModifier else STEP)))
        )
        return across * length, down * length

    def _selected(self) -> None:
        """Move the whole of what is selected newly. Say what the mouse does next; hide cross hair and hint when nothing is drawn."""
        editor = self._editor
        drawing, selected = self._drawing, self._shape
        self._drawing, self._shape = editor.drawing is not None, editor.selected
        if editor.selected != selected:
            self.corner = None
        if editor.drawing is None:
            self.at = None
            if drawing or editor.selected != selected:
                self.said.emit("")
        elif self.at is None:
            self._say_next()

    def _say_next(self) -> None:
        """Say what the mouse does next."""
        if self._editor.drawing is not None:
            hints = _MOUSE[self._editor.drawing]
            self.said.emit(translate("zones", hints[min(len(self._editor.draft), len(hints) - 1)]))

    def _completed(self) -> None:
        editor = self._editor
        if editor.drawing is None and editor.selected is not None:
            self._say_selected(editor.zones.shapes[editor.selected])

    def _say_selected(self, shape: Shape) -> None:
        if self.corner is None:
            hint = translate("zones", "'{name}' is selected: arrow keys move it, Enter chooses a point of it, Delete removes it.")
            self.said.emit(hint.format(name=shape.name))
            return
        words = (
            marked("zones", "Point {count} of '{name}' is at {x}, {y}: arrow keys move it.")
            if isinstance(shape, Line)
            else marked("zones", "Point {count} of '{name}' is at {x}, {y}: arrow keys move it, Backspace removes it, Insert adds one.")
        )
        self._say(words, shape.points[self.corner], shape.name)

    def _say(self, words: str, point: Point, name: str = "") -> None:
        count = len(self._editor.draft) if self.corner is None else self.corner + 1
        x, y = (f"{value:.0f}" for value in point)
        self.said.emit(translate("zones", words).format(x=x, y=y, count=count, name=name))


def _removes_point(event: QKeyEvent) -> bool:
    """Whether a key removes the last point while a line or zone is drawn."""
    return event.key() == Qt.Key.Key_Backspace or event.matches(QKeySequence.StandardKey.Undo)


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

    def release(self, point: Point, factor: float) -> bool:
        """Put down what the mouse holds; complete a line that was dragged. Returns whether it did anything."""
        editor = self._editor
        if editor.drawing is Line and len(editor.draft) == 1:  # a click leaves the second end to another click
            if math.dist(editor.draft[0], point) * factor >= GRAB:
                editor.add_point(point)
            return True
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
