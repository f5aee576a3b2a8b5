"""One line per device, for machines with many devices: name, metrics, share of the work and throughput in columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Any

from PySide6.QtCore import QRectF, Qt, Signal
from PySide6.QtGui import QColor, QFontMetrics, QKeyEvent, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.window.devices.telemetry_text import Metric, metrics
from app.window.widgets import formats, theme
from app.window.widgets.build import column
from app.window.widgets.painting import LEFT, RIGHT, draw_bar, draw_box, painting, write
from app.window.widgets.translation import marked, translate
from engine.devices.telemetry.snapshot import Telemetry
from engine.types import DeviceId

CELLS = 5
"""The largest number of metrics in a row."""
MARGIN, GAP, LIGHT, HEIGHT, BAR = 10, 8, 14, 32, 3
RATE = marked("devices", "frames/s")
_ABOVE = -BAR - 2
_MIXED = marked("devices", "Load")
_MOST_NAME = 0.34
"""The largest share of the width that names get."""


@dataclass(frozen=True)
class RowAreas:
    """The areas of one row. cells: one for each metric that fits. share, rate: None if rows do not show them."""

    name: QRectF
    cells: tuple[QRectF, ...]
    share: QRectF | None
    rate: QRectF | None


@dataclass(frozen=True)
class RowColumns:
    """Determines the widths of columns. longest: the longest device name. rates, shares: whether rows show them."""

    longest: str = ""
    rates: bool = False
    shares: bool = False

    def areas(self, width: float, height: float) -> RowAreas:
        """Divide a row of this size, logical pixels."""
        regular, bold = QFontMetrics(theme.font(-1)), QFontMetrics(theme.font(-1, bold=True))
        name = min(LIGHT + bold.horizontalAdvance(self.longest) + 2, _MOST_NAME * width)
        small = QFontMetrics(theme.font(-2))
        cell = max(regular.horizontalAdvance("100 %"), small.horizontalAdvance(translate("devices", "Decoder"))) + GAP
        rate = max(bold.horizontalAdvance("00,000"), small.horizontalAdvance(translate("devices", RATE))) if self.rates else 0
        share = cell if self.shares else 0
        left = MARGIN + name + GAP
        room = width - left - MARGIN - rate - share
        count = max(min(int(room // cell), CELLS), 1)
        each = room / count
        return RowAreas(
            QRectF(MARGIN, 0, name, height),
            tuple(QRectF(left + number * each, 0, each - GAP, height) for number in range(count)),
            QRectF(left + room, 0, share - GAP, height) if self.shares else None,
            QRectF(width - MARGIN - rate, 0, rate, height) if self.rates else None,
        )


def headings(rows: Iterable[Sequence[str]]) -> tuple[str, ...]:
    """The heading of each column, given the short names of the metrics in each row; "Load" where the names of a column differ."""
    columns = zip_longest(*rows)
    return tuple(names.pop() if len(names) == 1 else translate("devices", _MIXED) for names in ({*column} - {None} for column in columns))


class _Columns(QWidget):
    """A widget whose content is arranged in columns."""

    def __init__(self) -> None:
        super().__init__()
        self._columns = RowColumns()

    def set_columns(self, columns: RowColumns) -> None:
        """Arrange the columns."""
        if columns != self._columns:
            self._columns = columns
            self.update()


class RowHeading(_Columns):
    """The headings of the columns of the rows below."""

    def __init__(self) -> None:
        super().__init__()
        self._font = theme.font(-2)
        self.names: tuple[str, ...] = ()
        self.setFixedHeight(QFontMetrics(self._font).height() + 2)

    def show_names(self, names: Sequence[str]) -> None:
        """Show the metrics' short names."""
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
            if areas.share is not None:
                painter.drawText(areas.share, LEFT, translate("devices", "Share"))
            if areas.rate is not None:
                painter.drawText(areas.rate, RIGHT, translate("devices", RATE))


@dataclass(frozen=True)
class RowContent:
    """The content of a row.

    name: of the device. colour: of its light. rate: frames/s as text. share: of all work, 0..1, None = none yet.
    off: the device has left the run. message: replaces the metrics, "" = none. progress: of the step that the message names, 0..1.
    serious: the message is a failure.
    """

    name: str = ""
    colour: str = ""
    rate: str = ""
    share: float | None = None
    metrics: tuple[Metric, ...] = ()
    off: bool = False
    message: str = ""
    progress: float = 0.0
    serious: bool = False

    @property
    def accessible_name(self) -> str:
        """The row for screen readers."""
        text = self.message or ", ".join(f"{metric.name} {metric.text}" for metric in self.metrics)
        share = "" if self.share is None else translate("devices", ", {share} of the work").format(share=formats.part(self.share))
        return f"{self.name}: {text}{share}"


class DeviceRow(_Columns):
    """Draws a ``RowContent``. toggled: the user clicked the row, or pressed Enter or Space."""

    toggled = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setFixedHeight(HEIGHT)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self._content = RowContent()
        self._font, self._bold = theme.font(-1), theme.font(-1, bold=True)

    def change(self, **changes: Any) -> None:
        """Change fields of the content; repaint only if one differs."""
        content = replace(self._content, **changes)
        if content != self._content:
            self._content = content
            self.setAccessibleName(content.accessible_name)
            self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw the row."""
        content = self._content
        areas = self._columns.areas(self.width(), self.height())
        with painting(self) as painter:
            if self.hasFocus():
                draw_box(painter, QRectF(self.rect()).adjusted(1.5, 1.5, -1.5, -1.5), 6, None, theme.ACCENT)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(content.colour or theme.DISABLED))
            painter.drawEllipse(QRectF(areas.name.x(), areas.name.center().y() - 4, 8, 8))
            painter.setFont(self._bold)
            text = theme.DISABLED if content.off else theme.TEXT
            painter.setPen(QColor(theme.WARNING if any(metric.alarm for metric in content.metrics) else text))
            write(painter, areas.name.adjusted(LIGHT, 0, 0, 0), content.name)
            painter.setPen(QColor(text))
            if areas.rate is not None:
                painter.drawText(areas.rate, RIGHT, content.rate)
            painter.setFont(self._font)
            if content.message:
                self._draw_message(painter, areas.cells[0].united(areas.share or areas.cells[-1]))
                return
            for area, metric in zip(areas.cells, content.metrics, strict=False):
                _draw_value(painter, area, metric.brief, metric.fraction, metric.known, metric.alarm)
            if areas.share is not None:
                text = formats.DASH if content.share is None else formats.part(content.share)
                _draw_value(painter, areas.share, text, content.share, content.share is not None, alarm=False)

    def _draw_message(self, painter: QPainter, area: QRectF) -> None:
        content = self._content
        painter.setPen(QColor(theme.DANGER if content.serious else theme.MUTED))
        write(painter, area.adjusted(0, 0, 0, _ABOVE if content.progress else 0), content.message)
        if content.progress:
            draw_bar(painter, QRectF(area.x(), area.bottom() - 8, area.width(), BAR), content.progress, theme.WARNING)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Open or close the card below."""
        if event.button() is Qt.MouseButton.LeftButton and self.rect().contains(event.position().toPoint()):
            self.toggled.emit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Open or close the card below with Enter or Space."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space):
            self.toggled.emit()
        else:
            super().keyPressEvent(event)


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
            names = max(names, tuple(metric.short for metric in shown), key=len)
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


def _draw_value(painter: QPainter, area: QRectF, text: str, fraction: float | None, known: bool, alarm: bool) -> None:
    painter.setPen(QColor(theme.DISABLED if not known else theme.WARNING if alarm else theme.TEXT))
    painter.drawText(area.adjusted(0, 0, 0, _ABOVE), LEFT | Qt.TextFlag.TextDontClip, text)
    draw_bar(painter, QRectF(area.x(), area.bottom() - 8, area.width(), BAR), fraction, theme.WARNING if alarm else theme.ACCENT)
