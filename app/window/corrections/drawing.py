"""Draws boxes with the mouse in the correction mode: a new one, or the corners of the selected one."""

from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QMouseEvent, QPainter, QPen
from shiboken6 import isValid

from framefleet.app.window.viewer.canvas import VideoCanvas
from framefleet.app.window.viewer.layout import Placement
from framefleet.app.window.widgets import theme

GRIP, NEAR = 4.0, 9.0
"""Half the side of a square that marks a corner, and how near to it the mouse moves the corner, logical pixels."""
MIN_SIDE = 3.0
"""Width and height below which nothing was drawn, logical pixels."""
_CURSORS = Qt.CursorShape.SizeFDiagCursor, Qt.CursorShape.SizeBDiagCursor


class BoxDrawing(QObject):
    """Turns presses, moves and releases of the mouse into boxes. drawn: the box of a new object. moved: the new box of the selected one.

    new: whether the mouse draws a new box. selected: returns the index of the selected object among the visible ones, None without one.
    """

    drawn = Signal(object)
    moved = Signal(object)

    def __init__(self, canvas: VideoCanvas, selected: Callable[[], int | None], parent: QObject) -> None:
        super().__init__(parent)
        self._canvas, self._selected = canvas, selected
        self.new = False
        self._fixed: QPointF | None = None  # the corner opposite to the mouse, in source pixels
        self._free: QPointF | None = None
        self._pending: QRectF | None = None  # what was drawn, until the results have it

    def set_shown(self, shown: bool) -> None:
        """Show the corners of the selected object, or leave the picture alone."""
        self._canvas.paint_above = self._paint if shown else None
        self._canvas.update()
        self.forget()

    def set_new(self, new: bool) -> None:
        """Let the mouse draw a new box, or not."""
        self.new = new
        self._canvas.setCursor(Qt.CursorShape.CrossCursor if new else Qt.CursorShape.ArrowCursor)
        self._canvas.update()
        self.forget()

    def forget(self, under_way: bool = True) -> None:
        """Show the results again. under_way: drop also what is being drawn."""
        shown = self._pending, self._fixed
        self._pending = None
        if under_way:
            self._fixed = self._free = None
        if (self._pending, self._fixed) != shown:  # each picture that plays comes here
            self._canvas.update()

    @property
    def active(self) -> bool:
        """Whether a button of the mouse is down that draws."""
        return self._fixed is not None

    def handle(self, event: QEvent) -> bool:
        """Handle an event of the canvas. Returns whether it belonged to a box, so that nothing else shall handle it."""
        placement = self._canvas.placement
        if not isinstance(event, QMouseEvent) or placement is None or self._canvas.result is None:
            return False
        kind, at = event.type(), event.position()
        if kind is QEvent.Type.MouseButtonPress and event.button() is Qt.MouseButton.LeftButton:
            return self._press(at, placement)
        if kind is QEvent.Type.MouseMove and self.active:
            self._free = _to_source(at, placement)
            self._canvas.update()
            return True
        if kind is QEvent.Type.MouseMove and not self.new:
            corner = self._corner_at(at, placement)
            if corner is not None:
                self._canvas.setCursor(_CURSORS[corner % 2])
            elif self._canvas.cursor().shape() in _CURSORS:
                self._canvas.unsetCursor()
        if kind is QEvent.Type.MouseButtonRelease and self.active:
            self._release(at, placement)
            return True
        return False

    def _press(self, at: QPointF, placement: Placement) -> bool:
        corner = None if self.new else self._corner_at(at, placement)
        if corner is None and not self.new:
            return False
        self._fixed = _to_source(at, placement)
        if corner is not None:
            box = self._corners()
            assert box is not None
            self._fixed = box[(corner + 2) % 4]
        self._free = _to_source(at, placement)
        return True

    def _release(self, at: QPointF, placement: Placement) -> None:
        fixed, free = self._fixed, _to_source(at, placement)
        assert fixed is not None
        self._fixed = self._free = None
        area = QRectF(fixed, free).normalized()
        scale = placement.width / placement.source[0]
        if min(area.width(), area.height()) * scale < MIN_SIDE:
            self.forget()
            return
        self._pending = area
        self._canvas.update()
        (self.drawn if self.new else self.moved).emit((area.left(), area.top(), area.right(), area.bottom()))

    def _corners(self) -> list[QPointF] | None:
        """The corners of the selected object in source pixels, clockwise from the top left one."""
        selected = self._selected()
        if selected is None or selected >= len(self._canvas.visible_detections):
            return None
        x1, y1, x2, y2 = self._canvas.visible_detections.boxes[selected].tolist()
        return [QPointF(x1, y1), QPointF(x2, y1), QPointF(x2, y2), QPointF(x1, y2)]

    def _corner_at(self, at: QPointF, placement: Placement) -> int | None:
        corners = self._corners() or []
        away = [(_to_canvas(corner, placement) - at).manhattanLength() for corner in corners]
        return away.index(min(away)) if away and min(away) <= NEAR else None

    def _paint(self, painter: QPainter, placement: Placement) -> None:
        if not isValid(self):
            return
        painter.setBrush(Qt.BrushStyle.NoBrush)
        area = self._pending if self._fixed is None or self._free is None else QRectF(self._fixed, self._free).normalized()
        if area is not None:
            shown = QRectF(_to_canvas(area.topLeft(), placement), _to_canvas(area.bottomRight(), placement))
            for pen in (QPen(QColor(theme.STAGE), 4), QPen(Qt.GlobalColor.white, 2)):
                painter.setPen(pen)
                painter.drawRect(shown)
        elif not self.new:
            painter.setPen(QPen(QColor(theme.STAGE), 1))
            painter.setBrush(Qt.GlobalColor.white)
            for corner in self._corners() or []:
                at = _to_canvas(corner, placement)
                painter.drawRect(QRectF(at.x() - GRIP, at.y() - GRIP, 2 * GRIP, 2 * GRIP))


def _to_source(at: QPointF, placement: Placement) -> QPointF:
    width, height = placement.source
    x, y = (at.x() - placement.x) / placement.width * width, (at.y() - placement.y) / placement.height * height
    return QPointF(min(max(x, 0.0), float(width)), min(max(y, 0.0), float(height)))


def _to_canvas(at: QPointF, placement: Placement) -> QPointF:
    width, height = placement.source
    return QPointF(placement.x + at.x() / width * placement.width, placement.y + at.y() / height * placement.height)
