"""Accuracy against speed of the models as a small chart."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from PySide6.QtCore import QEvent, Qt
from PySide6.QtWidgets import QWidget

from app.scaling_results import Speed
from app.window.widgets import formats, theme
from app.window.widgets.build import column, label
from app.window.widgets.plotting import colour_plot, pg, still_plot
from app.window.widgets.translation import translate
from engine.model.registry.catalogue import ModelEntry

HEIGHT = 190
NEAR = 0.12
"""Models whose work differs by a smaller power of ten have names that would cover each other."""
PUBLISHED, MEASURED = "MUTED", "GOOD"
"""Names of colours."""


class ModelChart(QWidget):
    """Draws each model of the catalogue by its work per picture and its accuracy, both published.

    Models that ran on this machine are filled and have their measured throughput.
    """

    def __init__(self, entries: Sequence[ModelEntry]) -> None:
        super().__init__()
        self._entries = tuple(entries)
        self.setFixedHeight(HEIGHT)
        self._plot = still_plot()
        self.item = self._plot.getPlotItem()
        self.item.setLogMode(x=True, y=False)
        self.item.invertX(True)
        self.legend = label("small", wrap=True)
        self.legend.setTextFormat(Qt.TextFormat.RichText)
        column((self._plot, 1), self.legend, spacing=2, of=self)
        self.show_speeds({})

    def show_speeds(self, speeds: Mapping[str, Speed]) -> None:
        """Mark the models that ran on this machine. speeds: by the model's name."""
        self._speeds = dict(speeds)
        self.item.clear()
        colour_plot(self._plot, theme.BACKGROUND)
        style = {"color": theme.MUTED, "font-size": f"{theme.base_size() - 2}px"}
        self.item.getAxis("left").setLabel(translate("models", "COCO AP, %"), **style)
        self.item.getAxis("bottom").setLabel(translate("models", "GFLOP / picture: less is faster →"), **style)
        spoken = []
        for entry in self._entries:
            speed = speeds.get(entry.name)
            text = entry.title
            if speed is not None:
                rate = translate("models", "{rate} frames/s").format(rate=formats.rate(speed.rate))
                text += f"\n{rate}"
                spoken.append(f"{entry.title}: {rate}")
            else:
                spoken.append(entry.title)
            colour = theme.colour(PUBLISHED if speed is None else MEASURED)
            self.item.plot(
                [entry.gflops],
                [entry.ap],
                pen=None,
                symbol="o" if speed is None else "s",
                symbolSize=8,
                symbolPen=pg.mkPen(colour, width=1.5),
                symbolBrush=None if speed is None else pg.mkBrush(colour),
            )
            shown = pg.TextItem(text, color=theme.TEXT if speed is not None else theme.MUTED, anchor=self._anchor(entry))
            shown.setFont(theme.font(-2))
            shown.setPos(_log(entry.gflops), entry.ap)
            self.item.addItem(shown)
        works, accuracies = [entry.gflops for entry in self._entries], [entry.ap for entry in self._entries]
        self.item.setXRange(_log(min(works)) - 0.15, _log(max(works)) + 0.15, padding=0)
        self.item.setYRange(min(accuracies) - 9, max(accuracies) + 9, padding=0)
        marks = [tick for tick in (1, 3, 10, 30, 100, 300, 1000) if min(works) / 2 <= tick <= max(works) * 2]
        self.item.getAxis("bottom").setTicks([[(_log(tick), formats.count(tick)) for tick in marks]])
        published = translate("models", "Published by the authors")
        measured = translate("models", "Also ran on this machine; the throughput is that of the newest run")
        self.legend.setText(
            f'<span style="color:{theme.colour(PUBLISHED)}">○</span> {published}'
            f' &nbsp; <span style="color:{theme.colour(MEASURED)}">■</span> {measured}'
        )
        self.setToolTip("\n".join(f"{name}: {formats.rate(speed.rate)} frames/s, {speed.hardware}" for name, speed in speeds.items()))
        self.setAccessibleName(translate("models", "Accuracy against speed: {models}").format(models=", ".join(spoken)))

    def changeEvent(self, event: QEvent) -> None:
        """Draw in the colours of a new theme."""
        super().changeEvent(event)
        if event.type() is QEvent.Type.PaletteChange and hasattr(self, "_speeds"):
            self.show_speeds(self._speeds)

    def _anchor(self, entry: ModelEntry) -> tuple[float, float]:
        """The point of a model's name that lies at its mark, as parts of the name's width and height.

        The name of the most accurate model near it stands above its mark, the others' below. It leaves room for a name at its right.
        """
        side = 0.85 if self._highest(entry) and any(self._highest(other) for other in self._entries if _beside(entry, other)) else 0.5
        return side, 1.15 if self._highest(entry) else -0.15

    def _highest(self, entry: ModelEntry) -> bool:
        near = (other for other in self._entries if abs(_log(other.gflops / entry.gflops)) < NEAR)
        return all(other.ap <= entry.ap for other in near)


def _beside(entry: ModelEntry, other: ModelEntry) -> bool:
    """Whether another model is a little faster."""
    return NEAR <= _log(entry.gflops / other.gflops) < 2 * NEAR


def _log(value: float) -> float:
    return math.log10(value)
