"""The user's named sets of lines and zones, one for each camera; which videos use which; and the set of the shown file."""

import json
import os
import re
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, QSettings, Qt, QTimer, Signal
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QTreeWidget, QTreeWidgetItem, QWidget

from framefleet.app.window.queue.item import ItemState, QueueItem, Results
from framefleet.app.window.queue.model import QueueModel
from framefleet.app.window.widgets.build import column, label
from framefleet.app.window.widgets.translation import of_engine, translate
from framefleet.app.window.zones.drawing.editor import EMPTY, ZoneEditor
from framefleet.engine.notices import ExportError, FramefleetError, UsageError, literal
from framefleet.engine.store.exporters.base import text_file
from framefleet.engine.zones.file import parse_zones, read_zones, zones_text
from framefleet.engine.zones.shapes import ZoneSet

_PLACES = "zones/folders"


class ZoneLibrary:
    """Keeps sets in ``folder``, a file each. store: keeps the set of each video, or of all videos in a folder without one of their own."""

    def __init__(self, folder: Path, store: QSettings) -> None:
        self._folder, self._store = folder, store

    def names(self) -> list[str]:
        """The names of all sets."""
        return sorted((path.stem for path in self._folder.glob("*.json")), key=str.casefold)

    def read(self, name: str) -> ZoneSet:
        """Read a set. Raises UsageError if its file is missing or cannot be used."""
        return read_zones(self._path(name))

    def save(self, name: str, zones: ZoneSet) -> None:
        """Store a set. Raises ExportError if it cannot be written."""
        self.write(self._path(name), zones)

    def keep(self, wish: str, zones: ZoneSet) -> str:
        """Store lines and zones unless a set has the same ones. Returns the name of the set: the wish, or with a number behind it.

        Raises ExportError if it cannot be written.
        """
        for name in self.names():
            with suppress(UsageError):
                if self.read(name) == zones:
                    return name
        name = self.free_name(wish)
        self.save(name, zones)
        return name

    def write(self, path: Path, zones: ZoneSet) -> None:
        """Write a set to any file. Raises ExportError if it cannot be written."""
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ExportError(
                literal(translate("zones", "cannot write {path}: {strerror}").format(path=path, strerror=error.strerror))
            ) from error
        with text_file(path) as file:
            file.write(zones_text(zones))

    def delete(self, name: str) -> None:
        """Delete a set."""
        self._path(name).unlink(missing_ok=True)

    def free_name(self, wish: str) -> str:
        """A name that no set has: the wish, or with a number behind it."""
        wish = re.sub(r"[^\w .-]+", "-", wish).strip(" .-")[:80] or "camera"
        known = {name.casefold() for name in self.names()}
        number, name = 1, wish
        while name.casefold() in known:
            number += 1
            name = f"{wish} {number}"
        return name

    def name_for(self, video: Path) -> str | None:
        """The name of the set for a video, None if it has none."""
        places = self._places()
        name = next((places[place] for place in (_written(video), _written(video.parent)) if place in places), "")
        return name if name and self._path(name).exists() else None

    def is_own(self, video: Path) -> bool:
        """Whether a video has its set by itself, and not because all videos of its folder use it."""
        return bool(self._places().get(_written(video)))

    def assign(self, place: Path, name: str | None) -> None:
        """Use a set for a video, or for all videos in a folder; "": none; None: a video uses that of its folder."""
        places = {other: kept for other, kept in self._places().items() if other != _written(place)}
        if name is not None:
            places[_written(place)] = name
        self._store.setValue(_PLACES, json.dumps(places))

    def choose(self, video: Path, name: str | None) -> None:
        """Use another set for a video, None = no set. The other videos in its folder keep theirs."""
        of_folder = self._places().get(_written(video.parent))
        self.assign(video, None if name == of_folder else name or "")

    def give_folder(self, video: Path, name: str) -> None:
        """Use the set of a video for all videos in its folder that have none of their own."""
        self.assign(video.parent, name)
        self.assign(video, None)

    def share(self, name: str, videos: Collection[Path], others: Collection[Path]) -> None:
        """Use a set for these videos, and not for the others. Where all videos of a folder use it, later ones use it, too."""
        for folder in {video.parent for video in (*videos, *others)}:
            if not any(other.parent == folder for other in others):
                self.assign(folder, name)
            elif self._places().get(_written(folder)) == name:
                self.assign(folder, None)
        for video in videos:
            self.assign(video, None if self._places().get(_written(video.parent)) == name else name)
        for video in others:
            if self._places().get(_written(video)) == name:
                self.assign(video, None)

    def read_for(self, video: Path) -> tuple[str, ZoneSet] | None:
        """The name and content of the set for a video, None if it has none that can be read."""
        name = self.name_for(video)
        try:
            return (name, self.read(name)) if name is not None else None
        except UsageError:
            return None

    def _places(self) -> dict[str, str]:
        try:
            places = json.loads(str(self._store.value(_PLACES, "{}")))
        except ValueError:
            return {}
        return places if isinstance(places, dict) else {}

    def _path(self, name: str) -> Path:
        return self._folder / f"{name}.json"


def _written(place: Path) -> str:
    return os.path.normpath(place.absolute())


_PATH = Qt.ItemDataRole.UserRole


class FilesDialog(QDialog):
    """Lists files by folder; a checked one uses the set. chosen: the paths of the checked files.

    name: of the set. files: absolute paths, and the name of the set that each file uses, None = none.
    """

    chosen = Signal(object)

    def __init__(self, name: str, files: Mapping[Path, str | None], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(translate("zones", "Files with the lines and zones of '{name}'").format(name=name))
        self.tree = QTreeWidget()
        self.tree.ensurePolished()  # rows that are shown before have not the height of the style
        self.tree.setHeaderLabels([translate("zones", "File"), translate("zones", "Lines and zones now")])
        self.tree.setAccessibleName(translate("zones", "Files of the queue"))
        folders: dict[Path, QTreeWidgetItem] = {}
        self._rows: list[QTreeWidgetItem] = []
        for path, used in files.items():
            if path.parent not in folders:
                folder = folders[path.parent] = QTreeWidgetItem(self.tree, [str(path.parent)])
                folder.setFlags(folder.flags() | Qt.ItemFlag.ItemIsAutoTristate | Qt.ItemFlag.ItemIsUserCheckable)
            row = QTreeWidgetItem(folders[path.parent], [path.name, used or "–"])
            self._rows.append(row)
            row.setData(0, _PATH, path)
            row.setCheckState(0, Qt.CheckState.Checked if used == name else Qt.CheckState.Unchecked)
        self.tree.expandAll()
        self.tree.setColumnWidth(0, 380)
        hint = translate(
            "zones", "If all files of a folder are checked, files that you add from this folder later get these lines and zones, too."
        )
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Ok | QDialogButtonBox.StandardButton.Cancel)
        buttons.accepted.connect(self.accept)
        buttons.rejected.connect(self.reject)
        self.accepted.connect(lambda: self.chosen.emit(self.checked()))
        column((self.tree, 1), label("small", hint, wrap=True), buttons, spacing=10, margins=(16, 16, 16, 16), of=self)
        self.resize(560, 360)

    def checked(self) -> list[Path]:
        """The checked files."""
        return [row.data(0, _PATH) for row in self._rows if row.checkState(0) is Qt.CheckState.Checked]


SAVE_MS = 400


class ShownSet(QObject):
    """Keeps the set of one file. items: the queue.

    listed: the names of all sets have changed. shared: other files use the set now. failed: what went wrong, "" = nothing any more.

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
                found, problem = None, of_engine(error.notice, capital=True)
        self._item = None  # what is loaded is not a change that must be saved
        self.editor.load(zones)
        self._item = item
        self.name = found[0] if found is not None else None
        self.listed.emit()
        self.failed.emit(problem)

    def _take_stored(self, item: QueueItem) -> None:
        """Let a file without a set use the lines and zones of the run that made its results, once."""
        text = item.results.zones if item.results is not None else ""
        if not text or item.path in self._taken or self.library.name_for(item.path) is not None:
            return
        self._taken.add(item.path)
        with suppress(FramefleetError):
            self.library.choose(item.path, self.library.keep(item.path.stem, parse_zones(text)))

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
        """Save the set soon. The first line or zone makes a set for this video, with its name."""
        item = self._item
        if item is None or self.editor.zones.size == EMPTY.size:
            return
        if self.name is not None:
            self._saving.start()
        elif self.editor.zones.shapes:
            self.name = self.library.free_name(item.path.stem)
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

    def give_folder(self) -> None:
        """Use the set for all videos of the folder."""
        if self._item is not None and self.name is not None:
            self.library.give_folder(self._item.path, self.name)
            self.listed.emit()
            self.shared.emit()

    @property
    def scope(self) -> str:
        """For what the set in use is, in words; "" without one."""
        if self._item is None or self.name is None:
            return ""
        if self.library.is_own(self._item.path):
            return translate("zones", "This video only")
        return translate("zones", "All videos in {folder}").format(folder=self._item.path.absolute().parent.name)

    def ask_files(self, window: QWidget) -> None:
        """Ask which files of the queue use the set."""
        if self.name is None:
            return
        self.stop()
        name, paths = self.name, list(dict.fromkeys(item.path.absolute() for item in self._items))
        dialog = FilesDialog(name, {path: self.library.name_for(path) for path in paths}, window)
        dialog.chosen.connect(lambda chosen: self.share(name, chosen, [path for path in paths if path not in chosen]))
        dialog.open()

    def share(self, name: str, chosen: Collection[Path], others: Collection[Path]) -> None:
        """Let these files use a set, and the others not."""
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
            self.failed.emit(of_engine(error.notice, capital=True))
            return False
        self.failed.emit("")
        return True
