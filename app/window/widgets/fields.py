"""Fields of forms - combo boxes, numbers and paths -, the grid that holds them beside their titles, and tables."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Any, TypeVar

from PySide6 import QtWidgets
from PySide6.QtCore import QAbstractItemModel, QEvent, QObject, QSize, Qt, Signal
from PySide6.QtGui import QAction, QKeyEvent, QPaintEvent

from framefleet.app.window.widgets import painting, questions, theme
from framefleet.app.window.widgets.build import Flow, label, row
from framefleet.app.window.widgets.translation import of_settings, translate
from framefleet.engine.settings.kinds import Number, write

NUMBER_WIDTH = 124
TEXT_WIDTH = 236
TITLE_WIDTH = 11
"""Width of titles, times the height of body text."""
NARROW = 8
"""Least width of an elided combo box, times the height of body text."""
STEP = 0.01
"""The smallest share of a field that excludes 0."""
Choice = TypeVar("Choice", bound=StrEnum)


class _Inputs(QObject):
    """Lets the mouse wheel scroll the page instead of changing a field, and a typed digit replace the text for "none"."""

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() is QEvent.Type.Wheel:
            event.ignore()
            return True
        digit = event.type() is QEvent.Type.KeyPress and isinstance(event, QKeyEvent) and event.text().isdigit()
        if digit and isinstance(watched, QtWidgets.QAbstractSpinBox) and watched.text() == watched.specialValueText():
            watched.selectAll()
        return False


def choice(name: str, titles: Mapping[Choice, str], value: Choice) -> QtWidgets.QComboBox:
    """A combo box for the members of an enumeration, each with its title."""
    combo = combo_box(name, titles)
    combo.setCurrentIndex(list(titles).index(value))
    return combo


class _ElidedComboBox(QtWidgets.QComboBox):
    """A combo box that may be narrower than its texts: an ellipsis marks a text that does not fit."""

    def __init__(self) -> None:
        super().__init__(sizeAdjustPolicy=QtWidgets.QComboBox.SizeAdjustPolicy.AdjustToContents)

    def minimumSizeHint(self) -> QSize:
        """The width of a few letters."""
        hint = super().minimumSizeHint()
        return QSize(min(hint.width(), NARROW * theme.base_size()), hint.height())

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw the text, elided to the width."""
        option = QtWidgets.QStyleOptionComboBox()
        self.initStyleOption(option)
        field = QtWidgets.QStyle.SubControl.SC_ComboBoxEditField
        room = self.style().subControlRect(QtWidgets.QStyle.ComplexControl.CC_ComboBox, option, field, self).width()
        option.currentText = self.fontMetrics().elidedText(self.currentText(), Qt.TextElideMode.ElideRight, room)
        painter = QtWidgets.QStylePainter(self)
        painter.drawComplexControl(QtWidgets.QStyle.ComplexControl.CC_ComboBox, option)
        painter.drawControl(QtWidgets.QStyle.ControlElement.CE_ComboBoxLabel, option)
        painter.end()


def combo_box(name: str, titles: Mapping[Any, str] | None = None, *, elided: bool = False) -> QtWidgets.QComboBox:
    """A combo box. name: for screen readers. titles: of its values, None = it is empty. elided: it may be narrower than its texts."""
    combo = _ElidedComboBox() if elided else QtWidgets.QComboBox()
    combo.installEventFilter(_Inputs(combo))
    combo.setAccessibleName(name)
    for value, title in (titles or {}).items():
        combo.addItem(title, value)
    return combo


class ChoiceOrText(QtWidgets.QComboBox):
    """A combo box with titles for frequent texts, in which the user can type another text. name: for screen readers."""

    def __init__(self, name: str, titles: Mapping[str, str]) -> None:
        super().__init__(editable=True, insertPolicy=QtWidgets.QComboBox.InsertPolicy.NoInsert)
        self.setCompleter(None)  # type: ignore[arg-type]  # it would turn "10" into "10 seconds"
        self.installEventFilter(_Inputs(self))
        self.setAccessibleName(name)
        self.setFixedWidth(TEXT_WIDTH)
        for text, title in titles.items():
            self.addItem(title, text)

    def text(self) -> str:
        """The text of the chosen title, or what was typed."""
        place = self.findText(self.currentText())
        return str(self.itemData(place)) if place >= 0 else self.currentText()

    def setText(self, text: str) -> None:
        """Choose the title of a text, or show the text."""
        place = self.findData(text)
        self.setCurrentIndex(place)
        if place < 0:
            self.setEditText(text)


def number(name: str, kind: Number, value: float | None) -> QtWidgets.QSpinBox | QtWidgets.QDoubleSpinBox:
    """A field for a number of this kind. If the kind allows None, the field shows the kind's text for it."""
    spin: QtWidgets.QSpinBox | QtWidgets.QDoubleSpinBox
    if kind.whole:
        spin = QtWidgets.QSpinBox(minimum=0, maximum=int(kind.most), value=int(value or 0))
    elif kind.unit:
        spin = QtWidgets.QDoubleSpinBox(minimum=0.0, maximum=kind.most, decimals=1, value=value or 0.0, suffix=f" {kind.unit}")
    else:
        least = kind.least + STEP * kind.above
        spin = PercentBox(least, kind.most, value or 0.0)
    if kind.whole or kind.unit:
        spin.setSpecialValueText(of_settings(kind.none))
    spin.installEventFilter(_Inputs(spin))
    spin.setAccessibleName(name)
    spin.setFixedWidth(NUMBER_WIDTH)
    indent(spin)
    return spin


class PercentBox(QtWidgets.QDoubleSpinBox):
    """A field for a share of a whole, which it shows in percent. least, most, value: shares, 0..1."""

    def __init__(self, least: float, most: float, value: float) -> None:
        super().__init__(minimum=100 * least, maximum=100 * most, singleStep=5.0, decimals=1, suffix=" %")
        self.set_share(value)

    @property
    def share(self) -> float:
        """The value, 0..1."""
        return round(self.value() / 100, 3)

    def set_share(self, share: float) -> None:
        """Show a share, 0..1."""
        self.setValue(100 * share)

    def textFromValue(self, value: float) -> str:
        """The number without a zero at its end."""
        return self.locale().toString(float(value), "f", 0 if value == round(value) else 1)


def text_field(name: str, value: Any, placeholder: str) -> QtWidgets.QLineEdit:
    """A field for a value that is written as text. None: it is empty."""
    edit = clearable(placeholder)
    edit.setText("" if value is None else write(value))
    edit.setCursorPosition(0)
    edit.setAccessibleName(name)
    edit.setFixedWidth(TEXT_WIDTH)
    return edit


def indent(spin: QtWidgets.QAbstractSpinBox) -> None:
    """Indent the number, because style sheets cannot, and leave dropped files to the window."""
    spin.lineEdit().setTextMargins(6, 0, 0, 0)
    spin.lineEdit().setAcceptDrops(False)


def form_grid(rows: Sequence[tuple[str, QtWidgets.QWidget] | tuple[str, QtWidgets.QWidget, str]]) -> QtWidgets.QGridLayout:
    """A grid with a row for each title, field and, optionally, note beside the field. An empty title is left out."""
    grid = QtWidgets.QGridLayout()
    grid.setContentsMargins(0, 0, 0, 0)
    grid.setHorizontalSpacing(12)
    grid.setVerticalSpacing(8)
    grid.setColumnMinimumWidth(0, TITLE_WIDTH * theme.base_size())
    grid.setColumnStretch(2, 1)
    for number, (title, field, *note) in enumerate(rows):
        if title:
            heading = QtWidgets.QLabel(title)
            heading.setBuddy(field)
            beside = Qt.AlignmentFlag.AlignTop if isinstance(field.layout(), Flow) else Qt.AlignmentFlag(0)
            grid.addWidget(heading, number, 0, beside)  # a field in several lines has its title beside the first one
        grid.addWidget(field, number, 1, 1, 1 if note else 2)
        if note:
            grid.addWidget(label("small", note[0], wrap=True), number, 2)
    return grid


def clearable(placeholder: str) -> QtWidgets.QLineEdit:
    """A line edit with a button that clears it. placeholder: also its name for screen readers."""
    edit = QtWidgets.QLineEdit(placeholderText=placeholder, clearButtonEnabled=True)
    edit.setAccessibleName(placeholder)
    edit.setAcceptDrops(False)  # dropped files belong to the window, not into the text
    action = edit.findChild(QAction)
    if action is not None:
        action.setIcon(painting.icon("close", theme.MUTED))
    return edit


class PathField(QtWidgets.QWidget):
    """A field for the path of a file, or of a folder, with a button that opens a dialog. changed: the text has changed."""

    changed = Signal()

    def __init__(self, name: str, kinds: str, placeholder: str, folders: bool = False) -> None:
        super().__init__()
        self._name, self._kinds = name, kinds
        self._mode = QtWidgets.QFileDialog.FileMode.Directory if folders else QtWidgets.QFileDialog.FileMode.ExistingFile
        self.edit = clearable(placeholder)
        self.edit.setAccessibleName(name)
        self.edit.textChanged.connect(self.changed)
        self.browse = QtWidgets.QPushButton(translate("widgets", "Choose…"))
        self.browse.setAccessibleName(translate("widgets", "Choose {name}").format(name=name))
        self.browse.clicked.connect(self._choose)
        self.setFocusProxy(self.edit)
        row((self.edit, 1), self.browse, spacing=8, of=self)

    @property
    def text(self) -> str:
        """The text without spaces around it."""
        return self.edit.text().strip()

    @property
    def path(self) -> Path | None:
        """The text as a path; None if empty."""
        try:
            return Path(self.text).expanduser() if self.text else None
        except RuntimeError:  # of ~NAME without such a user: the name may not be typed completely yet
            return Path(self.text)

    def set_path(self, path: Path | str | None) -> None:
        """Set the path."""
        self.edit.setText(str(path) if path is not None else "")
        self.edit.setCursorPosition(len(self.edit.text()))

    def _choose(self) -> None:
        title = translate("widgets", "Choose {name}").format(name=self._name)
        questions.choose_path(self.window(), title, self.set_path, self._kinds, self.text, self._mode)


def style_table(table: QtWidgets.QTableView) -> None:
    """Let a table show rows of equal height without a grid; its rows are selected as a whole."""
    table.setShowGrid(False)
    table.setWordWrap(False)
    table.setSelectionBehavior(QtWidgets.QAbstractItemView.SelectionBehavior.SelectRows)
    table.setVerticalScrollMode(QtWidgets.QAbstractItemView.ScrollMode.ScrollPerPixel)
    table.setIconSize(QSize(9, 9))
    table.verticalHeader().hide()
    table.verticalHeader().setDefaultSectionSize(theme.base_size() + 11)
    table.horizontalHeader().setHighlightSections(False)


class Filling(QObject):
    """Lets columns fill the width that the others leave. Qt's own mode keeps their old width where the others leave too little.

    columns: their numbers and least widths, logical pixels.
    """

    def __init__(self, table: QtWidgets.QTableView, columns: Mapping[int, int]) -> None:
        super().__init__(table)
        self._table, self._columns = table, columns
        header = table.horizontalHeader()
        for number in columns:
            header.setSectionResizeMode(number, QtWidgets.QHeaderView.ResizeMode.Fixed)
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


def sorted_table(model: QAbstractItemModel, name: str, widths: Sequence[int], *stretched: int) -> QtWidgets.QTableView:
    """A table that the user can sort, at first by the first column.

    name: for screen readers. widths: of the columns, logical pixels. stretched: the columns that fill the table, and are at least as wide.
    """
    table = QtWidgets.QTableView()
    table.setModel(model)
    table.setAccessibleName(name)
    style_table(table)
    table.setSelectionMode(QtWidgets.QAbstractItemView.SelectionMode.SingleSelection)
    for number, width in enumerate(widths):
        table.setColumnWidth(number, width)
    table.horizontalHeader().setTextElideMode(Qt.TextElideMode.ElideRight)
    Filling(table, {number: widths[number] for number in stretched})
    table.setSortingEnabled(True)
    table.sortByColumn(0, Qt.SortOrder.AscendingOrder)
    return table


def fit_names(table: QtWidgets.QTableView, column: int, names: Iterable[str]) -> None:
    """Make a column as wide as its longest name beside the colour of a class, and its heading."""
    widest = max((table.fontMetrics().horizontalAdvance(name) for name in names), default=0)
    table.setColumnWidth(column, max(widest + 28, table.horizontalHeader().sectionSizeHint(column)))


def plain_tree(name: str, titles: Sequence[str], numbers: Collection[int]) -> QtWidgets.QTreeWidget:
    """A list of rows with columns as wide as their content; the first one takes the rest of the width.

    name: for screen readers. numbers: the columns that are aligned to the right.
    """
    tree = QtWidgets.QTreeWidget()
    tree.setRootIsDecorated(False)
    tree.setUniformRowHeights(True)
    tree.setAccessibleName(name)
    tree.setHeaderLabels(titles)
    align(tree.headerItem(), numbers)
    header, modes = tree.header(), QtWidgets.QHeaderView.ResizeMode
    header.setStretchLastSection(False)
    header.setSectionResizeMode(modes.ResizeToContents)
    header.setSectionResizeMode(0, modes.Stretch)
    return tree


def align(row: QtWidgets.QTreeWidgetItem, numbers: Collection[int]) -> None:
    """Align the texts of these columns to the right."""
    for number in numbers:
        row.setTextAlignment(number, painting.RIGHT)
