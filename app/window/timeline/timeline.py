"""The seek bar: position, analysed part, chosen part and what was found; what mouse, wheel and keys do; and the button of the part."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QMouseEvent, QPainter, QPaintEvent, QPen, QPixmap, QWheelEvent
from PySide6.QtWidgets import QAbstractSlider, QMenu, QSizePolicy, QToolButton

from framefleet.app.window.queue.item import Part
from framefleet.app.window.timeline.class_counts import BINS, slices_of
from framefleet.app.window.timeline.contents import FEW_LANES, LANE, LANES, MARKS, Contents, Lane, TimeView, columns_of
from framefleet.app.window.widgets import formats, theme
from framefleet.app.window.widgets.painting import draw_box, painting
from framefleet.app.window.widgets.translation import translate
from framefleet.engine.media.types import SourceInfo

STEPS = 10_000
"""Positions of the slider over a source's length."""
MARGIN = 8.0  # logical pixels left and right, so that the handle stays inside
TRACK, ANALYSED, TOP, BELOW = 4.0, 2.0, 6.0, 17
"""Heights of the groove and of the line of the analysed part, the upper edge of the lanes, and the room below them, logical pixels."""


NEAR = 5.0
"""Distance from which the mouse takes an edge of the chosen part, logical pixels."""


class Timeline(QAbstractSlider):
    """A slider over the length of a source, with what was found in it. The wheel enlarges it; Shift with the mouse chooses a part.

    part_chosen: Part, None = none. sought: a time in seconds (a position, for pictures) that the user chose. hovered: the time under the
    mouse, None = the mouse has left.

    Attributes: view: the visible part of the length. hover: the fraction of the length at which there is a line, None = none. part: the
    chosen one. duration: as ``set_duration`` takes it. detected: the analysed part, as fractions of the length. ahead: further analysed
    parts. contents: what was found.
    """

    part_chosen = Signal(object)
    sought = Signal(float)
    hovered = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self.setOrientation(Qt.Orientation.Horizontal)
        self.setRange(0, STEPS)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(translate("timeline", "Position in the video"))
        self.duration = 0.0
        self._pictures = False
        self.detected = (0.0, 0.0)
        self.ahead: tuple[tuple[float, float], ...] = ()
        self.contents = Contents()
        self._drawn: tuple[object, QPixmap] | None = None
        self.hover: float | None = None
        self.view = TimeView()
        self.part: Part | None = None
        self._keeps_height = self._growing = False
        self._fixed: float | None = None  # the other edge of the part, while the mouse drags one
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)  # after a click, the keys go on working for the player
        self.setMouseTracking(True)
        self.actionTriggered.connect(self._acted)

    def sizeHint(self) -> QSize:
        """A height for the lanes above the groove; any width."""
        return QSize(400, round(TOP) + max(self.contents.rows, self._min_rows) * LANE + BELOW)

    @property
    def _min_rows(self) -> int:
        return LANES + 1 if self._keeps_height else self.contents.most + 1 if self._growing else 2

    def keep_height(self, keep: bool) -> None:
        """Be as high as with all lanes at once, whatever the source has: another source does not move what is above."""
        self._keeps_height = keep
        self.updateGeometry()

    def expect_lanes(self, growing: bool) -> None:
        """Have room for all lanes at once while a source is detected: each new class would move what is above."""
        if growing is not self._growing:
            self._growing = growing
            self._changed()

    def show_few(self, few: bool) -> None:
        """Show fewer lanes than usual, because there is little room."""
        self.contents.most = FEW_LANES if few else LANES
        self._changed()

    def set_duration(self, duration: float, pictures: bool = False) -> None:
        """Set the length in seconds, or the last position of pictures; 0 = unknown."""
        if duration != self.duration:
            self.view = TimeView()
        self.duration, self._pictures = duration, pictures
        self.setEnabled(duration > 0)
        self.update()

    def set_position(self, pts: float) -> None:
        """Show the current position, unless the user drags the handle."""
        place = round(self._fraction(pts) * STEPS)
        moved = abs(place - self.value()) * self.width() / STEPS / self.view.span  # logical pixels
        if not self.isSliderDown() and (moved >= 0.5 or place in (0, STEPS)):
            self.setValue(place)
            self._look(self.view.showing(place / STEPS))

    def set_detected(self, end: float, begin: float = 0.0) -> None:
        """Show how much is analysed, from one fraction of the length to another."""
        if (begin, end) != self.detected and (abs(end - self.detected[1]) * self.width() >= 0.5 or end in (0.0, 1.0)):
            self.detected = begin, end
            self.update()

    def set_ahead(self, parts: tuple[tuple[float, float], ...]) -> None:
        """Show parts that are analysed behind a gap, as fractions of the length."""
        if parts != self.ahead:
            self.ahead = parts
            self.update()

    def set_lanes(self, lanes: Sequence[Lane], failures: NDArray[np.int32] | None = None, frames: int = 0) -> None:
        """Show when objects of some classes were seen, and where frames failed.

        failures: frames in each slice of the length, int32 (BINS,). frames: of the whole source, 0 = unknown.
        """
        nearest = np.arange(BINS)
        if self._pictures and frames <= BINS:  # each slice shows the picture that is nearest to it
            nearest = slices_of(np.round((nearest + 0.5) / BINS * self.duration), self.duration)
        self.contents.columns = columns_of(lanes[0].frames) if lanes and not self._pictures else BINS
        self.contents.lanes = tuple(
            replace(lane, counts=lane.counts[nearest], frames=lane.frames[nearest]) for lane in lanes if lane.counts.any()
        )
        self.contents.failures = failures[nearest] if failures is not None else np.zeros(BINS, np.int32)
        self._changed()

    def set_events(self, events: NDArray[np.void]) -> None:
        """Mark crossings, and know the tracks. events: ``EVENTS``."""
        self.contents.events = events
        self._changed()

    def show_tracks(self, by_track: bool) -> None:
        """Show bars of tracks instead of lanes of classes."""
        self.contents.by_track = by_track
        self._changed()

    def _changed(self) -> None:
        self._drawn = None
        self.updateGeometry()
        self.update()

    def set_part(self, part: Part | None) -> None:
        """Choose a part, None = the whole source; ``part_chosen`` follows if it is another one."""
        if part is not None:
            part = Part(max(min(part.begin, part.end), 0.0), min(max(part.begin, part.end), self.duration))
            part = part if part.end > part.begin else None
        if part != self.part:
            self.part = part
            self.part_chosen.emit(part)
            self.update()

    def _look(self, view: TimeView) -> None:
        if view != self.view:
            self.view = view
            self.update()

    def _fraction(self, pts: float) -> float:
        return min(max(pts / self.duration, 0.0), 1.0) if self.duration else 0.0

    def x_of(self, fraction: float) -> float:
        """The place of a fraction of the length, logical pixels; outside the widget if the view does not contain it."""
        return self.left + self.view.place(fraction) * (self.width() - MARGIN - self.left)

    @property
    def left(self) -> float:
        """Where the length begins, logical pixels: beside the names of lanes."""
        return MARGIN + self.contents.names_width

    @property
    def more_row(self) -> QRectF:
        """The row that shows more or fewer lanes when it is clicked, empty if there is none."""
        if not self.contents.more:
            return QRectF()
        height = self.contents.row_height(self.height() - BELOW - TOP)
        return QRectF(MARGIN, TOP + (self.contents.rows - 1) * height, self.contents.names_width, height)

    def toggle_lanes(self) -> None:
        """Show the lanes of all classes, or only those of the most frequent ones."""
        self.contents.all_lanes = not self.contents.all_lanes
        self._changed()

    def written(self, pts: float, decimals: int = 1) -> str:
        """A time as text, or the number of a picture."""
        return f"{round(pts) + 1}" if self._pictures else formats.clock(pts, decimals)

    def text_at(self, pts: float) -> str:
        """A time, and what was seen there: a line for each class."""
        place = min(int(self._fraction(pts) * BINS), BINS - 1)
        step = 2 * self.view.span * self.duration / max(self.width(), 1)
        return "\n".join([self.written(pts), *self.contents.words(place, pts, step)])

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw the lanes, the track with its played part, the analysed part, and the handle."""
        with painting(self) as painter:
            self._paint(painter)

    def _paint(self, painter: QPainter) -> None:
        middle = self.height() - 10.0
        painter.setClipRect(QRectF(0, 0, self.width(), self.height()))
        played = min(max(self.x_of(self.sliderPosition() / STEPS), self.left), self.width() - MARGIN)
        self._paint_contents(painter, played)
        for right, colour in ((self.width() - MARGIN, theme.HOVER), (played, theme.ACCENT)):
            draw_box(painter, QRectF(self.left, middle - TRACK / 2, right - self.left, TRACK), TRACK / 2, colour)
        # below the track, so that it can be seen wherever the video plays
        for begin, end in (self.detected, *self.ahead):
            self._fill(painter, begin, end, middle + TRACK / 2 + 2, ANALYSED, QColor(theme.GOOD))
        if self.view.span < 1:  # the visible part of the whole, at the upper edge
            whole = self.width() - MARGIN - self.left
            draw_box(painter, QRectF(self.left + self.view.start * whole, 1, max(self.view.span * whole, 8), 2), 1, theme.MUTED)
        if not self.isEnabled():
            return
        self._paint_part(painter, middle)
        if self.hover is not None and not self.isSliderDown():
            painter.fillRect(
                QRectF(self.x_of(self.hover) - 0.5, 4, 1, middle - 4), QColor(theme.ON_STAGE_MUTED if self._dark else theme.MUTED)
            )
        painter.fillRect(QRectF(played - 0.75, 4, 1.5, middle - 4), QColor(theme.ON_STAGE if self._dark else theme.TEXT))
        painter.setBrush(QColor(theme.TEXT))
        painter.setPen(QPen(QColor(theme.ACCENT), 2) if self.hasFocus() else Qt.PenStyle.NoPen)
        painter.drawEllipse(QRectF(played - 6, middle - 6, 12, 12))

    @property
    def _dark(self) -> bool:
        """Whether there are lanes, or will be."""
        return (self._growing and self.duration > 0) or bool(self.contents.rows)

    def _fill(self, painter: QPainter, begin: float, end: float, top: float, height: float, colour: QColor) -> None:
        """Fill a rectangle from one fraction of the length to another, where the view contains it; at least one pixel wide."""
        left, right = max(self.x_of(begin), self.left), min(self.x_of(end), self.width() - MARGIN)
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

    def _paint_contents(self, painter: QPainter, played: float) -> None:
        if self._dark:  # the colours of classes need a dark ground
            top = TOP - 2  # letters of the first name reach above its lane
            ground = QRectF(MARGIN, top, self.width() - 2 * MARGIN, self.height() - BELOW + MARKS - top)
            draw_box(painter, ground, 2, theme.STAGE)
        key = (self.size(), self.devicePixelRatio(), self.view, theme.VARIANT)
        if self._drawn is None or self._drawn[0] != key:  # while the video plays, only the border between bright and dim parts moves
            area = QRectF(self.left, TOP, self.width() - MARGIN - self.left, self.height() - BELOW - TOP)
            self._drawn = key, self.contents.draw(self.view, self.duration, self.size(), area, self.devicePixelRatio())
        lanes, below = self.height() - BELOW, float(self.height())
        for left, top, right, bottom, opacity in (
            (0.0, 0.0, played, lanes, 1.0),
            (played, 0.0, float(self.width()), lanes, 0.55),
            (0.0, lanes, float(self.width()), below, 1.0),
        ):
            painter.setOpacity(opacity)
            painter.setClipRect(QRectF(left, top, right - left, bottom - top))
            painter.drawPixmap(0, 0, self._drawn[1])
        painter.setClipping(False)
        painter.setOpacity(1.0)

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


class PartButton(QToolButton):
    """Shown while a part is chosen. detection_requested: the Part in which to detect. save_requested: the Part to save as a clip."""

    detection_requested = Signal(object)
    save_requested = Signal(object)

    def __init__(self, timeline: Timeline) -> None:
        super().__init__()
        self._timeline = timeline
        self.setProperty("role", "flat")
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setAccessibleName(translate("timeline", "Chosen part"))
        self.setToolTip(translate("timeline", "The chosen part: drag its edges on the timeline, or press Shift+I and O (X: none)"))
        self.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        menu = QMenu(self)
        menu.addAction(translate("timeline", "Detect only in this part"), lambda: self.detection_requested.emit(self._timeline.part))
        menu.addAction(translate("timeline", "Save this part…"), lambda: self.save_requested.emit(self._timeline.part))
        menu.addAction(translate("timeline", "Choose the whole video"), lambda: self._timeline.set_part(None))
        self.setMenu(menu)
        self.hide()
        timeline.part_chosen.connect(self._chosen)

    def mark(self, pts: float, end: bool, info: SourceInfo | None = None) -> None:
        """Let the part begin or end at a time. The other edge moves to the end of the source if it is on the wrong side.

        info: of the source. A part that ends at the last frame contains it, because no later frame can be chosen.
        """
        part, length = self._timeline.part, self._timeline.duration
        if end and info is not None and info.rate and pts + 1.01 / info.rate > length:
            pts = length
        if end:
            begin = part.begin if part is not None and part.begin < pts else 0.0
            self._timeline.set_part(Part(begin, pts))
        else:
            self._timeline.set_part(Part(pts, part.end if part is not None and part.end > pts else length))

    def _chosen(self, part: Part | None) -> None:
        if part is not None:
            self.setText(" – ".join(self._timeline.written(edge, decimals=2) for edge in (part.begin, part.end)))
        self.setVisible(part is not None)
