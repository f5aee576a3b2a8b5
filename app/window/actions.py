"""The actions of the window with their shortcuts, and the menu that lists them."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QMainWindow, QMenu

from app.window.help_dialog import HelpDialog
from app.window.widgets.icons import icon


class Actions:
    """The actions open_files, open_folder, open_results, settings, fullscreen, demo, help and quit, and their ``menu``."""

    def __init__(self, window: QMainWindow) -> None:
        def action(title: str, keys: str, symbol: str) -> QAction:
            made = QAction(icon(symbol), title, window)
            if keys:
                made.setShortcut(QKeySequence(keys))
                made.setToolTip(f"{title.removesuffix('…')} ({made.shortcut().toString(QKeySequence.SequenceFormat.NativeText)})")
            made.setShortcutContext(Qt.ShortcutContext.WindowShortcut)
            window.addAction(made)
            return made

        self._window = window
        self.open_files = action("Open…", "Ctrl+O", "add")
        self.open_folder = action("Open folder…", "Ctrl+Shift+O", "folder")
        self.open_results = action("Open stored results…", "Ctrl+R", "folder")
        self.settings = action("Settings…", "Ctrl+,", "settings")
        self.fullscreen = action("Full screen", "F", "fullscreen")
        self.demo = action("Watch the demo", "", "play")
        self.help = action("Keyboard shortcuts", "F1", "info")
        self.quit = action("Quit", "Ctrl+Q", "close")
        self.quit.triggered.connect(window.close)
        self.help.triggered.connect(self._show_help)
        self.menu = QMenu(window)
        for group in (
            (self.open_files, self.open_folder, self.open_results),
            (self.settings, self.fullscreen, self.demo, self.help),
            (self.quit,),
        ):
            self.menu.addActions(group)
            self.menu.addSeparator()

    def _show_help(self) -> None:
        dialog = HelpDialog(self._window)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.open()
