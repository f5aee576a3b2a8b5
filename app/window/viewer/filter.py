"""The filter of the detections that are shown: confidence and classes. It works on stored results, without another run."""

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from PySide6.QtCore import QModelIndex, QObject, QPersistentModelIndex, QSettings, QSortFilterProxyModel, Qt, Signal
from PySide6.QtGui import QStandardItem, QStandardItemModel, QUndoCommand, QUndoStack

from framefleet.app.window.widgets import formats
from framefleet.app.window.widgets.translation import translate
from framefleet.engine.types import Detections

CONFIDENCE, HIDDEN = "window/confidence", "window/hidden_classes"
"""Keys of the stored choice: from 0 to 1, and a JSON list of names."""
FLOOR, HIGHEST = 5, 100
"""The lowest confidence that can be chosen at first, and the highest one, percent."""
CONFIDENCE_COMMAND = 1
ONE_MOVEMENT = 1.0
"""Time between two choices of a confidence that are undone together, seconds."""
CLASS_ROLE = Qt.ItemDataRole.UserRole
COUNT_ROLE = Qt.ItemDataRole.UserRole + 1
Index: TypeAlias = QModelIndex | QPersistentModelIndex


@dataclass(frozen=True)
class ViewFilter:
    """Detections at or above a confidence, and of these classes (None = all)."""

    confidence: float = 0.25
    classes: frozenset[int] | None = None

    def apply(self, detections: Detections) -> Detections:
        """The detections to show, strongest first.

        Non-maximum suppression removes a box only because of stronger boxes. Filtering afterwards therefore has the same result
        as detection with the higher threshold.
        """
        return detections.filter(self.confidence, self.classes)


class ClassModel(QSortFilterProxyModel):
    """Checkable classes: the most frequent first, then the others by id. If some were found, only these are listed, unless searched for.

    checked_changed: the user or the program changed what is shown. chosen: the user did; the names that were hidden before, and now.
    hidden: names of the hidden classes, of earlier models as well.
    """

    checked_changed = Signal()
    chosen = Signal(object, object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.hidden: frozenset[str] = frozenset()
        self._any_found = False
        self._items = QStandardItemModel(self)
        self.setSourceModel(self._items)
        self.setSortRole(COUNT_ROLE)
        self.setDynamicSortFilter(False)
        self.setFilterCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)

    def __iter__(self) -> Iterator[QStandardItem]:
        return (self._items.item(row) for row in range(self._items.rowCount()))

    @property
    def classes(self) -> frozenset[int] | None:
        """The class ids to show; None = all."""
        shown = frozenset(item.row() for item in self if item.checkState() is Qt.CheckState.Checked)
        return shown if len(shown) < self._items.rowCount() else None

    def set_labels(self, labels: Sequence[str]) -> None:
        """Set the classes of another model, and show all of them except the hidden ones."""
        if list(labels) == [item.text() for item in self]:
            return
        self._items.clear()
        for class_id, name in enumerate(labels):
            item = QStandardItem(name)
            item.setCheckable(True)
            item.setCheckState(Qt.CheckState.Unchecked if name in self.hidden else Qt.CheckState.Checked)
            item.setData(class_id, CLASS_ROLE)
            _set_count(item, 0)
            self._items.appendRow(item)
        self.settle()
        self.checked_changed.emit()

    def set_counts(self, counts: Mapping[int, int], sort: bool = True) -> None:
        """Set how often each class was seen. sort: rows may move (not while the mouse is over them)."""
        changed = [item for item in self if item.data(COUNT_ROLE) != counts.get(item.row(), 0)]
        for item in changed:
            _set_count(item, counts.get(item.row(), 0))
        if changed and sort:
            self.settle()

    def settle(self) -> None:
        """List the classes that were found, sorted by their counts; without any, list all."""
        self.beginFilterChange()
        self._any_found = any(item.data(COUNT_ROLE) for item in self)
        self.endFilterChange(QSortFilterProxyModel.Direction.Rows)
        self.sort(0, Qt.SortOrder.DescendingOrder)

    def filterAcceptsRow(self, row: int, parent: Index) -> bool:
        """Whether a class is listed: it has the searched text in its name or, without a search, was found."""
        if self.filterRegularExpression().pattern():
            return super().filterAcceptsRow(row, parent)
        return not self._any_found or bool(self._items.item(row).data(COUNT_ROLE))

    def set_all(self, shown: bool) -> None:
        """Show or hide all classes or, while the user searches, the listed ones."""
        searched = bool(self.filterRegularExpression().pattern())
        listed = {self.index(row, 0).data(CLASS_ROLE) for row in range(self.rowCount())}
        self._check({item.row(): shown for item in self if not searched or item.row() in listed})

    def show_only(self, class_id: int) -> None:
        """Hide all other classes; if they are hidden already, show all."""
        every = self.classes == frozenset((class_id,))
        self._check({item.row(): every or item.row() == class_id for item in self})

    def _check(self, shown: Mapping[int, bool]) -> None:
        for class_id, checked in shown.items():
            self._items.item(class_id).setCheckState(Qt.CheckState.Checked if checked else Qt.CheckState.Unchecked)
        self._note()

    def setData(self, index: Index, value: Any, role: int = Qt.ItemDataRole.EditRole) -> bool:
        """Show or hide one class."""
        done = super().setData(index, value, role)
        self._note()
        return done

    def _note(self) -> None:
        """Remember what the user has hidden, and report the change."""
        before, off = self.hidden, frozenset(item.text() for item in self if item.checkState() is Qt.CheckState.Unchecked)
        self.hidden = off | self.hidden - {item.text() for item in self}
        self.checked_changed.emit()
        if self.hidden != before:
            self.chosen.emit(before, self.hidden)

    def set_hidden(self, names: frozenset[str]) -> None:
        """Hide the classes with these names, and show the others."""
        self.hidden = names
        for item in self:
            item.setCheckState(Qt.CheckState.Unchecked if item.text() in names else Qt.CheckState.Checked)
        self.checked_changed.emit()


def _set_count(item: QStandardItem, count: int) -> None:
    description = f"{item.text()}, {formats.plural(count, 'detection')}"
    item.setData(count, COUNT_ROLE)
    item.setToolTip(translate("viewer", "{description}\nDouble-click shows only this class").format(description=description))
    item.setAccessibleText(description)


class Filter(QObject):
    """What the user wants to see. changed: the new ViewFilter. floor_changed: the lowest confidence, percent.

    undo: takes the user's changes. Attributes: percent: the chosen confidence. classes: those of the model, and which of them are shown.
    """

    changed = Signal(object)
    floor_changed = Signal(int)

    def __init__(self, parent: QObject | None = None, undo: QUndoStack | None = None) -> None:
        super().__init__(parent)
        self._undo = undo or QUndoStack(self)
        self.percent, self.floor = 25, FLOOR
        self.classes = ClassModel(self)
        self.classes.checked_changed.connect(self._emit)
        self.classes.chosen.connect(lambda before, after: self._undo.push(_ClassesCommand(self.classes, before, after)))

    @property
    def value(self) -> ViewFilter:
        """What the user chose."""
        return ViewFilter(self.percent / 100, self.classes.classes)

    def remember(self, store: QSettings) -> None:
        """Show the choice that is kept in the store, and keep each change there."""
        self.classes.hidden = frozenset(json.loads(str(store.value(HIDDEN, "[]"))))
        self.set_confidence(float(str(store.value(CONFIDENCE, self.value.confidence))))

        def keep(shown: ViewFilter) -> None:
            store.setValue(CONFIDENCE, shown.confidence)
            store.setValue(HIDDEN, json.dumps(sorted(self.classes.hidden)))

        self.changed.connect(keep)

    def set_confidence(self, confidence: float) -> None:
        """Choose a confidence, 0..1."""
        percent = min(max(round(confidence * 100), self.floor), HIGHEST)
        if percent != self.percent:
            self.percent = percent
            self._emit()

    def choose_confidence(self, percent: int) -> None:
        """Take the confidence that the user chose; it can be undone."""
        before = self.percent
        self.set_confidence(percent / 100)
        if self.percent != before:
            self._undo.push(_ConfidenceCommand(self, before, self.percent))

    def set_floor(self, confidence: float) -> None:
        """Set the lowest confidence that can be chosen, 0..1: weaker detections are not stored."""
        self.floor = max(round(confidence * 100), 1)
        self.floor_changed.emit(self.floor)
        self.set_confidence(self.percent / 100)

    def set_labels(self, labels: Sequence[str]) -> None:
        """Set the classes of the model."""
        self.classes.set_labels(labels)

    def _emit(self) -> None:
        self.changed.emit(self.value)


class _ConfidenceCommand(QUndoCommand):
    """The user chose another confidence, percent. Choices that follow each other at once, as of a moved slider, are one step."""

    def __init__(self, shown: Filter, before: int, after: int) -> None:
        super().__init__(translate("viewer", "Confidence from {percent} %").format(percent=after))
        self._filter, self.before, self.after, self.time = shown, before, after, time.monotonic()

    def id(self) -> int:
        """Commands with the same number can become one."""
        return CONFIDENCE_COMMAND

    def mergeWith(self, other: QUndoCommand) -> bool:
        """Become one with the following choice."""
        if not isinstance(other, _ConfidenceCommand) or other.before != self.after or other.time - self.time > ONE_MOVEMENT:
            return False
        self.after, self.time = other.after, other.time
        self.setText(other.text())
        return True

    def undo(self) -> None:
        """Show what was shown before."""
        self._filter.set_confidence(self.before / 100)

    def redo(self) -> None:
        """Show what the user chose."""
        self._filter.set_confidence(self.after / 100)


class _ClassesCommand(QUndoCommand):
    """The user chose other classes. before, after: names of hidden classes."""

    def __init__(self, classes: ClassModel, before: frozenset[str], after: frozenset[str]) -> None:
        super().__init__(translate("viewer", "Choice of classes"))
        self._classes, self._before, self._after = classes, before, after

    def undo(self) -> None:
        """Show what was shown before."""
        self._classes.set_hidden(self._before)

    def redo(self) -> None:
        """Show what the user chose."""
        if self._classes.hidden != self._after:
            self._classes.set_hidden(self._after)
