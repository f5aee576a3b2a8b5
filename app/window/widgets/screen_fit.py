"""Windows are no larger than the screen: a button below its edge cannot be clicked."""

from __future__ import annotations

from PySide6.QtCore import QSize
from PySide6.QtWidgets import QWidget

FRAME = QSize(16, 48)
"""Room for the frame and the title bar that the window system adds, logical pixels."""


def within_screen(widget: QWidget, width: int, height: int) -> QSize:
    """The size to give a window: this one, or as much of it as its screen has room for."""
    return QSize(width, height).boundedTo(widget.screen().availableSize() - FRAME)
