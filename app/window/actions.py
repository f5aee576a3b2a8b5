"""The window's actions with their keys, and the menu."""

from collections.abc import Callable, Sequence
from importlib.metadata import version

from platformdirs import user_log_path
from PySide6.QtCore import Qt, SignalInstance
from PySide6.QtGui import QAction, QIcon, QKeySequence, QUndoStack
from PySide6.QtWidgets import QMainWindow, QMenu, QMessageBox

from framefleet.app.window.keys.bindings import Bindings, Command
from framefleet.app.window.keys.dialog import KeysDialog
from framefleet.app.window.widgets.painting import icon, pixmap
from framefleet.app.window.widgets.translation import marked, translate

FIXED = (
    (("Up", "Down"), marked("keys", "Another file of the queue")),
    (("Ctrl+Shift+Up", "Ctrl+Shift+Down"), marked("keys", "Move the file in the queue")),
    (("Del",), marked("keys", "Remove the file from the queue")),
    (("Tab", "Shift+Tab", "Return", "Enter", "Esc"), marked("keys", "Move between the parts of the window")),
)
"""Keys that lists, buttons and fields have."""


class Actions:
    """The window's actions, and the ``menu`` that holds them. left, right: whether the panels there are shown."""

    def __init__(self, window: QMainWindow, bindings: Bindings, undo: QUndoStack) -> None:
        self._window, self.bindings = window, bindings
        self._actions: dict[str, QAction] = {}

        def action(name: str, title: str, keys: str = "", symbol: str = "", shown: bool | None = None) -> QAction:
            made = QAction(icon(symbol) if symbol else QIcon(), title, window, checkable=shown is not None, checked=bool(shown))
            made.setShortcutContext(Qt.ShortcutContext.WindowShortcut)
            window.addAction(made)
            self._actions[f"window/{name}"] = made
            bindings.add([Command(f"window/{name}", without_dots(title), tuple(keys.split()))])
            return made

        self.open_files = action("open", translate("window", "Open…"), "Ctrl+O", "add")
        self.open_folder = action("open_folder", translate("window", "Open folder…"), "Ctrl+Shift+O", "folder")
        self.open_results = action("open_results", translate("window", "Open stored results…"), "Ctrl+R", "film")
        self.undo = action("undo", translate("window", "Undo"), "Ctrl+Z")
        self.redo = action("redo", translate("window", "Redo"), "Ctrl+Shift+Z Ctrl+Y")
        self.recent = QMenu(translate("window", "Open recent"), window)
        self.sessions = action("sessions", translate("window", "Sessions…"), "Ctrl+Shift+R", "search")
        self.export = action("export", translate("window", "Export…"), "Ctrl+E", "export")
        self.cluster = action("cluster", translate("window", "Connect to a cluster…"), "", "device")
        self.settings = action("settings", translate("window", "Settings…"), "Ctrl+,", "settings")
        self.fullscreen = action("fullscreen", translate("window", "Full screen"), "F", "fullscreen")
        self.left = action("left", translate("window", "Queue"), "Ctrl+1", shown=True)
        self.right = action("right", translate("window", "Classes and devices"), "Ctrl+2", shown=True)
        self.zones = action("zones", translate("window", "Lines, zones and events"), "Ctrl+3", shown=False)
        self.correct = action("correct", translate("window", "Correct detections and tracks"), "Ctrl+4", shown=False)
        self.videos = QMenu(translate("window", "Several videos"), window)
        self.more_videos = action("more_videos", translate("window", "One, four or nine videos"), "Ctrl+G", "grid")
        self.videos.addAction(self.more_videos)
        self.demo = action("demo", translate("window", "Watch the demo"), "", "play")
        self.help = action("keys", translate("window", "Keyboard shortcuts"), "F1 ?", "info")
        self.about = action("about", translate("window", "About Framefleet"), "", "info")
        self.quit = action("quit", translate("window", "Quit"), "Ctrl+Q", "close")
        self.quit.triggered.connect(window.close)
        self.help.triggered.connect(self._show_help)
        self.about.triggered.connect(self._show_about)
        self.menu = QMenu(window)
        for group in (
            (self.open_files, self.open_folder, self.recent.menuAction(), self.open_results, self.sessions, self.export),
            (self.undo, self.redo),
            (self.left, self.right, self.zones, self.correct, self.videos.menuAction(), self.fullscreen),
            (self.settings, self.cluster, self.demo, self.help, self.about),
            (self.quit,),
        ):
            self.menu.addActions(group)
            self.menu.addSeparator()
        for keys, meaning in FIXED:
            bindings.fix(keys, meaning)
        bindings.changed.connect(self._bind)
        self._bind()
        self._follow(self.undo, undo.undo, undo.canUndo, (undo.canUndoChanged, undo.undoTextChanged), undo.undoText)
        self._follow(self.redo, undo.redo, undo.canRedo, (undo.canRedoChanged, undo.redoTextChanged), undo.redoText)

    def _bind(self) -> None:
        for name, action in self._actions.items():
            keys = self.bindings.keys(name)
            action.setShortcuts([QKeySequence.fromString(key) for key in keys])
            title = without_dots(action.text())
            action.setToolTip(f"{title} ({self.bindings.text(name)})" if keys else title)

    def _follow(
        self, action: QAction, act: Callable[[], None], can: Callable[[], bool], changed: Sequence[SignalInstance], what: Callable[[], str]
    ) -> None:
        """Let an action undo or redo the last command, and name it."""
        title = action.text()

        def show(*_: object) -> None:
            action.setEnabled(can())
            action.setText(f"{title}: {what()}" if what() else title)
            self._bind()

        action.triggered.connect(lambda: act())
        for signal in changed:
            signal.connect(show)
        show()

    def add_parts(self, parts: Sequence[QAction]) -> None:
        """Add a menu of what is drawn over the picture."""
        menu = QMenu(translate("window", "Over the picture"), self._window)
        menu.addActions(parts)
        self.menu.insertMenu(self.fullscreen, menu)

    def _show_about(self) -> None:
        text = translate("window", "Framefleet {version} detects objects in videos with YOLOv4, on every device of this machine.")
        box = QMessageBox(QMessageBox.Icon.NoIcon, self.about.text(), text.format(version=version("framefleet")), parent=self._window)
        box.setIconPixmap(pixmap("framefleet", 64))
        box.setInformativeText(translate("window", "Log: {path}").format(path=user_log_path("framefleet", appauthor=False)))
        box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        box.open()

    def _show_help(self) -> None:
        dialog = KeysDialog(self.bindings, self._window)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.open()


def without_dots(title: str) -> str:
    """The title of a command without the dots that announce a dialog; some languages have a space before them."""
    return title.removesuffix("…").rstrip()
