"""The window's actions with their keys, and the menu."""

from collections.abc import Callable, Sequence
from importlib.metadata import version

from platformdirs import user_log_path
from PySide6.QtCore import Qt, SignalInstance
from PySide6.QtGui import QAction, QIcon, QKeySequence, QUndoStack
from PySide6.QtWidgets import QMainWindow, QMenu, QMessageBox

from framefleet.app.window.keys.bindings import Bindings, Command, KeysDialog
from framefleet.app.window.results.export_line import ExportLine
from framefleet.app.window.widgets.painting import icon, pixmap
from framefleet.app.window.widgets.translation import marked, translate

FIXED = (
    (("Up", "Down"), marked("keys", "Another file of the queue")),
    (("Ctrl+Shift+Up", "Ctrl+Shift+Down"), marked("keys", "Move the file in the queue")),
    (("Tab", "Shift+Tab", "Return", "Enter", "Esc"), marked("keys", "Move between the parts of the window")),
)
"""Keys that lists, buttons and fields have."""


class Actions:
    """The window's actions, and the ``menu`` that holds them. left, right: whether the panels there are shown.

    stack: what ``undo`` and ``redo`` act on. activity: says what they did.
    """

    def __init__(self, window: QMainWindow, bindings: Bindings, stack: QUndoStack, activity: ExportLine) -> None:
        self._window, self.bindings, self._stack, self._activity = window, bindings, stack, activity
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
        self.open_stream = action("open_stream", translate("window", "Open stream…"), "Ctrl+L", "camera")
        self.open_results = action("open_results", translate("window", "Open stored results…"), "Ctrl+R", "film")
        self.undo = action("undo", translate("window", "Undo"), "Ctrl+Z", "undo")
        self.redo = action("redo", translate("window", "Redo"), "Ctrl+Shift+Z Ctrl+Y", "redo")
        self.delete = action("delete", translate("window", "Delete"), "Del Backspace", "delete")
        self.recent = QMenu(translate("window", "Open recent"), window)
        self.sessions = action("sessions", translate("window", "Sessions…"), "Ctrl+Shift+R", "list")
        self.search = action("search", translate("window", "Search all results…"), "Ctrl+F", "search")
        self.compare = action("compare", translate("window", "Compare with other results…"), "", "swap")
        self.export = action("export", translate("window", "Export…"), "Ctrl+E", "export")
        self.cluster = action("cluster", translate("window", "Connect to a cluster…"), "", "device")
        self.settings = action("settings", translate("window", "Settings…"), "Ctrl+,", "settings")
        self.fullscreen = action("fullscreen", translate("window", "Full screen"), "F", "fullscreen")
        self.left = action("left", translate("window", "Queue"), "Ctrl+1", shown=True)
        self.right = action("right", translate("window", "Classes and devices"), "Ctrl+2", shown=True)
        self.zones = action("zones", translate("window", "Lines, zones and events"), "Ctrl+3", shown=False)
        self.correct = action("correct", translate("window", "Correct detections and tracks"), "Ctrl+4", shown=False)
        self.videos = QMenu(translate("window", "Several videos"), window)
        self.more_videos = action("more_videos", translate("window", "One, four, nine or sixteen videos"), "Ctrl+G", "grid")
        self.videos.addAction(self.more_videos)
        self.tune = action("tune", translate("window", "Look for faster engines"), "", "speed")
        self.demo = action("demo", translate("window", "Watch the demo"), "", "play")
        self.help = action("keys", translate("window", "Keyboard shortcuts"), "F1 ?", "info")
        self.about = action("about", translate("window", "About Framefleet"), "", "info")
        self.quit = action("quit", translate("window", "Quit"), "Ctrl+Q", "close")
        self.quit.triggered.connect(window.close)
        self.help.triggered.connect(self._show_help)
        self.about.triggered.connect(self._show_about)
        self.view = QMenu(translate("window", "View"), window)
        self.view.addActions((self.left, self.right, self.videos.menuAction(), self.fullscreen))
        support = QMenu(translate("window", "Help"), window)
        support.addActions((self.help, self.demo, self.about))
        self.menu = QMenu(window)
        for group in (
            (
                self.open_files,
                self.open_folder,
                self.open_stream,
                self.recent.menuAction(),
                self.open_results,
                self.sessions,
                self.search,
                self.compare,
                self.export,
            ),
            (self.undo, self.redo, self.delete),
            (self.zones, self.correct, self.view.menuAction()),
            (self.settings, self.tune, self.cluster, support.menuAction()),
            (self.quit,),
        ):
            self.menu.addActions(group)
            self.menu.addSeparator()
        for keys, meaning in FIXED:
            bindings.fix(keys, meaning)
        bindings.changed.connect(self._bind)
        self._bind()
        undone, redone = translate("window", "Undone: {what}"), translate("window", "Done again: {what}")
        self._follow(self.undo, undone, stack.undo, stack.canUndo, (stack.canUndoChanged, stack.undoTextChanged), stack.undoText)
        self._follow(self.redo, redone, stack.redo, stack.canRedo, (stack.canRedoChanged, stack.redoTextChanged), stack.redoText)

    def _bind(self) -> None:
        for name, action in self._actions.items():
            keys = self.bindings.keys(name)
            action.setShortcuts([QKeySequence.fromString(key) for key in keys])
            title = without_dots(action.text())
            action.setToolTip(f"{title} ({self.bindings.text(name)})" if keys else title)

    def _follow(
        self,
        action: QAction,
        said: str,
        act: Callable[[], None],
        can: Callable[[], bool],
        changed: Sequence[SignalInstance],
        what: Callable[[], str],
    ) -> None:
        """Let an action undo or redo the last command, name it, and say afterwards what was done."""
        title = action.text()

        def show(*_: object) -> None:
            action.setEnabled(can())
            action.setText(f"{title}: {what()}" if what() else title)
            self._bind()

        def step() -> None:
            done, count = what(), self._stack.count()
            self._activity.show_done(said.format(what=done))
            act()
            if self._stack.count() < count:  # the file or set that it concerns is gone
                self.refuse(done)

        action.triggered.connect(step)
        for signal in changed:
            signal.connect(show)
        show()

    def refuse(self, what: str) -> None:
        """Say that something cannot be undone or done again any more."""
        self._activity.show_done(translate("window", "No longer possible: {what}").format(what=what))

    def offer_undo(self, text: str) -> None:
        """Say what was done at the bottom of the window, with a button that undoes it, until something else is done."""
        self._activity.show_done(text, self.undo.trigger, translate("window", "Undo"))

        def hide(_index: int) -> None:
            self._stack.indexChanged.disconnect(hide)
            if self._activity.text.toolTip() == text:  # else it shows something else already
                self._activity.hide()

        self._stack.indexChanged.connect(hide)

    def add_parts(self, parts: Sequence[QAction]) -> None:
        """Add a menu of what is drawn over the picture."""
        menu = QMenu(translate("window", "Over the picture"), self._window)
        menu.addActions(parts)
        self.view.insertMenu(self.fullscreen, menu)

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
