"""One line for a device: name, metrics and throughput in columns. A click opens the details."""

from dataclasses import dataclass, replace
from typing import Any

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy

from framefleet.app.window.devices.columns import LIGHT, InColumns
from framefleet.app.window.devices.telemetry_text import Metric
from framefleet.app.window.widgets import formats, theme
from framefleet.app.window.widgets.build import Clickable
from framefleet.app.window.widgets.painting import LEFT, RIGHT, draw_bar, draw_box, painting, write
from framefleet.app.window.widgets.translation import translate

BAR, PAD = 3, 4


@dataclass(frozen=True)
class RowContent:
    """The content of a row.

    name: of the device. colour: of its light. rate: frames/s, 0 = it does not work. pace: the rate as a part of the fastest
    device's, 0..1. share: of all work, 0..1, None = none yet. off: the device has left the run. message: replaces the metrics,
    "" = none. progress: of the step that the message names, 0..1. serious: the message is a failure.
    """

    name: str = ""
    colour: str = ""
    rate: float = 0.0
    pace: float | None = None
    share: float | None = None
    metrics: tuple[Metric, ...] = ()
    off: bool = False
    message: str = ""
    progress: float = 0.0
    serious: bool = False

    @property
    def rate_text(self) -> str:
        """The throughput, a dash if the device does not work."""
        return formats.rate(self.rate) if self.rate else formats.DASH

    @property
    def accessible_name(self) -> str:
        """The row for screen readers."""
        parts = [self.message or ", ".join(f"{metric.name} {metric.text}" for metric in self.metrics)]
        if self.rate:
            parts.append(translate("devices", "{rate} frames/s").format(rate=self.rate_text))
        if self.share is not None:
            parts.append(translate("devices", "{part} of the work").format(part=formats.part(self.share)))
        return f"{self.name}: {', '.join(filter(None, parts))}"


class DeviceRow(InColumns, Clickable):
    """Draws its ``content``. A press shows or hides the details."""

    def __init__(self) -> None:
        super().__init__()
        self._font, self._bold = theme.font(-1), theme.font(-1, bold=True)
        self.setFixedHeight(QFontMetrics(self._bold).height() + BAR + 2 * PAD)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.content = RowContent()
        self.setAccessibleDescription(translate("devices", "Shows or hides the details"))

    @property
    def fitting(self) -> int:
        """The number of metrics that the row shows."""
        return 0 if self.content.message else len(self._columns.areas(self.width(), self.height()).cells)

    @property
    def _idle(self) -> bool:
        """Whether the row has a message and no throughput."""
        return bool(self.content.message) and not self.content.rate

    @property
    def message_area(self) -> QRectF:
        """The place of a message: that of the metrics, and of the throughput if there is none."""
        areas = self._columns.areas(self.width(), self.height())
        area = areas.cells[0].united(areas.cells[-1])
        return area.united(areas.rate) if areas.rate is not None and self._idle else area

    def change(self, **changes: Any) -> None:
        """Change fields of the content; repaint only if one differs."""
        content = replace(self.content, **changes)
        if content != self.content:
            self.content = content
            self.setAccessibleName(content.accessible_name)
            self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw the row: all texts on one line, the bars below them."""
        content = self.content
        areas = self._columns.areas(self.width(), self.height())
        with painting(self) as painter:
            if self.hasFocus():
                draw_box(painter, QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), 5, None, theme.ACCENT)
            line = _line(areas.name)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(content.colour or theme.DISABLED))
            painter.drawEllipse(QRectF(line.x(), line.center().y() - 4, 8, 8))
            text = theme.DISABLED if content.off else theme.TEXT
            colour = theme.WARNING if any(metric.alarm for metric in content.metrics) else text
            write(painter, line.adjusted(LIGHT, 0, 0, 0), content.name, LEFT, self._bold, colour)
            painter.setPen(QColor(text))
            if areas.rate is not None and not self._idle:
                painter.drawText(_line(areas.rate), RIGHT, content.rate_text)
                draw_bar(painter, _bar(areas.rate), content.pace, theme.GOOD)
            painter.setFont(self._font)
            if content.message:
                self._draw_message(painter, self.message_area)
                return
            for area, metric in zip(areas.cells, content.metrics, strict=False):
                painter.setPen(QColor(theme.DISABLED if not metric.known else theme.WARNING if metric.alarm else text))
                painter.drawText(_line(area), LEFT | Qt.TextFlag.TextDontClip, metric.brief)
                draw_bar(painter, _bar(area), metric.fraction, theme.WARNING if metric.alarm else theme.ACCENT)

    def _draw_message(self, painter: QPainter, area: QRectF) -> None:
        content = self.content
        write(painter, _line(area), content.message, colour=theme.DANGER if content.serious else theme.MUTED)
        if content.progress:
            draw_bar(painter, _bar(area), content.progress, theme.WARNING)


def _line(area: QRectF) -> QRectF:
    """The part of a cell for text."""
    return area.adjusted(0, PAD, 0, -BAR - PAD)


def _bar(area: QRectF) -> QRectF:
    """The part of a cell for its bar."""
    return QRectF(area.x(), area.bottom() - BAR - PAD + 2, area.width(), BAR)
