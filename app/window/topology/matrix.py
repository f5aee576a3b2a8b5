"""A table of the codes of ``nvidia-smi topo -m``: colours show how near GPUs are, tooltips explain the codes."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetrics, QPainter, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QSizePolicy,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableWidget,
    QTableWidgetItem,
)

from app.window.topology.text import about_link, gpu_title
from app.window.widgets import theme
from app.window.widgets.painting import CENTRE, draw_box
from engine.devices.topology.types import Level, Link, Topology

WIDEST = 56
_SHADE = Qt.ItemDataRole.UserRole
_SHADES = {Level.PIX: 0.42, Level.PXB: 0.32, Level.PHB: 0.23, Level.NODE: 0.15, Level.SYS: 0.07}
"""Opacity by level: higher for nearer GPUs."""


class _Cell(QStyledItemDelegate):
    """Draws a tinted square with a code, which is never elided."""

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> None:
        """Draw one cell."""
        area = QRectF(option.rect).adjusted(1, 1, -1, -1)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        focused = bool(option.state & QStyle.StateFlag.State_HasFocus)
        draw_box(painter, area, 3, index.data(_SHADE), theme.ACCENT if focused else None)
        painter.setPen(index.data(Qt.ItemDataRole.ForegroundRole).color())
        painter.setFont(theme.font(-2))
        painter.drawText(area.adjusted(-4, 0, 4, 0), CENTRE, index.data())
        painter.restore()


class TopologyMatrix(QTableWidget):
    """A row and a column for each GPU, in the order of the driver's numbers."""

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName("How GPUs are joined")
        self.setItemDelegate(_Cell(self))
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setSelectionMode(QAbstractItemView.SelectionMode.NoSelection)
        self.setTabKeyNavigation(False)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setCornerButtonEnabled(False)
        self.setShowGrid(False)
        self.setStyleSheet(
            f"QTableWidget, QHeaderView, QTableCornerButton::section {{ background: transparent; border: none; }}"
            f" QHeaderView::section {{ background: transparent; border: none; color: {theme.MUTED}; padding: 0 2px; }}"
        )
        for header in (self.horizontalHeader(), self.verticalHeader()):
            header.setFont(theme.font(-2))
            header.setHighlightSections(False)
            header.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
            header.setDefaultAlignment(CENTRE)
        self._narrowest = 0

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
                item.setForeground(QColor(theme.DISABLED if link is None else theme.TEXT))
                item.setData(_SHADE, _shade(link))
                self.setItem(row, column, item)
        metrics = QFontMetrics(theme.font(-2))
        self._narrowest = max((metrics.horizontalAdvance(code) for row_codes in codes for code in row_codes), default=0) + 4
        height = metrics.height() + 8
        for header in (self.horizontalHeader(), self.verticalHeader()):
            header.setMinimumSectionSize(8)
        self.verticalHeader().setDefaultSectionSize(height)
        self.verticalHeader().setFixedWidth(metrics.horizontalAdvance("00") + 6)
        self.horizontalHeader().setFixedHeight(height)
        self._spread()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Use the new width."""
        super().resizeEvent(event)
        self._spread()

    def _spread(self) -> None:
        """Divide the width among the columns; scroll if they do not fit."""
        count = self.columnCount()
        if not count:
            return
        room = (self.width() - self.verticalHeader().width()) // count
        self.horizontalHeader().setDefaultSectionSize(max(min(room, WIDEST), self._narrowest))
        bar = self.horizontalScrollBar().sizeHint().height() if room < self._narrowest else 0
        self.setFixedHeight(self.horizontalHeader().height() + self.verticalHeader().defaultSectionSize() * count + bar)


def _shade(link: Link | None) -> QColor:
    if link is None or (link.level is None and not link.nvlinks):
        return QColor(theme.SURFACE)
    colour = QColor(theme.GOOD if link.nvlinks else theme.ACCENT)
    colour.setAlphaF(0.24 if link.nvlinks or link.level is None else _SHADES[link.level])
    return colour
