"""The queue: a Qt model that holds the items."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt, Signal
from PySide6.QtGui import QPixmap

from framefleet.app.window.queue.item import ItemState, QueueItem
from framefleet.app.window.widgets import formats
from framefleet.app.window.widgets.translation import translate

ITEM_ROLE = Qt.ItemDataRole.UserRole
THUMBNAIL_ROLE = Qt.ItemDataRole.UserRole + 1
FOUND_ROLE = Qt.ItemDataRole.UserRole + 2
NAMED = 5
"""The largest number of classes that a row or a tooltip names if there are more."""
Index = QModelIndex | QPersistentModelIndex


class QueueModel(QAbstractListModel):
    """The files in the order of their detection.

    thumbnail_wanted: the key of a file that is drawn for the first time, which needs a thumbnail. found: returns how often the filter's
    classes were detected in a file, by class id; None = unknown.
    """

    thumbnail_wanted = Signal(int)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._items: list[QueueItem] = []
        self._rows: dict[int, int] = {}
        self._thumbnails: dict[int, QPixmap | None] = {}
        self.found: Callable[[QueueItem], Mapping[int, int] | None] = lambda _item: None

    def __iter__(self) -> Iterator[QueueItem]:
        return iter(tuple(self._items))

    def __len__(self) -> int:
        return len(self._items)

    def get(self, key: int) -> QueueItem | None:
        """The item with this key, None if it is not in the queue."""
        row = self._rows.get(key)
        return None if row is None else self._items[row]

    def row_of(self, key: int) -> int:
        """The row of this key, -1 if it is not in the queue."""
        return self._rows.get(key, -1)

    def extend(self, items: Sequence[QueueItem]) -> None:
        """Append files."""
        if items:
            first = len(self._items)
            self.beginInsertRows(QModelIndex(), first, first + len(items) - 1)
            self._items += items
            self._rows |= {item.key: row for row, item in enumerate(items, first)}
            self.endInsertRows()

    def insert(self, row: int, item: QueueItem) -> None:
        """Insert a file before a row, or append it if there are fewer rows."""
        row = min(max(row, 0), len(self._items))
        self.beginInsertRows(QModelIndex(), row, row)
        self._items.insert(row, item)
        self._number()
        self.endInsertRows()

    def move(self, key: int, row: int) -> None:
        """Move a file before the file that is in a row now; a row behind the last one moves it to the end."""
        start = self.row_of(key)
        row = min(max(row, 0), len(self._items))
        if start >= 0 and self.beginMoveRows(QModelIndex(), start, start, QModelIndex(), row):
            self._items.insert(row - (row > start), self._items.pop(start))
            self._number()
            self.endMoveRows()

    def _number(self) -> None:
        self._rows = {item.key: place for place, item in enumerate(self._items)}

    def flags(self, index: Index) -> Qt.ItemFlag:
        """Files can be dragged; they can be dropped between others."""
        return super().flags(index) | (Qt.ItemFlag.ItemIsDragEnabled if index.isValid() else Qt.ItemFlag.ItemIsDropEnabled)

    def supportedDropActions(self) -> Qt.DropAction:
        """Dragging moves files."""
        return Qt.DropAction.MoveAction

    def update(self, item: QueueItem) -> None:
        """Replace the item that has the same key, if it is in the queue."""
        row = self.row_of(item.key)
        if row >= 0 and self._items[row] != item:
            self._items[row] = item
            self.dataChanged.emit(self.index(row), self.index(row))

    def remove(self, key: int) -> None:
        """Remove a file."""
        row = self.row_of(key)
        if row >= 0:
            self.beginRemoveRows(QModelIndex(), row, row)
            del self._items[row]
            self._number()
            self._thumbnails.pop(key, None)
            self.endRemoveRows()

    def set_thumbnail(self, key: int, picture: QPixmap) -> None:
        """Set the small picture of a file."""
        row = self.row_of(key)
        if row >= 0:
            self._thumbnails[key] = picture
            self.dataChanged.emit(self.index(row), self.index(row), [THUMBNAIL_ROLE])

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 Qt's own signature
        """Files in the queue."""
        return 0 if parent.isValid() else len(self._items)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Name, tooltip, text for screen readers, item and thumbnail."""
        if not index.isValid():
            return None
        item = self._items[index.row()]
        if role == ITEM_ROLE:
            return item
        if role == THUMBNAIL_ROLE:
            if item.key not in self._thumbnails:
                self._thumbnails[item.key] = None
                self.thumbnail_wanted.emit(item.key)
            return self._thumbnails[item.key]
        if role == Qt.ItemDataRole.DisplayRole:
            return item.path.name or str(item.path)
        if role == Qt.ItemDataRole.ToolTipRole:
            failed = ""
            if item.progress.failed and item.state is not ItemState.FAILED:
                failed = translate("queue", "\n%Ln frames without detections", None, item.progress.failed)
            decoder = translate("queue", "\nFrames {decoder}").format(decoder=item.progress.decoder) if str(item.progress.decoder) else ""
            found = self._found_text(item, NAMED)
            boxes = translate("queue", "\nBoxes: {found}").format(found=found) if self.found(item) else ""
            return f"{item.path}\n{item.explanation}{boxes if found else ''}{failed}{decoder}"
        if role == FOUND_ROLE:
            return self._found_text(item)
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return ", ".join(filter(None, (item.path.name, item.state.value, self._found_text(item, NAMED), item.summary)))
        return None

    def _found_text(self, item: QueueItem, most: int | None = None) -> str:
        """``person 502 · car 87 · +3`` or ``empty``; "" while it is not known. most: the largest number of classes, None = all."""
        found = self.found(item) if item.state is ItemState.DONE and item.results is not None else None
        if found is None or item.results is None:
            return ""
        first = sorted(found, key=lambda number: -found[number])[:most]
        named = [f"{item.results.labels[number]} {formats.count(found[number])}" for number in first]
        more = [f"+{len(found) - len(first)}"] if len(found) > len(first) else []
        return " · ".join(named + more) or translate("queue", "empty")
