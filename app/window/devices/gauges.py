"""The current telemetry of one device as gauges, side by side."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.window.devices.telemetry_text import Reading
from app.window.widgets import theme
from app.window.widgets.painting import draw_bar, painting

COLUMNS = 3
GAP, BAR = 10, 3
_LEFT = Qt.AlignmentFlag.AlignLeft


class Gauges(QWidget):
    """Shows readings in columns, each with its name, its value and a bar."""

    def __init__(self) -> None:
        super().__init__()
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.readings: tuple[Reading, ...] = ()
        self._caption, self._figure = theme.font(-2), theme.font(-1, bold=True)
        self._cell = QFontMetrics(self._caption).height() + QFontMetrics(self._figure).height() + 3 + BAR

    def show_readings(self, readings: Sequence[Reading]) -> None:
        """Show these readings; repaint only if one differs."""
        if tuple(readings) == self.readings:
            return
        self.readings = tuple(readings)
        rows = -(-len(readings) // COLUMNS)
        self.setFixedHeight(max(rows * (self._cell + GAP) - GAP, 0))
        self.setAccessibleName(", ".join(f"{reading.name} {reading.text}" for reading in readings))
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw the gauges."""
        with painting(self) as painter:
            width = (self.width() - (COLUMNS - 1) * GAP) / COLUMNS
            for number, reading in enumerate(self.readings):
                row, column = divmod(number, COLUMNS)
                self._draw(painter, QRectF(column * (width + GAP), row * (self._cell + GAP), width, self._cell), reading)

    def _draw(self, painter: QPainter, area: QRectF, reading: Reading) -> None:
        painter.setFont(self._caption)
        painter.setPen(QColor(theme.MUTED))
        painter.drawText(area, _LEFT | Qt.AlignmentFlag.AlignTop, reading.name)
        painter.setFont(self._figure if reading.known else self._caption)
        painter.setPen(QColor(theme.DISABLED if not reading.known else theme.WARNING if reading.alarm else theme.TEXT))
        painter.drawText(area.adjusted(0, 0, 0, -BAR - 3), _LEFT | Qt.AlignmentFlag.AlignBottom, reading.text)
        bar = QRectF(area.x(), area.bottom() - BAR, area.width(), BAR)
        draw_bar(painter, bar, reading.fraction, theme.WARNING if reading.alarm else theme.ACCENT)
