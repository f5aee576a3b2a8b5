"""A table of the codes of ``nvidia-smi topo -m``: colours show how near GPUs are, tooltips explain the codes."""

from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QFontMetrics
from PySide6.QtWidgets import QAbstractItemView, QAbstractScrollArea, QHeaderView, QSizePolicy, QTableWidget, QTableWidgetItem

from app.window.topology.text import about_link, gpu_title
from app.window.widgets import theme
from app.window.widgets.painting import CENTRE
from app.window.widgets.translation import translate
from engine.devices.topology.types import Level, Link, Topology

WIDEST = 56
"""The largest width of a column, logical pixels."""
_SHADES = {Level.PIX: 0.42, Level.PXB: 0.32, Level.PHB: 0.23, Level.NODE: 0.15, Level.SYS: 0.07}
"""Opacity by level: higher for nearer GPUs."""


class TopologyMatrix(QTableWidget):
    """A row and a column for each GPU, in the order of the driver's numbers."""

    def __init__(self) -> None:
        super().__init__()
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
        self.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Stretch)
        self.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)

    def show_topology(self, topology: Topology) -> None:
        """Show this machine's matrix."""
        gpus, codes = topology.gpus, topology.codes()
        self.setRowCount(len(gpus))
        self.setColumnCount(len(gpus))
        for place, gpu in enumerate(gpus):
            for set_header in (self.setHorizontalHeaderItem, self.setVerticalHeaderItem):
                name = QTableWidgetItem(str(gpu.number))
                name.setToolTip(gpu_title(gpu))
                set_header(place, name)
        for row, links in enumerate(topology.links):
            for column, link in enumerate(links):
                item = QTableWidgetItem(codes[row][column])
                item.setToolTip(about_link(gpus[row], gpus[column], link))
                item.setTextAlignment(CENTRE)
                item.setForeground(QColor(theme.MUTED if link is None else theme.TEXT))
                item.setBackground(_shade(link))
                self.setItem(row, column, item)
        metrics = QFontMetrics(theme.font(-2))
        narrowest = max((metrics.horizontalAdvance(code) for row_codes in codes for code in row_codes), default=0)
        self.horizontalHeader().setMinimumSectionSize(narrowest + 4)
        self.horizontalHeader().setFixedHeight(metrics.height() + 8)
        self.verticalHeader().setDefaultSectionSize(metrics.height() + 8)
        self.verticalHeader().setFixedWidth(metrics.horizontalAdvance("00") + 6)
        self.setMaximumWidth(len(gpus) * WIDEST + self.verticalHeader().width())


def _shade(link: Link | None) -> QColor:
    if link is None or (link.level is None and not link.nvlinks):
        return QColor(theme.SURFACE)
    colour = QColor(theme.GOOD if link.nvlinks else theme.ACCENT)
    colour.setAlphaF(0.24 if link.nvlinks or link.level is None else _SHADES[link.level])
    return colour
