"""The panel with a machine's topology: the drawing with live traffic, the matrix of its GPUs, and notes."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from PySide6.QtCore import QSize, Qt, QTimer, Signal
from PySide6.QtGui import QColor, QFontMetrics, QHideEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QAbstractScrollArea,
    QBoxLayout,
    QHeaderView,
    QSizePolicy,
    QTableWidget,
    QTableWidgetItem,
    QWidget,
)

from framefleet.app.window.cluster.link import Machine
from framefleet.app.window.cluster.machines import Folds
from framefleet.app.window.context import Context, Feature, Place, Placed
from framefleet.app.window.devices.telemetry import DeviceTelemetry
from framefleet.app.window.floating import SIZE
from framefleet.app.window.topology.drawing import NVLINK, PCIE, SYSTEM, TopologyDrawing
from framefleet.app.window.topology.text import about_link, codes_text, gpu_list, gpu_title, peers
from framefleet.app.window.widgets import theme
from framefleet.app.window.widgets.build import Panel, ScrollPane, column, label, row, say, wrapped
from framefleet.app.window.widgets.engine_text import of_engine
from framefleet.app.window.widgets.painting import CENTRE
from framefleet.app.window.widgets.translation import translate
from framefleet.engine.devices.discovery import DeviceDescription
from framefleet.engine.devices.recording import Recording
from framefleet.engine.devices.telemetry import Telemetry
from framefleet.engine.devices.topology import Level, Link, Topology
from framefleet.engine.devices.topology_search import find_topology
from framefleet.engine.notices import Notice
from framefleet.engine.types import DeviceId

WIDEST = 56
"""The largest width of a column, logical pixels."""
_SHADES = {Level.PIX: 0.42, Level.PXB: 0.32, Level.PHB: 0.23, Level.NODE: 0.15, Level.SYS: 0.07}
"""Opacity by level: higher for nearer GPUs."""


class TopologyMatrix(QTableWidget):
    """A row and a column for each GPU, in the order of the driver's numbers."""

    def __init__(self) -> None:
        super().__init__()
        self._codes: tuple[tuple[str, ...], ...] = ()
        self.setAccessibleName(translate("topology", "Connections between GPUs"))
        self.setFont(theme.font(-2))
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setSelectionMode(QAbstractItemView.SelectionMode.NoSelection)
        self.setTabKeyNavigation(False)
        self.setTextElideMode(Qt.TextElideMode.ElideNone)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setSizeAdjustPolicy(QAbstractScrollArea.SizeAdjustPolicy.AdjustToContents)
        self.setCornerButtonEnabled(False)
        self.setStyleSheet(
            f"QTableWidget, QHeaderView, QTableCornerButton::section {{ background: transparent; border: none; }}"
            f" QTableWidget {{ gridline-color: {theme.SURFACE}; }} QTableWidget::item {{ padding: 0; }}"
            f" QTableWidget::item:focus {{ border: 1px solid {theme.ACCENT}; }}"
            f" QHeaderView::section {{ background: transparent; border: none; color: {theme.MUTED}; padding: 0 2px; }}"
        )
        for header in (self.horizontalHeader(), self.verticalHeader()):
            header.setFont(theme.font(-2))
            header.setHighlightSections(False)
            header.setDefaultAlignment(CENTRE)
            header.setMinimumSectionSize(8)
        self.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)

    def show_topology(self, topology: Topology) -> None:
        """Show this machine's matrix."""
        gpus, self._codes = topology.gpus, topology.codes()
        self.setRowCount(len(gpus))
        self.setColumnCount(len(gpus))
        for place, gpu in enumerate(gpus):
            for set_header in (self.setHorizontalHeaderItem, self.setVerticalHeaderItem):
                name = QTableWidgetItem(str(gpu.number))
                name.setToolTip(gpu_title(gpu))
                set_header(place, name)
        for one, links in enumerate(topology.links):
            for other, link in enumerate(links):
                item = QTableWidgetItem()
                item.setToolTip(about_link(gpus[one], gpus[other], link))
                item.setTextAlignment(CENTRE)
                item.setForeground(QColor(theme.MUTED if link is None else theme.TEXT))
                item.setBackground(_shade(link))
                self.setItem(one, other, item)
        metrics = QFontMetrics(theme.font(-2))
        self.horizontalHeader().setFixedHeight(metrics.height() + 8)
        self.verticalHeader().setDefaultSectionSize(metrics.height() + 8)
        self.verticalHeader().setFixedWidth(metrics.horizontalAdvance("00") + 6)
        self.setMaximumWidth(len(gpus) * WIDEST + self.verticalHeader().width())
        self._show_codes()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Show as much of the codes as there is room for."""
        super().resizeEvent(event)
        self._show_codes()

    def _show_codes(self) -> None:
        """Show the codes; without room for them, "18" for "NV18": the colour tells which links are NVLinks."""
        codes, room = self._codes, self.width() - self.verticalHeader().width()
        if room < len(codes) * self._widest(codes):
            codes = tuple(tuple(code.removeprefix("NV") for code in row) for row in codes)
        self.horizontalHeader().setMinimumSectionSize(self._widest(codes))
        self.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Stretch)  # applies the new minimum
        for place, of_row in enumerate(codes):
            for other, code in enumerate(of_row):
                self.model().setData(self.model().index(place, other), code)

    def _widest(self, codes: Sequence[Sequence[str]]) -> int:
        """The least width of a column with these codes, logical pixels."""
        metrics = QFontMetrics(theme.font(-2))
        return max((metrics.horizontalAdvance(code) for row in codes for code in row), default=0) + 4


def _shade(link: Link | None) -> QColor:
    if link is None or (link.level is None and not link.nvlinks):
        return QColor(theme.SURFACE)
    colour = QColor(theme.GOOD if link.nvlinks else theme.ACCENT)
    colour.setAlphaF(0.24 if link.nvlinks or link.level is None else _SHADES[link.level])
    return colour


class ClusterTopology(QWidget):
    """The machines, one below the other. A machine that is opened has a drawing of its topology."""

    def __init__(self) -> None:
        super().__init__()
        self.folds = Folds()
        self.folds.changed.connect(self._show)
        self._drawings: dict[str, TopologyDrawing] = {}
        self._topologies: Mapping[str, Topology] = {}
        self._machines: Sequence[Machine] = ()
        self._column = column(None, spacing=theme.SPACE, of=self)
        self.hide()

    def show_topologies(self, topologies: Mapping[str, Topology]) -> None:
        """Draw these topologies, by the machine's name."""
        self._topologies = topologies
        for name, drawing in self._drawings.items():
            if name in topologies:
                drawing.show_topology(topologies[name])
        self._show()

    def show_machines(self, machines: Sequence[Machine]) -> None:
        """Show these machines as they are now."""
        self._machines = machines
        if self.folds.set_machines([machine.state.name for machine in machines]):
            for name in self._drawings.keys() - self.folds.headings.keys():
                self._drawings.pop(name).deleteLater()
            for place, heading in enumerate(self.folds.headings.values()):
                self._column.insertWidget(place, heading)
            for name, drawing in self._drawings.items():
                self._place(name, drawing)
        self.setVisible(bool(machines))
        self._show()

    def _place(self, name: str, drawing: TopologyDrawing) -> None:
        self._column.insertWidget(self._column.indexOf(self.folds.headings[name]) + 1, drawing)

    def _show(self) -> None:
        if not self.isVisible():
            return
        for machine in self._machines:
            name, measured = machine.state.name, machine.state.measured
            opened = self.folds.opened(name)
            self.folds.headings[name].show_machine(machine, opened)
            if opened and name in self._topologies and name not in self._drawings:
                self._drawings[name] = drawing = TopologyDrawing()
                drawing.show_topology(self._topologies[name])
                self._place(name, drawing)
            if name in self._drawings:
                self._drawings[name].setVisible(opened)
                if opened and measured is not None:
                    self._drawings[name].show_telemetry({snapshot.device: snapshot for snapshot in measured.devices})

    def showEvent(self, event: QShowEvent) -> None:
        """Show what has changed meanwhile."""
        super().showEvent(event)
        self._show()


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

    def show_problem(self, problem: Notice) -> None:
        """Show why the topology is unknown."""
        say(self.note, "")
        say(self.problem, of_engine(problem, capital=True))

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


def attach(context: Context) -> Feature:
    """Add the panel to the window."""
    panel = TopologyPanel()
    context.cluster.machines_changed.connect(panel.cluster.show_machines)
    context.cluster.described.connect(lambda _, topologies: panel.cluster.show_topologies(topologies))
    panel.wanted.connect(lambda: context.background.start(panel, find_topology, panel.show_topology, panel.show_problem))
    if context.recording is not None:
        panel.show_recording(context.recording)
    return Feature([Placed(panel, Place.TAB, title=translate("topology", "Topology"), name="topology", own_size=panel.own_size)])
