"""The keys of the window's commands: bindings that the user can change, and the shortcuts of actions."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QObject, QSettings, Qt, Signal
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QWidget

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

    def short(self, name: str) -> str:
        """The keys of a command for narrow places, "–" without keys."""
        shift = QKeySequence("Shift+A").toString(NATIVE).removesuffix("A")  # in the system's language
        return self.text(name).replace(shift, "⇧") or "–"

    def show_on(self, widget: QWidget, name: str, text: str = "") -> Callable[[], None]:
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
        owner: QWidget,
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
