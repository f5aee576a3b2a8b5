"""A table of the codes of ``nvidia-smi topo -m``: colours show how near GPUs are, tooltips explain the codes."""

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QFontMetrics, QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QAbstractScrollArea, QHeaderView, QSizePolicy, QTableWidget, QTableWidgetItem

from framefleet.app.window.topology.text import about_link, gpu_title
from framefleet.app.window.widgets import theme
from framefleet.app.window.widgets.painting import CENTRE
from framefleet.app.window.widgets.translation import translate
from framefleet.engine.devices.topology.types import Level, Link, Topology

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
        for row, links in enumerate(topology.links):
            for column, link in enumerate(links):
                item = QTableWidgetItem()
                item.setToolTip(about_link(gpus[row], gpus[column], link))
                item.setTextAlignment(CENTRE)
                item.setForeground(QColor(theme.MUTED if link is None else theme.TEXT))
                item.setBackground(_shade(link))
                self.setItem(row, column, item)
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
        for row, of_row in enumerate(codes):
            for column, code in enumerate(of_row):
                self.model().setData(self.model().index(row, column), code)

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
