"""Draws what widgets share: boxes with round corners, bars, elided text, and icons in the colours of the current theme."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import TypeAlias

from PySide6.QtCore import QByteArray, QPoint, QRect, QRectF, QSize, Qt
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontMetrics,
    QFontMetricsF,
    QGuiApplication,
    QIcon,
    QIconEngine,
    QPaintDevice,
    QPainter,
    QPen,
    QPixmap,
)
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtWidgets import QLabel

from framefleet.app.window.widgets import theme
from framefleet.resources.icons import icon_svg

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


def fitting(metrics: QFontMetrics | QFontMetricsF, parts: Sequence[str], width: float) -> str:
    """Parts with " · " between them, without the last ones that do not fit. The first part always stays."""
    lines = (" · ".join(parts[:kept]) for kept in range(len(parts), 1, -1))
    return next((line for line in lines if metrics.horizontalAdvance(line) <= width), "".join(parts[:1]))


def write(
    painter: QPainter, area: QRectF, text: str, where: Qt.AlignmentFlag = LEFT, font: QFont | None = None, colour: str | None = None
) -> float:
    """Write text, elided to the area; return its width, logical pixels. font, colour: None = as the text before."""
    if font is not None:
        painter.setFont(font)
    if colour is not None:
        painter.setPen(QColor(colour))
    metrics, room = painter.fontMetrics(), max(int(area.width()), 0)
    width = metrics.horizontalAdvance(text)
    if width > room:  # else eliding would take twice as long as measuring, and change nothing
        text = metrics.elidedText(text, Qt.TextElideMode.ElideRight, room)
        width = metrics.horizontalAdvance(text)
    painter.drawText(area, where, text)
    return float(width)


def pixmap(name: str, size: int, colour: str = "") -> QPixmap:
    """An icon of ``size`` logical pixels, in the resolution of the sharpest screen. colour: "" = that of text."""
    ratio = max((screen.devicePixelRatio() for screen in QGuiApplication.screens()), default=1.0)
    return _rendered(name, size, colour or theme.TEXT, ratio)


@cache
def _rendered(name: str, size: int, colour: str, ratio: float) -> QPixmap:
    made = QPixmap(QSize(size, size) * ratio)
    made.fill(Qt.GlobalColor.transparent)
    with QPainter(made) as painter:
        QSvgRenderer(QByteArray(icon_svg(name, colour))).render(painter, QRectF(made.rect()))
    made.setDevicePixelRatio(ratio)
    return made


class _Engine(QIconEngine):
    """Draws an icon in the theme's colour of this name."""

    def __init__(self, name: str, role: str) -> None:
        super().__init__()
        self._name, self._role = name, role

    def paint(self, painter: QPainter, area: QRect, mode: QIcon.Mode, state: QIcon.State) -> None:
        role = "DISABLED" if mode is QIcon.Mode.Disabled else self._role
        if role == "TEXT" and state is QIcon.State.On:
            role = "ACCENT_HOVER"
        ratio = painter.device().devicePixelRatioF() if painter.device() is not None else 1.0
        side = min(area.width(), area.height())
        made = _rendered(self._name, side, theme.colour(role), ratio)
        painter.drawPixmap(area.x() + (area.width() - side) // 2, area.y() + (area.height() - side) // 2, made)

    def pixmap(self, size: QSize, mode: QIcon.Mode, state: QIcon.State) -> QPixmap:
        return self.scaledPixmap(size, mode, state, 1.0)

    def scaledPixmap(self, size: QSize, mode: QIcon.Mode, state: QIcon.State, scale: float) -> QPixmap:
        made = QPixmap(size * scale)  # the size is that in logical pixels
        made.setDevicePixelRatio(scale)
        made.fill(Qt.GlobalColor.transparent)
        with QPainter(made) as painter:
            self.paint(painter, QRect(QPoint(0, 0), size), mode, state)
        return made

    def clone(self) -> QIconEngine:
        return _Engine(self._name, self._role)


def icon(name: str, colour: str = "") -> QIcon:
    """An icon for buttons and menus. colour: of the theme, "" = that of text."""
    return QIcon(_Engine(name, (theme.name_of(colour) if colour else None) or "TEXT"))


class Symbol(QLabel):
    """Shows an icon of ``size`` logical pixels. colour: a name of the theme's table."""

    def __init__(self, name: str = "", size: int = 18, colour: str = "TEXT") -> None:
        super().__init__()
        self._size = size
        self.show_icon(name, colour)

    def show_icon(self, name: str, colour: str) -> None:
        """Show another icon; "" shows none."""
        self._shown = name, colour
        self.setPixmap(pixmap(name, self._size, theme.colour(colour)) if name else QPixmap())

    def use_theme(self) -> None:
        """Draw the icon in the colours of a new theme."""
        self.show_icon(*self._shown)
