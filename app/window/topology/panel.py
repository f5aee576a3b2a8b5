"""What joins this machine's devices: the machine drawn, and the matrix."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from PySide6.QtCore import Qt, QTimer, Signal, Slot
from PySide6.QtGui import QHideEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QBoxLayout, QVBoxLayout, QWidget

from app.window.devices.telemetry import DeviceTelemetry
from app.window.topology.drawing import NVLINK, PCIE, TopologyDrawing
from app.window.topology.matrix import TopologyMatrix
from app.window.topology.text import peers
from app.window.widgets import theme
from app.window.widgets.indicators import label, say, wrapped
from app.window.widgets.scroll_pane import ScrollPane
from engine.devices.description import DeviceDescription
from engine.devices.recording import Recording
from engine.devices.telemetry.snapshot import Telemetry
from engine.devices.topology.types import Topology
from engine.types import DeviceId

REFRESH_MS = 500
SIDE_BY_SIDE = 720
"""Width from which on drawing and matrix have room beside each other."""
_CPU = DeviceDescription(DeviceId("cpu", "0"), "CPU", "", ())


class TopologyPanel(QWidget):
    """Shows a topology, and what flows in it, while it is seen. wanted: it is seen for the first time, and knows nothing yet."""

    wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "panel")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._topology: Topology | None = None
        self._recorded: Mapping[DeviceId, Telemetry] | None = None
        self._asked = False
        self.telemetry = DeviceTelemetry()
        self.note, self.problem = wrapped("small"), wrapped("notice")
        self.drawing = TopologyDrawing()
        self.legend = label("small")
        self.legend.setTextFormat(Qt.TextFormat.RichText)
        self.legend.setWordWrap(True)
        self.matrix_heading = label("heading", "GPU to GPU")
        self.matrix = TopologyMatrix()
        self.peers = wrapped("notice")
        say(self.note, "Looking at this machine…")
        inside = QWidget()
        inside.setObjectName("inside")
        inside.setStyleSheet(f"#inside {{ background: {theme.SURFACE}; }}")
        self._parts = QBoxLayout(QBoxLayout.Direction.TopToBottom)
        self._parts.setSpacing(3 * theme.SPACE)
        for widgets in ((self.drawing, self.legend), (self.matrix_heading, self.matrix, self.peers)):
            part = QVBoxLayout()
            part.setSpacing(theme.SPACE)
            for widget in widgets:
                part.addWidget(widget)
            part.addStretch()
            self._parts.addLayout(part, 1)
        column = QVBoxLayout(inside)
        column.setContentsMargins(12, 4, 12, 12)
        column.setSpacing(theme.SPACE)
        for widget in (self.problem, self.note):
            column.addWidget(widget)
        column.addLayout(self._parts)
        column.addStretch()
        outside = QVBoxLayout(self)
        outside.setContentsMargins(0, 0, 0, 0)
        outside.addWidget(ScrollPane("Topology", inside))
        for widget in (self.drawing, self.legend, self.matrix_heading, self.matrix):
            widget.hide()
        self._timer = QTimer(self, interval=REFRESH_MS)
        self._timer.timeout.connect(self.refresh)

    @property
    def topology(self) -> Topology | None:
        """What is shown; None before anything is."""
        return self._topology

    @Slot(object)
    def show_topology(self, topology: Topology) -> None:
        """Show this machine, unless a recorded one is shown."""
        if self._recorded is None:
            self._show(topology)

    @Slot(str)
    def show_problem(self, problem: str) -> None:
        """Say why nothing is known."""
        say(self.note, "")
        say(self.problem, problem)

    def show_recording(self, recording: Recording) -> None:
        """Show a recorded machine instead, as it was."""
        self._recorded = recording.telemetry
        self._show(recording.topology)

    def _show(self, topology: Topology) -> None:
        self._topology = topology
        gpus = topology.gpus
        say(self.problem, f"Not all is known: {topology.problem}." if topology.problem else "")
        say(self.note, "" if gpus else "No NVIDIA GPU: the processors do the work.")
        self.drawing.show_topology(topology)
        self.drawing.show()
        self.legend.setText(_legend(nvlink=any(gpu.nvlinks for gpu in gpus)))
        self.legend.setVisible(bool(gpus))
        self.matrix.show_topology(topology)
        self.matrix.setVisible(len(gpus) > 1)
        self.matrix_heading.setVisible(len(gpus) > 1)
        say(self.peers, peers(topology))
        self._watch()
        self.refresh()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """The matrix stands beneath the drawing, or, where there is room, beside it."""
        super().resizeEvent(event)
        directions = QBoxLayout.Direction
        self._parts.setDirection(directions.LeftToRight if self.width() >= SIDE_BY_SIDE else directions.TopToBottom)

    def _watch(self) -> None:
        """Take telemetry of all GPUs, and of the processors, while anybody looks."""
        if self._topology is None or self._recorded is not None or not self.isVisible():
            self.telemetry.watch(())
            return
        gpus = [replace(_CPU, id=gpu.device, name=gpu.name, uuid=gpu.uuid) for gpu in self._topology.gpus if gpu.device and gpu.uuid]
        self.telemetry.watch((_CPU, *gpus))

    @Slot()
    def refresh(self) -> None:
        """Show what flows now."""
        watched = [device.id for device in self.telemetry.watched]
        measured = {device: snapshot for device in watched if (snapshot := self.telemetry.of(device)) is not None}
        self.drawing.show_telemetry(measured if self._recorded is None else self._recorded)

    def showEvent(self, event: QShowEvent) -> None:
        """Begin to take telemetry; ask for a topology once."""
        super().showEvent(event)
        if self._topology is None and not self._asked:
            self._asked = True
            self.wanted.emit()
        self._timer.start()
        self._watch()
        self.refresh()

    def hideEvent(self, event: QHideEvent) -> None:
        """Take none any more."""
        super().hideEvent(event)
        self._timer.stop()
        self._watch()


def _legend(nvlink: bool) -> str:
    """Colours and arrows in words."""
    parts = [f'<span style="color:{PCIE}">━</span> PCIe']
    if nvlink:
        parts.append(f'<span style="color:{NVLINK}">━</span> NVLink')
    return " &nbsp; ".join([*parts, "↓&nbsp;receives &nbsp; ↑&nbsp;sends"])
