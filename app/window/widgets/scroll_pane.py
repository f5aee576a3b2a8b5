"""A column of widgets that scrolls, also by the keyboard."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QScrollArea, QWidget

from app.window.widgets import theme


class ScrollPane(QScrollArea):
    """Scrolls its content vertically. name: of the content, for screen readers.

    It accepts the keyboard focus while it can scroll, because its content may have no widget that does.
    """

    def __init__(self, name: str, inside: QWidget) -> None:
        super().__init__()
        self.setProperty("role", "pane")
        self.setAccessibleName(name)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        show_inside(self, inside, theme.SURFACE)
        self.verticalScrollBar().rangeChanged.connect(
            lambda least, most: self.setFocusPolicy(Qt.FocusPolicy.TabFocus if most > least else Qt.FocusPolicy.NoFocus)
        )


def show_inside(area: QScrollArea, inside: QWidget, background: str = "transparent") -> None:
    """Scroll a widget on this background, without a frame and without keyboard focus for the area itself."""
    inside.setObjectName("inside")
    inside.setStyleSheet(f"#inside {{ background: {background}; }}")
    area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    area.setFrameShape(QFrame.Shape.NoFrame)
    area.setWidgetResizable(True)
    area.setWidget(inside)
