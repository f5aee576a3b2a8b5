"""One device: what it is, what it does, how fast."""

from __future__ import annotations

import math
import time

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QFrame, QGridLayout, QHBoxLayout, QLabel, QSizePolicy, QVBoxLayout, QWidget

from app.window import formats, theme
from app.window.chart import Chart
from app.window.device_status import DeviceStatus, Phase, Sample
from app.window.stage_bar import StageBar, short_legend

_PHASES = {
    Phase.STARTING: ("Starting", theme.WARNING),
    Phase.READY: ("Ready", theme.GOOD),
    Phase.RESTARTING: ("Restarting", theme.WARNING),
    Phase.FAILED: ("Failed", theme.DANGER),
    Phase.IDLE: ("Idle", theme.MUTED),
}


class ElidedLabel(QLabel):
    """One line that ends in an ellipsis where it does not fit; the tooltip has it whole."""

    def __init__(self, role: str) -> None:
        super().__init__()
        self.setProperty("role", role)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.setTextFormat(Qt.TextFormat.PlainText)

    def minimumSizeHint(self) -> QSize:
        """As narrow as needed."""
        return QSize(0, super().minimumSizeHint().height())

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw what fits."""
        with QPainter(self) as painter:
            painter.setPen(self.palette().color(self.foregroundRole()))
            text = self.fontMetrics().elidedText(self.text(), Qt.TextElideMode.ElideRight, self.width())
            painter.drawText(self.rect(), int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft), text)


class Dot(QWidget):
    """A small round light."""

    def __init__(self) -> None:
        super().__init__()
        self.setFixedSize(8, 8)
        self._colour = theme.MUTED

    def set_colour(self, colour: str) -> None:
        """Change its colour."""
        if colour != self._colour:
            self._colour = colour
            self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw it."""
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(self._colour))
            painter.drawEllipse(self.rect())


def _label(role: str, text: str = "") -> QLabel:
    label = QLabel(text)
    label.setProperty("role", role)
    return label


class DeviceCard(QFrame):
    """Shows one ``DeviceStatus``; charts move only when ``refresh`` is called."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "card")
        self._status: DeviceStatus | None = None
        self._drawn: tuple[Sample, ...] | None = None
        self.dot = Dot()
        self.name = _label("section")
        self.phase = _label("small")
        self.hardware = ElidedLabel("small")
        self.engine = ElidedLabel("small")
        self.message = _label("error")
        self.message.setWordWrap(True)
        self.message.hide()
        self.rate = _label("figure", "0")
        self.latency = _label("figure", formats.DASH)
        self.rate_chart = Chart("Throughput of the last minute", (theme.ACCENT,))
        self.latency_chart = Chart("Latency of the last minute", (theme.ACCENT, theme.MUTED))
        self.stages = StageBar()
        self.stage_text = _label("small")
        self.stage_text.setWordWrap(True)
        self.frames = _label("small")
        head = QHBoxLayout()
        head.setSpacing(8)
        for widget in (self.dot, self.name):
            head.addWidget(widget)
        head.addStretch()
        head.addWidget(self.phase)
        self.figures = QWidget()
        grid = QGridLayout(self.figures)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setVerticalSpacing(2)
        for row, (figure, unit, chart) in enumerate(
            ((self.rate, "frames/s", self.rate_chart), (self.latency, "ms latency", self.latency_chart))
        ):
            line = QHBoxLayout()
            line.setSpacing(6)
            line.addWidget(figure, 0, Qt.AlignmentFlag.AlignBaseline)
            caption = _label("small", unit)
            line.addWidget(caption, 0, Qt.AlignmentFlag.AlignBaseline)
            line.addStretch()
            if row == 0:
                line.addWidget(self.frames, 0, Qt.AlignmentFlag.AlignBaseline)
            else:
                self.tail = _label("small")
                line.addWidget(self.tail, 0, Qt.AlignmentFlag.AlignBaseline)
                figure.setToolTip("Median of the last half second")
            grid.addLayout(line, 2 * row, 0)
            grid.addWidget(chart, 2 * row + 1, 0)
        column = QVBoxLayout(self)
        column.setContentsMargins(14, 12, 12, 12)
        column.setSpacing(4)
        column.addLayout(head)
        column.addWidget(self.hardware)
        column.addWidget(self.engine)
        column.addWidget(self.message)
        column.addSpacing(4)
        grid.addWidget(self.stages, 4, 0)
        grid.addWidget(self.stage_text, 5, 0)
        grid.setRowMinimumHeight(3, self.latency_chart.height() + 8)
        column.addWidget(self.figures)

    def show_status(self, status: DeviceStatus) -> None:
        """Take new facts; text changes at once, charts with the next ``refresh``."""
        before, self._status = self._status, status
        if before is not None and before.phase is status.phase and before.engine is status.engine and before.message == status.message:
            return
        self.name.setText(str(status.device))
        title, colour = _PHASES[status.phase]
        self.phase.setText(f"{title} (attempt {status.attempt})" if status.phase is Phase.RESTARTING and status.attempt > 1 else title)
        self.dot.set_colour(colour)
        self.message.setText(status.message)
        self.message.setVisible(bool(status.message) and status.phase in (Phase.FAILED, Phase.RESTARTING))
        engine = status.engine
        self.figures.setVisible(engine is not None)
        self.hardware.setText(engine.device_name if engine else "Building the engine…")
        self.hardware.setVisible(engine is not None or status.phase is Phase.STARTING)
        self.hardware.setToolTip(engine.device_name if engine else "")
        self.engine.setVisible(engine is not None)
        if engine:
            size = f"{engine.width}×{engine.height}"
            self.engine.setText(f"{engine.backend} · {engine.precision} · {size} · batch {engine.batch}")
            self.engine.setToolTip(f"{self.engine.text()}, {engine.slots} at once\n{engine.precision}: {engine.reason}")
        self.setAccessibleName(f"{status.device}, {title} {status.message}")

    def refresh(self, now: float | None = None) -> None:
        """Redraw charts and figures."""
        status = self._status
        if status is None:
            return
        now = time.monotonic() if now is None else now
        if status.samples is self._drawn and (not status.samples or now - status.samples[-1].time > 61):
            return  # nothing left to move
        self._drawn = status.samples
        nan = math.nan
        times = [sample.time - now for sample in status.samples]
        self.rate_chart.show_values(times, [[sample.frames_per_second for sample in status.samples]])
        p50 = [nan if sample.latency_p50 is None else sample.latency_p50 for sample in status.samples]
        p99 = [nan if sample.latency_p99 is None else sample.latency_p99 for sample in status.samples]
        self.latency_chart.show_values(times, [p50, p99])
        latest = status.latest
        self.rate.setText(formats.rate(status.samples[-1].frames_per_second) if status.working else "0")
        self.latency.setText(formats.milliseconds(latest.latency_p50 if latest else None))
        self.tail.setText(f"p99 {formats.milliseconds(latest.latency_p99)} ms" if latest else "")
        if status.phase is Phase.READY:
            self.phase.setText("Working" if status.working else "Ready")
        self.frames.setText(formats.plural(status.frames, "frame"))
        self.stages.show_stages(status.stages)
        self.stage_text.setText(short_legend(status.stages))
