"""The queue: a Qt model that holds the items, the delegate that draws them, and their small pictures."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from PySide6 import QtCore
from PySide6.QtGui import QColor, QFontMetrics, QImage, QPainter, QPainterPath, QPixmap
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from framefleet.app.window.player.preview_client import PreviewClient
from framefleet.app.window.queue.item import ItemState, QueueItem
from framefleet.app.window.widgets import formats, theme
from framefleet.app.window.widgets.painting import draw_bar, draw_box, fitting, painting, pixmap
from framefleet.app.window.widgets.translation import of_engine, translate
from framefleet.engine.media.sources import is_picture
from framefleet.engine.store.sources import label_of

ITEM_ROLE = QtCore.Qt.ItemDataRole.UserRole
THUMBNAIL_ROLE = QtCore.Qt.ItemDataRole.UserRole + 1
FOUND_ROLE = QtCore.Qt.ItemDataRole.UserRole + 2
MAX_THUMBNAILS = 256
"""The largest number of small pictures that are kept: those that were drawn last. Others are fetched again when they are drawn."""
NAMED = 5
"""The largest number of classes that a row or a tooltip names if there are more."""
Index = QtCore.QModelIndex | QtCore.QPersistentModelIndex
Classes: TypeAlias = tuple[tuple[str, int], ...]
"""Labels and how many boxes have them, the most frequent first."""


class QueueModel(QtCore.QAbstractListModel):
    """The files in the order of their detection.

    thumbnail_wanted: the key of a file that is drawn without a thumbnail. found: returns how often the filter's
    classes were detected in a file, by class id; None = unknown.
    """

    thumbnail_wanted = QtCore.Signal(int)

    def __init__(self, parent: QtCore.QObject | None = None) -> None:
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
            self.beginInsertRows(QtCore.QModelIndex(), first, first + len(items) - 1)
            self._items += items
            self._rows |= {item.key: row for row, item in enumerate(items, first)}
            self.endInsertRows()

    def insert(self, row: int, item: QueueItem) -> None:
        """Insert a file before a row, or append it if there are fewer rows."""
        row = min(max(row, 0), len(self._items))
        self.beginInsertRows(QtCore.QModelIndex(), row, row)
        self._items.insert(row, item)
        self._number(row)
        self.endInsertRows()

    def move(self, key: int, row: int) -> None:
        """Move a file before the file that is in a row now; a row behind the last one moves it to the end."""
        start = self.row_of(key)
        row = min(max(row, 0), len(self._items))
        if start >= 0 and self.beginMoveRows(QtCore.QModelIndex(), start, start, QtCore.QModelIndex(), row):
            self._items.insert(row - (row > start), self._items.pop(start))
            self._number()
            self.endMoveRows()

    def _number(self, first: int = 0) -> None:
        """Number the rows from this one on."""
        for row in range(first, len(self._items)):
            self._rows[self._items[row].key] = row

    def flags(self, index: Index) -> QtCore.Qt.ItemFlag:
        """Files can be dragged; they can be dropped between others."""
        return super().flags(index) | (QtCore.Qt.ItemFlag.ItemIsDragEnabled if index.isValid() else QtCore.Qt.ItemFlag.ItemIsDropEnabled)

    def supportedDropActions(self) -> QtCore.Qt.DropAction:
        """Dragging moves files."""
        return QtCore.Qt.DropAction.MoveAction

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
            self.beginRemoveRows(QtCore.QModelIndex(), row, row)
            del self._items[row], self._rows[key]
            self._number(row)
            self._thumbnails.pop(key, None)
            self.endRemoveRows()

    def set_thumbnail(self, key: int, picture: QPixmap) -> None:
        """Set the small picture of a file."""
        row = self.row_of(key)
        if row >= 0 and key in self._thumbnails:
            self._thumbnails[key] = picture
            self.dataChanged.emit(self.index(row), self.index(row), [THUMBNAIL_ROLE])

    def rowCount(self, parent: Index = QtCore.QModelIndex()) -> int:  # noqa: B008 Qt's own signature
        """Files in the queue."""
        return 0 if parent.isValid() else len(self._items)

    def data(self, index: Index, role: int = QtCore.Qt.ItemDataRole.DisplayRole) -> Any:
        """Name, tooltip, text for screen readers, item and thumbnail."""
        if not index.isValid():
            return None
        item = self._items[index.row()]
        if role == ITEM_ROLE:
            return item
        if role == THUMBNAIL_ROLE:
            wanted = item.key not in self._thumbnails
            picture = self._thumbnails[item.key] = self._thumbnails.pop(item.key, None)  # to the end: it is drawn last
            if wanted:
                self.thumbnail_wanted.emit(item.key)
                if len(self._thumbnails) > MAX_THUMBNAILS:
                    del self._thumbnails[next(iter(self._thumbnails))]
            return picture
        if role == QtCore.Qt.ItemDataRole.DisplayRole:
            return item.name
        if role == QtCore.Qt.ItemDataRole.ToolTipRole:
            failed = ""
            if item.progress.failed and item.state is not ItemState.FAILED:
                failed = translate("queue", "\n%Ln frames without detections", None, item.progress.failed)
            use = item.progress.decoder.notice
            decoder = "" if use is None else translate("queue", "\nFrames {decoder}").format(decoder=of_engine(use))
            boxes = translate("queue", "\nBoxes: {found}").format(found=self._found_text(item)) if self._found(item) else ""
            return f"{item.progress.address or item.path}\n{item.explanation}{boxes}{failed}{decoder}"
        if role == FOUND_ROLE:
            return self._found(item)
        if role == QtCore.Qt.ItemDataRole.AccessibleTextRole:
            return ", ".join(filter(None, (item.name, item.state.value, self._found_text(item), item.summary)))
        return None

    def _found(self, item: QueueItem) -> Classes | None:
        """The classes of a finished file and their numbers, the most frequent first; None while they are not known."""
        found = self.found(item) if item.state is ItemState.DONE and item.results is not None else None
        if found is None or item.results is None:
            return None
        return tuple((label_of(item.results.labels, number), found[number]) for number in sorted(found, key=lambda number: -found[number]))

    def _found_text(self, item: QueueItem) -> str:
        """``person 502 · car 87 · +3`` or ``empty``; "" while it is not known."""
        if (found := self._found(item)) is None:
            return ""
        more = [f"+{len(found) - NAMED}"] if len(found) > NAMED else []
        return " · ".join([*numbered(found[:NAMED]), *more])


THUMBNAIL = QtCore.QSize(64, 36)
PADDING = 9
CORNER = 5
_BADGES = {
    ItemState.DONE: ("check", "GOOD"),
    ItemState.FAILED: ("error", "DANGER"),
    ItemState.CANCELLED: ("stop", "MUTED"),
    ItemState.PAUSED: ("pause", "MUTED"),
}


def thumbnail(image: QImage, ratio: float) -> QPixmap:
    """A picture that fills ``THUMBNAIL``, with round corners. It is drawn often, so it is prepared once."""
    size = THUMBNAIL * ratio
    scaled = image.scaled(size, QtCore.Qt.AspectRatioMode.KeepAspectRatioByExpanding, QtCore.Qt.TransformationMode.SmoothTransformation)
    made = QPixmap(size)
    made.fill(QtCore.Qt.GlobalColor.transparent)
    clip = QPainterPath()
    clip.addRoundedRect(QtCore.QRectF(made.rect()), CORNER * ratio, CORNER * ratio)
    with painting(made) as painter:
        painter.setClipPath(clip)
        painter.drawImage((size.width() - scaled.width()) // 2, (size.height() - scaled.height()) // 2, scaled)
    made.setDevicePixelRatio(ratio)
    return made


def shortened(metrics: QFontMetrics, name: str, width: int) -> str:
    """A name of a file that fits: if it is too long, its first four letters and its end with the suffix.

    The files of a camera differ at the end of their names.
    """
    if metrics.horizontalAdvance(name) <= width:
        return name
    return name[:4] + metrics.elidedText(name[4:], QtCore.Qt.TextElideMode.ElideLeft, width - metrics.horizontalAdvance(name[:4]))


def numbered(found: Classes) -> list[str]:
    """Each class with its number; one word if there is no class."""
    return [f"{name} {formats.count(number)}" for name, number in found] or [translate("queue", "empty")]


def classes_line(metrics: QFontMetrics, found: Classes, width: int) -> str:
    """The classes that fit: with their numbers; if not all fit, their names; if not all fit, how many more."""
    parts, names = numbered(found), [name for name, _ in found]
    fewer = range(min(len(names) - 1, NAMED), 0, -1)
    lines = [" · ".join(parts), ", ".join(names), *(f"{', '.join(names[:kept])} +{len(names) - kept}" for kept in fewer)]
    return next((line for line in lines if line and metrics.horizontalAdvance(line) <= width), parts[0])


class QueueDelegate(QStyledItemDelegate):
    """Draws a queue item in two lines beside its picture."""

    def sizeHint(self, _option: QStyleOptionViewItem, _index: QtCore.QModelIndex | QtCore.QPersistentModelIndex) -> QtCore.QSize:
        """All rows have the same height."""
        return QtCore.QSize(200, THUMBNAIL.height() + 2 * PADDING)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: QtCore.QModelIndex | QtCore.QPersistentModelIndex) -> None:
        """Draw one row."""
        item: QueueItem = index.data(ITEM_ROLE)
        state, whole = option.state, option.rect
        selected, hovered = bool(state & QStyle.StateFlag.State_Selected), bool(state & QStyle.StateFlag.State_MouseOver)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        row = QtCore.QRectF(whole).adjusted(4, 1, -4, -1)
        focused = bool(state & QStyle.StateFlag.State_HasFocus)
        if selected or hovered or focused:
            draw_box(painter, row, 7, theme.SELECTED if selected else theme.RAISED, theme.ACCENT if focused else None)
        if selected:
            draw_box(painter, QtCore.QRectF(row.x(), row.y() + 12, 3, row.height() - 24), 1.5, theme.ACCENT)
        picture = QtCore.QRect(whole.x() + 12, whole.y() + PADDING, THUMBNAIL.width(), THUMBNAIL.height())
        self._paint_picture(painter, picture, index.data(THUMBNAIL_ROLE), item)
        self._paint_badge(painter, picture, item)
        text = QtCore.QRect(picture.right() + 11, picture.y(), whole.right() - picture.right() - 11 - 14, picture.height())
        self._paint_text(painter, text, item, index.data(FOUND_ROLE))
        painter.restore()

    def _paint_picture(self, painter: QPainter, area: QtCore.QRect, picture: QPixmap | None, item: QueueItem) -> None:
        if picture is not None:
            painter.drawPixmap(area.topLeft(), picture)
            return
        draw_box(painter, area, CORNER, theme.BACKGROUND)
        name = "camera" if item.live else "folder" if not item.path.suffix else "image" if is_picture(item.path) else "film"
        placeholder = pixmap(name, 18, theme.DISABLED)
        painter.drawPixmap(area.center() - QtCore.QRect(0, 0, 18, 18).center(), placeholder)

    def _paint_badge(self, painter: QPainter, picture: QtCore.QRect, item: QueueItem) -> None:
        """Draw how detection ended in the picture's corner, where it takes no room from the name."""
        badge = ("warning", "WARNING") if item.state is ItemState.DONE and item.progress.failed else _BADGES.get(item.state)
        if badge is not None:
            ground = QtCore.QRect(picture.right() - 15, picture.bottom() - 15, 19, 19)
            draw_box(painter, ground, 9.5, theme.SURFACE)
            painter.drawPixmap(ground.topLeft() + QtCore.QPoint(2, 2), pixmap(badge[0], 15, theme.colour(badge[1])))

    def _paint_text(self, painter: QPainter, area: QtCore.QRect, item: QueueItem, found: Classes | None) -> None:
        name_font, small_font = theme.font(), theme.font(-1)
        running = item.state in (ItemState.RUNNING, ItemState.PAUSED)
        small = QFontMetrics(small_font)
        painter.setFont(name_font)
        metrics = QFontMetrics(name_font)
        painter.setPen(QColor(theme.TEXT))
        name = shortened(metrics, item.name, area.width())
        block = metrics.height() + 2 + small.height() + (7 if running else 0)
        top = area.y() + (area.height() - block) / 2
        painter.drawText(QtCore.QPointF(area.x(), top + metrics.ascent()), name)
        painter.setFont(small_font)
        lost = item.state is ItemState.DONE and item.progress.failed > 0
        painter.setPen(QColor(theme.DANGER if item.state is ItemState.FAILED else theme.WARNING if lost else theme.MUTED))
        if found and not lost:
            brief = classes_line(small, found, area.width())
        else:
            classes = () if found is None else tuple(numbered(found))
            parts = [part for part in (item.brief + classes if lost else classes + item.brief) if part]
            brief = fitting(small, parts, area.width())
        line = small.elidedText(brief, QtCore.Qt.TextElideMode.ElideRight, area.width())
        painter.drawText(QtCore.QPointF(area.x(), top + metrics.height() + 2 + small.ascent()), line)
        if running:
            bar = QtCore.QRectF(area.x(), top + block - 3, area.width(), 3)
            draw_bar(painter, bar, item.fraction, theme.MUTED if item.state is ItemState.PAUSED else theme.ACCENT, theme.EDGE)


class Thumbnails(QtCore.QObject):
    """Requests a picture for each file that is drawn for the first time. window: whose screen shows them."""

    def __init__(self, items: QueueModel, client: PreviewClient, window: QWidget) -> None:
        super().__init__(window)
        self._items, self._client, self._window = items, client, window
        items.thumbnail_wanted.connect(self._fetch)
        client.still.connect(self._arrived)

    def _fetch(self, key: int) -> None:
        if (item := self._items.get(key)) is not None and not item.live:
            size = THUMBNAIL * self._window.devicePixelRatio() * 1.4  # the picture fills the row's place, whatever its shape
            self._client.fetch_still(str(item.path), (size.width(), size.height()))

    def _arrived(self, path: str, image: QImage | None) -> None:
        if image is not None:
            picture = thumbnail(image, self._window.devicePixelRatio())
            for item in self._items:
                if str(item.path) == path:
                    self._items.set_thumbnail(item.key, picture)
