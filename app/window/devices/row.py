"""A device in one line, where there are too many for a card each."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QRectF, Qt, Signal
from PySide6.QtGui import QColor, QFocusEvent, QKeyEvent, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.window.devices.row_columns import LIGHT, RowColumns
from app.window.devices.telemetry_text import Reading
from app.window.widgets import formats, theme
from app.window.widgets.indicators import draw_bar

HEIGHT, BAR = 32, 3
_ABOVE = -BAR - 2
_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter


@dataclass(frozen=True)
class RowContent:
    """name, colour: of the device and its light. rate: frames/s in words. share: of all work, 0..1, None = none yet. off: it is out."""

    name: str = ""
    colour: str = theme.DISABLED
    rate: str = ""
    share: float | None = None
    readings: tuple[Reading, ...] = ()
    off: bool = False


@dataclass(frozen=True)
class Matter:
    """Words that stand in place of the readings, "" = none. fraction: how far that is. serious: it is a failure."""

    text: str = ""
    fraction: float = 0.0
    serious: bool = False


class DeviceRow(QWidget):
    """Name, readings, share of the work, throughput; or what is the matter. toggled: clicked, or Enter or Space was pressed."""

    toggled = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFixedHeight(HEIGHT)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self._columns = RowColumns()
        self._content = RowContent()
        self._matter = Matter()
        self._font, self._bold = theme.font(-1), theme.font(-1, bold=True)

    def set_columns(self, columns: RowColumns) -> None:
        """Where things stand."""
        if columns != self._columns:
            self._columns = columns
            self.update()

    def show_device(self, content: RowContent) -> None:
        """Repaints only if anything is new."""
        if content != self._content:
            self._content = content
            self._describe()

    def show_matter(self, matter: Matter) -> None:
        """The same."""
        if matter != self._matter:
            self._matter = matter
            self._describe()

    def _describe(self) -> None:
        content = self._content
        said = self._matter.text or ", ".join(f"{reading.name} {reading.text}" for reading in content.readings)
        share = "" if content.share is None else f", {formats.part(content.share)} of the work"
        self.setAccessibleName(f"{content.name}: {said}{share}")
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw the line."""
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            self._draw(painter)

    def _draw(self, painter: QPainter) -> None:
        content = self._content
        if self.hasFocus():
            painter.setPen(QColor(theme.ACCENT))
            painter.drawRoundedRect(QRectF(self.rect()).adjusted(1.5, 1.5, -1.5, -1.5), 6, 6)
        areas = self._columns.areas(self.width(), self.height())
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(content.colour))
        painter.drawEllipse(QRectF(areas.name.x(), areas.name.center().y() - 4, 8, 8))
        painter.setFont(self._bold)
        text = theme.DISABLED if content.off else theme.TEXT
        painter.setPen(QColor(theme.WARNING if any(reading.alarm for reading in content.readings) else text))
        self._write(painter, areas.name.adjusted(LIGHT, 0, 0, 0), content.name)
        painter.setPen(QColor(text))
        if areas.rate is not None:
            painter.drawText(areas.rate, _RIGHT, content.rate)
        painter.setFont(self._font)
        if self._matter.text:
            self._draw_matter(painter, areas.cells[0].united(areas.share or areas.cells[-1]))
            return
        for area, reading in zip(areas.cells, content.readings, strict=False):
            self._draw_value(painter, area, reading.brief, reading.fraction, reading.known, reading.alarm)
        if areas.share is not None:
            text = formats.DASH if content.share is None else formats.part(content.share)
            self._draw_value(painter, areas.share, text, content.share, content.share is not None, alarm=False)

    def _draw_value(self, painter: QPainter, area: QRectF, text: str, fraction: float | None, known: bool, alarm: bool) -> None:
        painter.setPen(QColor(theme.DISABLED if not known else theme.WARNING if alarm else theme.TEXT))
        painter.drawText(area.adjusted(0, 0, 0, _ABOVE), _LEFT | Qt.TextFlag.TextDontClip, text)
        draw_bar(painter, QRectF(area.x(), area.bottom() - 8, area.width(), BAR), fraction, theme.WARNING if alarm else theme.ACCENT)

    def _draw_matter(self, painter: QPainter, area: QRectF) -> None:
        matter = self._matter
        painter.setPen(QColor(theme.DANGER if matter.serious else theme.MUTED))
        self._write(painter, area.adjusted(0, 0, 0, _ABOVE if matter.fraction else 0), matter.text)
        if matter.fraction:
            draw_bar(painter, QRectF(area.x(), area.bottom() - 8, area.width(), BAR), matter.fraction, theme.WARNING)

    def _write(self, painter: QPainter, area: QRectF, text: str) -> None:
        painter.drawText(area, _LEFT, painter.fontMetrics().elidedText(text, Qt.TextElideMode.ElideRight, int(area.width())))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Open or close the card beneath."""
        if event.button() is Qt.MouseButton.LeftButton and self.rect().contains(event.position().toPoint()):
            self.toggled.emit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """The same, by keys."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space):
            self.toggled.emit()
        else:
            super().keyPressEvent(event)

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Show the focus."""
        super().focusInEvent(event)
        self.update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Show that it is gone."""
        super().focusOutEvent(event)
        self.update()
