"""Functions that build rows and columns of widgets in one call, and the panel that holds them."""

from __future__ import annotations

from typing import TypeAlias

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QBoxLayout, QLayout, QWidget

Part: TypeAlias = QWidget | QLayout
Item: TypeAlias = Part | int | float | tuple[Part, int] | tuple[Part, int, Qt.AlignmentFlag] | None
Margins: TypeAlias = tuple[int, int, int, int]
NONE: Margins = (0, 0, 0, 0)


def row(*items: Item, spacing: int = -1, margins: Margins = NONE, of: QWidget | None = None) -> QBoxLayout:
    """A layout with these items from left to right.

    An item is a widget or a layout, or a tuple of one with a stretch factor and, optionally, an alignment. An int is a space in
    logical pixels, a float a stretch of this factor, None a stretch of factor 0.
    spacing: between items, logical pixels, -1 = that of the style. margins: left, top, right, bottom. of: the widget to lay out.
    """
    return _box(QBoxLayout.Direction.LeftToRight, items, spacing, margins, of)


def column(*items: Item, spacing: int = -1, margins: Margins = NONE, of: QWidget | None = None) -> QBoxLayout:
    """A layout with these items from top to bottom; the parameters are those of ``row``."""
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
