"""A small chart of the last minute, cheap to repaint."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QHBoxLayout, QLabel, QVBoxLayout, QWidget

from app.window.devices.status import HISTORY
from app.window.widgets import formats, theme
from app.window.widgets.plotting import pyqtgraph as pg

HEIGHT = 64
AXIS = 30


class Chart(QWidget):
    """Lines over the last ``HISTORY`` seconds, from zero; the first line is filled."""

    def __init__(self, name: str, colours: Sequence[str], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFixedHeight(HEIGHT)
        self.setAccessibleName(name)
        self._plot = pg.PlotWidget(background=theme.RAISED)
        item = self._plot.getPlotItem()
        item.hideButtons()
        item.setMenuEnabled(False)
        item.setMouseEnabled(False, False)
        item.setContentsMargins(0, 1, 0, 1)
        for side in ("bottom", "left"):
            item.hideAxis(side)
        item.setXRange(-HISTORY, 0, padding=0)
        item.getViewBox().setDefaultPadding(0)
        self._lines = [item.plot(pen=pg.mkPen(colour, width=1.5), antialias=True) for colour in colours]
        fill = QColor(colours[0])
        fill.setAlpha(38)
        self._lines[0].setFillLevel(0)
        self._lines[0].setBrush(fill)
        self._plot.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._ceiling = pg.InfiniteLine(angle=0, pen=pg.mkPen(theme.BORDER))
        for line in (pg.InfiniteLine(0, angle=0, pen=pg.mkPen(theme.BORDER)), self._ceiling):
            line.setZValue(-10)
            item.addItem(line)
        self._top = 0.0
        self.top_label, bottom_label = QLabel(), QLabel("0")
        labels = QVBoxLayout()
        labels.setSpacing(0)
        for label, place in ((self.top_label, Qt.AlignmentFlag.AlignTop), (bottom_label, Qt.AlignmentFlag.AlignBottom)):
            label.setFont(theme.font(-2))
            label.setStyleSheet(f"color: {theme.MUTED};")
            label.setAlignment(Qt.AlignmentFlag.AlignRight)
            label.setFixedWidth(AXIS)
            labels.addWidget(label, 1, place)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(4)
        row.addWidget(self._plot, 1)
        row.addLayout(labels)
        self.setToolTip(name)
        self._set_top(1.0)

    def show_values(self, times: Sequence[float], lines: Sequence[Sequence[float]]) -> None:
        """Draw each line at these times (seconds, 0 = now, negative before); NaN leaves a gap."""
        highest = 0.0
        for line, values in zip(self._lines, lines, strict=True):
            line.setData(times, values, connect="finite")
            highest = max([highest, *(value for value in values if value == value)])
        self._set_top(ceiling(highest))

    def _set_top(self, top: float) -> None:
        if top != self._top:
            self._top = top
            self._plot.setYRange(0, top * 1.04, padding=0)
            self._ceiling.setValue(top)
            self.top_label.setText(formats.rate(top).removesuffix(".0"))


def ceiling(value: float) -> float:
    """The next of 1, 1.5, 2, 3, 5, 7 × 10ⁿ at or above a value: a scale that does not jump about."""
    if value <= 0:
        return 1.0
    power = 1.0
    while value > 7 * power:
        power *= 10
    while value <= 0.7 * power:
        power /= 10
    return next(step * power for step in (1.0, 1.5, 2.0, 3.0, 5.0, 7.0, 10.0) if step * power >= value)
