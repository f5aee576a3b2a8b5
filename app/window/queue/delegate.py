"""Draws one file of the queue: a small picture, name, state and progress."""

from pathlib import PurePath

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPoint, QPointF, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetrics, QImage, QPainter, QPainterPath, QPixmap
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem

from framefleet.app.window.queue.item import ItemState, QueueItem
from framefleet.app.window.queue.model import FOUND_ROLE, ITEM_ROLE, NAMED, THUMBNAIL_ROLE
from framefleet.app.window.widgets import theme
from framefleet.app.window.widgets.painting import draw_bar, draw_box, fitting, painting, pixmap
from framefleet.engine.media.sources import is_picture

THUMBNAIL = QSize(64, 36)
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
    scaled = image.scaled(size, Qt.AspectRatioMode.KeepAspectRatioByExpanding, Qt.TransformationMode.SmoothTransformation)
    made = QPixmap(size)
    made.fill(Qt.GlobalColor.transparent)
    clip = QPainterPath()
    clip.addRoundedRect(QRectF(made.rect()), CORNER * ratio, CORNER * ratio)
    with painting(made) as painter:
        painter.setClipPath(clip)
        painter.drawImage((size.width() - scaled.width()) // 2, (size.height() - scaled.height()) // 2, scaled)
    made.setDevicePixelRatio(ratio)
    return made


def shortened(metrics: QFontMetrics, name: str, width: int) -> str:
    """A name of a file that fits: without its suffix if it is too long, then with its first four letters and its end.

    The files of a camera differ at the end of their names.
    """
    if metrics.horizontalAdvance(name) <= width:
        return name
    stem = PurePath(name).stem
    if metrics.horizontalAdvance(stem) <= width:
        return stem
    return stem[:4] + metrics.elidedText(stem[4:], Qt.TextElideMode.ElideLeft, width - metrics.horizontalAdvance(stem[:4]))


def classes_line(metrics: QFontMetrics, found: str, width: int) -> str:
    """The classes of ``person 5 · car 2`` that fit: with their numbers; if not all fit, their names; if not all fit, how many more."""
    parts = found.split(" · ")
    names = [part.rpartition(" ")[0] for part in parts]
    fewer = range(min(len(names) - 1, NAMED), 0, -1)
    lines = [found, ", ".join(names), *(f"{', '.join(names[:kept])} +{len(names) - kept}" for kept in fewer)]
    return next((line for line in lines if metrics.horizontalAdvance(line) <= width), parts[0])


class QueueDelegate(QStyledItemDelegate):
    """Draws a queue item in two lines beside its picture."""

    def sizeHint(self, _option: QStyleOptionViewItem, _index: QModelIndex | QPersistentModelIndex) -> QSize:
        """All rows have the same height."""
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
            draw_box(painter, row, 7, theme.SELECTED if selected else theme.RAISED, theme.ACCENT if focused else None)
        if selected:
            draw_box(painter, QRectF(row.x(), row.y() + 12, 3, row.height() - 24), 1.5, theme.ACCENT)
        picture = QRect(whole.x() + 12, whole.y() + PADDING, THUMBNAIL.width(), THUMBNAIL.height())
        self._paint_picture(painter, picture, index.data(THUMBNAIL_ROLE), item)
        self._paint_badge(painter, picture, item)
        text = QRect(picture.right() + 11, picture.y(), whole.right() - picture.right() - 11 - 14, picture.height())
        self._paint_text(painter, text, item, index.data(FOUND_ROLE))
        painter.restore()

    def _paint_picture(self, painter: QPainter, area: QRect, picture: QPixmap | None, item: QueueItem) -> None:
        if picture is not None:
            painter.drawPixmap(area.topLeft(), picture)
            return
        draw_box(painter, area, CORNER, theme.BACKGROUND)
        name = "folder" if not item.path.suffix else "image" if is_picture(item.path) else "film"
        placeholder = pixmap(name, 18, theme.DISABLED)
        painter.drawPixmap(area.center() - QRect(0, 0, 18, 18).center(), placeholder)

    def _paint_badge(self, painter: QPainter, picture: QRect, item: QueueItem) -> None:
        """Draw how detection ended in the picture's corner, where it takes no room from the name."""
        badge = ("warning", "WARNING") if item.state is ItemState.DONE and item.progress.failed else _BADGES.get(item.state)
        if badge is not None:
            ground = QRect(picture.right() - 15, picture.bottom() - 15, 19, 19)
            draw_box(painter, ground, 9.5, theme.SURFACE)
            painter.drawPixmap(ground.topLeft() + QPoint(2, 2), pixmap(badge[0], 15, theme.colour(badge[1])))

    def _paint_text(self, painter: QPainter, area: QRect, item: QueueItem, found: str) -> None:
        name_font, small_font = theme.font(), theme.font(-1)
        running = item.state in (ItemState.RUNNING, ItemState.PAUSED)
        small = QFontMetrics(small_font)
        painter.setFont(name_font)
        metrics = QFontMetrics(name_font)
        painter.setPen(QColor(theme.TEXT))
        name = shortened(metrics, item.path.name or str(item.path), area.width())
        block = metrics.height() + 2 + small.height() + (7 if running else 0)
        top = area.y() + (area.height() - block) / 2
        painter.drawText(QPointF(area.x(), top + metrics.ascent()), name)
        painter.setFont(small_font)
        lost = item.state is ItemState.DONE and item.progress.failed > 0
        painter.setPen(QColor(theme.DANGER if item.state is ItemState.FAILED else theme.WARNING if lost else theme.MUTED))
        if found[-1:].isdigit() and not lost:
            brief = classes_line(small, found, area.width())
        else:
            brief = fitting(small, " · ".join(filter(None, (item.brief, found) if lost else (found, item.brief))), area.width())
        line = small.elidedText(brief, Qt.TextElideMode.ElideRight, area.width())
        painter.drawText(QPointF(area.x(), top + metrics.height() + 2 + small.ascent()), line)
        if running:
            bar = QRectF(area.x(), top + block - 3, area.width(), 3)
            draw_bar(painter, bar, item.fraction, theme.MUTED if item.state is ItemState.PAUSED else theme.ACCENT, theme.EDGE)
