"""The set of lines and zones of the shown file: loads it, saves its changes, and changes, imports and exports sets."""

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Signal
from PySide6.QtWidgets import QWidget

from framefleet.app.window.queue.item import ItemState, QueueItem, Results
from framefleet.app.window.queue.model import QueueModel
from framefleet.app.window.zones.drawing.editor import EMPTY, ZoneEditor
from framefleet.app.window.zones.files_dialog import FilesDialog
from framefleet.app.window.zones.library import ZoneLibrary
from framefleet.engine.errors import FramefleetError
from framefleet.engine.zones.file import parse_zones, read_zones
from framefleet.engine.zones.shapes import ZoneSet

SAVE_MS = 400


class ShownSet(QObject):
    """Keeps the set of one file. items: the queue.

    listed: the names of all sets have changed. shared: other files use the set now. failed: what went wrong.

    Attributes: name: of the set, None = the file has none yet; the first line or zone makes one. show: shows the file with a key.
    """

    listed = Signal()
    shared = Signal()
    failed = Signal(str)

    def __init__(self, library: ZoneLibrary, editor: ZoneEditor, items: QueueModel, parent: QObject) -> None:
        super().__init__(parent)
        self.library, self.editor, self._items = library, editor, items
        self.show: Callable[[int], object] = lambda _key: None
        editor.reach = self._way_back
        self.name: str | None = None
        self._item: QueueItem | None = None
        self._taken: set[Path] = set()
        self._saving = QTimer(self, singleShot=True, interval=SAVE_MS)
        self._saving.timeout.connect(self._save)
        editor.changed.connect(self._edited)

    def load(self, item: QueueItem | None) -> None:
        """Edit the set of a file, None = no file."""
        self.stop()
        info = item.progress.info if item is not None else None
        found, zones, problem = None, EMPTY, ""
        if item is not None and info is not None:
            self._take_stored(item)
            found, zones = self.library.read_for(item.path), ZoneSet((info.width, info.height))
        if found is not None:
            try:
                zones = found[1].scaled_to(zones.size)
            except FramefleetError as error:
                found, problem = None, str(error)
        self._item = None  # what is loaded is not a change that must be saved
        self.editor.load(zones)
        self._item = item
        self.name = found[0] if found is not None else None
        self.listed.emit()
        if problem:
            self.failed.emit(problem)

    def _take_stored(self, item: QueueItem) -> None:
        """Let a file without a set use the lines and zones of the run that made its results, once."""
        text = item.results.zones if item.results is not None else ""
        if not text or item.path in self._taken or self.library.name_for(item.path) is not None:
            return
        self._taken.add(item.path)
        with suppress(FramefleetError):
            self.library.choose(item.path, self.library.keep(item.path.absolute().parent.name, parse_zones(text)))

    def _way_back(self) -> Callable[[], bool]:
        """A function that shows the present file with the present set again. It returns False if the file or the set is gone."""
        key, name = self._item.key if self._item is not None else None, self.name

        def back() -> bool:
            if key is None or self._items.get(key) is None or (name is not None and name not in self.library.names()):
                return False
            self.show(key)
            if name is not None and self.name != name:
                self.choose(name)
            return self._item is not None and self._item.key == key and self.name == name

        return back

    def stop(self) -> None:
        """Store what was changed last."""
        if self._saving.isActive():
            self._save()

    def _edited(self) -> None:
        """Save the set soon. The first line or zone of a folder makes a set with the folder's name."""
        item = self._item
        if item is None or self.editor.zones.size == EMPTY.size:
            return
        if self.name is not None:
            self._saving.start()
        elif self.editor.zones.shapes:
            self.name = self.library.free_name(item.path.absolute().parent.name)
            self.library.choose(item.path, self.name)
            self._save()
            self.listed.emit()

    def _save(self) -> None:
        self._saving.stop()
        if self.name is not None:
            self._try(partial(self.library.save, self.name, self.editor.zones))

    def choose(self, name: str) -> None:
        """Use another set, "" = none."""
        if self._item is not None:
            self.stop()
            self.library.choose(self._item.path, name or None)
            self.load(self._item)

    def create(self, name: str) -> None:
        """Use a new, empty set."""
        if name.strip() and self.editor.zones.size != EMPTY.size:
            self._add(name, ZoneSet(self.editor.zones.size))

    def delete(self) -> None:
        """Delete the set."""
        if self.name is not None:
            self._saving.stop()
            self.library.delete(self.name)
            self.load(self._item)

    def ask_files(self, window: QWidget) -> None:
        """Ask which files of the queue use the set."""
        if self.name is None:
            return
        self.stop()
        name, paths = self.name, list(dict.fromkeys(item.path.absolute() for item in self._items))
        dialog = FilesDialog(name, {path: self.library.name_for(path) for path in paths}, window)
        dialog.chosen.connect(lambda chosen: self._share(name, chosen, [path for path in paths if path not in chosen]))
        dialog.open()

    def _share(self, name: str, chosen: list[Path], others: list[Path]) -> None:
        self.library.share(name, chosen, others)
        if self._item is not None and self.library.name_for(self._item.path) != self.name:
            self.load(self._item)
        self.shared.emit()

    def set_for(self, item: QueueItem) -> ZoneSet | None:
        """The lines and zones of any file of the queue, None if it has none."""
        if self._item is not None and item.key == self._item.key:
            return self.editor.zones if self.editor.zones.shapes else None
        found = self.library.read_for(item.path)
        return found[1] if found is not None and found[1].shapes else None

    def is_shared(self, video: Path, other: Path) -> bool:
        """Whether two videos use the same set."""
        return (name := self.library.name_for(video)) is not None and self.library.name_for(other) == name

    def files(self) -> list[Results]:
        """The results of all files of the queue that have the set and are not being detected."""
        found = {}
        for item in self._items:
            results = item.results
            if results is None or results.source < 0 or item.state is ItemState.RUNNING or self.name is None:
                continue
            if self.library.name_for(item.path) == self.name:
                found[item.path.absolute()] = results
        return list(found.values())

    def take(self, path: Path) -> None:
        """Import a set from a file, and use it."""

        def read() -> None:
            zones = read_zones(path)
            if self.editor.zones.size != EMPTY.size:
                zones.scaled_to(self.editor.zones.size)
            self._add(path.stem, zones)

        self._try(read)

    def write(self, path: Path) -> None:
        """Export the set to a file."""
        self._try(partial(self.library.write, path, self.editor.zones))

    def _add(self, wish: str, zones: ZoneSet) -> None:
        if self._item is not None:
            self.stop()
            name = self.library.free_name(wish)
            if self._try(partial(self.library.save, name, zones)):
                self.library.choose(self._item.path, name)
                self.load(self._item)

    def _try(self, act: Callable[[], None]) -> bool:
        try:
            act()
        except FramefleetError as error:
            self.failed.emit(str(error))
            return False
        return True
