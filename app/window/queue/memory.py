"""Remembers the queue on disk, so that it is there again at the next start, also after a crash."""

import json
import logging
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from itertools import count
from os.path import realpath
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

from PySide6.QtCore import QObject, QTimer, Signal

from framefleet.app.window.queue.item import Part, QueueItem, Results
from framefleet.app.window.queue.model import QueueModel
from framefleet.app.window.run.background import Background
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


NOT_SHOWN = ViewState()


@dataclass(frozen=True)
class Remembered:
    """A file of the queue.

    database, source: of its results or first frames, None and -1 without any. ended: whether its detection had ended. part: detection is
    limited to it.
    """

    path: Path
    database: Path | None = None
    source: int = -1
    ended: bool = False
    part: Part | None = None
    view: ViewState = NOT_SHOWN

    @property
    def begun(self) -> Results | None:
        """Where the first frames of an unfinished file are, None if the session is not there any more."""
        return Results(self.database, self.source) if self.database is not None and self.database.exists() else None


@dataclass(slots=True)
class _Entry:
    """A file of the queue as it is written. text: its entry in the file, made when it is written first."""

    item: QueueItem
    view: ViewState
    text: str = ""

    def line(self) -> str:
        """The entry in the file. Only one thread at a time calls this."""
        self.text = self.text or _line(_remembered(self.item, self.view))
        return self.text


class _Lines(NamedTuple):
    """What to write. number: counts up, because threads may write in another order than they were started."""

    number: int
    entries: list[_Entry]
    unfinished: Sequence[Remembered]


class _QueueFile:
    """Writes the queue's file, from any thread: the newest entries only, and only if they differ from the written ones."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._one_at_a_time = Lock()
        self._newest, self._digest, self._closed = -1, b"", False
        self.numbers = count()

    def write(self, lines: _Lines) -> None:
        """Write entries, from any thread."""
        with self._one_at_a_time:
            if self._closed or lines.number < self._newest:
                return
            text = ("[" + ",\n".join([*(entry.line() for entry in lines.entries), *map(_line, lines.unfinished)]) + "]").encode()
            digest = sha256(text).digest()
            if digest == self._digest:
                return
            new = self._folder / f".{NAME}.new"
            try:
                new.write_bytes(text)
                new.replace(self._folder / NAME)
                self._newest, self._digest = lines.number, digest
            except OSError as error:
                _log.warning("the queue cannot be remembered: %s", error)

    def close(self) -> None:
        """Write nothing any more: another window may write the file now."""
        with self._one_at_a_time:
            self._closed = True


class QueueMemory(QObject):
    """Writes the queue to a file in ``folder`` after each change, in a thread of ``background``.

    Attributes: unfinished: files of the last run that the user has not decided on. view_of: returns what was shown of a file. viewed: keys
    of the files that were shown in this run. taken: some of the unfinished files are in the queue again.

    Only one window of a folder remembers its queue: the one that has called ``start`` first.
    """

    taken = Signal()

    def __init__(self, items: QueueModel, folder: Path, background: Background, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._items, self._folder, self._background = items, folder, background
        self._lock: FileLock | None = None
        self._file = _QueueFile(folder)
        self._entries: dict[int, _Entry] = {}
        self._writing = False
        self.unfinished: tuple[Remembered, ...] = ()
        self._before: dict[tuple[Path, bool], ViewState] = {}  # by path, and whether detection has ended
        self.viewed = set[int]()
        self.view_of: Callable[[QueueItem], ViewState] = self.view_before
        self._soon = QTimer(self, singleShot=True, interval=SAVE_MS)
        self._soon.timeout.connect(self._save_in_background)
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
        self._before = {(entry.path, ended): entry.view for entry in remembered for ended in {entry.ended, True}}
        return remembered

    def view_before(self, item: QueueItem) -> ViewState:
        """What was shown of a file at the end of the last run. A finished file that is detected again begins at its start."""
        return self._before.get((item.path, item.ended), NOT_SHOWN)

    def save_soon(self) -> None:
        """Write the queue soon, because it has changed."""
        if self._lock is not None and not self._soon.isActive():
            self._soon.start(max(SAVE_MS, len(self._items)))  # megabytes of a long queue are written less often

    def decide(self) -> None:
        """Forget the unfinished files of the last run: they are in the queue again, or the user does not want them."""
        self.unfinished = ()
        self.save_soon()

    def take(self, places: Collection[str]) -> dict[str, Remembered]:
        """Return the unfinished whole files among these, and forget them: they come into the queue again.

        Parameters
        ----------
        places : collection of str
            Paths without links.

        Returns
        -------
        dict of str to Remembered
            By the path without links. Only the path of the last run finds the stored frames.
        """
        found = {place: entry for entry in self.unfinished if entry.part is None and (place := realpath(entry.path)) in places}
        if found:
            self.unfinished = tuple(entry for entry in self.unfinished if entry.part is not None or realpath(entry.path) not in found)
            self.taken.emit()
        return found

    def save(self) -> None:
        """Write the queue now, if it has changed since it was written."""
        if self._lock is not None:
            self._file.write(self._lines())

    def _save_in_background(self) -> None:
        if self._writing:  # to a slow folder
            self.save_soon()
        elif self._lock is not None:
            self._writing = True
            self._background.start(self, partial(self._file.write, self._lines()), self._written, self._written)

    def _written(self, _result: object) -> None:
        self._writing = False

    def _lines(self) -> _Lines:
        """What to write. Only changed files get new entries, so that ten thousand files take no time."""
        entries, before, viewed = dict[int, _Entry](), self._entries, self.viewed
        for item in self._items:
            key = item.key
            entry = before.get(key)
            if entry is None or entry.item is not item or (key in viewed and entry.view != self.view_of(item)):
                entry = _Entry(item, self.view_of(item))
            entries[key] = entry
        self._entries = entries
        return _Lines(next(self._file.numbers), list(entries.values()), self.unfinished)

    def stop(self) -> None:
        """Write the queue a last time, and let another window remember its own."""
        self._soon.stop()
        self.save()
        self._file.close()
        if self._lock is not None:
            with suppress(OSError):
                self._lock.close()
            self._lock = None


def unfinished_text(files: Sequence[Remembered]) -> str:
    """What happened to files, in one sentence."""
    if len(files) == 1:
        return translate("queue", "{name} was interrupted").format(name=files[0].path.name)
    return translate("queue", "%Ln files were interrupted", None, len(files))


def _remembered(item: QueueItem, view: ViewState) -> Remembered:
    """What is written of an item. A stream has no end: only its stored results are there again, because passwords are never written."""
    results = item.stored or item.results or item.begun
    known = results is not None and (results.source >= 0 or not item.ended) and (not item.live or item.progress.frames > 0)
    database, source = (results.database, results.source) if known and results is not None else (None, -1)
    return Remembered(item.path, database, source, item.ended or item.live, item.part, view)


def _line(entry: Remembered) -> str:
    part, seen = (None if each is None else {"begin": each.begin, "end": each.end} for each in (entry.part, entry.view.part))
    plain = {
        "path": str(entry.path),
        "database": str(entry.database) if entry.database is not None else None,
        "source": entry.source,
        "ended": entry.ended,
        "part": part,
        "view": {"at": entry.view.at, "part": seen},
    }
    return json.dumps(plain)


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
