"""A dialog with the keyboard shortcuts of the window."""

from __future__ import annotations

from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QGridLayout, QWidget

from app.window.widgets import theme
from app.window.widgets.indicators import label
from app.window.widgets.layouts import column

KEYS = (
    ("Space", "Play or pause"),
    ("← →", "Previous or next frame"),
    ("Shift + ← →", "5 seconds back or forward"),
    ("Home  End", "First or last frame"),
    ("[  ]", "Slower or faster"),
    ("L", "Follow detection on or off"),
    ("F", "Full screen"),
    ("↑ ↓", "Another file of the queue"),
    ("Delete", "Remove the file from the queue"),
    ("Ctrl + O", "Open files"),
    ("Ctrl + Shift + O", "Open a folder"),
    ("Ctrl + R", "Open stored results"),
    ("Ctrl + ,", "Settings"),
    ("Ctrl + Q", "Quit"),
)


class HelpDialog(QDialog):
    """Lists the shortcuts."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Keyboard shortcuts")
        grid = QGridLayout()
        grid.setHorizontalSpacing(28)
        grid.setVerticalSpacing(8)
        for line, (keys, meaning) in enumerate(KEYS):
            key = label("", keys)
            key.setStyleSheet(f"background: {theme.RAISED}; border: 1px solid {theme.BORDER}; border-radius: 4px; padding: 2px 7px;")
            grid.addWidget(key, line, 0)
            grid.addWidget(label("", meaning), line, 1)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        buttons.rejected.connect(self.reject)
        for button in buttons.buttons():
            button.setIcon(QIcon())
        column(grid, buttons, spacing=18, margins=(24, 20, 24, 16), of=self)
