"""The current telemetry of one device as gauges, side by side."""

from collections.abc import Sequence

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.window.devices.telemetry_text import Metric
from app.window.widgets import theme
from app.window.widgets.painting import draw_bar, painting

COLUMNS = 3
GAP, BAR = 10, 3
_LEFT = Qt.AlignmentFlag.AlignLeft


class Gauges(QWidget):
    """Shows metrics in columns, each with its name, its value and a bar."""

    def __init__(self) -> None:
        super().__init__()
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.metrics: tuple[Metric, ...] = ()
        self._caption, self._figure = theme.font(-2), theme.font(-1, bold=True)
        self._cell = QFontMetrics(self._caption).height() + QFontMetrics(self._figure).height() + 3 + BAR

    def show_metrics(self, metrics: Sequence[Metric]) -> None:
        """Show these metrics; repaint only if one differs."""
        if tuple(metrics) == self.metrics:
            return
        self.metrics = tuple(metrics)
        rows = -(-len(metrics) // COLUMNS)
        self.setFixedHeight(max(rows * (self._cell + GAP) - GAP, 0))
        self.setAccessibleName(", ".join(f"{metric.name} {metric.text}" for metric in metrics))
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw the gauges."""
        with painting(self) as painter:
            width = (self.width() - (COLUMNS - 1) * GAP) / COLUMNS
            for number, metric in enumerate(self.metrics):
                row, column = divmod(number, COLUMNS)
                self._draw(painter, QRectF(column * (width + GAP), row * (self._cell + GAP), width, self._cell), metric)

    def _draw(self, painter: QPainter, area: QRectF, metric: Metric) -> None:
        painter.setFont(self._caption)
        painter.setPen(QColor(theme.MUTED))
        painter.drawText(area, _LEFT | Qt.AlignmentFlag.AlignTop, metric.name)
        painter.setFont(self._figure if metric.known else self._caption)
        painter.setPen(QColor(theme.DISABLED if not metric.known else theme.WARNING if metric.alarm else theme.TEXT))
        painter.drawText(area.adjusted(0, 0, 0, -BAR - 3), _LEFT | Qt.AlignmentFlag.AlignBottom, metric.text)
        bar = QRectF(area.x(), area.bottom() - BAR, area.width(), BAR)
        draw_bar(painter, bar, metric.fraction, theme.WARNING if metric.alarm else theme.ACCENT)
