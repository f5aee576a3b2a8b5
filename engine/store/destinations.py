"""Puts finished files in their places without harming other files.

Sources and model files of the run, and everything that is no regular file, are never replaced. Other files are replaced only if Framefleet
wrote them for the same purpose and they have not changed since. The session records what was written.
"""

from __future__ import annotations

import errno
import filecmp
import os
import shutil
import sqlite3
import stat
from collections.abc import Callable, Iterable
from contextlib import closing, suppress
from dataclasses import dataclass
from enum import Enum
from itertools import chain
from pathlib import Path

from engine.errors import ExportError
from engine.media.sources import is_folder, is_picture
from engine.store import schema
from engine.store.reader import SessionReader

_NO_LINKS = {errno.EPERM, errno.EACCES, errno.EOPNOTSUPP, errno.ENOTSUP, errno.ENOSYS, errno.EMLINK, errno.EXDEV, errno.EISDIR}


@dataclass(frozen=True)
class Purpose:
    """What a file is for. source: absolute path of its source, "" for the whole session. format: its suffix. complete: whether it has all
    frames. content: a text that is equal only for equal content, "" if unknown.
    """

    source: str
    format: str
    complete: bool
    content: str = ""


class Protected:
    """The files that no output may replace: sources, files of the model, and the session itself."""

    def __init__(self, files: Iterable[Path]) -> None:
        self._files: set[tuple[int, int]] = set()
        self._folders: set[tuple[int, int]] = set()
        for path in files:
            with suppress(OSError):
                status = path.stat()
                (self._folders if stat.S_ISDIR(status.st_mode) else self._files).add((status.st_dev, status.st_ino))

    @classmethod
    def of(cls, reader: SessionReader) -> Protected:
        """Return what must be protected from the exports of a session."""
        model = [Path(reader.facts[name]) for name in ("cfg", "weights", "labels") if reader.facts.get(name)]
        return cls([*(source.file for source in reader.sources()), *model, *(path.with_suffix(".names") for path in model), reader.path])

    def why_not(self, path: Path) -> str | None:
        """Return why a file must not be written at ``path``, None if it may be. Follows links, also hard ones."""
        try:
            status = path.stat()
        except OSError:
            return None
        if stat.S_ISDIR(status.st_mode):
            return "it is a folder"
        if not stat.S_ISREG(status.st_mode):
            return "it is no regular file"
        if (status.st_dev, status.st_ino) in self._files:
            return "it is a source, a file of the model or the session itself"
        with suppress(OSError):
            folder = path.parent.stat()
            if is_picture(path) and (folder.st_dev, folder.st_ino) in self._folders:
                return "it is a picture of a source"
        return None

    def check(self, path: Path) -> None:
        """Raise ExportError if a file must not be written at ``path``."""
        if why := self.why_not(path):
            raise ExportError(f"{path} is not replaced, because {why}: choose another name")


class _State(Enum):
    FREE = 1
    REPLACEABLE = 2
    TAKEN = 3


class Destinations:
    """Chooses names for the files of a session, and puts the files there.

    database: the session, which records what is written. overwrite: also replace regular files that Framefleet did not write.
    """

    def __init__(self, database: Path, protected: Protected, overwrite: bool = False) -> None:
        self._database = database
        self._protected = protected
        self._overwrite = overwrite
        self._written: dict[str, dict[tuple[int, int], Purpose]] = {}
        for path, *purpose, size, modified in recorded(database):
            self._written.setdefault(path, {})[size, modified] = Purpose(*purpose)

    def place(self, made: Path, folder: Path, names: Iterable[str], purpose: Purpose) -> Path:
        """Rename a finished file or folder to the first of these names in ``folder`` that it may have. Returns its new path.

        Raises:
            OSError: it cannot be renamed.
        """
        for path in (folder / name for name in names):
            while (state := self._state(path, made, purpose)) is not _State.TAKEN:
                self._record(path, made, purpose)
                if state is _State.REPLACEABLE:
                    _replace(made, path)
                elif not _rename_new(made, path):
                    continue  # another program has just made a file there
                self._forget_older(path)
                self._delete_partial(path, purpose)
                return path
        raise AssertionError("names ends only after a free one")

    def existing(self, folder: Path, purpose: Purpose) -> Path | None:
        """Return the file that an earlier export wrote for the same purpose with the same content, if it has not changed since."""
        for name, versions in self._written.items():
            path = self._database.parent / name
            if path.parent == folder and purpose in versions.values() and versions.get(_identity(path)) == purpose:
                return path
        return None

    def _state(self, path: Path, made: Path, purpose: Purpose) -> _State:
        if not os.path.lexists(path):
            return _State.FREE
        recorded = self._written.get(self._key(path), {}).get(_identity(path))
        mine = recorded is not None and (recorded.source, recorded.format) == (purpose.source, purpose.format)
        if path.is_symlink() or path.is_dir() != made.is_dir():
            return _State.TAKEN
        if path.is_dir():
            return _State.REPLACEABLE if mine and (purpose.complete or not recorded.complete) else _State.TAKEN
        if self._protected.why_not(path) is not None:
            return _State.TAKEN
        if recorded is not None and mine:
            return _State.REPLACEABLE if purpose.complete or not recorded.complete else _State.TAKEN
        same = purpose.complete and filecmp.cmp(made, path, shallow=False)
        return _State.REPLACEABLE if same or (self._overwrite and purpose.complete) else _State.TAKEN

    def _key(self, path: Path) -> str:
        """The text by which the session knows a file: relative to the session's folder if it is in there."""
        folder = self._database.parent.absolute()
        whole = path.absolute()
        return os.fspath(whole.relative_to(folder) if whole.is_relative_to(folder) else whole)

    def _record(self, path: Path, made: Path, purpose: Purpose) -> None:
        """Record a file before it is put in its place, so that a crash leaves no unknown file."""
        key, identity = self._key(path), _identity(made)
        self._written.setdefault(key, {})[identity] = purpose
        row = (key, purpose.source, purpose.format, purpose.complete, purpose.content, *identity)
        self._execute("INSERT OR REPLACE INTO outputs VALUES (?, ?, ?, ?, ?, ?, ?)", *map(_storable, row))

    def _forget_older(self, path: Path) -> None:
        key, identity = self._key(path), _identity(path)
        self._written[key] = {identity: self._written[key].get(identity, Purpose("", "", False))}
        self._execute("DELETE FROM outputs WHERE path = ? AND NOT (size = ? AND modified = ?)", _storable(key), *identity)

    def _delete_partial(self, path: Path, purpose: Purpose) -> None:
        """Delete the results of an interrupted run that the complete ones at ``path`` replace."""
        for key, versions in list(self._written.items()):
            older = self._database.parent / key
            found = versions.get(_identity(older))
            same = found is not None and (found.source, found.format) == (purpose.source, purpose.format)
            if same and purpose.complete and found and not found.complete and older.parent == path.parent and older != path:
                shutil.rmtree(older) if older.is_dir() else older.unlink()
                del self._written[key]
                self._execute("DELETE FROM outputs WHERE path = ?", _storable(key))

    def _execute(self, statement: str, *values: object) -> None:
        with suppress(sqlite3.Error, ExportError):  # a session that cannot be changed: its files count as unknown ones later
            with closing(schema.open_existing(self._database, "rw")) as connection:
                connection.execute(statement, values)


def recorded(database: Path) -> list[tuple[str, str, str, bool, str, int, int]]:
    """Return the files that a session records as written: path, source, format, complete, content, size, modified."""
    with schema.explained(database, "read"), closing(schema.open_existing(database, "ro")) as connection:
        rows = connection.execute("SELECT path, source, format, complete, content, size, modified FROM outputs").fetchall()
    return [(os.fsdecode(path), os.fsdecode(source), form, bool(done), *rest) for path, source, form, done, *rest in rows]


def outputs_among(paths: Iterable[Path], databases: Callable[[Path], Iterable[Path]]) -> set[Path]:
    """Return those of these files that Framefleet wrote and that have not changed since.

    databases: returns the sessions that may have recorded a file.
    """
    known: dict[Path, set[tuple[str, int, int]]] = {}
    found = set()
    for path in paths:
        for database in databases(path):
            if database not in known:
                known[database] = set()
                with suppress(ExportError):
                    rows = recorded(database) if database.is_file() else []
                    known[database] = {(os.path.realpath(database.parent / row[0]), *row[-2:]) for row in rows}
            if (os.path.realpath(path), *_identity(path)) in known[database]:
                found.add(path)
    return found


def _storable(value: object) -> object:
    return schema.exact(value) if isinstance(value, str) else value


def _identity(path: Path) -> tuple[int, int]:
    """Size and time (ns) of a file; of a folder, of its entries together. (-1, -1): it cannot be read."""
    try:
        if not is_folder(path):
            status = path.lstat()
            return status.st_size, status.st_mtime_ns
        entries = [entry.lstat() for entry in path.rglob("*")]
        return sum(entry.st_size for entry in entries), max((entry.st_mtime_ns for entry in entries), default=0)
    except OSError:
        return -1, -1


def _replace(made: Path, path: Path) -> None:
    if path.is_dir():
        old = made.with_name(f"{made.name}.old")
        path.rename(old)
        made.rename(path)
        shutil.rmtree(old)
    else:
        made.replace(path)


def _rename_new(made: Path, path: Path) -> bool:
    """Rename a file or folder, unless there is a file at ``path`` by now. Returns whether it was renamed."""
    try:
        if made.is_dir() or os.name == "nt":
            made.rename(path)  # fails if there is a file or a folder that is not empty; on Windows, if there is anything
        else:
            os.link(made, path)
            made.unlink()
    except FileExistsError:
        return False
    except OSError as error:
        if error.errno in (errno.ENOTEMPTY, errno.ENOTDIR):
            return False
        if error.errno not in _NO_LINKS or os.path.lexists(path):
            raise
        made.rename(path)  # a file system without hard links
    return True


def names_for(stem: str, suffix: str, complete: bool, taken: frozenset[str] = frozenset()) -> Iterable[str]:
    """Yield names for a file: STEM, STEM-2, …; if it is incomplete STEM, STEM.partial, STEM.partial-2, …, each with the suffix.

    taken: names in lower case (``casefold``) that other files of the session have, so that only the first name may be among them.
    """
    base = stem if complete else f"{stem}.partial"
    first = [f"{stem}{suffix}"] if complete else [f"{stem}{suffix}", f"{base}{suffix}"]
    more = (f"{base}-{number}{suffix}" for number in range(2, 1_000_000))
    return chain(first, (name for name in more if name.casefold() not in taken))
