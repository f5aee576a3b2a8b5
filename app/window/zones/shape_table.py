"""The table of lines and zones: name, classes and counts, and the list in which the user checks classes."""

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from PySide6.QtCore import QAbstractTableModel, QEvent, QModelIndex, QObject, QPersistentModelIndex, QPoint, Qt, Signal
from PySide6.QtGui import QHideEvent, QKeyEvent
from PySide6.QtWidgets import QFrame, QLineEdit, QListWidget, QListWidgetItem, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from framefleet.app.window.widgets import fields, formats, painting
from framefleet.app.window.widgets.build import column
from framefleet.app.window.widgets.translation import marked, translate
from framefleet.app.window.zones.drawing.editor import ZoneEditor
from framefleet.engine.zones.counts import Counts
from framefleet.engine.zones.shapes import Line, Shape

Index: TypeAlias = QModelIndex | QPersistentModelIndex
HEADINGS = (
    *(marked("zones", "Name"), marked("zones", "Classes"), marked("zones", "Forward"), marked("zones", "Backward")),
    *(marked("zones", "Visits"), marked("zones", "Mean time")),
)
_TIPS = {
    2: marked("zones", "Crossings in the direction of the arrow at the line"),
    3: marked("zones", "Crossings against the direction of the arrow at the line"),
}
_ROOT = QModelIndex()


class ShapeModel(QAbstractTableModel):
    """A row for each line and zone. Names and classes can be edited; classes are labels with commas between them."""

    def __init__(self, editor: ZoneEditor, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._editor = editor
        self._counts: Counts | None = None
        self._rows = 0
        editor.changed.connect(self._changed)

    def set_counts(self, counts: Counts | None) -> None:
        """Show these counts."""
        self._counts = counts
        self._changed()

    def _changed(self) -> None:
        rows = len(self._editor.zones.shapes)
        if rows != self._rows:
            self.beginResetModel()
            self._rows = rows
            self.endResetModel()
        elif rows:
            self.dataChanged.emit(self.index(0, 0), self.index(rows - 1, len(HEADINGS) - 1))

    def rowCount(self, parent: Index = _ROOT) -> int:
        """The number of lines and zones."""
        return 0 if parent.isValid() else self._rows

    def columnCount(self, parent: Index = _ROOT) -> int:
        """Name, classes, two counts of lines and two of zones."""
        return 0 if parent.isValid() else len(HEADINGS)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """The titles of the columns."""
        if orientation is not Qt.Orientation.Horizontal:
            return None
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _alignment(section)
        if role == Qt.ItemDataRole.ToolTipRole and section in _TIPS:
            return translate("zones", _TIPS[section])
        return translate("zones", HEADINGS[section]) if role == Qt.ItemDataRole.DisplayRole else None

    def flags(self, index: Index) -> Qt.ItemFlag:
        """Names and classes can be edited."""
        flags = super().flags(index)
        return flags | Qt.ItemFlag.ItemIsEditable if index.column() < 2 else flags

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """The text of a cell."""
        if index.row() >= len(self._editor.zones.shapes):
            return None
        shape = self._editor.zones.shapes[index.row()]
        if role == Qt.ItemDataRole.EditRole:
            return shape.name if index.column() == 0 else ", ".join(shape.classes)
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _alignment(index.column())
        if role == Qt.ItemDataRole.ToolTipRole:
            return translate("zones", "Double-click to edit") if index.column() < 2 else None
        return self._text(index.row(), index.column(), shape) if role == Qt.ItemDataRole.DisplayRole else None

    def _text(self, number: int, column: int, shape: Shape) -> str:
        if column == 0:
            return shape.name
        if column == 1:
            return ", ".join(shape.classes) or translate("zones", "All")
        counts = self._counts
        if counts is None or number >= len(counts.zones.shapes) or isinstance(shape, Line) != (column < 4):
            return ""
        if isinstance(shape, Line):
            return f"{shape.arrows[column - 2]} {counts.crossed(number, forward=column == 2)}"
        if column == 4:
            return str(counts.visited(number))
        mean = counts.mean_seconds(number)
        return "" if mean is None else translate("zones", "{mean} s").format(mean=formats.decimal(mean))

    def setData(self, index: Index, value: Any, role: int = Qt.ItemDataRole.EditRole) -> bool:
        """Rename a line or zone, or change its classes."""
        if role != Qt.ItemDataRole.EditRole:
            return False
        if index.column() == 0:
            return self._editor.rename(index.row(), str(value))
        self._editor.set_classes(index.row(), [name.strip() for name in str(value).split(",") if name.strip()])
        return True


def _alignment(column: int) -> Qt.AlignmentFlag:
    """Counts stand at the right of their columns."""
    return painting.RIGHT if column > 1 else painting.LEFT


MAX_ROWS = 10
"""Rows that are visible at once, and classes above which they can be searched."""


class ClassesPopup(QFrame):
    """Lists the classes of a model, and above them "All". chosen: names of the checked ones, [] = all. Esc changes nothing.

    labels: of the model. checked: names that count, none = all; further names are listed as well.
    """

    chosen = Signal(list)

    def __init__(self, labels: Sequence[str], checked: Sequence[str], parent: QWidget | None = None) -> None:
        super().__init__(parent, Qt.WindowType.Popup)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setProperty("role", "popup")
        wanted = {name.casefold() for name in checked}
        known = {label.casefold() for label in labels}
        names = [*labels, *(name for name in checked if name.casefold() not in known)]
        self.view = QListWidget()
        self.view.setAccessibleName(translate("zones", "Classes that count"))
        self.view.setProperty("role", "picks")
        self.view.setResizeMode(QListWidget.ResizeMode.Adjust)
        self.everything = self._row(translate("zones", "All"), not wanted)
        self._rows = [self._row(name, name.casefold() in wanted) for name in names]
        self._before = self.names
        self.search = fields.clearable(translate("zones", "Search classes"))
        self.search.setVisible(len(names) > MAX_ROWS)
        self.search.textChanged.connect(self._find)
        self.search.installEventFilter(self)
        self.view.itemClicked.connect(self._toggle)
        self.view.installEventFilter(self)
        self.view.setCurrentRow(0)
        column(self.search, self.view, spacing=4, margins=(6, 6, 6, 6), of=self)
        self.view.ensurePolished()  # the style sets the height of rows
        height = self.view.sizeHintForRow(0)
        self.view.setFixedSize(max(self.view.sizeHintForColumn(0) + 24, 180), height * min(len(names) + 1, MAX_ROWS) + 4)
        self.setFocusProxy(self.view if self.search.isHidden() else self.search)

    @property
    def names(self) -> list[str]:
        """The checked classes, [] = all."""
        return [row.text() for row in self._rows if row.checkState() is Qt.CheckState.Checked]

    def _row(self, text: str, checked: bool) -> QListWidgetItem:
        row = QListWidgetItem(text, self.view)
        row.setFlags(row.flags() & ~Qt.ItemFlag.ItemIsUserCheckable)  # a click anywhere in the row checks it
        row.setCheckState(Qt.CheckState.Checked if checked else Qt.CheckState.Unchecked)
        return row

    def _toggle(self, row: QListWidgetItem) -> None:
        """Check or uncheck a class, or check "All" and no class."""
        if row is self.everything:
            for each in self._rows:
                each.setCheckState(Qt.CheckState.Unchecked)
        elif row.checkState() is Qt.CheckState.Checked:
            row.setCheckState(Qt.CheckState.Unchecked)
        else:
            row.setCheckState(Qt.CheckState.Checked)
        self.everything.setCheckState(Qt.CheckState.Unchecked if self.names else Qt.CheckState.Checked)

    def _find(self, text: str) -> None:
        for row in self._rows:
            row.setHidden(text.strip().casefold() not in row.text().casefold())

    def eventFilter(self, watched: object, event: QEvent) -> bool:
        """Let the arrow keys go from the search to the list, where Space checks a class."""
        if not isinstance(event, QKeyEvent) or event.type() is not QEvent.Type.KeyPress:
            return False
        if watched is self.search and event.key() == Qt.Key.Key_Down:
            self.view.setFocus()
        elif watched is self.view and event.key() == Qt.Key.Key_Space:
            self._toggle(self.view.currentItem())
        else:
            return False
        return True

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Take the choice with Enter, or leave everything as it is with Esc."""
        if event.key() == Qt.Key.Key_Escape:
            self._before = self.names
        if event.key() in (Qt.Key.Key_Escape, Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.close()

    def hideEvent(self, event: QHideEvent) -> None:
        """Take the choice."""
        if self.names != self._before:
            self._before = self.names
            self.chosen.emit(self.names)
        super().hideEvent(event)


class ClassesDelegate(QStyledItemDelegate):
    """Opens a list instead of an editor. labels: returns those of the model. take: called with a row and the chosen classes."""

    def __init__(self, labels: Callable[[], Sequence[str]], take: Callable[[int, list[str]], None], parent: QWidget) -> None:
        super().__init__(parent)
        self._labels, self._take = labels, take

    def createEditor(self, parent: QWidget, option: QStyleOptionViewItem, index: Index) -> QWidget:
        """Open the list below the cell. Without a model, the names are typed."""
        labels, row = self._labels(), index.row()
        if not labels:
            editor = super().createEditor(parent, option, index)
            if isinstance(editor, QLineEdit):
                editor.setPlaceholderText(translate("zones", "car, bus; empty: all"))
            return editor
        checked = [name for name in str(index.data(Qt.ItemDataRole.EditRole)).split(", ") if name]
        popup = ClassesPopup(labels, checked, parent)
        popup.chosen.connect(lambda names: self._take(row, names))
        popup.adjustSize()
        below, screen = parent.mapToGlobal(option.rect.bottomLeft()), parent.screen().availableGeometry()
        popup.move(QPoint(below.x(), min(below.y(), screen.bottom() - popup.height())))
        popup.show()
        popup.setFocus()
        return None  # type: ignore[return-value]
