"""The list of the model's classes: a model that holds which are shown and how often each was seen, and a delegate that draws it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from PySide6.QtCore import (
    QAbstractItemModel,
    QAbstractListModel,
    QEvent,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QRectF,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QColor, QKeyEvent, QPainter, QPen
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem

from app.window.widgets import formats, theme
from app.window.widgets.icons import pixmap
from app.window.widgets.painting import RIGHT, draw_box, write
from engine.media.annotation.colours import class_colour

CHECK = 14
CLASS_ROLE = Qt.ItemDataRole.UserRole
COUNT_ROLE = Qt.ItemDataRole.UserRole + 1
Index: TypeAlias = QModelIndex | QPersistentModelIndex


class ClassModel(QAbstractListModel):
    """Checkable classes: the most frequent first, then the others by id.

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
        """Set the classes of another model, and show all of them."""
        if tuple(labels) != self._labels:
            self._labels = tuple(labels)
            self._hidden.clear()
            self._counts = {}
            self._arrange()
            self.checked_changed.emit()

    def set_counts(self, counts: Mapping[int, int], sort: bool = True) -> None:
        """Set how often each class was seen. sort: rows may move (not while the mouse is over them)."""
        if dict(counts) == self._counts:
            return
        self._counts = dict(counts)
        self._repaint()
        if sort:
            self.settle()

    def settle(self) -> None:
        """Sort the rows by their counts."""
        if self._sorted() != self._order:
            self._arrange()

    def search(self, text: str) -> None:
        """List only classes whose name contains this."""
        self._wanted = text.strip().casefold()
        self._arrange()

    def set_all(self, shown: bool) -> None:
        """Show or hide all listed classes."""
        self._hidden = self._hidden - set(self._order) if shown else self._hidden | set(self._order)
        self._repaint()
        self.checked_changed.emit()

    def show_only(self, class_id: int) -> None:
        """Hide all other classes; if they are hidden already, show all."""
        others = set(range(len(self._labels))) - {class_id}
        self._hidden = set() if self._hidden - {class_id} == others else others
        self._repaint()
        self.checked_changed.emit()

    def _repaint(self) -> None:
        if self._order:
            self.dataChanged.emit(self.index(0), self.index(len(self._order) - 1))

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
        description = f"{label}, {formats.plural(count, 'detection')}"
        values = {
            Qt.ItemDataRole.DisplayRole: label,
            Qt.ItemDataRole.CheckStateRole: Qt.CheckState.Checked if shown else Qt.CheckState.Unchecked,
            Qt.ItemDataRole.ToolTipRole: f"{description}\nDouble-click shows only this class",
            Qt.ItemDataRole.AccessibleTextRole: description,
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


class ClassDelegate(QStyledItemDelegate):
    """Draws one line per class. A click anywhere on the line toggles the class."""

    _second_click = False

    def sizeHint(self, _option: QStyleOptionViewItem, _index: Index) -> QSize:
        """All rows have the same height."""
        return QSize(120, theme.base_size() + 15)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Draw one row."""
        count: int = index.data(COUNT_ROLE)
        checked = Qt.CheckState(index.data(Qt.ItemDataRole.CheckStateRole)) is Qt.CheckState.Checked
        colour = QColor(*class_colour(index.data(CLASS_ROLE)))
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        area = QRectF(option.rect).adjusted(6, 1, -6, -1)
        focused = bool(option.state & QStyle.StateFlag.State_HasFocus)
        if focused or option.state & QStyle.StateFlag.State_MouseOver:
            draw_box(painter, area, 5, theme.RAISED, theme.ACCENT if focused else None)
        box = QRectF(area.x() + 10, area.center().y() - CHECK / 2, CHECK, CHECK)
        if not count:
            colour.setAlphaF(0.45)
        draw_box(painter, box, 4, colour if checked else None, QPen(colour, 1.5))
        if checked:
            painter.drawPixmap(box.toRect(), pixmap("sheet-check", CHECK))
        painter.setFont(theme.font())
        number = formats.count(count) if count else ""
        room = painter.fontMetrics().horizontalAdvance(number)
        painter.setPen(QColor(theme.MUTED))
        painter.drawText(area.adjusted(0, 0, -10, 0), RIGHT, number)
        text = area.adjusted(10 + CHECK + 9, 0, -room - 18, 0)
        painter.setPen(QColor(theme.TEXT if count and checked else theme.MUTED))
        write(painter, text, index.data())
        painter.restore()

    def editorEvent(self, event: QEvent, model: QAbstractItemModel, option: QStyleOptionViewItem, index: Index) -> bool:
        """Toggle the class on a click on its row, or on Space."""
        del option
        if event.type() is QEvent.Type.MouseButtonDblClick:
            self._second_click = True  # the view shows only this class; the release that follows is not a click
            return False
        if isinstance(event, QKeyEvent):
            meant = event.type() is QEvent.Type.KeyPress and event.key() == Qt.Key.Key_Space
        else:
            meant = event.type() is QEvent.Type.MouseButtonRelease and not self._second_click
            self._second_click = False
        if not meant:
            return False
        checked = Qt.CheckState(index.data(Qt.ItemDataRole.CheckStateRole)) is Qt.CheckState.Checked
        return model.setData(index, Qt.CheckState.Unchecked if checked else Qt.CheckState.Checked, Qt.ItemDataRole.CheckStateRole)
