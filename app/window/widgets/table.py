"""The look of tables."""

from collections.abc import Collection, Iterable, Mapping, Sequence

from PySide6.QtCore import QAbstractItemModel, QEvent, QObject, QSize, Qt
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableView, QTreeWidget, QTreeWidgetItem

from framefleet.app.window.widgets import theme
from framefleet.app.window.widgets.painting import RIGHT


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


class Filling(QObject):
    """Lets columns fill the width that the others leave. Qt's own mode keeps their old width where the others leave too little.

    columns: their numbers and least widths, logical pixels.
    """

    def __init__(self, table: QTableView, columns: Mapping[int, int]) -> None:
        super().__init__(table)
        self._table, self._columns = table, columns
        header = table.horizontalHeader()
        for number in columns:
            header.setSectionResizeMode(number, QHeaderView.ResizeMode.Fixed)
        header.sectionResized.connect(lambda number, *_: self._fill() if number not in columns else None)
        table.viewport().installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Use the new width of the table."""
        if event.type() is QEvent.Type.Resize:
            self._fill()
        return super().eventFilter(watched, event)

    def _fill(self) -> None:
        header = self._table.horizontalHeader()
        columns = self._columns
        shown = sorted((number for number in columns if not header.isSectionHidden(number)), key=lambda number: -columns[number])
        room = self._table.viewport().width() - header.length() + sum(map(header.sectionSize, shown))
        for place, number in enumerate(shown):
            width = max(room // (len(shown) - place), columns[number])
            header.resizeSection(number, width)
            room -= width


def sorted_table(model: QAbstractItemModel, name: str, widths: Sequence[int], *stretched: int) -> QTableView:
    """A table that the user can sort, at first by the first column.

    name: for screen readers. widths: of the columns, logical pixels. stretched: the columns that fill the table, and are at least as wide.
    """
    table = QTableView()
    table.setModel(model)
    table.setAccessibleName(name)
    style_table(table)
    table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
    for number, width in enumerate(widths):
        table.setColumnWidth(number, width)
    table.horizontalHeader().setTextElideMode(Qt.TextElideMode.ElideRight)
    Filling(table, {number: widths[number] for number in stretched})
    table.setSortingEnabled(True)
    table.sortByColumn(0, Qt.SortOrder.AscendingOrder)
    return table


def fit_names(table: QTableView, column: int, names: Iterable[str]) -> None:
    """Make a column as wide as its longest name beside the colour of a class, and its heading."""
    widest = max((table.fontMetrics().horizontalAdvance(name) for name in names), default=0)
    table.setColumnWidth(column, max(widest + 28, table.horizontalHeader().sectionSizeHint(column)))


def plain_tree(name: str, titles: Sequence[str], numbers: Collection[int]) -> QTreeWidget:
    """A list of rows with columns as wide as their content; the first one takes the rest of the width.

    name: for screen readers. numbers: the columns that are aligned to the right.
    """
    tree = QTreeWidget()
    tree.setRootIsDecorated(False)
    tree.setUniformRowHeights(True)
    tree.setAccessibleName(name)
    tree.setHeaderLabels(titles)
    align(tree.headerItem(), numbers)
    header, modes = tree.header(), QHeaderView.ResizeMode
    header.setStretchLastSection(False)
    header.setSectionResizeMode(modes.ResizeToContents)
    header.setSectionResizeMode(0, modes.Stretch)
    return tree


def align(row: QTreeWidgetItem, numbers: Collection[int]) -> None:
    """Align the texts of these columns to the right."""
    for number in numbers:
        row.setTextAlignment(number, RIGHT)
