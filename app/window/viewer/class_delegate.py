"""How one class is drawn: a check box in the colour of its boxes, its label, how often it was seen."""

from __future__ import annotations

from PySide6.QtCore import QAbstractItemModel, QEvent, QModelIndex, QPersistentModelIndex, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QKeyEvent, QPainter, QPen
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem

from app.window.viewer.class_model import CLASS_ROLE, COUNT_ROLE
from app.window.widgets import formats, theme
from app.window.widgets.icons import pixmap
from engine.media.annotation.colours import class_colour

CHECK = 14


class ClassDelegate(QStyledItemDelegate):
    """One line per class; a click anywhere on it toggles it."""

    _second_click = False

    def sizeHint(self, _option: QStyleOptionViewItem, _index: QModelIndex | QPersistentModelIndex) -> QSize:
        """All rows are of one height."""
        return QSize(120, theme.base_size() + 15)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> None:
        """Draw one row."""
        count: int = index.data(COUNT_ROLE)
        checked = Qt.CheckState(index.data(Qt.ItemDataRole.CheckStateRole)) is Qt.CheckState.Checked
        colour = QColor(*class_colour(index.data(CLASS_ROLE)))
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        area = QRectF(option.rect).adjusted(6, 1, -6, -1)
        focused = bool(option.state & QStyle.StateFlag.State_HasFocus)
        if focused or option.state & QStyle.StateFlag.State_MouseOver:
            painter.setPen(QPen(QColor(theme.ACCENT), 1) if focused else Qt.PenStyle.NoPen)
            painter.setBrush(QColor(theme.RAISED))
            painter.drawRoundedRect(area, 5, 5)
        box = QRectF(area.x() + 10, area.center().y() - CHECK / 2, CHECK, CHECK)
        if not count:
            colour.setAlphaF(0.45)
        painter.setPen(QPen(colour, 1.5))
        painter.setBrush(colour if checked else Qt.BrushStyle.NoBrush)
        painter.drawRoundedRect(box, 4, 4)
        if checked:
            painter.drawPixmap(box.toRect(), pixmap("sheet-check", CHECK))
        painter.setFont(theme.font())
        number = formats.count(count) if count else ""
        room = painter.fontMetrics().horizontalAdvance(number)
        painter.setPen(QColor(theme.MUTED))
        painter.drawText(area.adjusted(0, 0, -10, 0), Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, number)
        text = area.adjusted(10 + CHECK + 9, 0, -room - 18, 0)
        painter.setPen(QColor(theme.TEXT if count and checked else theme.MUTED))
        label = painter.fontMetrics().elidedText(index.data(), Qt.TextElideMode.ElideRight, int(text.width()))
        painter.drawText(text, Qt.AlignmentFlag.AlignVCenter, label)
        painter.restore()

    def editorEvent(
        self, event: QEvent, model: QAbstractItemModel, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> bool:
        """A click on the row, or space, toggles it."""
        del option
        if event.type() is QEvent.Type.MouseButtonDblClick:
            self._second_click = True  # the view takes it for "only this class"; its release is no click
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
