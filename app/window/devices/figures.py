"""A device's throughput and latency, now and over the last minute, and the time of each stage."""

import math

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QBoxLayout, QGridLayout, QWidget

from framefleet.app.window.devices.chart import Chart
from framefleet.app.window.devices.stage_bar import StageBar, in_order, short_legend, stage_name
from framefleet.app.window.devices.status import DeviceStatus, Phase, Sample
from framefleet.app.window.widgets import formats
from framefleet.app.window.widgets.build import ElidedLabel, column, label, row, say, wrapped
from framefleet.app.window.widgets.translation import translate

_BASE = Qt.AlignmentFlag.AlignBaseline


class DeviceFigures(QWidget):
    """Shows the figures of one ``DeviceStatus``; after a failure or after the device has left, only its completed work."""

    def __init__(self) -> None:
        super().__init__()
        self._drawn: tuple[Sample, ...] | None = None
        self.rate = label("figure", formats.DASH)
        self.latency = label("figure", formats.DASH, tip=translate("devices", "Median of the last half second"))
        self.frames, self.tail = ElidedLabel("small"), ElidedLabel("small")
        self.tail.setToolTip(translate("devices", "In the last minute, 99 of 100 frames took at most this time"))
        for more in (self.frames, self.tail):
            more.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.rate_chart = Chart(translate("devices", "Throughput of the last minute"), ("ACCENT",))
        self.latency_chart = Chart(translate("devices", "Latency of the last minute"), ("ACCENT", "MUTED"))
        self.stages = StageBar()
        self.stage_text, self.bottleneck = wrapped("small"), wrapped("notice")
        self.moving = QWidget()
        inner = QGridLayout(self.moving)
        inner.setContentsMargins(0, 0, 0, 0)
        inner.setVerticalSpacing(2)
        inner.setRowMinimumHeight(2, self.latency_chart.height() + 8)
        inner.addWidget(self.rate_chart, 0, 0)
        inner.addLayout(_line(self.latency, translate("devices", "ms latency"), self.tail), 1, 0)
        for place, widget in enumerate((self.latency_chart, self.stages, self.stage_text, self.bottleneck), 2):
            inner.addWidget(widget, place, 0)
        column(_line(self.rate, translate("devices", "frames/s"), self.frames), self.moving, spacing=2, of=self)

    def show_work(self, status: DeviceStatus, share: float | None) -> None:
        """Show the work that the device has completed. share: of all work, 0..1, None = it is the only device."""
        frames = formats.plural(status.frames, "frame")
        self.rate.setText(formats.rate(status.rate) if status.working else formats.DASH)
        self.frames.setText(frames if share is None else translate("devices", "{share} of the work").format(share=formats.part(share)))
        self.frames.setToolTip(frames)
        self.moving.setVisible(status.phase not in (Phase.FAILED, Phase.LEFT))

    def refresh(self, status: DeviceStatus, now: float) -> None:
        """Redraw the charts. now: the monotonic time at their right end, seconds."""
        if status.samples is self._drawn and (not status.samples or now - status.samples[-1].time > 61):
            return  # every line has left the charts
        self._drawn = samples = status.samples
        times = [sample.time - now for sample in samples]
        self.rate_chart.show_values(times, [[sample.frames_per_second for sample in samples]])
        lines = [sample.latency_p50 for sample in samples], [sample.latency_p99 for sample in samples]
        self.latency_chart.show_values(times, [[math.nan if value is None else value for value in line] for line in lines])
        self.latency.setText(formats.milliseconds(status.latency if status.working else None))
        tails = [sample.latency_p99 for sample in samples if sample.latency_p99 is not None]
        text = translate("devices", "99 %: {time}").format(time=formats.milliseconds(max(tails))) if tails and status.working else ""
        self.tail.setText(text)
        stages = in_order(status.busy or status.stages)
        self.stages.show_stages(stages, status.bottleneck)
        say(self.stage_text, short_legend(stages))
        slowest = stage_name(status.bottleneck) if status.bottleneck else ""
        say(self.bottleneck, translate("devices", "Slowest stage: {stage}").format(stage=slowest) if slowest else "")


def _line(figure: QWidget, unit: str, more: QWidget) -> QBoxLayout:
    return row((figure, 0, _BASE), (label("small", unit), 0, _BASE), (more, 1, _BASE), spacing=6)
