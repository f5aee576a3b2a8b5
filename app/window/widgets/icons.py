"""Icons as Qt pixmaps and icons, sharp at every scale and grey when disabled."""

from __future__ import annotations

from functools import cache

from PySide6.QtCore import QByteArray, QRectF, QSize, Qt
from PySide6.QtGui import QGuiApplication, QIcon, QPainter, QPixmap
from PySide6.QtSvg import QSvgRenderer

from app.window.widgets import theme
from resources.icons import icon_svg


@cache
def pixmap(name: str, size: int, colour: str = theme.TEXT) -> QPixmap:
    """An icon of ``size`` logical pixels, in the resolution of the sharpest screen."""
    ratio = max((screen.devicePixelRatio() for screen in QGuiApplication.screens()), default=1.0)
    made = QPixmap(QSize(size, size) * ratio)
    made.fill(Qt.GlobalColor.transparent)
    with QPainter(made) as painter:
        QSvgRenderer(QByteArray(icon_svg(name, colour))).render(painter, QRectF(made.rect()))
    made.setDevicePixelRatio(ratio)
    return made


@cache
def icon(name: str, colour: str = theme.TEXT, size: int = 18) -> QIcon:
    """An icon for buttons and menus."""
    made = QIcon(pixmap(name, size, colour))
    made.addPixmap(pixmap(name, size, theme.DISABLED), QIcon.Mode.Disabled)
    if colour == theme.TEXT:
        made.addPixmap(pixmap(name, size, theme.ACCENT_HOVER), QIcon.Mode.Normal, QIcon.State.On)
    return made
