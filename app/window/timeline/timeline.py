"""The seek bar: the position, the analysed part, and when objects of which class were seen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QEvent, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QImage, QMouseEvent, QPainter, QPaintEvent, QPen, QPixmap
from PySide6.QtWidgets import QAbstractSlider, QSizePolicy, QToolTip

from app.window.timeline.class_counts import BINS
from app.window.widgets import formats, theme
from app.window.widgets.painting import draw_box, painting
from engine.media.annotation.colours import class_colour

STEPS = 10_000
"""Positions of the slider over a source's length."""
MARGIN = 8.0  # logical pixels left and right, so that the handle stays inside
TRACK, ANALYSED, TOP = 4.0, 2.0, 6.0
"""Heights of the track and of the line of the analysed part, and the upper edge of the lanes, logical pixels."""


@dataclass(frozen=True)
class Lane:
    """When objects of a class were seen. counts: detections in each slice of the length, int64 (BINS,)."""

    name: str
    class_id: int
    counts: NDArray[np.int64]

    def image(self) -> QImage:
        """A picture with a pixel for each slice: the more detections, the stronger the class's colour."""
        pixels = np.empty((1, len(self.counts), 4), np.uint8)
        pixels[..., :3] = class_colour(self.class_id)
        shares = np.sqrt(self.counts / max(self.counts.max(), 1))  # with the square root, single objects stay visible beside many
        pixels[0, :, 3] = np.where(self.counts > 0, 60 + 195 * shares, 0)
        return QImage(pixels.tobytes(), len(self.counts), 1, QImage.Format.Format_RGBA8888).copy()


class Timeline(QAbstractSlider):
    """A slider over the length of a source. sought: a time in seconds (a position, for pictures) that the user chose."""

    sought = Signal(float)

    def __init__(self) -> None:
        super().__init__()
        self.setOrientation(Qt.Orientation.Horizontal)
        self.setRange(0, STEPS)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setMouseTracking(True)
        self.setAccessibleName("Position in the video")
        self._duration = 0.0
        self._pictures = False
        self._detected = 0.0
        self._lanes: tuple[Lane, ...] = ()
        self._drawn: tuple[object, QPixmap] | None = None
        self._hover: float | None = None
        self.actionTriggered.connect(self._acted)

    def sizeHint(self) -> QSize:
        """A height for the lanes above the track; any width."""
        return QSize(400, 56)

    def set_duration(self, duration: float, pictures: bool = False) -> None:
        """Set the length in seconds, or the last position of pictures; 0 = unknown."""
        self._duration, self._pictures = duration, pictures
        self.setEnabled(duration > 0)
        self.update()

    def set_position(self, pts: float) -> None:
        """Show the current position, unless the user drags the handle."""
        place = round(self._fraction(pts) * STEPS)
        moved = abs(place - self.value()) * self.width() / STEPS  # logical pixels
        if not self.isSliderDown() and (moved >= 0.5 or place in (0, STEPS)):
            self.setValue(place)

    def set_detected(self, fraction: float) -> None:
        """Show how much is analysed, 0..1, from the beginning."""
        if abs(fraction - self._detected) * self.width() >= 0.5 or fraction in (0.0, 1.0):
            self._detected = fraction
            self.update()

    def set_lanes(self, lanes: Sequence[Lane]) -> None:
        """Show when objects of some classes were seen."""
        self._lanes = tuple(lane for lane in lanes if lane.counts.any())
        self._drawn = None
        self.update()

    def _fraction(self, pts: float) -> float:
        return min(max(pts / self._duration, 0.0), 1.0) if self._duration else 0.0

    def _at(self, x: float) -> float:
        return min(max((x - MARGIN) / max(self.width() - 2 * MARGIN, 1.0), 0.0), 1.0)

    def _time_text(self, fraction: float) -> str:
        pts = fraction * self._duration
        text = f"{round(pts) + 1}" if self._pictures else formats.clock(pts, 1)
        place = min(int(fraction * BINS), BINS - 1)
        seen = (formats.plural(int(lane.counts[place]), lane.name, lane.name) for lane in self._lanes if lane.counts[place])
        return "\n".join([text, *seen])

    def _acted(self, action: int) -> None:
        """Handle keys and assistive technology; the mouse has its own handlers."""
        if action != QAbstractSlider.SliderAction.SliderMove.value:
            self.sought.emit(self.sliderPosition() / STEPS * self._duration)

    def _drag(self, x: float) -> None:
        self.setSliderPosition(round(self._at(x) * STEPS))
        self.sought.emit(self._at(x) * self._duration)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Jump to the mouse and start to drag."""
        if event.button() is Qt.MouseButton.LeftButton:
            self.setSliderDown(True)
            self._drag(event.position().x())

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Drag, or show the time under the mouse."""
        x = event.position().x()
        self._hover = self._at(x)
        if self.isSliderDown():
            self._drag(x)
        elif self._duration:
            QToolTip.showText(event.globalPosition().toPoint(), self._time_text(self._hover), self)
        self.update()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """End the drag."""
        self.setSliderDown(False)
        event.accept()

    def leaveEvent(self, event: QEvent) -> None:
        """Hide the line under the mouse."""
        self._hover = None
        self.update()
        super().leaveEvent(event)

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw the lanes, the track with its played part, the analysed part, and the handle."""
        with painting(self) as painter:
            self._paint(painter)

    def _paint(self, painter: QPainter) -> None:
        left, width = MARGIN, self.width() - 2 * MARGIN
        middle = self.height() - 10.0
        played = self.sliderPosition() / STEPS
        self._paint_lanes(painter, left, width, middle - TRACK, played)
        for fraction, colour in ((1.0, theme.HOVER), (played, theme.ACCENT)):
            draw_box(painter, QRectF(left, middle - TRACK / 2, width * fraction, TRACK), TRACK / 2, colour)
        # below the track, so that it can be seen wherever the video plays
        painter.fillRect(QRectF(left, middle + TRACK / 2 + 2, width * self._detected, ANALYSED), QColor(theme.GOOD))
        if not self.isEnabled():
            return
        if self._hover is not None and not self.isSliderDown():
            painter.fillRect(QRectF(left + width * self._hover - 0.5, 4, 1, middle - 4), QColor(theme.MUTED))
        x = left + width * played
        painter.fillRect(QRectF(x - 0.75, 4, 1.5, middle - 4), QColor(theme.TEXT))
        painter.setBrush(QColor(theme.TEXT))
        if self.hasFocus():
            painter.setPen(QPen(QColor(theme.ACCENT), 2))
        painter.drawEllipse(QRectF(x - 6, middle - 6, 12, 12))

    def _paint_lanes(self, painter: QPainter, left: float, width: float, bottom: float, played: float) -> None:
        if not self._lanes:
            return
        key = (self.size(), self.devicePixelRatio())
        if self._drawn is None or self._drawn[0] != key:
            self._drawn = key, self._draw_lanes(left, width, bottom)
        x = left + width * played
        for start, end, opacity in ((0.0, x, 1.0), (x, float(self.width()), 0.55)):
            painter.setOpacity(opacity)
            painter.setClipRect(QRectF(start, 0, end - start, self.height()))
            painter.drawPixmap(0, 0, self._drawn[1])
        painter.setClipping(False)
        painter.setOpacity(1.0)

    def _draw_lanes(self, left: float, width: float, bottom: float) -> QPixmap:
        """Draw the lanes once; while the video plays, only the border between bright and dim parts moves."""
        ratio = self.devicePixelRatio()
        drawn = QPixmap(self.size() * ratio)
        drawn.setDevicePixelRatio(ratio)
        drawn.fill(Qt.GlobalColor.transparent)
        height = (bottom - TOP) / len(self._lanes)
        with QPainter(drawn) as painter:
            for number, lane in enumerate(self._lanes):
                area = QRectF(left, TOP + number * height, width, max(height - 1, 1))
                painter.drawImage(area, lane.image())
        return drawn
