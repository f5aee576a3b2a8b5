"""The chart of throughput against the number of devices."""

import math
from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QSizePolicy, QWidget

from framefleet.app.scaling_results import Series
from framefleet.app.window.scaling.records import RECORDS
from framefleet.app.window.widgets import formats, theme
from framefleet.app.window.widgets.build import column
from framefleet.app.window.widgets.plotting import colour_plot, pg, still_plot
from framefleet.app.window.widgets.translation import translate

MEASURED, IDEAL = "ACCENT", "TEXT"
OTHERS = ("WARNING", "GOOD")
"""The names of the colours of ``RECORDS``; they also differ in their symbols."""
SYMBOLS = ("t", "s")
_ROOM = 1.14


class ScalingChart(QWidget):
    """Draws one ``Series``, the ideal, and the records of others, scaled to the throughput of one device here."""

    def __init__(self) -> None:
        super().__init__()
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setMinimumHeight(130)
        self._plot: Any = None
        self._series: Series | None = None

    @property
    def item(self) -> Any:
        """What the plot shows. It exists from the first series on."""
        return self._plot.getPlotItem()

    def show_series(self, series: Series) -> None:
        """Draw this series in place of the earlier one."""
        self._series = series
        if self._plot is None:  # a window without it opens a tenth faster
            self._plot = still_plot()
            column(self._plot, of=self)
        colour_plot(self._plot, theme.SURFACE)
        self.item.clear()
        counts, one = series.counts, series.rates[1]
        most = counts[-1]
        top = max(one * series.ideal[count] for count in counts)
        top = max(top, *series.rates.values())
        for record, colour, symbol in zip(RECORDS, OTHERS, SYMBOLS, strict=True):
            shown = {count: one * speedup for count, speedup in record.speedups.items() if count <= most}
            if len(shown) > 1 and series.ideal[most] == most:  # the records are of GPUs
                top = max(top, *shown.values())
                self._line(shown, pg.mkPen(theme.colour(colour), width=1.2, style=Qt.PenStyle.DotLine), symbol, colour)
        ideal = {count: one * series.ideal[count] for count in counts}
        self._line(ideal, pg.mkPen(theme.colour(IDEAL), width=1.2, style=Qt.PenStyle.DashLine))
        self._line({count: series.rates[count] for count in counts}, pg.mkPen(theme.colour(MEASURED), width=2.2), "o", MEASURED)
        for count in counts[1:]:
            text = pg.TextItem(f"{formats.decimal(series.speedup(count), 2)}×", color=theme.TEXT, anchor=(1.12, 0.95))
            text.setFont(theme.font(-2, bold=True))
            text.setPos(count, series.rates[count])
            self.item.addItem(text)
        self.item.getAxis("bottom").setTicks([[(count, str(count)) for count in counts]])
        step = tick_step(top)
        ticks = [(number * step, formats.rate(number * step).removesuffix(".0")) for number in range(int(top / step) + 1)]
        self.item.getAxis("left").setTicks([ticks])
        self.item.setXRange(1 - 0.16 * (most - 1), most + 0.1 * (most - 1), padding=0)
        self.item.setYRange(0, _ROOM * top, padding=0)
        self._describe(series)

    def use_theme(self) -> None:
        """Draw in the colours of a new theme."""
        if self._series is not None:
            self.show_series(self._series)

    def _line(self, points: dict[int, float], pen: object, symbol: str | None = None, colour: str = "") -> None:
        brush = pg.mkBrush(theme.colour(colour)) if symbol else None
        size = 7 if colour == MEASURED else 6
        self.item.plot(
            [*points], [*points.values()], pen=pen, symbol=symbol, symbolBrush=brush, symbolPen=None, symbolSize=size, antialias=True
        )

    def _describe(self, series: Series) -> None:
        parts = [
            translate("scaling", "%Ln devices: {rate} frames/s, {speedup} times one", None, count).format(
                rate=formats.rate(series.rates[count]), speedup=formats.decimal(series.speedup(count), 2)
            )
            for count in series.counts
        ]
        self.setAccessibleName(f"{series.model}, {series.hardware}: {'; '.join(parts)}")


def tick_step(top: float) -> float:
    """The distance of at most five marks between 0 and this value."""
    power = 10.0 ** math.floor(math.log10(top))
    return next(step * power for step in (0.2, 0.25, 0.5, 1.0, 2.0, 2.5) if top / (step * power) <= 5)


def legend(series: Series) -> Sequence[tuple[str, str, str, str]]:
    """The meaning of each line: a sign, the name of its colour, a text and an address."""
    most = series.counts[-1]
    lines = [("●", MEASURED, translate("scaling", "Measured here"), ""), ("╌", IDEAL, translate("scaling", "Ideal"), "")]
    for record, colour, sign in zip(RECORDS, OTHERS, ("▼", "■"), strict=True):
        if series.ideal[most] == most and any(1 < count <= most for count in record.speedups):
            best = max(count for count in record.speedups if count <= most)
            text = translate("scaling", "{name}: {speedup}× on {count}").format(
                name=translate("scaling", record.name), speedup=formats.decimal(record.speedups[best], 1), count=best
            )
            lines.append((sign, colour, text, record.address))
    return lines
