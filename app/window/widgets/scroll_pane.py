"""A column of widgets that scrolls, also by the keyboard."""

from __future__ import annotations

from PySide6.QtCore import Qt, Slot
from PySide6.QtWidgets import QFrame, QScrollArea, QWidget


class ScrollPane(QScrollArea):
    """Scrolls upwards and downwards what is in it. name: what it holds, for those who do not see it.

    It can have the focus as long as there is something to scroll, and shows it: what it holds need not have any.
    """

    def __init__(self, name: str, inside: QWidget, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "pane")
        self.setAccessibleName(name)
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.verticalScrollBar().rangeChanged.connect(self._range_changed)
        self.setWidget(inside)

    @Slot(int, int)
    def _range_changed(self, least: int, most: int) -> None:
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus if most > least else Qt.FocusPolicy.NoFocus)
