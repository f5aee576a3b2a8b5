"""The list of the model's classes: a model that holds which are shown and how often each was seen, and a delegate that draws it."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from PySide6.QtCore import (
    QAbstractItemModel,
    QEvent,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QRectF,
    QSize,
    QSortFilterProxyModel,
    Qt,
    Signal,
)
from PySide6.QtGui import QColor, QKeyEvent, QPainter, QPen, QStandardItem, QStandardItemModel
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem

from framefleet.app.window.widgets import formats, theme
from framefleet.app.window.widgets.painting import RIGHT, draw_box, pixmap, write
from framefleet.app.window.widgets.translation import translate
from framefleet.engine.media.annotation.colours import class_colour, ink_on

CHECK = 14
CLASS_ROLE = Qt.ItemDataRole.UserRole
COUNT_ROLE = Qt.ItemDataRole.UserRole + 1
Index: TypeAlias = QModelIndex | QPersistentModelIndex


class ClassModel(QSortFilterProxyModel):
    """Checkable classes: the most frequent first, then the others by id.

    checked_changed: the user or the program changed what is shown. hidden: names of the hidden classes, of earlier models as well.
    """

    checked_changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.hidden: frozenset[str] = frozenset()
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
        """Sort the rows by their counts."""
        self.sort(0, Qt.SortOrder.DescendingOrder)

    def set_all(self, shown: bool) -> None:
        """Show or hide all listed classes."""
        self._check({self.index(row, 0).data(CLASS_ROLE): shown for row in range(self.rowCount())})

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
        off = frozenset(item.text() for item in self if item.checkState() is Qt.CheckState.Unchecked)
        self.hidden = off | self.hidden - {item.text() for item in self}
        self.checked_changed.emit()


def _set_count(item: QStandardItem, count: int) -> None:
    description = f"{item.text()}, {formats.plural(count, 'detection')}"
    item.setData(count, COUNT_ROLE)
    item.setToolTip(translate("viewer", "{description}\nDouble-click shows only this class").format(description=description))
    item.setAccessibleText(description)


class ClassDelegate(QStyledItemDelegate):
    """Draws one line per class."""

    def sizeHint(self, _option: QStyleOptionViewItem, _index: Index) -> QSize:
        """All rows have the same height."""
        return QSize(120, theme.base_size() + 15)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Draw one row."""
        count: int = index.data(COUNT_ROLE)
        checked = Qt.CheckState(index.data(Qt.ItemDataRole.CheckStateRole)) is Qt.CheckState.Checked
        shade = 1.0 if count else 0.45
        red, green, blue = class_colour(index.data(CLASS_ROLE))
        rgb = round(shade * red), round(shade * green), round(shade * blue)  # dark for a class without objects
        colour = QColor(*rgb)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        area = QRectF(option.rect).adjusted(6, 1, -6, -1)
        focused = bool(option.state & QStyle.StateFlag.State_HasFocus)
        if focused or option.state & QStyle.StateFlag.State_MouseOver:
            draw_box(painter, area, 5, theme.RAISED, theme.ACCENT if focused else None)
        box = QRectF(area.x() + 10, area.center().y() - CHECK / 2, CHECK, CHECK)
        draw_box(painter, box.adjusted(-2, -2, 2, 2), 6, theme.STAGE)  # the colours of classes need a dark ground
        draw_box(painter, box, 4, colour if checked else None, QPen(colour, 1.5))
        if checked:
            ink = QColor(*ink_on(rgb)).name()
            painter.drawPixmap(box.toRect(), pixmap("check", CHECK, ink))
        painter.setFont(theme.font())
        number = formats.count(count) if count else ""
        room = painter.fontMetrics().horizontalAdvance(number)
        painter.setPen(QColor(theme.MUTED))
        painter.drawText(area.adjusted(0, 0, -10, 0), RIGHT, number)
        text = area.adjusted(10 + CHECK + 9, 0, -room - 18, 0)
        write(painter, text, index.data(), colour=theme.TEXT if count and checked else theme.MUTED)
        painter.restore()

    def editorEvent(self, event: QEvent, model: QAbstractItemModel, option: QStyleOptionViewItem, index: Index) -> bool:
        """Toggle the class on Space. The view handles clicks."""
        return isinstance(event, QKeyEvent) and super().editorEvent(event, model, option, index)
