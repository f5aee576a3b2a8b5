"""The files that the user opened last, as a menu."""

from collections.abc import Iterable
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, QSettings, Signal
from PySide6.QtWidgets import QMenu

from framefleet.app.window.widgets.translation import translate

KEY, MOST = "window/recent", 10


class RecentFiles(QObject):
    """Keeps the last files in the stored preferences. menu: lists them. chosen: list with the Path to open."""

    chosen = Signal(object)

    def __init__(self, store: QSettings, menu: QMenu, parent: QObject) -> None:
        super().__init__(parent)
        self._store, self.menu = store, menu
        menu.aboutToShow.connect(self._fill)
        menu.setEnabled(bool(self.paths))

    @property
    def paths(self) -> list[Path]:
        """The files, the last one first."""
        stored = self._store.value(KEY) or []
        return [Path(path) for path in ([stored] if isinstance(stored, str) else stored)]  # of one text Qt makes no list

    def add(self, paths: Iterable[Path]) -> None:
        """Put files at the top of the list."""
        new = [path.absolute() for path in paths]
        kept = dict.fromkeys([*reversed(new), *self.paths])
        self._store.setValue(KEY, [str(path) for path in kept][:MOST])
        self.menu.setEnabled(bool(kept))

    def _fill(self) -> None:
        self.menu.clear()
        for path in self.paths:
            action = self.menu.addAction(path.name or str(path), partial(self.chosen.emit, [path]))
            action.setToolTip(str(path))
            action.setEnabled(_is_there(path))
        self.menu.addSeparator()
        self.menu.addAction(translate("queue", "Clear this list"), self._clear)

    def _clear(self) -> None:
        self._store.remove(KEY)
        self.menu.setEnabled(False)


def _is_there(path: Path) -> bool:
    """Whether a path exists. False if it cannot be examined, without permission for example."""
    try:
        return path.exists()
    except OSError:
        return False
