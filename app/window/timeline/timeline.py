"""The seek bar: the timeline with what the mouse, the wheel and keys do."""

from __future__ import annotations

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QMouseEvent, QWheelEvent
from PySide6.QtWidgets import QAbstractSlider

from app.window.queue.item import Part
from app.window.timeline.face import MARGIN, STEPS, TimelineFace
from app.window.timeline.view import TimeView

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
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setMouseTracking(True)
        self._fixed: float | None = None  # the other edge of the part, while the mouse drags one
        self.actionTriggered.connect(self._acted)

    def _at(self, x: float) -> float:
        """The fraction of the length at a place of the widget."""
        place = (x - MARGIN) / max(self.width() - 2 * MARGIN, 1.0)
        return min(max(self.view.fraction(min(max(place, 0.0), 1.0)), 0.0), 1.0)

    def _acted(self, action: int) -> None:
        """Handle keys and assistive technology; the mouse has its own handlers."""
        if action != QAbstractSlider.SliderAction.SliderMove.value:
            self.sought.emit(self.sliderPosition() / STEPS * self._duration)

    def _drag(self, x: float) -> None:
        self.setSliderPosition(round(self._at(x) * STEPS))
        self.sought.emit(self._at(x) * self._duration)

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
        if event.button() is not Qt.MouseButton.LeftButton or not self._duration:
            return
        x = event.position().x()
        if event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
            self._fixed = self._at(x) * self._duration
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
            self.set_part(Part(self._fixed, self._at(x) * self._duration))
        elif self.isSliderDown():
            self._drag(x)
        at_edge = self._fixed is not None or self._edge_at(x) is not None
        self.setCursor(Qt.CursorShape.SplitHCursor if at_edge else Qt.CursorShape.ArrowCursor)
        if self._duration:
            self.hovered.emit(self.hover * self._duration)
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
<<<<<<< HEAD

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw the lanes, the track with its played part, the analysed part, and the handle."""
        with painting(self) as painter:
            self._paint(painter)

    def _paint(self, painter: QPainter) -> None:
        middle = self.height() - 10.0
        painter.setClipRect(QRectF(0, 0, self.width(), self.height()))
        played = min(max(self.x_of(self.sliderPosition() / STEPS), MARGIN), self.width() - MARGIN)
        self._paint_lanes(painter, middle - TRACK, played)
        for right, colour in ((self.width() - MARGIN, theme.HOVER), (played, theme.ACCENT)):
            draw_box(painter, QRectF(MARGIN, middle - TRACK / 2, right - MARGIN, TRACK), TRACK / 2, colour)
        # below the track, so that it can be seen wherever the video plays
        self._fill(painter, *self._detected, middle + TRACK / 2 + 2, ANALYSED, QColor(theme.GOOD))
        for place in np.flatnonzero(self._failures).tolist():
            self._fill(painter, place / BINS, (place + 1) / BINS, middle - TRACK / 2 - 3, 2.0, QColor(theme.DANGER))
        if self.view.span < 1:  # the visible part of the whole, at the upper edge
            whole = self.width() - 2 * MARGIN
            draw_box(painter, QRectF(MARGIN + self.view.start * whole, 1, max(self.view.span * whole, 8), 2), 1, theme.MUTED)
        if not self.isEnabled():
            return
        self._paint_part(painter, middle)
        if self._hover is not None and not self.isSliderDown():
            painter.fillRect(
                QRectF(self.x_of(self._hover) - 0.5, 4, 1, middle - 4), QColor(theme.ON_STAGE_MUTED if self._lanes else theme.MUTED)
            )
        painter.fillRect(QRectF(played - 0.75, 4, 1.5, middle - 4), QColor(theme.ON_STAGE if self._lanes else theme.TEXT))
        painter.setBrush(QColor(theme.TEXT))
        painter.setPen(QPen(QColor(theme.ACCENT), 2) if self.hasFocus() else Qt.PenStyle.NoPen)
        painter.drawEllipse(QRectF(played - 6, middle - 6, 12, 12))

    def _fill(self, painter: QPainter, begin: float, end: float, top: float, height: float, colour: QColor) -> None:
        """Fill a rectangle from one fraction of the length to another, where the view contains it; at least one pixel wide."""
        left, right = max(self.x_of(begin), MARGIN), min(self.x_of(end), self.width() - MARGIN)
        if end > begin and right > left:
            painter.fillRect(QRectF(left, top, max(right - left, 1.0), height), colour)

    def _paint_part(self, painter: QPainter, middle: float) -> None:
        if self.part is None:
            return
        begin, end = self._fraction(self.part.begin), self._fraction(self.part.end)
        inside = QColor(theme.ACCENT)
        inside.setAlpha(45)
        self._fill(painter, begin, end, 4, middle - 6, inside)
        for x in (self.x_of(begin), self.x_of(end)):
            painter.fillRect(QRectF(x - 1, 4, 2, middle - 6), QColor(theme.ACCENT))
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(theme.ACCENT))
            painter.drawPolygon([QPointF(x - 5, 3), QPointF(x + 5, 3), QPointF(x, 9)])

    def _paint_lanes(self, painter: QPainter, bottom: float, played: float) -> None:
        if not self._lanes:
            return
        # the colours of classes need a dark ground
        draw_box(painter, QRectF(MARGIN, TOP, self.width() - 2 * MARGIN, bottom - TOP), 2, theme.STAGE)
        key = (self.size(), self.devicePixelRatio(), self.view)
        if self._drawn is None or self._drawn[0] != key:  # while the video plays, only the border between bright and dim parts moves
            area = QRectF(MARGIN, TOP, self.width() - 2 * MARGIN, bottom - TOP)
            self._drawn = key, draw_lanes(self._lanes, self.view, self._columns, self.size(), area, self.devicePixelRatio())
        for start, end, opacity in ((0.0, played, 1.0), (played, float(self.width()), 0.55)):
            painter.setOpacity(opacity)
            painter.setClipRect(QRectF(start, 0, end - start, self.height()))
            painter.drawPixmap(0, 0, self._drawn[1])
        painter.setClipping(False)
        painter.setOpacity(1.0)
=======
>>>>>>> main
