"""Limits windows to the size of the screen, so that every button can be clicked."""

from __future__ import annotations

from PySide6.QtCore import QSize
from PySide6.QtWidgets import QWidget

FRAME = QSize(16, 48)
"""The frame and the title bar that the window system adds, logical pixels."""


def within_screen(widget: QWidget, width: int, height: int) -> QSize:
    """A size of a window, logical pixels, limited to the available size of its screen."""
    return QSize(width, height).boundedTo(widget.screen().availableSize() - FRAME)
