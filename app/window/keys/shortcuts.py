"""Shortcuts that carry out commands, with the keys that the commands have now."""

from collections.abc import Callable, Mapping

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QWidget

from framefleet.app.window.keys.bindings import Bindings


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
