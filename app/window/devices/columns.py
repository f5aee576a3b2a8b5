"""The columns of the list of devices: name, metrics and throughput, with their headings."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import cast

from PySide6.QtCore import QRectF
from PySide6.QtGui import QColor, QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from framefleet.app.window.widgets import theme
from framefleet.app.window.widgets.painting import LEFT, RIGHT
from framefleet.app.window.widgets.translation import marked, translate

CELLS = 4
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
        count = max(min(int(room // cell), CELLS), 1)
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
