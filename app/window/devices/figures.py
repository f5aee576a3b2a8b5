"""A device's throughput and latency, now and as charts of the last minute, and the time of each stage."""

import math
from collections.abc import Mapping, Sequence

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QPaintEvent
from PySide6.QtWidgets import QBoxLayout, QGridLayout, QSizePolicy, QWidget

from framefleet.app.window.devices.status import HISTORY, RATE_SECONDS, DeviceStatus, Phase, Sample
from framefleet.app.window.widgets import formats, theme
from framefleet.app.window.widgets.build import ElidedLabel, column, label, row, say, wrapped
from framefleet.app.window.widgets.painting import draw_box, painting
from framefleet.app.window.widgets.plotting import pg
from framefleet.app.window.widgets.translation import marked, translate

_BASE = Qt.AlignmentFlag.AlignBaseline


class Charts:
    """Charts of the throughput and the latency of a device. height: of each one, logical pixels."""

    def __init__(self, height: int) -> None:
        self._drawn: tuple[Sample, ...] | None = None
        self.rate = Chart(translate("devices", "Throughput of the last minute"), ("ACCENT",), height)
        self.latency = Chart(translate("devices", "Latency of the last minute"), ("ACCENT", "MUTED"), height)

    def refresh(self, status: DeviceStatus, now: float) -> bool:
        """Redraw the charts; return whether they change. now: the monotonic time at their right end, seconds.

        The charts of a run that rests end with its last frame.
        """
        if status.at_rest:
            now = status.shown.time
        if status.samples is self._drawn and (status.at_rest or not status.samples or now - status.samples[-1].time > 61):
            return False  # the charts stay, or every line has left them
        self._drawn = samples = status.samples
        times = [sample.time - now for sample in samples]
        self.rate.show_values(times, [smoothed(samples)])
        self.latency.show_values(times, [connected(samples, name) for name in ("latency_p50", "latency_p99")])
        return True


class SmallCharts(QWidget):
    """The charts of a device side by side, below its row."""

    def __init__(self) -> None:
        super().__init__()
        self.charts = Charts(SMALL_CHART_HEIGHT)
        self._titles = label("small", translate("devices", "frames/s")), label("small", translate("devices", "ms latency"))
        rate, latency = (
            column(title, chart, spacing=0) for title, chart in zip(self._titles, (self.charts.rate, self.charts.latency), strict=True)
        )
        self._row = row((rate, 1), (latency, 1), spacing=10, of=self)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)

    def fit(self, room: float) -> None:
        """Set the height to what fits into the room. room: at least ``LEAST_ROOM``; of more than ``MOST_ROOM``, the rest stays empty.

        Low charts have no titles, because the columns of the rows have the same ones. The height grows in steps, so that it changes rarely.
        """
        titled = room >= MOST_ROOM
        for title in self._titles:
            title.setVisible(titled)
        for chart in (self.charts.rate, self.charts.latency):
            chart.set_height(SMALL_CHART_HEIGHT if titled else min(SMALL_CHART_HEIGHT, int(room - 3) // 6 * 6))
        self._row.setContentsMargins(18, 2 if titled else 1, 6, 6 if titled else 2)


class DeviceFigures(QWidget):
    """Shows the figures of one ``DeviceStatus``; after a failure or after the device has left, only its completed work."""

    def __init__(self) -> None:
        super().__init__()
        self._charts = Charts(CHART_HEIGHT)
        self.rate = label("section", formats.DASH)
        self.latency = label("section", formats.DASH, tip=translate("devices", "Half of the frames took at most this time"))
        self.unit = label("small", translate("devices", "frames/s"))
        self.frames, self.tail = ElidedLabel("small"), ElidedLabel("small")
        for more in (self.frames, self.tail):
            more.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.rate_chart, self.latency_chart = self._charts.rate, self._charts.latency
        self.stages = StageBar()
        self.stage_text, self.bottleneck = wrapped("small"), wrapped("small")
        self.moving = QWidget()
        inner = QGridLayout(self.moving)
        inner.setContentsMargins(0, 0, 0, 0)
        inner.setVerticalSpacing(2)
        inner.setRowMinimumHeight(2, self.latency_chart.height() + 8)
        inner.addWidget(self.rate_chart, 0, 0)
        inner.addLayout(_figure_line(self.latency, label("small", translate("devices", "ms latency")), self.tail), 1, 0)
        for place, widget in enumerate((self.latency_chart, self.stages, self.stage_text, self.bottleneck), 2):
            inner.addWidget(widget, place, 0)
        column(_figure_line(self.rate, self.unit, self.frames), self.moving, spacing=2, of=self)

    def show_work(self, status: DeviceStatus, share: float | None) -> None:
        """Show the work that the device has completed. share: of all work, 0..1, None = it is the only device."""
        frames, shown = formats.plural(status.frames, "frame"), status.shown
        self.rate.setText(formats.rate(shown.frames_per_second) if shown.frames_per_second else formats.DASH)
        self.unit.setText(translate("devices", "frames/s, mean") if status.at_rest else translate("devices", "frames/s"))
        self.latency.setText(formats.milliseconds(shown.latency_p50))
        tail = translate("devices", "99 of 100 within {time} ms").format(time=formats.milliseconds(shown.latency_p99))
        self.tail.setText("" if shown.latency_p99 is None else tail)
        self.tail.setToolTip(self.tail.text())
        self.frames.setText(frames if share is None else translate("devices", "{part} of the frames").format(part=formats.part(share)))
        self.frames.setToolTip(frames)
        self.moving.setVisible(status.phase not in (Phase.FAILED, Phase.LEFT))

    def refresh(self, status: DeviceStatus, now: float) -> None:
        """Redraw the charts and the stages. now: monotonic seconds."""
        if not self._charts.refresh(status, now):
            return
        stages = in_order(status.busy or status.stages)
        self.stages.show_stages(stages, status.bottleneck)
        say(self.stage_text, short_legend(stages))
        slowest = stage_name(status.bottleneck) if status.bottleneck not in (None, "sources") else ""  # of streams: no stage is slow
        say(self.bottleneck, translate("devices", "Slowest stage: {stage}").format(stage=slowest) if slowest else "")


def smoothed(samples: Sequence[Sample]) -> list[float]:
    """The throughput at each sample as the figure beside the chart has it: the mean of the last seconds, frames/s.

    Frames arrive in groups, so single intervals of a slow device swing between nothing and several times its throughput.
    """
    rates: list[float] = []
    recent: list[Sample] = []
    for sample in samples:
        recent = [] if sample.away else [each for each in recent if sample.time - each.time < RATE_SECONDS]
        recent.append(sample)
        rates.append(sum(each.frames_per_second for each in recent) / len(recent))
    return rates


def connected(samples: Sequence[Sample], name: str) -> list[float]:
    """A latency at each sample, ms: the one before where up to ``RATE_SECONDS`` went by without a frame, NaN where the device is idle."""
    values, last, time = list[float](), math.nan, -math.inf
    for sample in samples:
        value: float | None = getattr(sample, name)
        if value is not None:
            last, time = value, sample.time
        values.append(math.nan if sample.away or sample.time - time >= RATE_SECONDS else last)
    return values


def _figure_line(figure: QWidget, unit: QWidget, more: QWidget) -> QBoxLayout:
    return row((figure, 0, _BASE), (unit, 0, _BASE), (more, 1, _BASE), spacing=6)


CHART_HEIGHT, SMALL_CHART_HEIGHT = 64, 40
"""Heights of a chart among the details of a device, and below its row, logical pixels."""
LEAST_ROOM, MOST_ROOM = 21, 64
"""The least and the largest height of ``SmallCharts``, logical pixels."""
_WITH_ZERO = 30
"""The least height of a chart with a 0 at its bottom, logical pixels."""
AXIS = 30


class Chart(QWidget):
    """Lines over the last ``HISTORY`` seconds, from zero; the first line is filled. colours: names of the theme's table."""

    def __init__(self, name: str, colours: Sequence[str], height: int = CHART_HEIGHT) -> None:
        super().__init__()
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
        self.top_label, self._bottom_label = label(""), label("", "0")
        for text in (self.top_label, self._bottom_label):
            text.setFont(theme.font(-2))
            text.setStyleSheet(f"color: {theme.MUTED};")
            text.setAlignment(Qt.AlignmentFlag.AlignRight)
            text.setFixedWidth(AXIS)
        top, bottom = Qt.AlignmentFlag.AlignTop, Qt.AlignmentFlag.AlignBottom
        labels = column((self.top_label, 1, top), (self._bottom_label, 1, bottom), spacing=0)
        row((self._plot, 1), labels, spacing=4, of=self)
        self.setToolTip(name)
        self.set_height(height)
        self._set_top(1.0)
        self._colours = colours
        self.use_theme()

    def set_height(self, height: int) -> None:
        """Set the height in logical pixels."""
        self.setFixedHeight(height)
        self._bottom_label.setVisible(height >= _WITH_ZERO)

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
            self.top_label.setText(formats.count(round(top)) if top == round(top) else formats.rate(top))
            needed = self.top_label.fontMetrics().horizontalAdvance(self.top_label.text())
            for text in (self.top_label, self._bottom_label):
                text.setFixedWidth(max(AXIS, needed + 2))


def ceiling(value: float) -> float:
    """The next of 1, 1.5, 2, 3, 5, 7 × 10ⁿ at or above a value, so that the scale changes rarely."""
    if value <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(value))
    return next(step * power for step in (1.0, 1.5, 2.0, 3.0, 5.0, 7.0, 10.0) if step * power >= value)


COLOURS = {
    "decode": "#4c79bd",
    "queue": "#3a414d",
    "upload": "#3f5f93",
    "preprocess": "#5a93e6",
    "infer": "#6aa5ff",
    "network": "#6aa5ff",
    "postprocess": "#87b8ff",
    "deliver": "#a9ccff",
}
ORDER = tuple(COLOURS)
_NAMES = {"queue": marked("stages", "waiting"), "infer": marked("stages", "detect")}
"""Names of stages that differ from those in the engine."""


class StageBar(QWidget):
    """A bar divided in proportion to the times of the stages. The tooltip shows the times."""

    def __init__(self) -> None:
        super().__init__()
        self.setFixedHeight(6)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(translate("devices", "Time per stage"))
        self._stages: dict[str, float] = {}
        self._bottleneck: str | None = None

    def show_stages(self, stages: Mapping[str, float], bottleneck: str | None = None) -> None:
        """Show the mean time of a frame in each stage, ms, in order; the bottleneck stands out."""
        if (dict(stages), bottleneck) != (self._stages, self._bottleneck):
            self._stages, self._bottleneck = dict(stages), bottleneck
            self.setToolTip(legend(stages))
            self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw the parts side by side."""
        total, x, room = sum(self._stages.values()), 0.0, self.width() - (len(self._stages) - 1)
        with painting(self) as painter:
            if total <= 0:
                draw_box(painter, QRectF(self.rect()), 3, theme.HOVER)
                return
            for name, value in self._stages.items():
                colour = theme.WARNING if name == self._bottleneck else COLOURS.get(_kind(name), theme.MUTED)
                painter.fillRect(QRectF(x, 0, max(room * value / total, 1.0), self.height()), QColor(colour))
                x += room * value / total + 1


def _kind(name: str) -> str:
    """The stage without its device: "network" for "network cuda:1"."""
    return name.partition(" ")[0]


def stage_name(name: str) -> str:
    """The name of a stage in the language of the window; its device stays as it is."""
    kind, space, device = name.partition(" ")
    return translate("stages", _NAMES.get(kind, kind)) + space + device


def in_order(stages: Mapping[str, float]) -> dict[str, float]:
    """The stages in the order in which a frame passes them."""

    def place(name: str) -> tuple[int, str]:
        return ORDER.index(_kind(name)) if _kind(name) in ORDER else len(ORDER), name

    return {name: stages[name] for name in sorted(stages, key=place)}


def legend(stages: Mapping[str, float]) -> str:
    """The stages as text, one per line: ``decode 1.2 ms``."""
    return "\n".join(
        translate("devices", "{name} {value} ms").format(name=stage_name(name), value=formats.milliseconds(value))
        for name, value in stages.items()
    )


def short_legend(stages: Mapping[str, float]) -> str:
    """The stages in one paragraph: ``ms: decode 1.2 · detect 8.3``. Lines do not break between a name and its number."""
    parts = (f"{stage_name(name)}\N{NO-BREAK SPACE}{formats.milliseconds(value)}" for name, value in stages.items())
    return translate("devices", "ms: {parts}").format(parts=" · ".join(parts)) if stages else ""
