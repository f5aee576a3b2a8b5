"""The topology of a machine: the drawing with live traffic, the matrix of its GPUs, and notes."""

from collections.abc import Mapping, Sequence

from PySide6 import QtWidgets
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QFontMetrics, QResizeEvent

from framefleet.app.window.topology.drawing import NVLINK, PCIE, SYSTEM, TopologyDrawing
from framefleet.app.window.topology.text import about_link, codes_text, gpu_list, gpu_title, links_text, peers
from framefleet.app.window.widgets import painting, theme
from framefleet.app.window.widgets.build import column, label, row, say, wrapped
from framefleet.app.window.widgets.translation import of_engine, translate
from framefleet.engine.devices.telemetry import Telemetry
from framefleet.engine.devices.topology import Level, Link, Topology
from framefleet.engine.notices import Notice
from framefleet.engine.types import DeviceId

WIDEST = 56
"""The largest width of a column, logical pixels."""
_SHADES = {Level.PIX: 0.42, Level.PXB: 0.32, Level.PHB: 0.23, Level.NODE: 0.15, Level.SYS: 0.07}
"""Opacity by level: higher for nearer GPUs."""
SCROLL_BAR = 10
"""The width of the scroll bar beside a column, logical pixels."""


class TopologyMatrix(QtWidgets.QTableWidget):
    """A row and a column for each GPU, in the order of the driver's numbers."""

    def __init__(self) -> None:
        super().__init__()
        self._codes: tuple[tuple[str, ...], ...] = ()
        self.setAccessibleName(translate("topology", "Connections between GPUs"))
        self.setFont(theme.font(-2))
        self.setEditTriggers(QtWidgets.QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setSelectionMode(QtWidgets.QAbstractItemView.SelectionMode.NoSelection)
        self.setTabKeyNavigation(False)
        self.setTextElideMode(Qt.TextElideMode.ElideNone)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setHorizontalScrollMode(QtWidgets.QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setSizePolicy(QtWidgets.QSizePolicy.Policy.Expanding, QtWidgets.QSizePolicy.Policy.Fixed)
        self.setSizeAdjustPolicy(QtWidgets.QAbstractScrollArea.SizeAdjustPolicy.AdjustToContents)
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
            header.setDefaultAlignment(painting.CENTRE)
            header.setMinimumSectionSize(8)
        self.verticalHeader().setSectionResizeMode(QtWidgets.QHeaderView.ResizeMode.Fixed)

    def show_topology(self, topology: Topology) -> None:
        """Show this machine's matrix."""
        gpus, self._codes = topology.gpus, topology.codes()
        self.setRowCount(len(gpus))
        self.setColumnCount(len(gpus))
        for place, gpu in enumerate(gpus):
            for set_header in (self.setHorizontalHeaderItem, self.setVerticalHeaderItem):
                name = QtWidgets.QTableWidgetItem(str(gpu.number))
                name.setToolTip(gpu_title(gpu))
                set_header(place, name)
        for one, links in enumerate(topology.links):
            for other, link in enumerate(links):
                item = QtWidgets.QTableWidgetItem()
                item.setToolTip(about_link(gpus[one], gpus[other], link))
                item.setTextAlignment(painting.CENTRE)
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
        self.horizontalHeader().setSectionResizeMode(QtWidgets.QHeaderView.ResizeMode.Stretch)  # applies the new minimum
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


SIDE_BY_SIDE = 720
"""The width of the panel of devices from which the topology stands beside them, logical pixels."""


SIDE, GAP = 16, 5


class TopologyPanel(QtWidgets.QWidget):
    """Shows which GPUs are joined and how: as a strip, or, with more room, as a column with the matrix of the GPUs."""

    def __init__(self) -> None:
        super().__init__()
        self.topology: Topology | None = None
        self._wide = False
        self.gpus, self.problem, self.peers = wrapped("small"), wrapped("small"), wrapped("small")
        self.drawing, self.matrix = TopologyDrawing(strip=True), TopologyMatrix()
        self.legend, self.codes = label("small", rich=True), wrapped("small")
        self.matrix_heading = label("heading", translate("topology", "GPU to GPU"))
        self.more = QtWidgets.QWidget()
        column(self.matrix_heading, row((self.matrix, 1), None), self.codes, self.peers, spacing=theme.SPACE, of=self.more)
        self.more.hide()
        parts = self.gpus, self.problem, self.drawing, self.legend, self.more
        column(*parts, None, spacing=GAP, margins=(SIDE, GAP, SIDE, GAP), of=self)

    @property
    def worth_showing(self) -> bool:
        """Whether there are GPUs that can be joined."""
        return self.topology is not None and len(self.topology.gpus) > 1

    def show_topology(self, topology: Topology) -> None:
        """Show this machine."""
        self.topology = topology
        missing = translate("topology", "The topology is incomplete: {problem}.").format(problem=of_engine(topology.problem))
        say(self.problem, missing if topology.problem else "")
        words = gpu_list(topology), links_text(topology)
        say(self.gpus, " · ".join(filter(None, words)) if self.worth_showing else "")
        self.drawing.show_topology(topology)
        self.matrix.show_topology(topology)
        say(self.codes, codes_text(topology))
        say(self.peers, peers(topology))
        self.use_theme()

    def show_problem(self, problem: Notice) -> None:
        """Show why the topology is unknown."""
        say(self.problem, of_engine(problem, capital=True))

    def arrange(self, wide: bool, width: int, room: float) -> int:
        """Show a column with the matrix in half the width, or a strip if it fits into the room.

        Returns the height of the strip, logical pixels.
        """
        if wide is not self._wide:
            self._wide = wide
            self.drawing.set_strip(not wide)
            self.more.setVisible(wide)
            self.use_theme()
        self.drawing.setFixedWidth(width // 2 - 2 * SIDE - SCROLL_BAR if wide else width - 2 * SIDE)
        lines = self.gpus.heightForWidth(width - 2 * SIDE) + (
            0 if self.problem.isHidden() else self.problem.heightForWidth(width - 2 * SIDE) + GAP
        )
        whole = lines + self.drawing.height() + self.legend.sizeHint().height() + 2 * GAP
        drawn = wide or whole + 2 * GAP <= room
        self.drawing.setVisible(drawn)
        self.legend.setVisible(drawn)
        return (whole if drawn else lines) + 2 * GAP

    def use_theme(self) -> None:
        """Show the legend in the colours of the theme."""
        if self.topology is not None:
            joined = any(gpu.nvlinks for gpu in self.topology.gpus)
            self.legend.setText(_legend(joined, self._wide, nodes=len(self.topology.nodes) > 1))

    def show_telemetry(self, telemetry: Mapping[DeviceId, Telemetry]) -> None:
        """Show the latest traffic."""
        self.drawing.show_telemetry(telemetry)


def _legend(nvlink: bool, wide: bool, nodes: bool) -> str:
    """The meaning of colours and arrows, as rich text. wide: there is room for all of it."""
    parts = [f'<span style="color:{theme.colour(PCIE)}">━</span> PCIe']
    if nvlink:
        parts.append(f'<span style="color:{theme.colour(NVLINK)}">━</span> NVLink')
    if nodes and wide:
        parts.append(f'<span style="color:{theme.colour(SYSTEM)}">≡</span> {translate("topology", "NUMA nodes")}')
    bright = translate("topology", "bright: traffic &nbsp; ↓&nbsp;receives &nbsp; ↑&nbsp;sends") if wide else ""
    return " &nbsp; ".join([*parts, bright or translate("topology", "bright: traffic")])
