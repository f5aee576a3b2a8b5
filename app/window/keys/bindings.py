"""The keys of the window's commands: bindings that the user can change, the shortcuts of actions, and the dialog that changes the keys."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from PySide6 import QtWidgets
from PySide6.QtCore import QEvent, QObject, QSettings, QSize, Qt, Signal
from PySide6.QtGui import QColor, QKeyEvent, QKeySequence, QShortcut

from framefleet.app.window.widgets import fields, theme
from framefleet.app.window.widgets.build import column, label, push_button, row, within_screen
from framefleet.app.window.widgets.translation import translate

VERSION = 1
"""The version of the stored keys."""
PORTABLE, NATIVE = QKeySequence.SequenceFormat.PortableText, QKeySequence.SequenceFormat.NativeText


@dataclass(frozen=True)
class Command:
    """A command that has keys.

    name: in the stored settings. meaning: as the user reads it. keys: the defaults, Qt's portable form. focused: whether the keys act only
    while the command's widget has the focus. There they come before those of other commands.
    """

    name: str
    meaning: str
    keys: tuple[str, ...]
    focused: bool = False


class Bindings(QObject):
    """The keys of all commands. A key belongs to one command, and to one with ``focused``. changed: a command has other keys now.

    ``fixed``: what the keys do that cannot be changed.
    """

    changed = Signal()

    def __init__(self, store: QSettings, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._store = store
        self._commands: dict[str, Command] = {}
        self._keys: dict[str, tuple[str, ...]] = {}
        self.fixed: dict[str, str] = {}

    @property
    def commands(self) -> Sequence[Command]:
        """All commands, in the order in which they were added."""
        return tuple(self._commands.values())

    def add(self, commands: Iterable[Command]) -> None:
        """Add commands with their stored keys, or else with their defaults."""
        for command in commands:
            self._commands[command.name] = command
            stored = self._store.value(f"keys/{command.name}")
            known = None if stored is None else tuple(str(stored).split())
            self._keys[command.name] = command.keys if known is None or not all(map(is_key, known)) else known

    def fix(self, keys: Iterable[str], meaning: str) -> None:
        """Name keys that cannot be changed."""
        self.fixed.update(dict.fromkeys(keys, meaning))

    def keys(self, name: str) -> tuple[str, ...]:
        """The keys of a command, in Qt's portable form."""
        return self._keys.get(name, ())

    def text(self, name: str) -> str:
        """The keys of a command as the user reads them, "" without keys."""
        return "  ".join(key_text(key) for key in self.keys(name))

    def short(self, name: str, most: int | None = None) -> str:
        """The keys of a command for narrow places, "–" without keys. most: the largest number of keys, None = all."""
        shift = QKeySequence("Shift+A").toString(NATIVE).removesuffix("A")  # in the system's language
        return "  ".join(key_text(key).replace(shift, "⇧") for key in self.keys(name)[:most]) or "–"

    def show_on(self, widget: QtWidgets.QWidget, name: str, text: str = "") -> Callable[[], None]:
        """Let a widget's tooltip name the keys of its command.

        text: of the tooltip, "" = the widget's accessible name. Call the returned function when that name changes.
        """

        def show() -> None:
            title, keys = text or widget.accessibleName(), self.text(name)
            widget.setToolTip(f"{title} ({keys})" if keys else title)

        self.changed.connect(show)
        show()
        return show

    def is_changed(self, name: str) -> bool:
        """Whether a command has other keys than its defaults."""
        return self.keys(name) != self._commands[name].keys

    def owner(self, key: str, focused: bool = False) -> Command | None:
        """The command that has this key."""
        return next((command for command in self.commands if command.focused is focused and key in self.keys(command.name)), None)

    def set_keys(self, name: str, keys: Iterable[str]) -> None:
        """Give a command these keys, take them from all other commands, and store that."""
        wanted = tuple(dict.fromkeys(keys))
        for other in self._commands.values():
            if other.focused is self._commands[name].focused:
                self._keys[other.name] = tuple(key for key in self._keys[other.name] if key not in wanted)
        self._keys[name] = wanted
        self._keep()

    def reset(self) -> None:
        """Give every command its default keys again."""
        self._keys = {command.name: command.keys for command in self.commands}
        self._keep()

    def _keep(self) -> None:
        self._store.setValue("keys/version", VERSION)
        for name in self._commands:
            if self.is_changed(name):
                self._store.setValue(f"keys/{name}", " ".join(self.keys(name)))
            else:
                self._store.remove(f"keys/{name}")
        self.changed.emit()


def is_key(text: str) -> bool:
    """Whether a text is one key with its modifiers, in Qt's portable form."""
    sequence = QKeySequence.fromString(text, PORTABLE)
    return sequence.count() == 1 and sequence.toString(PORTABLE) == text


_SHOWN = {"Left": "←", "Right": "→", "Up": "↑", "Down": "↓", "Backspace": "⌫"}


def key_text(key: str) -> str:
    """A key as the user reads it."""
    parts = QKeySequence.fromString(key, PORTABLE).toString(NATIVE)
    head, plus, last = parts.rpartition("+")
    return f"{head}{plus}{_SHOWN.get(last, last)}"


class Shortcuts(QObject):
    """Gives commands their shortcuts. acts: what each command does, by its name. takes: whether a key becomes a shortcut."""

    def __init__(
        self,
        owner: QtWidgets.QWidget,
        bindings: Bindings,
        acts: Mapping[str, Callable[[], object]],
        context: Qt.ShortcutContext = Qt.ShortcutContext.WindowShortcut,
        enabled: bool = True,
        takes: Callable[[str], bool] = lambda _: True,
    ) -> None:
        super().__init__(owner)
        self._owner, self._bindings, self._acts, self._context, self._takes = owner, bindings, acts, context, takes
        self._enabled = enabled
        self._shortcuts: list[QShortcut] = []
        bindings.changed.connect(self._bind)
        self._bind()

    def set_enabled(self, enabled: bool) -> None:
        """Turn all keys on or off."""
        self._enabled = enabled
        for shortcut in self._shortcuts:
            shortcut.setEnabled(enabled)

    def _bind(self) -> None:
        for shortcut in self._shortcuts:
            shortcut.setEnabled(False)
            shortcut.deleteLater()
        self._shortcuts = [
            QShortcut(QKeySequence.fromString(key), self._owner, act, context=self._context, enabled=self._enabled)
            for name, act in self._acts.items()
            for key in self._bindings.keys(name)
            if self._takes(key)
        ]


NAME = Qt.ItemDataRole.UserRole


class KeysDialog(QtWidgets.QDialog):
    """Lists the commands. A double-click on a row, or the button, waits for the new key of that command."""

    def __init__(self, bindings: Bindings, parent: QtWidgets.QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(translate("keys", "Keyboard shortcuts"))
        self._bindings = bindings
        self._waiting: Command | None = None
        self._wanted = ""
        self.search = fields.clearable(translate("keys", "Search commands and keys"))
        self.search.textChanged.connect(self._filter)
        self.list = QtWidgets.QTreeWidget()
        self.list.setAccessibleName(translate("keys", "Commands"))
        self.list.setRootIsDecorated(False)
        self.list.setHeaderLabels([translate("keys", "Command"), translate("keys", "Keys")])
        self.list.setVerticalScrollMode(QtWidgets.QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.list.itemActivated.connect(lambda *_: self._wait())
        self.list.currentItemChanged.connect(lambda *_: self._say_ready())
        self.list.installEventFilter(self)
        self.edit = QtWidgets.QKeySequenceEdit(maximumSequenceLength=1)
        self.edit.setAccessibleName(translate("keys", "New key"))
        self.edit.keySequenceChanged.connect(self._pressed)
        self.edit.hide()
        self.note = label("muted", wrap=True)
        self.change, self.clear, self.take, self.keep = (
            push_button(title, act)
            for title, act in (
                (translate("keys", "Change…"), self._wait),
                (translate("keys", "No key"), self._clear),
                (translate("keys", "Use it here"), self._take),
                (translate("keys", "Cancel"), self._say_ready),
            )
        )
        buttons = QtWidgets.QDialogButtonBox(
            QtWidgets.QDialogButtonBox.StandardButton.RestoreDefaults | QtWidgets.QDialogButtonBox.StandardButton.Close
        )
        buttons.button(QtWidgets.QDialogButtonBox.StandardButton.RestoreDefaults).setText(translate("keys", "Reset all"))
        buttons.button(QtWidgets.QDialogButtonBox.StandardButton.RestoreDefaults).clicked.connect(bindings.reset)
        buttons.rejected.connect(self.reject)
        for button in buttons.buttons():
            if isinstance(button, QtWidgets.QPushButton):
                button.setAutoDefault(False)
        asking = row((self.note, 1), self.edit, self.take, self.keep, self.change, self.clear, spacing=theme.SPACE)
        column(self.search, (self.list, 1), asking, buttons, spacing=12, margins=(20, 18, 20, 16), of=self)
        self.resize(within_screen(self, 560, 680))
        bindings.changed.connect(self._fill)
        self._fill()

    @property
    def current(self) -> Command | None:
        """The command of the current row."""
        item = self.list.currentItem()
        name = item.data(0, NAME) if item is not None else None
        return next((command for command in self._bindings.commands if command.name == name), None)

    def _fill(self) -> None:
        current = self.current
        self.list.clear()
        for command in self._bindings.commands:
            item = QtWidgets.QTreeWidgetItem(self.list, [translate("keys", command.meaning), self._bindings.text(command.name)])
            item.setData(0, NAME, command.name)
            item.setSizeHint(0, QSize(0, theme.base_size() + 13))
            if self._bindings.is_changed(command.name):
                item.setForeground(1, QColor(theme.ACCENT))
                item.setToolTip(1, translate("keys", "Changed. Default: {keys}").format(keys="  ".join(map(key_text, command.keys)) or "–"))
            if current is not None and current.name == command.name:
                self.list.setCurrentItem(item)
        always: dict[str, list[str]] = {}
        for key, meaning in self._bindings.fixed.items():
            always.setdefault(meaning, []).append(key_text(key))
        for meaning, keys in always.items():
            item = QtWidgets.QTreeWidgetItem(self.list, [translate("keys", meaning), "  ".join(keys)])
            item.setDisabled(True)
            item.setSizeHint(0, QSize(0, theme.base_size() + 13))
            item.setToolTip(0, translate("keys", "These keys cannot be changed."))
        if current is None:
            self.list.setCurrentIndex(self.list.model().index(0, 0))
        self.list.setColumnWidth(0, 340)
        self._filter(self.search.text())
        self._say_ready()

    def _filter(self, text: str) -> None:
        for item in self.list.findItems("*", Qt.MatchFlag.MatchWildcard):
            item.setHidden(not any(text.casefold() in item.text(part).casefold() for part in (0, 1)))

    def _show(self, note: str, *shown: QtWidgets.QWidget) -> None:
        self.note.setText(note)
        for widget in (self.edit, self.take, self.keep, self.change, self.clear):
            widget.setVisible(widget in shown)

    def _say_ready(self) -> None:
        self._waiting, self._wanted = None, ""
        self._show(translate("keys", "Keys are off while you type in a field."), self.change, self.clear)
        self.change.setEnabled(self.current is not None)
        self.clear.setEnabled(self.current is not None and bool(self._bindings.keys(self.current.name)))

    def _wait(self) -> None:
        self._waiting = self.current
        if self._waiting is not None:
            self.edit.clear()
            meaning = translate("keys", self._waiting.meaning)
            self._show(translate("keys", "Press the new key for “{command}”.").format(command=meaning), self.edit, self.keep)
            self.edit.setFocus()

    def _clear(self) -> None:
        if self.current is not None:
            self._bindings.set_keys(self.current.name, ())

    def _pressed(self, sequence: QKeySequence) -> None:
        self._wanted = sequence.toString(PORTABLE)
        if not self._wanted or self._waiting is None:
            return
        owner, fixed = self._bindings.owner(self._wanted, self._waiting.focused), self._bindings.fixed.get(self._wanted)
        if fixed is not None:
            note = translate("keys", "{key} always means: {command}. Press another key.")
            self._show(note.format(key=key_text(self._wanted), command=translate("keys", fixed)), self.edit, self.keep)
            self.edit.clear()
        elif owner is not None and owner != self._waiting:
            note = translate("keys", "{key} already means: {command}.")
            self._show(note.format(key=key_text(self._wanted), command=translate("keys", owner.meaning)), self.take, self.keep)
            self.take.setFocus()
        else:
            self._take()

    def _take(self) -> None:
        assert self._waiting is not None
        self._bindings.set_keys(self._waiting.name, (self._wanted,))
        self.list.setFocus()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Clear the keys of the current command at Delete."""
        if event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent) and event.key() == Qt.Key.Key_Delete:
            self._clear()
            return True
        return super().eventFilter(watched, event)
