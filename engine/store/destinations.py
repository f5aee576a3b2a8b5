"""Puts finished files in their places without harming other files.

Sources and model files of the run, and everything that is not a regular file, are never replaced. Other files are replaced only if
Framefleet wrote them for the same purpose and they have not changed since.
"""

import errno
import filecmp
import json
import os
import shutil
import sqlite3
import stat
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from enum import Enum
from itertools import count
from pathlib import Path
from typing import Self, TextIO

from framefleet.engine.media.sources import is_folder, is_picture
from framefleet.engine.notices import ExportError, Notice
from framefleet.engine.store import schema, sources
from framefleet.engine.store.session import SessionReader
from framefleet.engine.types import Closing

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
        self._folder = _folder_of(database)
        self._journal = None if journal is None else journal / JOURNAL
        self._journal_file: TextIO | None = None
        self._changes: list[tuple[str, tuple[object, ...]]] = []
        self._due = 0.0
        self._known: dict[str, dict[Identity, Purpose]] = {}
        self._paths: dict[tuple[str, str], dict[str, None]] = {}
        """The files of each source and format, in their order. Without it, each new file would be compared with all others."""
        with schema.reading(database), closing(schema.open_existing(database, "ro")) as connection:
            rows = connection.execute("SELECT path, source, format, complete, content, size, modified FROM outputs")
            for path, source, form, complete, content, *identity in rows:
                whole = os.path.normpath(os.path.join(self._folder, os.fsdecode(path)))  # noqa: PTH118
                self._remember(whole, (identity[0], identity[1]), Purpose(os.fsdecode(source), form, bool(complete), content))

    def purpose_of(self, path: Path) -> Purpose | None:
        """Return the purpose of a file that Framefleet wrote and that has not changed since. None for every other file."""
        known = self._known.get(_whole(path))
        return None if known is None else known.get(identity_of(path))

    def unchanged(self, source: str, form: str, wanted: Callable[[Purpose], bool]) -> Iterator[Path]:
        """Yield the recorded files of a source and format that have not changed since, and whose purpose is wanted."""
        for whole in list(self._paths.get((source, form), ())):
            known = self._known.get(whole, {})
            if any((each.source, each.format) == (source, form) and wanted(each) for each in known.values()):
                purpose = known.get(identity_of(path := Path(whole)))
                if purpose is not None and (purpose.source, purpose.format) == (source, form) and wanted(purpose):
                    yield path

    def _remember(self, whole: str, identity: Identity, purpose: Purpose) -> None:
        self._known.setdefault(whole, {})[identity] = purpose
        self._paths.setdefault((purpose.source, purpose.format), {})[whole] = None

    def add(self, path: Path, purpose: Purpose, identity: Identity) -> None:
        """Record a file that is about to be written at ``path``."""
        whole = _whole(path)
        self._remember(whole, identity, purpose)
        if self._journal is not None:
            if self._journal_file is None:
                self._journal_file = self._journal.open("a", encoding="utf-8", errors="surrogateescape")
            wanted = purpose.source, purpose.format, purpose.complete, purpose.content
            self._journal_file.write(json.dumps([_whole(self._database), whole, wanted, identity]) + "\n")
            self._journal_file.flush()  # what the system has survives the end of this process
        self._change(_INSERT, *_row(self._folder, whole, identity, purpose))

    def forget(self, path: Path, but: Identity | None = None) -> None:
        """Forget the files that were at ``path``, but not one with the identity ``but``."""
        whole = _whole(path)
        known = self._known.pop(whole, {})
        if but in known:
            self._known[whole] = {but: known[but]}
        if known.keys() - {but}:
            key = _key(self._folder, whole)
            self._change("DELETE FROM outputs WHERE path = ? AND NOT (size = ? AND modified = ?)", key, *(but or (-1, -1)))

    def _change(self, statement: str, *values: object) -> None:
        self._changes.append((statement, values))
        if time.monotonic() >= self._due:
            self.store()

    def store(self) -> None:
        """Store the changes that are not stored yet."""
        changes, self._changes = self._changes, []
        if not changes:
            return
        _execute(self._database, changes)
        self._due = time.monotonic() + STORE_SECONDS

    def close(self) -> None:
        """Store the changes, and close the journal."""
        self.store()
        if self._journal_file is not None:
            self._journal_file.close()
            self._journal_file = None


_INSERT = "INSERT OR REPLACE INTO outputs VALUES (?, ?, ?, ?, ?, ?, ?)"


def _row(folder: str, whole: str, identity: Identity, purpose: Purpose) -> tuple[object, ...]:
    """The row of a recorded file. folder: of the session, see ``_key``."""
    return _key(folder, whole), *identity, schema.exact(purpose.source), purpose.format, purpose.complete, purpose.content


def _key(folder: str, whole: str) -> str | bytes:
    """The text by which the session knows a file: relative to the session's folder if it is in there, so that both can be moved."""
    return schema.exact(whole.removeprefix(folder))


def _folder_of(database: Path) -> str:
    return os.path.join(os.path.dirname(_whole(database)), "")  # noqa: PTH118, PTH120


def _execute(database: Path, changes: Iterable[tuple[str, tuple[object, ...]]]) -> None:
    """Change a session. One that cannot be changed stays as it is."""
    with (
        suppress(sqlite3.Error, ExportError),
        closing(schema.open_existing(database, "rw")) as connection,
        schema.transaction(connection),
    ):
        for statement, values in changes:
            connection.execute(statement, values)


def record(database: Path, path: Path, purpose: Purpose) -> None:
    """Record a file that Framefleet wrote. It takes no more time and memory where many are recorded already."""
    _execute(database, [(_INSERT, _row(_folder_of(database), _whole(path), identity_of(path), purpose))])


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
        status = path.lstat()
        if not (stat.S_ISDIR(status.st_mode) or (stat.S_ISLNK(status.st_mode) and is_folder(path))):
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


def _whole(path: Path) -> str:
    return os.path.abspath(path)  # noqa: PTH100 (paths as text: an export of many files compares them many times)


_NO_LINKS = {errno.EPERM, errno.EACCES, errno.EOPNOTSUPP, errno.ENOTSUP, errno.ENOSYS, errno.EMLINK}
"""Errors of file systems without hard links."""


class Protected:
    """The files that no output may replace. files: sources, and files of the model; of folders, the pictures in them."""

    def __init__(self, files: Iterable[Path]) -> None:
        self._files: set[tuple[int, int]] = set()
        self._folders: set[tuple[int, int]] = set()
        for path in files:
            with suppress(OSError):
                status = path.stat()
                (self._folders if stat.S_ISDIR(status.st_mode) else self._files).add((status.st_dev, status.st_ino))

    @classmethod
    def of(cls, reader: SessionReader) -> Self:
        """Return what the exports of a session must not replace."""
        model = [Path(reader.facts[name]) for name in ("cfg", "weights") if reader.facts.get(name)]
        return cls([*(source.file for source in reader.sources()), *model, *(path.with_suffix(".names") for path in model), reader.path])

    def why_not(self, path: Path) -> Notice | None:
        """Return why no file may be written at ``path``, None if one may be written. Follows links, also hard ones."""
        try:
            status = path.stat()
        except OSError:
            return None
        if not stat.S_ISREG(status.st_mode):
            return Notice("store.is_a_folder" if stat.S_ISDIR(status.st_mode) else "store.no_regular_file")
        if (status.st_dev, status.st_ino) in self._files:
            return Notice("store.is_an_input")
        with suppress(OSError):
            folder = path.parent.stat()
            if is_picture(path) and (folder.st_dev, folder.st_ino) in self._folders:
                return Notice("store.is_a_picture_of_a_source")
        return None


class _State(Enum):
    FREE = 1
    REPLACEABLE = 2
    TAKEN = 3


class Destinations(Closing):
    """Chooses names for the files of a session, and puts the files there.

    database: the session, which records what is written. overwrite: also replace regular files that Framefleet did not write.
    journal: see ``Outputs``.
    """

    def __init__(self, database: Path, protected: Protected, overwrite: bool = False, journal: Path | None = None) -> None:
        self._outputs = Outputs(database, journal)
        self._protected = protected
        self._overwrite = overwrite

    def place(self, made: Path, folder: Path, names: Iterable[str], purpose: Purpose) -> Path:
        """Rename a finished file or folder to the first of these names in ``folder`` that is free or may be replaced. Returns its path.

        Raises OSError if it cannot be renamed.
        """
        identity = identity_of(made)
        for path in (folder / name for name in names):
            while (state := self._state(path, made, purpose)) is not _State.TAKEN:
                self._outputs.add(path, purpose, identity)  # before the renaming, so that a crash leaves no unknown file
                if state is _State.FREE and not _rename_new(made, path):
                    continue  # another program has just written there
                if state is _State.REPLACEABLE:
                    _replace(made, path)
                self._outputs.forget(path, but=identity)
                self._delete_partial(path, purpose)
                return path
        raise ExportError(Notice("store.no_free_name", name=made.name, folder=folder))

    def close(self) -> None:
        """Store what was written in the session."""
        self._outputs.close()

    def existing(self, folder: Path, purpose: Purpose) -> Path | None:
        """Return the file that an earlier export wrote in ``folder`` with the same content, if it has not changed since."""
        found = self._outputs.unchanged(purpose.source, purpose.format, purpose.__eq__)
        return next((path for path in found if path.parent == folder.absolute()), None)

    def _state(self, path: Path, made: Path, purpose: Purpose) -> _State:
        if not os.path.lexists(path):  # the usual case comes first
            return _State.FREE
        if path.is_symlink() or path.is_dir() != made.is_dir() or (not path.is_dir() and self._protected.why_not(path) is not None):
            return _State.TAKEN
        recorded = self._outputs.purpose_of(path)
        if recorded is not None and purpose.same_file(recorded):
            return _State.REPLACEABLE
        if path.is_dir() or not purpose.complete:
            return _State.TAKEN
        return _State.REPLACEABLE if self._overwrite or filecmp.cmp(made, path, shallow=False) else _State.TAKEN

    def _delete_partial(self, path: Path, purpose: Purpose) -> None:
        """Delete the file of an interrupted run that the complete one at ``path`` replaces."""
        if not purpose.complete:
            return
        for older in list(self._outputs.unchanged(purpose.source, purpose.format, lambda other: not other.complete)):
            if older.parent == path.absolute().parent:
                shutil.rmtree(older) if older.is_dir() else older.unlink()
                self._outputs.forget(older)


def names_for(stem: str, suffix: str, complete: bool, taken: frozenset[str] = frozenset(), first: int = 1) -> Iterator[str]:
    """Yield names for a file: STEM, STEM-2, …; if it is incomplete, STEM, STEM.partial, STEM.partial-2, …, each with the suffix.

    taken: ``name_key`` of the names of the session's other files, which are left out from the second name on. first: the first number.
    """
    if first > 1:
        stem = f"{stem}-{first}"
    yield f"{stem}{suffix}"
    if not complete:
        stem = f"{stem}.partial"
        yield f"{stem}{suffix}"
    numbered = (f"{stem}-{number}{suffix}" for number in count(2))
    yield from (name for name in numbered if sources.name_key(name) not in taken)


def _replace(made: Path, path: Path) -> None:
    if path.is_dir():
        old = made.with_name(f"{made.name}.old")
        path.rename(old)
        made.rename(path)
        shutil.rmtree(old)
    else:
        made.replace(path)


def _rename_new(made: Path, path: Path) -> bool:
    """Rename a file or folder, unless something is at ``path`` by now. Returns whether it was renamed."""
    try:
        if made.is_dir() or os.name == "nt":
            made.rename(path)  # fails if there is a file, or a folder with entries; on Windows, if there is anything
        else:
            os.link(made, path)
            made.unlink()
    except FileExistsError:
        return False
    except OSError as error:
        if error.errno in (errno.ENOTEMPTY, errno.ENOTDIR):
            return False
        if error.errno not in _NO_LINKS or made.is_dir():
            raise
        if os.path.lexists(path):
            return False
        made.rename(path)
    return True
