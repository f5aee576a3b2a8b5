"""The classes of the model, which of them are shown, and how often each was seen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt, Signal

from app.window.widgets import formats

CLASS_ROLE = Qt.ItemDataRole.UserRole
COUNT_ROLE = Qt.ItemDataRole.UserRole + 1
Index = QModelIndex | QPersistentModelIndex


class ClassModel(QAbstractListModel):
    """Checkable classes: those seen most first, then the others by id.

    checked_changed: the user or the program changed what is shown.
    """

    checked_changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._labels: tuple[str, ...] = ()
        self._counts: dict[int, int] = {}
        self._hidden: set[int] = set()
        self._wanted = ""
        self._order: list[int] = []

    @property
    def classes(self) -> frozenset[int] | None:
        """The class ids to show; None = all."""
        return frozenset(range(len(self._labels))) - self._hidden if self._hidden else None

    def set_labels(self, labels: Sequence[str]) -> None:
        """Another model's classes: all are shown."""
        if tuple(labels) != self._labels:
            self._labels = tuple(labels)
            self._hidden.clear()
            self._counts = {}
            self._arrange()
            self.checked_changed.emit()

    def set_counts(self, counts: Mapping[int, int], sort: bool = True) -> None:
        """How often each class was seen. sort: rows may move (not while the mouse is on them)."""
        if dict(counts) == self._counts:
            return
        self._counts = dict(counts)
        if self._order:
            self.dataChanged.emit(self.index(0), self.index(len(self._order) - 1))
        if sort:
            self.settle()

    def settle(self) -> None:
        """Move the rows to where their counts belong."""
        if self._sorted() != self._order:
            self._arrange()

    def search(self, text: str) -> None:
        """List only classes whose name contains this."""
        self._wanted = text.strip().casefold()
        self._arrange()

    def set_all(self, shown: bool) -> None:
        """Show or hide all that are listed."""
        self._hidden = self._hidden - set(self._order) if shown else self._hidden | set(self._order)
        self._repaint()

    def show_only(self, class_id: int) -> None:
        """Hide all others; if they are hidden already, show all."""
        others = set(range(len(self._labels))) - {class_id}
        self._hidden = set() if self._hidden - {class_id} == others else others
        self._repaint()

    def _repaint(self) -> None:
        if self._order:
            self.dataChanged.emit(self.index(0), self.index(len(self._order) - 1))
        self.checked_changed.emit()

    def _sorted(self) -> list[int]:
        listed = [number for number, label in enumerate(self._labels) if self._wanted in label.casefold()]
        return sorted(listed, key=lambda number: -self._counts.get(number, 0))

    def _arrange(self) -> None:
        self.beginResetModel()
        self._order = self._sorted()
        self.endResetModel()

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 Qt's own signature
        """Classes listed."""
        return 0 if parent.isValid() else len(self._order)

    def flags(self, index: Index) -> Qt.ItemFlag:
        """Every class can be checked."""
        return super().flags(index) | Qt.ItemFlag.ItemIsUserCheckable

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Label, check state, id, count."""
        if not index.isValid():
            return None
        class_id = self._order[index.row()]
        label, count, shown = self._labels[class_id], self._counts.get(class_id, 0), class_id not in self._hidden
        spoken = f"{label}, {formats.plural(count, 'detection')}"
        values = {
            Qt.ItemDataRole.DisplayRole: label,
            Qt.ItemDataRole.CheckStateRole: Qt.CheckState.Checked if shown else Qt.CheckState.Unchecked,
            Qt.ItemDataRole.ToolTipRole: f"{spoken}\nDouble-click shows only this class",
            Qt.ItemDataRole.AccessibleTextRole: spoken,
            CLASS_ROLE: class_id,
            COUNT_ROLE: count,
        }
        return values.get(role)

    def setData(self, index: Index, value: Any, role: int = Qt.ItemDataRole.EditRole) -> bool:
        """Show or hide one class."""
        if not index.isValid() or role != Qt.ItemDataRole.CheckStateRole:
            return False
        class_id = self._order[index.row()]
        if Qt.CheckState(value) is Qt.CheckState.Checked:
            self._hidden.discard(class_id)
        else:
            self._hidden.add(class_id)
        self.dataChanged.emit(index, index)
        self.checked_changed.emit()
        return True
