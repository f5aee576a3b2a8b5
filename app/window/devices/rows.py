"""One line for a device: name, metrics and throughput in columns; and gauges for the metrics without room in it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Any, cast

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QFontMetrics, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from framefleet.app.window.devices.telemetry import Metric, metrics
from framefleet.app.window.widgets import formats, theme
from framefleet.app.window.widgets.build import Clickable, column
from framefleet.app.window.widgets.painting import LEFT, RIGHT, draw_bar, draw_box, painting, write
from framefleet.app.window.widgets.translation import marked, translate
from framefleet.engine.devices.telemetry import Telemetry
from framefleet.engine.types import DeviceId

MAX_CELLS = 4
"""The largest number of metrics in a row."""
MARGIN, GAP, LIGHT = 9, 7, 13
RATE = marked("devices", "frames/s")
MAX_NAME_WIDTH = 0.34
"""The largest share of the width that names get."""


@dataclass(frozen=True)
class RowAreas:
    """The areas of one row. cells: one for each metric that fits. rate: None if rows do not show it."""

    name: QRectF
    cells: tuple[QRectF, ...]
    rate: QRectF | None


@dataclass(frozen=True)
class RowColumns:
    """Determines the widths of columns. longest: the longest device name. rates: whether rows show throughput."""

    longest: str = ""
    rates: bool = False

    def areas(self, width: float, height: float) -> RowAreas:
        """Divide a row of this size, logical pixels."""
        regular, bold, small = QFontMetrics(theme.font(-1)), QFontMetrics(theme.font(-1, bold=True)), QFontMetrics(theme.font(-2))
        name = min(LIGHT + bold.horizontalAdvance(self.longest) + 2, MAX_NAME_WIDTH * width)
        cell = max(regular.horizontalAdvance("100 %"), small.horizontalAdvance(translate("devices", "Decoder"))) + GAP
        rate = max(bold.horizontalAdvance("00,000"), small.horizontalAdvance(translate("devices", RATE))) if self.rates else 0
        left = MARGIN + name + GAP
        room = width - left - MARGIN - rate
        count = max(min(int(room // cell), MAX_CELLS), 1)
        each = room / count
        return RowAreas(
            QRectF(MARGIN, 0, name, height),
            tuple(QRectF(left + number * each, 0, each - GAP, height) for number in range(count)),
            QRectF(width - MARGIN - rate, 0, rate, height) if self.rates else None,
        )


def headings(rows: Iterable[Sequence[str]]) -> tuple[str, ...]:
    """The heading of each column, given the names of the metrics in each row; "Load" where the names of a column differ."""
    columns = zip_longest(*rows)
    mixed = translate("devices", "Load")
    return tuple(names.pop() if len(names) == 1 else mixed for names in ({*column} - {None} for column in columns))


class InColumns:
    """Part of a widget whose content is arranged in columns."""

    def __init__(self) -> None:
        super().__init__()
        self._columns = RowColumns()

    def set_columns(self, columns: RowColumns) -> None:
        """Arrange the columns."""
        if columns != self._columns:
            self._columns = columns
            cast(QWidget, self).update()


class RowHeading(InColumns, QWidget):
    """The headings of the columns of the rows below."""

    def __init__(self) -> None:
        super().__init__()
        self._font = theme.font(-2)
        self.names: tuple[str, ...] = ()
        self.setFixedHeight(QFontMetrics(self._font).height())

    def show_names(self, names: Sequence[str]) -> None:
        """Show the metrics' names."""
        if tuple(names) != self.names:
            self.names = tuple(names)
            self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw the headings."""
        areas = self._columns.areas(self.width(), self.height())
        with QPainter(self) as painter:
            painter.setFont(self._font)
            painter.setPen(QColor(theme.MUTED))
            for area, name in zip(areas.cells, self.names, strict=False):
                painter.drawText(area, LEFT, name)
            if areas.rate is not None:
                painter.drawText(areas.rate, RIGHT, translate("devices", RATE))


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


class MemberRows(QWidget):
    """A row with metrics for each of several devices that share one engine; the rows cannot be clicked."""

    def __init__(self) -> None:
        super().__init__()
        self.heading = RowHeading()
        self.rows: dict[DeviceId, DeviceRow] = {}
        self._column = column(self.heading, spacing=0, of=self)

    def show_members(self, telemetry: Mapping[DeviceId, Telemetry | None]) -> None:
        """Show these devices with their latest telemetry, None where it is unknown."""
        if tuple(telemetry) != tuple(self.rows):
            self._set_rows(telemetry)
        names: tuple[str, ...] = ()
        for device, snapshot in telemetry.items():
            shown = metrics(snapshot) if snapshot is not None else ()
            names = max(names, tuple(metric.name for metric in shown), key=len)
            self.rows[device].change(name=str(device), colour=theme.ACCENT, metrics=shown)
        self.heading.show_names(names)

    def _set_rows(self, devices: Mapping[DeviceId, object]) -> None:
        for row in self.rows.values():
            self._column.removeWidget(row)
            row.deleteLater()
        columns = RowColumns(max(map(str, devices), key=len))
        self.heading.set_columns(columns)
        self.rows = {device: DeviceRow() for device in devices}
        for row in self.rows.values():
            row.set_columns(columns)
            row.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
            row.setFocusPolicy(Qt.FocusPolicy.NoFocus)
            self._column.addWidget(row)


MAX_COLUMNS = 3
"""The largest number of columns."""
GAUGE_GAP, GAUGE_BAR = 10, 3
_LEFT = Qt.AlignmentFlag.AlignLeft


class Gauges(QWidget):
    """Shows metrics in columns, each with its name, its value and a bar."""

    def __init__(self) -> None:
        super().__init__()
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.metrics: tuple[Metric, ...] = ()
        self._caption, self._figure = theme.font(-2), theme.font(-1, bold=True)
        self._cell = QFontMetrics(self._caption).height() + QFontMetrics(self._figure).height() + 3 + GAUGE_BAR

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
        return max(min((self.width() + GAUGE_GAP) // (widest + GAUGE_GAP), MAX_COLUMNS), 1)

    def _arrange(self) -> None:
        rows = -(-len(self.metrics) // self.columns)
        self.setFixedHeight(max(rows * (self._cell + GAUGE_GAP) - GAUGE_GAP, 0))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Another width leaves room for another number of columns."""
        super().resizeEvent(event)
        self._arrange()

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw the gauges."""
        with painting(self) as painter:
            columns = self.columns
            width = (self.width() - (columns - 1) * GAUGE_GAP) / columns
            for number, metric in enumerate(self.metrics):
                row, column = divmod(number, columns)
                self._draw(painter, QRectF(column * (width + GAUGE_GAP), row * (self._cell + GAUGE_GAP), width, self._cell), metric)

    def _draw(self, painter: QPainter, area: QRectF, metric: Metric) -> None:
        painter.setFont(self._caption)
        painter.setPen(QColor(theme.MUTED))
        painter.drawText(area, _LEFT | Qt.AlignmentFlag.AlignTop, metric.name)
        painter.setFont(self._figure if metric.known else self._caption)
        painter.setPen(QColor(theme.DISABLED if not metric.known else theme.WARNING if metric.alarm else theme.TEXT))
        painter.drawText(area.adjusted(0, 0, 0, -GAUGE_BAR - 3), _LEFT | Qt.AlignmentFlag.AlignBottom, metric.text)
        bar = QRectF(area.x(), area.bottom() - GAUGE_BAR, area.width(), GAUGE_BAR)
        draw_bar(painter, bar, metric.fraction, theme.WARNING if metric.alarm else theme.ACCENT)
