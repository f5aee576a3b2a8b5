"""Draws a picture, or text instead of one."""

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QImage, QPainter

from app.window.widgets import theme


def draw_picture(painter: QPainter, target: QRectF, image: QImage, ratio: float) -> None:
    """Draw a picture into a rectangle, logical pixels. ratio: device pixels of a logical pixel."""
    if abs(target.width() * ratio - image.width()) < 2 and abs(target.height() * ratio - image.height()) < 2:
        # The picture was fetched for this size: a copy is sharp and takes a tenth of the time of scaling.
        painter.save()
        painter.scale(1 / ratio, 1 / ratio)
        painter.drawImage(round(target.x() * ratio), round(target.y() * ratio), image)
        painter.restore()
    else:
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        painter.drawImage(target, image)


def draw_message(painter: QPainter, area: QRectF, text: str) -> None:
    """Write text in the middle of an area."""
    painter.setPen(QColor(theme.ON_STAGE_MUTED))
    painter.drawText(area.adjusted(32, 32, -32, -32), Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap, text)
