"""Where things stand in a device's row: the same columns in each row and in the heading above them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from app.window.widgets import theme

CELLS = 5
"""The most readings in a row."""
MARGIN, GAP, LIGHT = 10, 8, 14
_EITHER = "Load"
_MOST_NAME = 0.34
"""Share of the width that names may take."""


@dataclass(frozen=True)
class Areas:
    """Of one row. cells: for as many readings as there is room for. share, rate: None where devices are only shown."""

    name: QRectF
    cells: tuple[QRectF, ...]
    share: QRectF | None
    rate: QRectF | None


@dataclass(frozen=True)
class RowColumns:
    """What decides on the widths. longest: name. rates, shares: whether there are any throughputs and shares of the work."""

    longest: str = ""
    rates: bool = False
    shares: bool = False

    def areas(self, width: float, height: float) -> Areas:
        """In a row of this size."""
        metrics, bold = QFontMetrics(theme.font(-1)), QFontMetrics(theme.font(-1, bold=True))
        name = min(LIGHT + bold.horizontalAdvance(self.longest) + 2, _MOST_NAME * width)
        cell = metrics.horizontalAdvance("100 %") + GAP
        rate = bold.horizontalAdvance("00,000") if self.rates else 0
        share = cell if self.shares else 0
        left = MARGIN + name + GAP
        room = width - left - MARGIN - rate - share
        count = max(min(int(room // cell), CELLS), 1)
        each = room / count
        cells = tuple(QRectF(left + number * each, 0, each - GAP, height) for number in range(count))
        return Areas(
            QRectF(MARGIN, 0, name, height),
            cells,
            QRectF(left + room, 0, share - GAP, height) if self.shares else None,
            QRectF(width - MARGIN - rate, 0, rate, height) if self.rates else None,
        )


def headings(rows: Iterable[Sequence[str]]) -> tuple[str, ...]:
    """What stands above the readings of these short names; where those of a column differ, as of a CPU and a GPU, what both mean."""
    columns = zip_longest(*rows)
    return tuple(names.pop() if len(names) == 1 else _EITHER for names in ({*column} - {None} for column in columns))


class RowHeading(QWidget):
    """What stands in the columns of the rows beneath it."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._font = theme.font(-2)
        self._columns = RowColumns()
        self._names: tuple[str, ...] = ()
        self.setFixedHeight(QFontMetrics(self._font).height() + 2)

    @property
    def names(self) -> tuple[str, ...]:
        """Of the readings."""
        return self._names

    def set_columns(self, columns: RowColumns) -> None:
        """Where they are."""
        if columns != self._columns:
            self._columns = columns
            self.update()

    def show_names(self, names: Sequence[str]) -> None:
        """The readings' short names."""
        if tuple(names) != self._names:
            self._names = tuple(names)
            self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw them."""
        areas = self._columns.areas(self.width(), self.height())
        left, middle = Qt.AlignmentFlag.AlignLeft, Qt.AlignmentFlag.AlignVCenter
        with QPainter(self) as painter:
            painter.setFont(self._font)
            painter.setPen(QColor(theme.MUTED))
            for area, name in zip(areas.cells, self._names, strict=False):
                painter.drawText(area, left | middle, name)
            if areas.share is not None:
                painter.drawText(areas.share, left | middle, "Share")
            if areas.rate is not None:
                painter.drawText(areas.rate, Qt.AlignmentFlag.AlignRight | middle, "fps")
