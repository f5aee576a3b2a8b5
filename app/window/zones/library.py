"""The user's named sets of lines and zones, one for each camera, and which videos and folders of videos show which camera."""

import json
import os
import re
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path

from PySide6.QtCore import QSettings

from framefleet.app.window.widgets.translation import translate
from framefleet.engine.errors import ExportError, UsageError
from framefleet.engine.store.exporters.common.base import text_file
from framefleet.engine.zones.file import read_zones, zones_text
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
        places = self._places()
        name = next((places[place] for place in (_written(video), _written(video.parent)) if place in places), None)
        return name if name is not None and self._path(name).exists() else None

    def assign(self, place: Path, name: str | None) -> None:
        """Use a set for a video, or for all videos in a folder; None: it has none of its own."""
        places = {other: kept for other, kept in self._places().items() if other != _written(place)}
        if name is not None:
            places[_written(place)] = name
        self._store.setValue(_PLACES, json.dumps(places))

    def choose(self, video: Path, name: str | None) -> None:
        """Use another set for a video and, unless it has a set of its own, for all videos in its folder."""
        self.assign(video if _written(video) in self._places() else video.parent, name)

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
