"""A chart of counts over time, by class."""

from collections.abc import Callable, Iterable, Sequence
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QSizePolicy, QWidget

from framefleet.app.window.widgets import build, fields, formats, theme
from framefleet.app.window.widgets.plotting import pg
from framefleet.app.window.widgets.translation import translate
from framefleet.engine.media.annotation.layout import class_colour
from framefleet.engine.store.clock import Clock
from framefleet.engine.zones.counts import Counts, Intervals
from framefleet.engine.zones.shapes import Line

MAX_BARS = 60
LENGTHS = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200, 86_400)
"""The lengths of a bar, seconds or pictures: the first one with at most ``MAX_BARS`` bars, if the user chooses none."""
CHOICES = (1, 10, 60, 300, 900, 3600)
"""The lengths of a bar that the user can choose, seconds."""
QUARTER = 900
"""The shortest bar for several files on one clock, seconds, if the user chooses none."""
MAX_CHOSEN = 5000
"""The largest number of bars of a chosen length: a longer one follows, because more bars are slow to draw."""
MAX_CLASSES = 6
_TIMES = (0.1, 0.2, 0.5, *LENGTHS)
_WHOLE = tuple(step * 10**power for power in range(7) for step in (1, 2, 5))
_NUMBERS = (0.1, 0.2, 0.5, *_WHOLE)
_ROOM = {"bottom": 70, "left": 22}
"""The least distance of two numbers of an axis, logical pixels."""


class CountChart(QWidget):
    """Crossings of a line, or objects in a zone, over the length of the file. name: of a class id."""

    def __init__(self, name: Callable[[int], str]) -> None:
        super().__init__()
        self._name = name
        self.plot: Any = None
        self._counts: Counts | None = None
        self._number: int | None = None
        self._begin, self._end, self._pictures, self._is_line = 0.0, 0.0, False, True
        self._recorded = np.zeros((0, 2))
        self._clock = Clock(None)
        self._common: Clock | None = None
        self.heading = build.label("small", wrap=True, rich=True)
        self.heading.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        lengths = {None: translate("zones", "Automatic")} | {seconds: _written(seconds) for seconds in CHOICES}
        self.interval = fields.combo_box(translate("zones", "Length of a bar"), lengths)
        self.interval.currentIndexChanged.connect(self._draw)
        self._cursor = pg.InfiniteLine(0, angle=90, pen=pg.mkPen(theme.ON_STAGE_MUTED))
        self.setAccessibleName(translate("zones", "Counts over time"))
        self._column = build.column(build.row((self.heading, 1), self.interval, spacing=6), None, spacing=4, of=self)

    def show_counts(
        self,
        counts: Counts | None,
        number: int | None,
        end: float,
        pictures: bool = False,
        begin: float = 0.0,
        clock: Clock | None = None,
        recorded: NDArray[np.float64] | None = None,
    ) -> None:
        """Draw the counts of one line or zone.

        begin, end: the file's first and last pts, seconds, or positions if it has pictures. clock: of several files, None = there is one.
        recorded: the first and last pts of each of them, (n, 2).
        """
        known = counts is not None and number is not None and number < len(counts.zones.shapes) and end > begin
        self._counts, self._number = counts if known else None, number
        self._begin, self._end, self._pictures, self._common = begin, end, pictures, clock
        self._recorded = np.array([[begin, end]]) if recorded is None else recorded
        self._draw()

    def set_clock(self, clock: Clock | None) -> None:
        """Show clock times below the chart, and let bars begin at full minutes or hours of the clock. None: unknown."""
        self._clock = clock or Clock(None)
        self._draw()

    def _draw(self) -> None:
        counts, number = self._counts, self._number
        self.interval.setVisible(counts is not None and not self._pictures)
        if counts is None or number is None:
            self.heading.setText(translate("zones", "Choose a line or zone in the list to see its counts over time."))
            if self.plot is not None:
                self.plot.hide()
            return
        if self.plot is None:
            self._make_plot()
        self.plot.show()
        item = self.plot.getPlotItem()
        item.clear()
        if self._common is None:
            item.addItem(self._cursor)
        shape = counts.zones.shapes[number]
        self._is_line = is_line = isinstance(shape, Line)
        table = counts.crossings if is_line else counts.visits
        table = table[table["shape"] == number]
        class_ids, totals = np.unique(table["class_id"], return_counts=True)
        shown = class_ids[np.argsort(-totals, kind="stable")][:MAX_CLASSES].tolist()
        bar = self._bar()
        starts = Intervals.of(self._begin, self._end, bar, self._offset).starts
        edges = np.append(np.maximum(starts[starts < self._end], self._begin), self._end)
        if self._common is not None:  # a short recording at the end needs a bar that can be seen
            edges = np.append(starts, starts[-1] + bar)
        sums = {sign: np.zeros(len(edges) - 1) for sign in ((1, -1) if is_line else (1,))}
        for class_id in shown:  # bars on top of each other, so that the outer edge is the sum
            mine = table[table["class_id"] == class_id]
            for sign, sum_ in sums.items():
                values = sign * self._per_bin(mine[mine["forward"] == (sign > 0)] if is_line else mine, edges)
                bars = pg.BarGraphItem(x0=edges[:-1], x1=edges[1:], y0=sum_, height=values, pen=None, brush=class_colour(class_id))
                item.addItem(bars)
                sums[sign] = sum_ + values
        item.setXRange(edges[0], edges[-1], padding=0.01)
        highest = max(float(np.abs(each).max()) for each in sums.values())
        item.setYRange(-max(highest, 1.0) if is_line else 0, max(highest, 1.0), padding=0.12)
        squares = [f'<span style="color:rgb{class_colour(class_id)}">■</span>&nbsp;{escape(self._name(class_id))}' for class_id in shown]
        what = (
            translate("zones", "{name}: crossings in {interval}, forward upwards, backward downwards")
            if is_line
            else translate("zones", "{name}: objects inside")
        ).format(name=escape(shape.name), interval=_written(bar))
        self.heading.setText(f"{what}&nbsp;&nbsp; {'  '.join(squares)}")

    def _per_bin(self, table: NDArray[np.void], edges: NDArray[np.float64]) -> NDArray[np.float64]:
        """Crossings in each part of the time, or the mean number of objects inside while it was recorded.

        edges: of the parts, seconds, (n + 1,).
        """
        if self._is_line:
            return np.histogram(table["time"], edges)[0].astype(float)
        if self._pictures:  # a visit is an object in one picture
            places = np.histogram(np.arange(round(edges[-1]) + 1), edges)[0]
            return np.asarray(np.histogram(table["begin"], edges)[0] / np.maximum(places, 1))
        begins, ends = self._recorded.T
        recorded = _overlaps(begins, ends, edges)
        return np.divide(_overlaps(table["begin"], table["end"], edges), recorded, out=np.zeros(len(recorded)), where=recorded > 0)

    def _make_plot(self) -> None:
        """Make the plot when there is something to draw: a window without it opens a tenth faster."""
        self.plot = pg.PlotWidget(background=theme.STAGE, enableMenu=False)  # the colours of classes need a dark ground
        self.plot.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.plot.setMinimumSize(120, 80)
        item = self.plot.getPlotItem()
        item.hideButtons()
        item.setMouseEnabled(False, False)
        for side in ("bottom", "left"):
            item.getAxis(side).setPen(theme.ON_STAGE_MUTED)
            item.getAxis(side).setTextPen(theme.ON_STAGE_MUTED)
            item.getAxis(side).setStyle(tickFont=theme.font(-2))
        item.getAxis("bottom").tickValues = self._places
        item.getAxis("bottom").tickStrings = self._times
        item.getAxis("left").tickValues = self._levels
        item.getAxis("left").tickStrings = self._numbers
        self._column.insertWidget(1, self.plot, 1)

    def _bar(self) -> float:
        chosen = None if self._pictures else self.interval.currentData()
        most, length = MAX_CHOSEN if chosen else MAX_BARS, self._end - self._begin
        least = chosen or (0 if self._common is None else QUARTER)
        return next((each for each in LENGTHS if length <= each * most and each >= least), length / most)

    @property
    def _offset(self) -> float:
        clock = self._common or self._clock
        if clock.started is None:
            return -self._begin
        return 0.0 if self._pictures else clock.offset()

    def _places(self, low: float, high: float, size: float) -> list[tuple[float, NDArray[np.float64]]]:
        """The distance of the texts below the chart, and where they stand: at full pictures, seconds, minutes or hours."""
        return _spaced(_WHOLE if self._pictures else _TIMES, low, high, size / _ROOM["bottom"], self._offset)

    def _times(self, values: Sequence[float], _scale: float, spacing: float) -> list[str]:
        """The texts below the chart: numbers of pictures, clock times if they are known, or times of the video."""
        if self._pictures:
            return [f"{value + 1:.0f}" for value in values]
        moments = [(self._common or self._clock).at(value) for value in values]
        form = "%H:%M" if spacing >= 60 else "%H:%M:%S"
        return [
            formats.clock(max(value - self._begin, 0.0), int(spacing < 1)) if moment is None else moment.strftime(form)
            for value, moment in zip(values, moments, strict=True)
        ]

    def _levels(self, low: float, high: float, size: float) -> list[tuple[float, NDArray[np.float64]]]:
        """The distance of the numbers at the left, and where they stand. Crossings are whole numbers; the mean of objects may be less."""
        return _spaced(_WHOLE if self._is_line else _NUMBERS, low, high, size / _ROOM["left"])

    def _numbers(self, values: Sequence[float], _scale: float, spacing: float) -> list[str]:
        """The numbers at the left, in both directions."""
        return [formats.decimal(abs(value), int(spacing < 1)) for value in values]

    def set_time(self, time: float) -> None:
        """Mark the current time, seconds."""
        self._cursor.setValue(time)


def _spaced(steps: Iterable[float], low: float, high: float, most: float, offset: float = 0.0) -> list[tuple[float, NDArray[np.float64]]]:
    """The first distance with which at most ``most`` values lie between two, and the multiples of it, counted from ``-offset``."""
    *_, longest = steps
    step = next((each for each in steps if (high - low) / each <= most), longest)
    return [(step, np.arange(np.ceil((low + offset) / step), np.floor((high + offset) / step) + 1) * step - offset)]


def _written(seconds: float) -> str:
    """A length of time with the largest unit that it is a multiple of: ``15 s``, ``5 min``, ``1 h``."""
    unit, length = next((each for each in (("h", 3600), ("min", 60)) if seconds % each[1] == 0), ("s", 1))
    return formats.quantity(seconds / length, unit)


def _overlaps(begins: NDArray[np.float64], ends: NDArray[np.float64], edges: NDArray[np.float64]) -> NDArray[np.float64]:
    """How long these spans of time last together in each part between two edges, seconds."""
    inside = np.minimum(ends[:, None], edges[1:]) - np.maximum(begins[:, None], edges[:-1])
    sums: NDArray[np.float64] = np.maximum(inside, 0).sum(0)
    return sums
