"""The panel with a machine's topology: the drawing with live traffic, the matrix of its GPUs, and notes."""

from collections.abc import Mapping
from dataclasses import replace

from PySide6.QtCore import QSize, QTimer, Signal
from PySide6.QtGui import QHideEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QBoxLayout, QWidget

from framefleet.app.window.cluster.topology import ClusterTopology
from framefleet.app.window.devices.telemetry import DeviceTelemetry
from framefleet.app.window.floating import SIZE
from framefleet.app.window.topology.drawing import TopologyDrawing
from framefleet.app.window.topology.links import NVLINK, PCIE, SYSTEM
from framefleet.app.window.topology.matrix import TopologyMatrix
from framefleet.app.window.topology.text import codes_text, gpu_list, peers
from framefleet.app.window.widgets import theme
from framefleet.app.window.widgets.build import Panel, ScrollPane, column, label, row, say, wrapped
from framefleet.app.window.widgets.engine_text import of_engine
from framefleet.app.window.widgets.translation import translate
from framefleet.engine.devices.description import DeviceDescription
from framefleet.engine.devices.recording import Recording
from framefleet.engine.devices.telemetry.snapshot import Telemetry
from framefleet.engine.devices.topology.types import Topology
from framefleet.engine.types import DeviceId

REFRESH_MS = 500
SIDE_BY_SIDE = 720
"""The panel's width from which the matrix stands beside the drawing, logical pixels."""

_AROUND = 54
"""Height of a note and the legend around the drawing, logical pixels."""
_CPU = DeviceDescription(DeviceId("cpu", "0"), "CPU", "", ())


class TopologyPanel(Panel):
    """Shows a topology, and takes telemetry while it is visible. wanted: it is shown for the first time and needs a topology."""

    wanted = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.topology: Topology | None = None
        self._recorded: Mapping[DeviceId, Telemetry] | None = None
        self._asked = False
        self.telemetry = DeviceTelemetry()
        self.note, self.gpus, self.problem, self.peers = wrapped("small"), wrapped("small"), wrapped("notice"), wrapped("notice")
        self.drawing, self.matrix = TopologyDrawing(), TopologyMatrix()
        self.legend = label("small", wrap=True, rich=True)
        self.codes = wrapped("small")
        self.matrix_heading = label("heading", translate("topology", "GPU to GPU"))
        say(self.note, translate("topology", "Reading the topology of this machine…"))
        self._parts = QBoxLayout(QBoxLayout.Direction.TopToBottom)
        self._parts.setSpacing(3 * theme.SPACE)
        for parts in ((self.drawing, self.legend), (self.matrix_heading, row((self.matrix, 1), None), self.codes, self.peers)):
            self._parts.addLayout(column(*parts, None, spacing=theme.SPACE), 1)
        inside = QWidget()
        column(ScrollPane(translate("topology", "Topology"), inside), of=self)
        self.cluster = ClusterTopology()
        column(self.problem, self.note, self.gpus, self._parts, self.cluster, None, spacing=theme.SPACE, margins=(12, 4, 12, 12), of=inside)
        for widget in (self.drawing, self.legend, self.matrix_heading, self.matrix):
            widget.hide()
        self._timer = QTimer(self, interval=REFRESH_MS)
        self._timer.timeout.connect(self.refresh)

    def show_topology(self, topology: Topology) -> None:
        """Show this machine, unless a recorded one is shown."""
        if self._recorded is None:
            self._show(topology)

    def show_problem(self, problem: str) -> None:
        """Show why the topology is unknown."""
        say(self.note, "")
        say(self.problem, problem)

    def show_recording(self, recording: Recording) -> None:
        """Show a recorded machine instead of this one."""
        self._recorded = recording.telemetry
        self._show(recording.topology)
        say(self.note, translate("topology", "A recorded machine, not this one"))

    def _show(self, topology: Topology) -> None:
        self.topology = topology
        gpus = topology.gpus
        missing = translate("topology", "The topology is incomplete: {problem}.").format(problem=of_engine(topology.problem or ""))
        say(self.problem, missing if topology.problem else "")
        say(self.note, "" if gpus else translate("topology", "This machine has no NVIDIA GPU: detection runs on its processors."))
        say(self.gpus, gpu_list(topology))
        self.drawing.show_topology(topology)
        self.drawing.show()
        self.use_theme()
        self.legend.setVisible(bool(gpus))
        self.matrix.show_topology(topology)
        self.matrix.setVisible(len(gpus) > 1)
        self.matrix_heading.setVisible(len(gpus) > 1)
        say(self.codes, codes_text(topology))
        say(self.peers, peers(topology))
        self._watch()
        self.refresh()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Put the matrix beside the drawing if there is room, else below."""
        super().resizeEvent(event)
        directions = QBoxLayout.Direction
        self._parts.setDirection(directions.LeftToRight if self.width() >= SIDE_BY_SIDE else directions.TopToBottom)
        self.drawing.set_room(self.height() - _AROUND)

    def use_theme(self) -> None:
        """Show the legend in the colours of the theme."""
        if self.topology is not None:
            joined = any(gpu.nvlinks for gpu in self.topology.gpus)
            self.legend.setText(_legend(nvlink=joined, nodes=len(self.topology.nodes) > 1))

    def own_size(self) -> QSize:
        """The size of the panel's own window at first: a machine without GPUs fills less of it."""
        return SIZE if self.topology is None or self.topology.gpus else SIZE / 2

    def _watch(self) -> None:
        """Take telemetry of the GPUs and the processors while the panel is visible."""
        if self.topology is None or self._recorded is not None or not self.isVisible():
            self.telemetry.watch(())
            return
        gpus = [replace(_CPU, id=gpu.device, name=gpu.name, uuid=gpu.uuid) for gpu in self.topology.gpus if gpu.device and gpu.uuid]
        self.telemetry.watch((_CPU, *gpus))

    def refresh(self) -> None:
        """Show the latest traffic."""
        watched = [device.id for device in self.telemetry.watched]
        measured = {device: snapshot for device in watched if (snapshot := self.telemetry.of(device)) is not None}
        self.drawing.show_telemetry(measured if self._recorded is None else self._recorded)

    def showEvent(self, event: QShowEvent) -> None:
        """Start to take telemetry; ask for a topology once."""
        super().showEvent(event)
        if self.topology is None and not self._asked:
            self._asked = True
            self.wanted.emit()
        self._timer.start()
        self._watch()
        self.refresh()

    def hideEvent(self, event: QHideEvent) -> None:
        """Stop telemetry."""
        super().hideEvent(event)
        self._timer.stop()
        self._watch()


def _legend(nvlink: bool, nodes: bool) -> str:
    """The meaning of colours and arrows, as rich text."""
    parts = [f'<span style="color:{theme.colour(PCIE)}">━</span> PCIe']
    if nvlink:
        parts.append(f'<span style="color:{theme.colour(NVLINK)}">━</span> NVLink')
    if nodes:
        parts.append(f'<span style="color:{theme.colour(SYSTEM)}">≡</span> {translate("topology", "NUMA nodes")}')
    return " &nbsp; ".join([*parts, translate("topology", "bright: traffic &nbsp; ↓&nbsp;receives &nbsp; ↑&nbsp;sends")])
