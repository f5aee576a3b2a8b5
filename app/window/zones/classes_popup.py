"""The list in which the user checks the classes that count at a line or zone."""

from collections.abc import Callable, Sequence

from PySide6.QtCore import QEvent, QPoint, Qt, Signal
from PySide6.QtGui import QHideEvent, QKeyEvent
from PySide6.QtWidgets import QFrame, QLineEdit, QListWidget, QListWidgetItem, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from framefleet.app.window.widgets.build import column
from framefleet.app.window.widgets.fields import clearable
from framefleet.app.window.widgets.translation import translate
from framefleet.app.window.zones.shape_list import Index

MOST_ROWS = 10
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
        self.search = clearable(translate("zones", "Search classes"))
        self.search.setVisible(len(names) > MOST_ROWS)
        self.search.textChanged.connect(self._find)
        self.search.installEventFilter(self)
        self.view.itemClicked.connect(self._toggle)
        self.view.installEventFilter(self)
        self.view.setCurrentRow(0)
        column(self.search, self.view, spacing=4, margins=(6, 6, 6, 6), of=self)
        self.view.ensurePolished()  # the style sets the height of rows
        height = self.view.sizeHintForRow(0)
        self.view.setFixedSize(max(self.view.sizeHintForColumn(0) + 24, 180), height * min(len(names) + 1, MOST_ROWS) + 4)
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
