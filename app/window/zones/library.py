"""The user's named sets of lines and zones, a file each, and which set belongs to which folder of videos."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

from PySide6.QtCore import QSettings

from app.window.widgets.translation import translate
from engine.errors import ExportError, UsageError
from engine.store.exporters.common.base import text_file
from engine.zones.file import read_zones, zones_text
from engine.zones.shapes import ZoneSet

_FOLDERS = "zones/folders"


class ZoneLibrary:
    """Keeps sets in ``folder``. The videos of one folder show the same view, so they share a set. store: keeps which one."""

    def __init__(self, folder: Path, store: QSettings) -> None:
        self._folder, self._store = folder, store

    def names(self) -> list[str]:
        """The names of all sets."""
        return sorted((path.stem for path in self._folder.glob("*.json")), key=str.casefold)

    def read(self, name: str) -> ZoneSet:
        """Read a set.

        Raises:
            UsageError: its file is missing or cannot be used.
        """
        return read_zones(self._path(name))

    def save(self, name: str, zones: ZoneSet) -> None:
        """Store a set.

        Raises:
            ExportError: it cannot be written.
        """
        self.write(self._path(name), zones)

    def write(self, path: Path, zones: ZoneSet) -> None:
        """Write a set to any file.

        Raises:
            ExportError: it cannot be written.
        """
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ExportError(translate("zones", "cannot write {path}: {strerror}").format(path=path, strerror=error.strerror)) from error
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
        name = self._folders().get(_folder_of(video))
        return name if name is not None and self._path(name).exists() else None

    def assign(self, video: Path, name: str | None) -> None:
        """Use a set for all videos in the folder of this one."""
        folders = {folder: other for folder, other in self._folders().items() if folder != _folder_of(video)}
        if name is not None:
            folders[_folder_of(video)] = name
        self._store.setValue(_FOLDERS, json.dumps(folders))

    def read_for(self, video: Path) -> tuple[str, ZoneSet] | None:
        """The name and content of the set for a video, None if it has none that can be read."""
        name = self.name_for(video)
        try:
            return (name, self.read(name)) if name is not None else None
        except UsageError:
            return None

    def _folders(self) -> dict[str, str]:
        try:
            folders = json.loads(str(self._store.value(_FOLDERS, "{}")))
        except ValueError:
            return {}
        return folders if isinstance(folders, dict) else {}

    def _path(self, name: str) -> Path:
        return self._folder / f"{name}.json"


def _folder_of(video: Path) -> str:
    return os.path.normpath(video.absolute().parent)
