"""The window's actions with their shortcuts, the menu, and the list of shortcuts."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QIcon, QKeySequence
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QGridLayout, QMainWindow, QMenu, QWidget

from app.window.viewer.keys import PLAYER
from app.window.widgets import theme
from app.window.widgets.build import column, label
from app.window.widgets.icons import icon
from app.window.widgets.translation import translate

KEYS = (
    *((keys.shown, keys.meaning) for keys in PLAYER),
    ("F  Double-click", "Full screen"),
    ("Ctrl + 1  2", "Hide or show the panels beside the picture"),
    ("Ctrl + 3", "Lines, zones and events: hide or show"),
    ("Ctrl + 4", "Correct detections and tracks: the bar under the picture shows its keys"),
    ("Shift + N  P", "Next or previous event of the list"),
    ("↑  ↓", "Another file of the queue"),
    ("Delete  Ctrl + Z", "Remove the file from the queue, or put it back"),
    ("Ctrl + Shift + ↑  ↓", "Move the file in the queue"),
    ("Ctrl + O", "Open files"),
    ("Ctrl + Shift + O", "Open a folder"),
    ("Ctrl + R", "Open stored results"),
    ("Ctrl + Shift + R", "All sessions"),
    ("Ctrl + E", "Export the detections"),
    ("Ctrl + ,", "Settings"),
    ("?  F1", "This list"),
    ("Ctrl + Q", "Quit"),
)


class HelpDialog(QDialog):
    """Lists the shortcuts."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(translate("window", "Keyboard shortcuts"))
        grid = QGridLayout()
        grid.setHorizontalSpacing(28)
        grid.setVerticalSpacing(6)
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


class Actions:
    """The window's actions, and the ``menu`` that holds them. left, right: whether the panels there are shown."""

    def __init__(self, window: QMainWindow) -> None:
        def action(title: str, keys: str, symbol: str) -> QAction:
            made = QAction(icon(symbol) if symbol else QIcon(), title, window)
            if keys:
                made.setShortcut(QKeySequence(keys))
                made.setToolTip(f"{title.removesuffix('…')} ({made.shortcut().toString(QKeySequence.SequenceFormat.NativeText)})")
            made.setShortcutContext(Qt.ShortcutContext.WindowShortcut)
            window.addAction(made)
            return made

        self._window = window
        self.open_files = action(translate("window", "Open…"), "Ctrl+O", "add")
        self.open_folder = action(translate("window", "Open folder…"), "Ctrl+Shift+O", "folder")
        self.open_results = action(translate("window", "Open stored results…"), "Ctrl+R", "folder")
        self.undo = action(translate("window", "Undo removal"), "Ctrl+Z", "")
        self.recent = QMenu(translate("window", "Open recent"), window)
        self.sessions = action(translate("window", "Sessions…"), "Ctrl+Shift+R", "folder")
        self.export = action(translate("window", "Export…"), "Ctrl+E", "export")
        self.cluster = action(translate("window", "Connect to a cluster…"), "", "device")
        self.settings = action(translate("window", "Settings…"), "Ctrl+,", "settings")
        self.fullscreen = action(translate("window", "Full screen"), "F", "fullscreen")
        self.left, self.right = (
            QAction(title, window, shortcut=QKeySequence(keys), checkable=True, checked=True)
            for title, keys in (
                (translate("window", "Queue at the left"), "Ctrl+1"),
                (translate("window", "Classes and devices at the right"), "Ctrl+2"),
            )
        )
        self.zones = QAction(translate("window", "Lines, zones and events"), window, shortcut=QKeySequence("Ctrl+3"), checkable=True)
        self.correct = QAction(
            translate("window", "Correct detections and tracks"), window, shortcut=QKeySequence("Ctrl+4"), checkable=True
        )
        window.addActions([self.left, self.right, self.zones, self.correct])
        self.demo = action(translate("window", "Watch the demo"), "", "play")
        self.help = action(translate("window", "Keyboard shortcuts"), "F1", "info")
        self.help.setShortcuts([QKeySequence("F1"), QKeySequence("?")])
        self.quit = action(translate("window", "Quit"), "Ctrl+Q", "close")
        self.quit.triggered.connect(window.close)
        self.help.triggered.connect(self._show_help)
        self.menu = QMenu(window)
        for group in (
            (self.open_files, self.open_folder, self.recent.menuAction(), self.open_results, self.sessions, self.export),
            (self.undo,),
            (self.left, self.right, self.zones, self.correct, self.fullscreen),
            (self.settings, self.cluster, self.demo, self.help),
            (self.quit,),
        ):
            self.menu.addActions(group)
            self.menu.addSeparator()

    def _show_help(self) -> None:
        dialog = HelpDialog(self._window)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.open()
