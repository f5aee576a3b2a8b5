"""The current telemetry of one device as gauges, side by side."""

from collections.abc import Sequence

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QFontMetrics, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from framefleet.app.window.devices.telemetry_text import Metric
from framefleet.app.window.widgets import theme
from framefleet.app.window.widgets.painting import draw_bar, painting

COLUMNS = 3
"""The largest number of columns."""
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
        self._arrange()
        self.setAccessibleName(", ".join(f"{metric.name} {metric.text}" for metric in metrics))
        self.update()

    @property
    def columns(self) -> int:
        """The number of columns in which all names and values can be read."""
        caption, figure = QFontMetrics(self._caption), QFontMetrics(self._figure)
        texts = [(caption, metric.name) for metric in self.metrics] + [(figure, metric.text) for metric in self.metrics]
        widest = max((metrics.horizontalAdvance(text) for metrics, text in texts), default=0)
        return max(min((self.width() + GAP) // (widest + GAP), COLUMNS), 1)

    def _arrange(self) -> None:
        rows = -(-len(self.metrics) // self.columns)
        self.setFixedHeight(max(rows * (self._cell + GAP) - GAP, 0))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Another width leaves room for another number of columns."""
        super().resizeEvent(event)
        self._arrange()

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw the gauges."""
        with painting(self) as painter:
            columns = self.columns
            width = (self.width() - (columns - 1) * GAP) / columns
            for number, metric in enumerate(self.metrics):
                row, column = divmod(number, columns)
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
