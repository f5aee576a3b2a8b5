"""Accuracy against speed of the models as a small chart, and the throughput of the models in stored runs."""

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path
from typing import Any

from PySide6.QtCore import QLineF, QPointF, QRectF, QSizeF
from PySide6.QtWidgets import QGraphicsLineItem, QWidget

from framefleet.app.window.widgets import build, formats, theme
from framefleet.app.window.widgets.plotting import colour_plot, pg, still_plot
from framefleet.app.window.widgets.translation import translate
from framefleet.engine.model.registry.catalogue import ModelEntry
from framefleet.engine.notices import ExportError
from framefleet.engine.store.session import SessionReader

HEIGHT = 190
MARK, MARGIN = 8.0, 3.0
"""Size of a mark, and the margin around the text of a name, pixels."""
NEAR = 16.0
"""A name that is further from its mark has a line to it, pixels."""
_SIDES = [(across, down) for down in (1.0, 0.0, 0.5, 1.8, -0.8, 2.6, -1.6) for across in (0.5, -0.1, 1.1)]
"""Where a name may stand: the point of it that lies at its mark, as parts of its width and height. The first ones are best."""
PUBLISHED, MEASURED = "MUTED", "GOOD"
"""Names of colours."""
MAX_SESSIONS = 50
"""The number of newest sessions whose throughput is read."""
MIN_FRAMES, MIN_SECONDS, MIN_SHARE = 300, 2.0, 0.05
"""A stored file counts if it has this many frames and takes this long; a device takes part if it did this share of the frames."""


@dataclass(frozen=True)
class Speed:
    """Throughput of a model in a stored run, frames/s. hardware: what it ran on."""

    rate: float
    hardware: str


def read_speeds(sessions: Path) -> dict[str, Speed]:
    """Read the throughput of each model in its newest stored run, by the model's name. Unreadable sessions are left out."""
    found: dict[str, Speed] = {}
    for path in sorted(sessions.glob("*.sqlite"), key=_modified, reverse=True)[:MAX_SESSIONS]:
        with suppress(ExportError), SessionReader(path) as reader:
            model = reader.facts.get("model", "")
            if (speed := None if model in found else _speed(reader)) is not None:
                found[model] = speed
    return found


def _modified(path: Path) -> float:
    with suppress(OSError):
        return path.stat().st_mtime
    return 0.0


def _speed(reader: SessionReader) -> Speed | None:
    """The highest throughput of a complete source of a run: several that run at once share the devices, so that each has less.

    None without one, and for sampled runs: their rate is that of other work.
    """
    whole = [source for source in reader.sources() if source.finished and not source.cancelled and not source.error]
    enough = [source for source in whole if source.ledger.inferred >= MIN_FRAMES and (source.seconds or 0.0) >= MIN_SECONDS]
    if not enough or reader.is_sampled:
        return None
    rate, source = max(((source.ledger.inferred / (source.seconds or 1.0), source) for source in enough), key=itemgetter(0))
    frames = source.ledger.inferred
    used = [use for use in reader.frames_by_device(source.number) if use.frames >= MIN_SHARE * frames]
    if not used:
        return None
    names = ", ".join(sorted({use.name for use in used}))
    return Speed(rate, f"{len(used)} × {names}" if len(used) > 1 else names)


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
        self.item.vb.sigResized.connect(self._place_names)
        self.names: dict[Any, QGraphicsLineItem] = {}  # each name with the line to its mark
        self.legend = build.label("small", wrap=True, rich=True)
        build.column((self._plot, 1), self.legend, spacing=2, of=self)
        self.show_speeds({})

    def show_speeds(self, speeds: Mapping[str, Speed]) -> None:
        """Mark the models that ran on this machine. speeds: by the model's name."""
        self._speeds = dict(speeds)
        self.item.clear()
        self.names.clear()
        colour_plot(self._plot, theme.BACKGROUND)
        style = {"color": theme.MUTED, "font-size": f"{theme.base_size() - 2}px"}
        self.item.getAxis("left").setLabel(translate("models", "COCO AP, %"), **style)
        self.item.getAxis("bottom").setLabel(translate("models", "GFLOP / picture (faster →)"), **style)
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
            shown = pg.TextItem(text, color=theme.TEXT if speed is not None else theme.MUTED)
            shown.setFont(theme.font(-2))
            shown.setPos(_log(entry.gflops), entry.ap)
            self.item.addItem(shown)
            self.names[shown] = QGraphicsLineItem(shown)
            self.names[shown].setPen(pg.mkPen(theme.MUTED))
        works, accuracies = [entry.gflops for entry in self._entries], [entry.ap for entry in self._entries]
        self.item.setXRange(_log(min(works)) - 0.15, _log(max(works)) + 0.15, padding=0)
        self.item.setYRange(min(accuracies) - 9, max(accuracies) + 9, padding=0)
        marks = [tick for tick in (1, 3, 10, 30, 100, 300, 1000) if min(works) / 1.3 <= tick <= max(works) * 1.3]
        self.item.getAxis("bottom").setTicks([[(_log(tick), formats.count(tick)) for tick in marks]])
        published = translate("models", "Published by the authors")
        measured = translate("models", "Also ran on this machine; the throughput is that of the newest run")
        self.legend.setText(
            f'<span style="color:{theme.colour(PUBLISHED)}">○</span> {published}'
            f' &nbsp; <span style="color:{theme.colour(MEASURED)}">■</span> {measured}'
        )
        self._place_names()
        line = translate("models", "{name}: {rate} frames/s, {hardware}")
        lines = (line.format(name=name, rate=formats.rate(speed.rate), hardware=speed.hardware) for name, speed in speeds.items())
        self.setToolTip("\n".join(lines))
        self.setAccessibleName(translate("models", "Accuracy against speed: {models}").format(models=", ".join(spoken)))

    def use_theme(self) -> None:
        """Draw in the colours of a new theme."""
        self.show_speeds(self._speeds)

    def _place_names(self) -> None:
        """Let each name stand beside its mark, where it covers no other name and no mark; those with the nearest neighbours first."""
        inside = self.item.vb.sceneBoundingRect()
        marks = {name: self.item.vb.mapViewToScene(name.pos()) for name in self.names}
        taken = [QRectF(mark.x() - MARK / 2, mark.y() - MARK / 2, MARK, MARK) for mark in marks.values()]
        for name, mark in sorted(marks.items(), key=lambda each: sorted(QLineF(each[1], other).length() for other in marks.values())[1:2]):
            size = name.boundingRect().size()
            areas = {side: _text_area(mark, side, size) for side in _SIDES}
            best = min(_SIDES, key=lambda side: (_covered(areas[side], taken), not inside.contains(areas[side])))
            name.setAnchor(best)
            taken.append(areas[best])
            leader = _leader(areas[best].translated(-mark))
            self.names[name].setLine(leader)
            self.names[name].setVisible(not leader.isNull())


def _text_area(mark: QPointF, side: tuple[float, float], size: QSizeF) -> QRectF:
    """The area of a name without the margin around its text."""
    left, top = mark.x() - side[0] * size.width(), mark.y() - side[1] * size.height()
    return QRectF(left, top, size.width(), size.height()).adjusted(MARGIN, MARGIN, -MARGIN, -MARGIN)


def _leader(area: QRectF) -> QLineF:
    """A line from the edge of a mark at (0, 0) to the nearest point of its name; without length if they are close to each other."""
    line = QLineF(0, 0, min(max(0.0, area.left()), area.right()), min(max(0.0, area.top()), area.bottom()))
    return QLineF(line.pointAt(MARK / 2 / line.length()), line.p2()) if line.length() > NEAR else QLineF()


def _covered(area: QRectF, taken: Sequence[QRectF]) -> float:
    """How much of the taken areas an area covers, square pixels."""
    return sum(both.width() * both.height() for other in taken if not (both := area & other).isEmpty())


def _log(value: float) -> float:
    return math.log10(value)
