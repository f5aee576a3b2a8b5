"""Text over the picture, on a dark ground. It is drawn once and kept, because it stays the same for many pictures."""

from functools import lru_cache

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPixmap

from framefleet.app.window.widgets import theme
from framefleet.app.window.widgets.painting import draw_box

_GROUND = QColor(14, 16, 20, 215)


@lru_cache(maxsize=256)
def chip(text: str, colour: str, most: int, ratio: float, larger: int = -1) -> QPixmap:
    """Draw text, which may have several lines, each elided to ``most`` logical pixels.

    ratio: device pixels of a logical pixel. larger: the size of the font, as for ``theme.font``.
    """
    font = theme.font(larger)
    metrics = QFontMetricsF(font)
    text = "\n".join(metrics.elidedText(line, Qt.TextElideMode.ElideRight, most) for line in text.splitlines())
    area = metrics.boundingRect(QRectF(0, 0, most + 1, 10_000), Qt.AlignmentFlag.AlignLeft, text)
    size = QSize(round(area.width()) + 19, round(area.height()) + 9)
    made = QPixmap(size * ratio)
    made.setDevicePixelRatio(ratio)
    made.fill(Qt.GlobalColor.transparent)
    with QPainter(made) as painter:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        draw_box(painter, QRectF(0, 0, size.width(), size.height()), 5, _GROUND)
        painter.setFont(font)
        painter.setPen(QColor(colour))
        painter.drawText(QRectF(9, 4, area.width() + 2, area.height() + 2), Qt.AlignmentFlag.AlignLeft, text)
    return made
