"""The files that Framefleet wrote from a session, as the session records them."""

import json
import os
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, suppress
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Self

from framefleet.engine.errors import ExportError
from framefleet.engine.media.sources import is_folder
from framefleet.engine.store import schema

Identity = tuple[int, int]
"""Size (bytes) and time of the last change (ns) of a file; of a folder, those of its entries together."""


@dataclass(frozen=True)
class Purpose:
    """The purpose of a file.

    source: absolute path of its source, "" for the whole session. format: its suffix. complete: whether it has all frames. content: a text
    that is equal only if the content is equal, "" if unknown.
    """

    source: str
    format: str
    complete: bool
    content: str = ""

    def same_file(self, other: Self) -> bool:
        """Whether a file for one purpose may replace one for the other."""
        return (self.source, self.format) == (other.source, other.format) and (self.complete or not other.complete)


STORE_SECONDS = 0.5
"""Time from one transaction to the next, since each takes several ms."""


JOURNAL = "journal"
"""Name of the file that keeps changes until they are stored. A killed process leaves it."""


class Outputs:
    """The recorded files of the session ``database``. Changes are stored every ``STORE_SECONDS`` and by ``store``.

    journal: the folder of the file in which changes survive the end of the process, None = they do not.
    A session that cannot be changed stays as it is: its new files count as unknown later.
    """

    def __init__(self, database: Path, journal: Path | None = None) -> None:
        self._database = database
        self._journal = None if journal is None else journal / JOURNAL
        self._changes: list[tuple[str, tuple[object, ...]]] = []
        self._due = 0.0
        self._known: dict[Path, dict[Identity, Purpose]] = {}
        self._paths: dict[tuple[str, str], dict[Path, None]] = {}
        """The files of each source and format, in their order. Without it, each new file would be compared with all others."""
        with schema.reading(database), closing(schema.open_existing(database, "ro")) as connection:
            rows = connection.execute("SELECT path, source, format, complete, content, size, modified FROM outputs")
            for path, source, form, complete, content, *identity in rows:
                whole = Path(os.path.normpath(database.absolute().parent / os.fsdecode(path)))
                self._remember(whole, (identity[0], identity[1]), Purpose(os.fsdecode(source), form, bool(complete), content))

    def purpose_of(self, path: Path) -> Purpose | None:
        """Return the purpose of a file that Framefleet wrote and that has not changed since. None for every other file."""
        return self._known.get(_whole(path), {}).get(identity_of(path))

    def unchanged(self, source: str, form: str) -> Iterator[tuple[Path, Purpose]]:
        """Yield the recorded files of a source and format that have not changed since."""
        for path in list(self._paths.get((source, form), ())):
            purpose = self.purpose_of(path)
            if purpose is not None and (purpose.source, purpose.format) == (source, form):
                yield path, purpose

    def _remember(self, whole: Path, identity: Identity, purpose: Purpose) -> None:
        self._known.setdefault(whole, {})[identity] = purpose
        self._paths.setdefault((purpose.source, purpose.format), {})[whole] = None

    def add(self, path: Path, purpose: Purpose, identity: Identity) -> None:
        """Record a file that is about to be written at ``path``."""
        self._remember(_whole(path), identity, purpose)
        if self._journal is not None:
            with self._journal.open("a", encoding="utf-8", errors="surrogateescape") as file:
                file.write(json.dumps([str(_whole(self._database)), str(_whole(path)), astuple(purpose), identity]) + "\n")
        row = (self._key(path), *identity, schema.exact(purpose.source), purpose.format, purpose.complete, purpose.content)
        self._change("INSERT OR REPLACE INTO outputs VALUES (?, ?, ?, ?, ?, ?, ?)", *row)

    def forget(self, path: Path, but: Identity | None = None) -> None:
        """Forget the files that were at ``path``, but not one with the identity ``but``."""
        known = self._known.pop(_whole(path), {})
        if but in known:
            self._known[_whole(path)] = {but: known[but]}
        if set(known) - {but}:
            self._change("DELETE FROM outputs WHERE path = ? AND NOT (size = ? AND modified = ?)", self._key(path), *(but or (-1, -1)))

    def _key(self, path: Path) -> str | bytes:
        """The text by which the session knows a file: relative to the session's folder if it is in there, so that both can be moved."""
        whole, folder = _whole(path), _whole(self._database).parent
        return schema.exact(os.fspath(whole.relative_to(folder) if whole.is_relative_to(folder) else whole))

    def _change(self, statement: str, *values: object) -> None:
        self._changes.append((statement, values))
        if time.monotonic() >= self._due:
            self.store()

    def store(self) -> None:
        """Store the changes that are not stored yet."""
        changes, self._changes = self._changes, []
        if not changes:
            return
        with (
            suppress(sqlite3.Error, ExportError),
            closing(schema.open_existing(self._database, "rw")) as connection,
            schema.transaction(connection),
        ):
            for statement, values in changes:
                connection.execute(statement, values)
        self._due = time.monotonic() + STORE_SECONDS


def recover(folder: Path) -> None:
    """Store the changes in the journal that a killed process left in ``folder``."""
    sessions: dict[str, Outputs] = {}
    with suppress(OSError, ValueError, TypeError, LookupError, ExportError):
        for line in (folder / JOURNAL).read_text("utf-8", errors="surrogateescape").splitlines():
            database, path, purpose, identity = json.loads(line)
            if database not in sessions:
                sessions[database] = Outputs(Path(database))
            sessions[database].add(Path(path), Purpose(*purpose), (identity[0], identity[1]))
    for outputs in sessions.values():
        outputs.store()


def identity_of(path: Path) -> Identity:
    """Return size and time of a file, or of the entries of a folder. (-1, -1): it cannot be read."""
    try:
        if not is_folder(path):
            status = path.lstat()
            return status.st_size, status.st_mtime_ns
        entries = [entry.lstat() for entry in path.rglob("*")]
    except OSError:
        return -1, -1
    return sum(entry.st_size for entry in entries), max((entry.st_mtime_ns for entry in entries), default=0)


def outputs_among(paths: Iterable[Path], sessions: Callable[[Path], Iterable[Path]]) -> set[Path]:
    """Return those files that Framefleet wrote and that have not changed since. sessions: may have recorded the file at a path."""
    known: dict[Path, Outputs | None] = {}
    found = set()
    for path in paths:
        for database in sessions(path):
            if database not in known:
                known[database] = None
                with suppress(ExportError, OSError):
                    known[database] = Outputs(database) if database.is_file() else None
            outputs = known[database]
            if outputs is not None and outputs.purpose_of(path) is not None:
                found.add(path)
    return found


def _whole(path: Path) -> Path:
    return Path(os.path.normpath(path.absolute()))
