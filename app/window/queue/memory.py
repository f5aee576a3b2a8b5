"""Remembers the queue on disk, so that it is there again at the next start, also after a crash."""

import json
import logging
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, QTimer

from framefleet.app.window.queue.item import Part, QueueItem
from framefleet.app.window.queue.model import QueueModel
from framefleet.app.window.widgets.translation import translate
from framefleet.engine.processes.file_lock import FileLock, LockedError

NAME = "queue.json"
SAVE_MS = 500
"""Time from a change of the queue to its writing."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class ViewState:
    """What was shown of a file. at: the position, seconds; None = it was not shown. part: the one that the user chose."""

    at: float | None = None
    part: Part | None = None


@dataclass(frozen=True)
class Remembered:
    """A file of the queue.

    database, source: of its results, None and -1 without any. ended: whether its detection had ended. part: detection is limited to it.
    """

    path: Path
    database: Path | None = None
    source: int = -1
    ended: bool = False
    part: Part | None = None
    view: ViewState = ViewState()


class QueueMemory(QObject):
    """Writes the queue to a file in ``folder`` after each change.

    Attributes: unfinished: files of the last run that the user has not decided on. view_of: returns what was shown of a file.

    Only one window of a folder remembers its queue: the one that has called ``start`` first.
    """

    def __init__(self, items: QueueModel, folder: Path, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._items, self._folder = items, folder
        self._lock: FileLock | None = None
        self._written: list[dict[str, Any]] | None = None
        self.unfinished: tuple[Remembered, ...] = ()
        self._before: dict[Path, ViewState] = {}
        self.view_of: Callable[[QueueItem], ViewState] = self.view_before
        self._soon = QTimer(self, singleShot=True, interval=SAVE_MS)
        self._soon.timeout.connect(self.save)
        for signal in (items.rowsInserted, items.rowsRemoved, items.rowsMoved, items.dataChanged):
            signal.connect(self.save_soon)

    def start(self) -> list[Remembered]:
        """Return the queue of the last run, and remember this one from now on."""
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            self._lock = FileLock(self._folder / f".{NAME}.lock")
        except (LockedError, OSError) as error:
            _log.info("the queue is not remembered: %s", error)
            return []
        try:
            entries = json.loads((self._folder / NAME).read_text("utf-8"))
            remembered = [_read(entry) for entry in entries]
        except FileNotFoundError:
            return []
        except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
            _log.warning("the queue of the last run cannot be read: %s", error)
            return []
        self._before = {entry.path: entry.view for entry in remembered}
        return remembered

    def view_before(self, item: QueueItem) -> ViewState:
        """What was shown of a file at the end of the last run."""
        return self._before.get(item.path, ViewState())

    def save_soon(self) -> None:
        """Write the queue soon, because it has changed."""
        if self._lock is not None and not self._soon.isActive():
            self._soon.start(
                max(SAVE_MS, len(self._items))
            )  # a long queue is written less often: ten thousand files take a tenth of a second

    def decide(self) -> None:
        """Forget the unfinished files of the last run: they are in the queue again, or the user does not want them."""
        self.unfinished = ()
        self.save_soon()

    def save(self) -> None:
        """Write the queue, if it has changed since it was written."""
        entries = [_write(item, self.view_of(item)) for item in self._items] + [_plain(entry) for entry in self.unfinished]
        if self._lock is None or entries == self._written:
            return
        new = self._folder / f".{NAME}.new"
        try:
            new.write_text(json.dumps(entries), "utf-8")
            new.replace(self._folder / NAME)
            self._written = entries
        except OSError as error:
            _log.warning("the queue cannot be remembered: %s", error)

    def stop(self) -> None:
        """Write the queue a last time, and let another window remember its own."""
        self._soon.stop()
        self.save()
        if self._lock is not None:
            with suppress(OSError):
                self._lock.close()
            self._lock = None


def unfinished_text(files: Sequence[Remembered]) -> str:
    """What happened to files, in one sentence."""
    if len(files) == 1:
        return translate("queue", "{name} was interrupted.").format(name=files[0].path.name)
    return translate("queue", "%Ln files were interrupted.", None, len(files))


def _write(item: QueueItem, view: ViewState) -> dict[str, Any]:
    results = item.results
    known = results is not None and (results.source >= 0 or not item.ended)
    database, source = (results.database, results.source) if known and results is not None else (None, -1)
    return _plain(Remembered(item.path, database, source, item.ended, item.part, view))


def _plain(entry: Remembered) -> dict[str, Any]:
    part, seen = (None if each is None else {"begin": each.begin, "end": each.end} for each in (entry.part, entry.view.part))
    return {
        "path": str(entry.path),
        "database": str(entry.database) if entry.database is not None else None,
        "source": entry.source,
        "ended": entry.ended,
        "part": part,
        "view": {"at": entry.view.at, "part": seen},
    }


def _read(entry: dict[str, Any]) -> Remembered:
    database, view = entry["database"], entry.get("view") or {}
    return Remembered(
        Path(entry["path"]),
        Path(database) if database is not None else None,
        int(entry["source"]),
        bool(entry["ended"]),
        _part(entry["part"]),
        ViewState(view.get("at"), _part(view.get("part"))),
    )


def _part(entry: dict[str, Any] | None) -> Part | None:
    return None if entry is None else Part(float(entry["begin"]), float(entry["end"]))
