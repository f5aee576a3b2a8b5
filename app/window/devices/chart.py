"""A small chart of the last minute, cheap to repaint."""

import math
from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QWidget

from framefleet.app.window.devices.status import HISTORY
from framefleet.app.window.widgets import formats, theme
from framefleet.app.window.widgets.build import column, label, row
from framefleet.app.window.widgets.plotting import pg

HEIGHT = 64
AXIS = 30


class Chart(QWidget):
    """Lines over the last ``HISTORY`` seconds, from zero; the first line is filled. colours: names of the theme's table."""

    def __init__(self, name: str, colours: Sequence[str]) -> None:
        super().__init__()
        self.setFixedHeight(HEIGHT)
        self.setAccessibleName(name)
        self._plot = pg.PlotWidget(enableMenu=False)
        item = self._plot.getPlotItem()
        item.hideButtons()
        item.setMouseEnabled(False, False)
        item.setContentsMargins(0, 1, 0, 1)
        for side in ("bottom", "left"):
            item.hideAxis(side)
        item.setXRange(-HISTORY, 0, padding=0)
        item.getViewBox().setDefaultPadding(0)
        self._lines = [item.plot(antialias=True) for _ in colours]
        self._lines[0].setFillLevel(0)
        self._plot.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._floor, self._ceiling = pg.InfiniteLine(0, angle=0), pg.InfiniteLine(angle=0)
        for line in (self._floor, self._ceiling):
            line.setZValue(-10)
            item.addItem(line)
        self._top = 0.0
        self.top_label, bottom_label = label(""), label("", "0")
        for text in (self.top_label, bottom_label):
            text.setFont(theme.font(-2))
            text.setStyleSheet(f"color: {theme.MUTED};")
            text.setAlignment(Qt.AlignmentFlag.AlignRight)
            text.setFixedWidth(AXIS)
        top, bottom = Qt.AlignmentFlag.AlignTop, Qt.AlignmentFlag.AlignBottom
        labels = column((self.top_label, 1, top), (bottom_label, 1, bottom), spacing=0)
        row((self._plot, 1), labels, spacing=4, of=self)
        self.setToolTip(name)
        self._set_top(1.0)
        self._colours = colours
        self.use_theme()

    def use_theme(self) -> None:
        """Draw in the colours of the theme."""
        self._plot.setBackground(theme.RAISED)
        for line, name in zip(self._lines, self._colours, strict=True):
            line.setPen(pg.mkPen(theme.colour(name), width=1.5))
        fill = QColor(theme.colour(self._colours[0]))
        fill.setAlpha(38)
        self._lines[0].setBrush(fill)
        for line in (self._floor, self._ceiling):
            line.setPen(pg.mkPen(theme.BORDER))

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
    """The next of 1, 1.5, 2, 3, 5, 7 × 10ⁿ at or above a value, so that the scale changes rarely."""
    if value <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(value))
    return next(step * power for step in (1.0, 1.5, 2.0, 3.0, 5.0, 7.0, 10.0) if step * power >= value)
