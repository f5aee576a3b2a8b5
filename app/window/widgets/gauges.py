"""What a device is doing right now: small gauges, side by side."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.window.devices.telemetry_text import Reading
from app.window.widgets import theme
from app.window.widgets.indicators import draw_bar

COLUMNS = 3
GAP, BAR = 10, 3


class Gauges(QWidget):
    """Readings in columns: name, value, bar."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._readings: tuple[Reading, ...] = ()
        self._caption, self._figure = theme.font(-2), theme.font(-1, bold=True)
        lines = QFontMetrics(self._caption).height() + QFontMetrics(self._figure).height()
        self._cell = lines + 3 + BAR

    @property
    def readings(self) -> tuple[Reading, ...]:
        """What is shown."""
        return self._readings

    def show_readings(self, readings: Sequence[Reading]) -> None:
        """Show these; repaints only if anything is new."""
        if tuple(readings) == self._readings:
            return
        self._readings = tuple(readings)
        rows = -(-len(readings) // COLUMNS)
        self.setFixedHeight(max(rows * (self._cell + GAP) - GAP, 0))
        self.setAccessibleName(", ".join(f"{reading.name} {reading.text}" for reading in readings))
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw them."""
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            width = (self.width() - (COLUMNS - 1) * GAP) / COLUMNS
            for number, reading in enumerate(self._readings):
                row, column = divmod(number, COLUMNS)
                self._draw(painter, QRectF(column * (width + GAP), row * (self._cell + GAP), width, self._cell), reading)

    def _draw(self, painter: QPainter, area: QRectF, reading: Reading) -> None:
        left = Qt.AlignmentFlag.AlignLeft
        painter.setFont(self._caption)
        painter.setPen(QColor(theme.MUTED))
        painter.drawText(area, left | Qt.AlignmentFlag.AlignTop, reading.name)
        painter.setFont(self._figure if reading.known else self._caption)
        painter.setPen(QColor(theme.DISABLED if not reading.known else theme.WARNING if reading.alarm else theme.TEXT))
        painter.drawText(area.adjusted(0, 0, 0, -BAR - 3), left | Qt.AlignmentFlag.AlignBottom, reading.text)
        bar = QRectF(area.x(), area.bottom() - BAR, area.width(), BAR)
        draw_bar(painter, bar, reading.fraction, theme.WARNING if reading.alarm else theme.ACCENT)
