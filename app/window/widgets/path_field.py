"""A field for a file's path, typed or chosen in a dialog."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Signal, Slot
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QFileDialog, QLineEdit, QPushButton, QWidget

from app.window.widgets import theme
from app.window.widgets.icons import icon
from app.window.widgets.layouts import row


def clearable(placeholder: str) -> QLineEdit:
    """A line edit with a button that clears it."""
    edit = QLineEdit(placeholderText=placeholder, clearButtonEnabled=True)
    edit.setAcceptDrops(False)  # dropped files belong to the window, not into the text
    action = edit.findChild(QAction)
    if action is not None:
        action.setIcon(icon("close", theme.MUTED))
    return edit


class PathField(QWidget):
    """A field for a path, with a button that opens a dialog. changed: the text has changed."""

    changed = Signal()

    def __init__(self, name: str, kinds: str, placeholder: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._name, self._kinds = name, kinds
        self.edit = clearable(placeholder)
        self.edit.setAccessibleName(name)
        self.edit.textChanged.connect(self.changed)
        self.browse = QPushButton("Choose…")
        self.browse.setAccessibleName(f"Choose {name}")
        self.browse.clicked.connect(self._choose)
        self.setFocusProxy(self.edit)
        row((self.edit, 1), self.browse, spacing=8, of=self)

    @property
    def text(self) -> str:
        """The text without spaces around it."""
        return self.edit.text().strip()

    @property
    def path(self) -> Path | None:
        """The text as a path; None if empty."""
        return Path(self.text).expanduser() if self.text else None

    def set_path(self, path: Path | str | None) -> None:
        """Set the path."""
        self.edit.setText(str(path) if path is not None else "")
        self.edit.setCursorPosition(len(self.edit.text()))

    @Slot()
    def _choose(self) -> None:
        dialog = QFileDialog(self.window(), f"Choose {self._name}", self.text, self._kinds)
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.fileSelected.connect(self.set_path)
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()
