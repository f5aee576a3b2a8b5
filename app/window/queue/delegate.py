"""How one file of the queue is drawn: a small picture, name, state, progress."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPointF, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetrics, QImage, QPainter, QPainterPath, QPen, QPixmap
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem

from app.window.queue.item import ItemState, QueueItem
from app.window.queue.model import ITEM_ROLE, THUMBNAIL_ROLE
from app.window.widgets import theme
from app.window.widgets.icons import pixmap
from engine.media.sources import is_picture

THUMBNAIL = QSize(72, 42)
PADDING = 8
CORNER = 5
_COLOURS = {
    ItemState.WAITING: theme.MUTED,
    ItemState.RUNNING: theme.MUTED,
    ItemState.DONE: theme.MUTED,
    ItemState.FAILED: theme.DANGER,
    ItemState.CANCELLED: theme.MUTED,
}
_BADGES = {ItemState.DONE: ("check", theme.GOOD), ItemState.FAILED: ("error", theme.DANGER), ItemState.CANCELLED: ("stop", theme.MUTED)}


def thumbnail(image: QImage, ratio: float) -> QPixmap:
    """A picture as it stands in a row: filling ``THUMBNAIL``, its corners round; drawn often, so made once."""
    size = THUMBNAIL * ratio
    scaled = image.scaled(size, Qt.AspectRatioMode.KeepAspectRatioByExpanding, Qt.TransformationMode.SmoothTransformation)
    made = QPixmap(size)
    made.fill(Qt.GlobalColor.transparent)
    clip = QPainterPath()
    clip.addRoundedRect(QRectF(made.rect()), CORNER * ratio, CORNER * ratio)
    with QPainter(made) as painter:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setClipPath(clip)
        painter.drawImage((size.width() - scaled.width()) // 2, (size.height() - scaled.height()) // 2, scaled)
    made.setDevicePixelRatio(ratio)
    return made


class QueueDelegate(QStyledItemDelegate):
    """Draws a queue item in two lines beside its picture."""

    def sizeHint(self, _option: QStyleOptionViewItem, _index: QModelIndex | QPersistentModelIndex) -> QSize:
        """All rows are of one height."""
        return QSize(200, THUMBNAIL.height() + 2 * PADDING)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> None:
        """Draw one row."""
        item: QueueItem = index.data(ITEM_ROLE)
        state, whole = option.state, option.rect
        selected, hovered = bool(state & QStyle.StateFlag.State_Selected), bool(state & QStyle.StateFlag.State_MouseOver)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        row = QRectF(whole).adjusted(4, 1, -4, -1)
        focused = bool(state & QStyle.StateFlag.State_HasFocus)
        if selected or hovered or focused:
            painter.setPen(QPen(QColor(theme.ACCENT), 1) if focused else Qt.PenStyle.NoPen)
            painter.setBrush(QColor(theme.SELECTED if selected else theme.RAISED))
            painter.drawRoundedRect(row, 7, 7)
        if selected:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(theme.ACCENT))
            painter.drawRoundedRect(QRectF(row.x(), row.y() + 12, 3, row.height() - 24), 1.5, 1.5)
        picture = QRect(whole.x() + 12, whole.y() + PADDING, THUMBNAIL.width(), THUMBNAIL.height())
        self._paint_picture(painter, picture, index.data(THUMBNAIL_ROLE), item)
        text = QRect(picture.right() + 11, picture.y(), whole.right() - picture.right() - 11 - 14, picture.height())
        self._paint_text(painter, text, item)
        painter.restore()

    def _paint_picture(self, painter: QPainter, area: QRect, picture: QPixmap | None, item: QueueItem) -> None:
        if picture is not None:
            painter.drawPixmap(area.topLeft(), picture)
            return
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(theme.BACKGROUND))
        painter.drawRoundedRect(area, CORNER, CORNER)
        name = "folder" if not item.path.suffix else "image" if is_picture(item.path) else "film"
        placeholder = pixmap(name, 18, theme.DISABLED)
        painter.drawPixmap(area.center() - QRect(0, 0, 18, 18).center(), placeholder)

    def _paint_text(self, painter: QPainter, area: QRect, item: QueueItem) -> None:
        name_font, small_font = theme.font(), theme.font(-1)
        badge = _BADGES.get(item.state)
        if item.state is ItemState.DONE and item.failed:
            badge = ("warning", theme.WARNING)
        room = area.width() - (22 if badge else 0)
        painter.setFont(name_font)
        metrics = QFontMetrics(name_font)
        painter.setPen(QColor(theme.TEXT))
        name = metrics.elidedText(item.path.name or str(item.path), Qt.TextElideMode.ElideMiddle, room)
        running = item.state is ItemState.RUNNING
        small = QFontMetrics(small_font)
        block = metrics.height() + 2 + small.height() + (7 if running else 0)
        top = area.y() + (area.height() - block) / 2
        painter.drawText(QPointF(area.x(), top + metrics.ascent()), name)
        if badge:
            painter.drawPixmap(area.right() - 15, round(top + (metrics.height() - 16) / 2), pixmap(badge[0], 16, badge[1]))
        painter.setFont(small_font)
        painter.setPen(QColor(_COLOURS[item.state]))
        line = small.elidedText(item.summary, Qt.TextElideMode.ElideRight, area.width())
        painter.drawText(QPointF(area.x(), top + metrics.height() + 2 + small.ascent()), line)
        if running:
            bar = QRectF(area.x(), top + block - 3, area.width(), 3)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(theme.EDGE))
            painter.drawRoundedRect(bar, 1.5, 1.5)
            if item.fraction:
                painter.setBrush(QColor(theme.ACCENT))
                painter.drawRoundedRect(QRectF(bar.x(), bar.y(), max(bar.width() * item.fraction, 3), 3), 1.5, 1.5)
