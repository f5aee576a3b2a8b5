"""A chart of counts over time, by class."""

from collections.abc import Callable, Sequence
from html import escape

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.window.widgets import formats, theme
from app.window.widgets.build import column, label
from app.window.widgets.plotting import pg
from app.window.widgets.translation import translate
from engine.media.annotation.colours import class_colour
from engine.zones.counts import Counts
from engine.zones.shapes import Line

MOST_BARS = 60
LENGTHS = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600)
"""The lengths of a bar, seconds or pictures: the first one with at most ``MOST_BARS`` bars."""
MOST_CLASSES = 6


class CountChart(QWidget):
    """Crossings of a line, or objects in a zone, over the length of the file. name: of a class id."""

    def __init__(self, name: Callable[[int], str]) -> None:
        super().__init__()
        self._name = name
        self._plot = pg.PlotWidget(background=theme.STAGE, enableMenu=False)  # the colours of classes need a dark ground
        self._plot.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        item = self._plot.getPlotItem()
        item.hideButtons()
        item.setMouseEnabled(False, False)
        for side in ("bottom", "left"):
            item.getAxis(side).setPen(theme.ON_STAGE_MUTED)
            item.getAxis(side).setTextPen(theme.ON_STAGE_MUTED)
            item.getAxis(side).setStyle(tickFont=theme.font(-2))
        item.getAxis("bottom").tickStrings = self._ticks
        item.getAxis("left").tickStrings = self._numbers
        self._pictures, self._begin = False, 0.0
        self._heading = label("small", "", wrap=True)
        self._heading.setTextFormat(Qt.TextFormat.RichText)
        self._heading.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self._plot.setMinimumSize(120, 80)
        self._cursor = pg.InfiniteLine(0, angle=90, pen=pg.mkPen(theme.ON_STAGE_MUTED))
        self.setAccessibleName(translate("zones", "Counts over time"))
        column(self._heading, (self._plot, 1), None, spacing=4, of=self)

    def show_counts(self, counts: Counts | None, number: int | None, length: float, pictures: bool = False, begin: float = 0.0) -> None:
        """Draw the counts of one line or zone. begin, length: the file's first and last pts, seconds or positions."""
        item = self._plot.getPlotItem()
        item.clear()
        item.addItem(self._cursor)
        self._pictures, self._begin = pictures, begin
        known = counts is not None and number is not None and number < len(counts.zones.shapes) and length > 0
        self._plot.setVisible(known)
        if not known or counts is None or number is None:
            self._heading.setText(translate("zones", "Choose a line or zone in the list to see its counts over time."))
            return
        shape = counts.zones.shapes[number]
        is_line = isinstance(shape, Line)
        table = counts.crossings if is_line else counts.visits
        table = table[table["shape"] == number]
        class_ids, totals = np.unique(table["class_id"], return_counts=True)
        shown = class_ids[np.argsort(-totals, kind="stable")][:MOST_CLASSES].tolist()
        bar = next((each for each in LENGTHS if length - begin <= each * MOST_BARS), (length - begin) / MOST_BARS)
        edges = np.append(np.arange(begin, length, bar), length)
        sums = {sign: np.zeros(len(edges) - 1) for sign in ((1, -1) if is_line else (1,))}
        for class_id in shown:  # bars on top of each other, so that the outer edge is the sum
            mine = table[table["class_id"] == class_id]
            for sign, sum_ in sums.items():
                values = sign * _per_bin(mine[mine["forward"] == (sign > 0)] if is_line else mine, edges, is_line, pictures)
                bars = pg.BarGraphItem(x0=edges[:-1], x1=edges[1:], y0=sum_, height=values, pen=None, brush=class_colour(class_id))
                item.addItem(bars)
                sums[sign] = sum_ + values
        item.setXRange(begin, length, padding=0.01)
        highest = max(float(np.abs(each).max()) for each in sums.values())
        item.setYRange(-max(highest, 1.0) if is_line else 0, max(highest, 1.0), padding=0.05)
        squares = [f'<span style="color:rgb{class_colour(class_id)}">■</span>&nbsp;{escape(self._name(class_id))}' for class_id in shown]
        what = (
            translate("zones", "{name}: crossings in {seconds} s, forward upwards, backward downwards")
            if is_line
            else translate("zones", "{name}: objects inside")
        ).format(name=escape(shape.name), seconds=formats.decimal(bar, 0))
        self._heading.setText(f"{what}&nbsp;&nbsp; {'  '.join(squares)}")

    def _ticks(self, values: Sequence[float], _scale: float, spacing: float) -> list[str]:
        """The texts below the chart: times, or numbers of pictures."""
        if self._pictures:
            return [f"{value + 1:.0f}" for value in values]
        return [formats.clock(max(value - self._begin, 0.0), int(spacing < 1)) for value in values]

    def _numbers(self, values: Sequence[float], _scale: float, spacing: float) -> list[str]:
        """The numbers at the left: a crossing is a whole one, in both directions."""
        return [formats.decimal(abs(value), int(spacing < 1)) for value in values]

    def set_time(self, time: float) -> None:
        """Mark the current time, seconds."""
        self._cursor.setValue(time)


def _per_bin(table: NDArray[np.void], edges: NDArray[np.float64], is_line: bool, pictures: bool) -> NDArray[np.float64]:
    """Crossings in each part of the time, or the mean number of objects inside. edges: of the parts, seconds, (n + 1,)."""
    if is_line:
        return np.histogram(table["time"], edges)[0].astype(float)
    if pictures:  # a visit is an object in one picture
        places = np.histogram(np.arange(round(edges[-1]) + 1), edges)[0]
        return np.asarray(np.histogram(table["begin"], edges)[0] / np.maximum(places, 1))
    inside = np.minimum(table["end"][:, None], edges[1:]) - np.maximum(table["begin"][:, None], edges[:-1])
    values: NDArray[np.float64] = np.maximum(inside, 0).sum(0) / np.diff(edges)
    return values
