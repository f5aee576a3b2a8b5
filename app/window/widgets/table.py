"""The look of tables."""

from collections.abc import Sequence

from PySide6.QtCore import QAbstractItemModel, QSize, Qt
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableView

from app.window.widgets import theme


def style_table(table: QTableView) -> None:
    """Let a table show rows of equal height without a grid; its rows are selected as a whole."""
    table.setShowGrid(False)
    table.setWordWrap(False)
    table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
    table.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
    table.setIconSize(QSize(9, 9))
    table.verticalHeader().hide()
    table.verticalHeader().setDefaultSectionSize(theme.base_size() + 11)
    table.horizontalHeader().setHighlightSections(False)


def sorted_table(model: QAbstractItemModel, name: str, widths: Sequence[int]) -> QTableView:
    """A table that the user can sort, at first by the first column. name: for screen readers. widths: of columns; the last one fills up."""
    table = QTableView()
    table.setModel(model)
    table.setAccessibleName(name)
    style_table(table)
    table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
    for number, width in enumerate(widths):
        table.setColumnWidth(number, width)
    table.horizontalHeader().setTextElideMode(Qt.TextElideMode.ElideRight)
    table.horizontalHeader().setSectionResizeMode(len(widths), QHeaderView.ResizeMode.Stretch)
    table.setSortingEnabled(True)
    table.sortByColumn(0, Qt.SortOrder.AscendingOrder)
    return table
