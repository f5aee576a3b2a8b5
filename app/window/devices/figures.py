"""How fast a device is: throughput and latency, now and over the last minute, and where a frame's time goes."""

from __future__ import annotations

import math

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QWidget

from app.window.devices.stage_bar import StageBar, in_order, short_legend
from app.window.devices.status import DeviceStatus, Phase, Sample
from app.window.widgets import formats, theme
from app.window.widgets.chart import Chart
from app.window.widgets.indicators import label, say, wrapped


class DeviceFigures(QWidget):
    """The figures of one ``DeviceStatus``; of a device that is gone only what it did."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._drawn: tuple[Sample, ...] | None = None
        self.rate = label("figure", "0")
        self.latency = label("figure", formats.DASH)
        self.latency.setToolTip("Median of the last half second")
        self.frames = label("small")
        self.tail = label("small")
        self.rate_chart = Chart("Throughput of the last minute", (theme.ACCENT,))
        self.latency_chart = Chart("Latency of the last minute", (theme.ACCENT, theme.MUTED))
        self.stages = StageBar()
        self.stage_text = wrapped("small")
        self.bottleneck = wrapped("notice")
        self.moving = QWidget()
        inner = _column(self.moving)
        for row, widget in enumerate((self.rate_chart, None, self.latency_chart, self.stages, self.stage_text, self.bottleneck)):
            if widget is None:
                inner.addLayout(_line(self.latency, "ms latency", self.tail), row, 0)
            else:
                inner.addWidget(widget, row, 0)
        inner.setRowMinimumHeight(2, self.latency_chart.height() + 8)
        outer = _column(self)
        outer.addLayout(_line(self.rate, "frames/s", self.frames), 0, 0)
        outer.addWidget(self.moving, 1, 0)

    def show_work(self, status: DeviceStatus, share: float | None) -> None:
        """How much it has done; share: of all that was done, 0..1, None = it was the only one."""
        frames = formats.plural(status.frames, "frame")
        self.frames.setText(frames if share is None else f"{formats.part(share)} of the work")
        self.frames.setToolTip(frames)
        self.moving.setVisible(status.phase not in (Phase.FAILED, Phase.LEFT))

    def refresh(self, status: DeviceStatus, now: float) -> None:
        """Redraw; now: the monotonic time at the charts' right end."""
        if status.samples is self._drawn and (not status.samples or now - status.samples[-1].time > 61):
            return  # nothing left to move
        self._drawn = status.samples
        times = [sample.time - now for sample in status.samples]
        self.rate_chart.show_values(times, [[sample.frames_per_second for sample in status.samples]])
        p50 = [math.nan if sample.latency_p50 is None else sample.latency_p50 for sample in status.samples]
        p99 = [math.nan if sample.latency_p99 is None else sample.latency_p99 for sample in status.samples]
        self.latency_chart.show_values(times, [p50, p99])
        latest = status.latest
        self.rate.setText(formats.rate(status.samples[-1].frames_per_second) if status.working else "0")
        self.latency.setText(formats.milliseconds(latest.latency_p50 if latest else None))
        self.tail.setText(f"p99 {formats.milliseconds(latest.latency_p99)} ms" if latest else "")
        stages = in_order(status.busy or status.stages)
        self.stages.show_stages(stages, status.bottleneck)
        say(self.stage_text, short_legend(stages))
        say(self.bottleneck, f"Bottleneck: {status.bottleneck}" if status.bottleneck else "")


def _column(widget: QWidget) -> QGridLayout:
    grid = QGridLayout(widget)
    grid.setContentsMargins(0, 0, 0, 0)
    grid.setVerticalSpacing(2)
    return grid


def _line(figure: QWidget, unit: str, more: QWidget) -> QHBoxLayout:
    line = QHBoxLayout()
    line.setSpacing(6)
    line.addWidget(figure, 0, Qt.AlignmentFlag.AlignBaseline)
    line.addWidget(label("small", unit), 0, Qt.AlignmentFlag.AlignBaseline)
    line.addStretch()
    line.addWidget(more, 0, Qt.AlignmentFlag.AlignBaseline)
    return line
