"""The seek bar: the timeline with what the mouse, the wheel and keys do."""

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QMouseEvent, QWheelEvent
from PySide6.QtWidgets import QAbstractSlider

from framefleet.app.window.queue.item import Part
from framefleet.app.window.timeline.face import MARGIN, STEPS, TimelineFace
from framefleet.app.window.timeline.view import TimeView

NEAR = 5.0
"""Distance from which the mouse takes an edge of the chosen part, logical pixels."""


class Timeline(TimelineFace):
    """A slider over the length of a source. The wheel enlarges it; Shift with the mouse chooses a part.

    sought: a time in seconds (a position, for pictures) that the user chose. hovered: the time under the mouse, None = the mouse has left.
    """

    sought = Signal(float)
    hovered = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)  # after a click, the keys go on working for the player
        self.setMouseTracking(True)
        self._fixed: float | None = None  # the other edge of the part, while the mouse drags one
        self.actionTriggered.connect(self._acted)

    def _at(self, x: float) -> float:
        """The fraction of the length at a place of the widget."""
        place = (x - self.left) / max(self.width() - MARGIN - self.left, 1.0)
        return min(max(self.view.fraction(min(max(place, 0.0), 1.0)), 0.0), 1.0)

    def _acted(self, action: int) -> None:
        """Handle keys and assistive technology; the mouse has its own handlers."""
        if action != QAbstractSlider.SliderAction.SliderMove.value:
            self.sought.emit(self.sliderPosition() / STEPS * self.duration)

    def _drag(self, x: float) -> None:
        self.setSliderPosition(round(self._at(x) * STEPS))
        self.sought.emit(self._at(x) * self.duration)

    def _edge_at(self, x: float) -> float | None:
        """The edge of the chosen part that is not near the mouse, seconds; None if neither edge is."""
        if self.part is None:
            return None
        for edge, other in ((self.part.begin, self.part.end), (self.part.end, self.part.begin)):
            if abs(self.x_of(self._fraction(edge)) - x) <= NEAR:
                return other
        return None

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Jump to the mouse and start to drag; with Shift, or at an edge of the chosen part, start to choose a part."""
        if event.button() is not Qt.MouseButton.LeftButton or not self.duration:
            return
        x = event.position().x()
        if self.more_row.contains(event.position()):
            self.toggle_lanes()
            return
        if event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
            self._fixed = self._at(x) * self.duration
        elif event.position().y() < self.height() - 18:  # the track below belongs to the position
            self._fixed = self._edge_at(x)
        if self._fixed is None:
            self.setSliderDown(True)
            self._drag(x)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Drag, or show the time under the mouse."""
        x = event.position().x()
        self.hover = self._at(x)
        if self._fixed is not None:
            self.set_part(Part(self._fixed, self._at(x) * self.duration))
        elif self.isSliderDown():
            self._drag(x)
        at_edge = self._fixed is not None or self._edge_at(x) is not None
        shape = Qt.CursorShape.SplitHCursor if at_edge else Qt.CursorShape.ArrowCursor
        self.setCursor(Qt.CursorShape.PointingHandCursor if self.more_row.contains(event.position()) else shape)
        if self.duration:
            self.hovered.emit(self.hover * self.duration)
        self.update()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """End the drag."""
        self.setSliderDown(False)
        self._fixed = None
        event.accept()

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Show the whole length again."""
        self._look(TimeView())
        event.accept()

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Enlarge at the mouse; with Shift, or sideways, move."""
        turned = event.angleDelta()
        if event.modifiers() & Qt.KeyboardModifier.ShiftModifier or abs(turned.x()) > abs(turned.y()):
            self._look(self.view.moved(-(turned.x() or turned.y()) / 1200 * self.view.span))
        else:
            self._look(self.view.zoomed(1.25 ** (turned.y() / 120), self._at(event.position().x())))
        event.accept()

    def leaveEvent(self, event: QEvent) -> None:
        """Hide the line under the mouse."""
        self.hover = None
        self.hovered.emit(None)
        self.update()
        super().leaveEvent(event)
