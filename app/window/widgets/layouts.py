"""Rows and columns of widgets, and the panels that hold them, written as they are seen."""

from __future__ import annotations

from typing import TypeAlias

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QBoxLayout, QLayout, QWidget

Part: TypeAlias = QWidget | QLayout
Item: TypeAlias = Part | int | float | tuple[Part, int] | tuple[Part, int, Qt.AlignmentFlag] | None
Margins: TypeAlias = tuple[int, int, int, int]
NONE: Margins = (0, 0, 0, 0)


def row(*items: Item, spacing: int = -1, margins: Margins = NONE, of: QWidget | None = None) -> QBoxLayout:
    """Items from left to right.

    An item is a widget or a layout, perhaps with its stretch factor and alignment, an int for free room in logical pixels, a float for
    a stretch of this factor, or None for a stretch of zero. spacing: between items, logical pixels, -1 = the style's.
    margins: left, top, right, bottom. of: the widget that gets this layout.
    """
    return _box(QBoxLayout.Direction.LeftToRight, items, spacing, margins, of)


def column(*items: Item, spacing: int = -1, margins: Margins = NONE, of: QWidget | None = None) -> QBoxLayout:
    """Items from top to bottom; the parameters are those of ``row``."""
    return _box(QBoxLayout.Direction.TopToBottom, items, spacing, margins, of)


def _box(direction: QBoxLayout.Direction, items: tuple[Item, ...], spacing: int, margins: Margins, of: QWidget | None) -> QBoxLayout:
    box = QBoxLayout(direction, of)
    box.setContentsMargins(*margins)
    box.setSpacing(spacing)
    for item in items:
        part, stretch, *where = item if isinstance(item, tuple) else (item, 0)
        if isinstance(part, QWidget):
            box.addWidget(part, stretch, *where)
        elif isinstance(part, QLayout):
            box.addLayout(part, stretch)
        elif isinstance(part, int):
            box.addSpacing(part)
        else:
            box.addStretch(int(part or 0))
    return box


class Panel(QWidget):
    """A widget with the background of its role: "panel" or "bar"."""

    def __init__(self, role: str = "panel") -> None:
        super().__init__()
        self.setProperty("role", role)
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
