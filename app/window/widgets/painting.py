"""Drawing functions that widgets share: boxes with round corners, bars, and elided text."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TypeAlias

from PySide6.QtCore import QRect, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QFontMetricsF, QPaintDevice, QPainter, QPen

from framefleet.app.window.widgets import theme

LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
CENTRE = Qt.AlignmentFlag.AlignCenter
Colour: TypeAlias = QColor | str


@contextmanager
def painting(device: QPaintDevice) -> Iterator[QPainter]:
    """A context with an antialiasing painter on this device."""
    with QPainter(device) as painter:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        yield painter


def draw_box(painter: QPainter, area: QRectF | QRect, radius: float, fill: Colour | None, edge: Colour | QPen | None = None) -> None:
    """Draw a box with round corners of this radius. fill, edge: None = not drawn."""
    painter.setPen(edge if isinstance(edge, QPen) else QColor(edge) if edge is not None else Qt.PenStyle.NoPen)
    painter.setBrush(QColor(fill) if fill is not None else Qt.BrushStyle.NoBrush)
    painter.drawRoundedRect(area, radius, radius)


def draw_bar(painter: QPainter, area: QRectF, fraction: float | None, colour: str, groove: str = "") -> None:
    """Draw a groove that is filled to this fraction, 0..1; None leaves it empty."""
    radius = area.height() / 2
    draw_box(painter, area, radius, groove or theme.HOVER)
    if fraction:
        filled = QRectF(area.x(), area.y(), max(area.width() * fraction, area.height()), area.height())
        draw_box(painter, filled, radius, colour)


def fitting(metrics: QFontMetrics | QFontMetricsF, text: str, width: float) -> str:
    """Text of parts with " · " between them, without the last parts that do not fit. The first part always stays."""
    while metrics.horizontalAdvance(text) > width and " · " in text:
        text = text.rpartition(" · ")[0]
    return text


def write(
    painter: QPainter, area: QRectF, text: str, where: Qt.AlignmentFlag = LEFT, font: QFont | None = None, colour: str | None = None
) -> float:
    """Write text, elided to the area; return its width, logical pixels. font, colour: None = as the text before."""
    if font is not None:
        painter.setFont(font)
    if colour is not None:
        painter.setPen(QColor(colour))
    shown = painter.fontMetrics().elidedText(text, Qt.TextElideMode.ElideRight, max(int(area.width()), 0))
    painter.drawText(area, where, shown)
    return float(painter.fontMetrics().horizontalAdvance(shown))
