"""Puts finished files in their places without harming other files.

Sources and model files of the run, and everything that is not a regular file, are never replaced. Other files are replaced only if
Framefleet wrote them for the same purpose and they have not changed since.
"""

import errno
import filecmp
import os
import shutil
import stat
from collections.abc import Iterable, Iterator
from contextlib import suppress
from enum import Enum
from itertools import count
from pathlib import Path
from typing import Self

from framefleet.engine.errors import ExportError
from framefleet.engine.media.sources import is_picture
from framefleet.engine.notices import Notice
from framefleet.engine.store.export.outputs import Outputs, Purpose, identity_of
from framefleet.engine.store.reader import SessionReader
from framefleet.engine.store.sources import name_key
from framefleet.engine.types import Closing

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
        self._outputs.store()

    def existing(self, folder: Path, purpose: Purpose) -> Path | None:
        """Return the file that an earlier export wrote in ``folder`` with the same content, if it has not changed since."""
        found = self._outputs.unchanged(purpose.source, purpose.format)
        return next((path for path, other in found if other == purpose and path.parent == folder.absolute()), None)

    def _state(self, path: Path, made: Path, purpose: Purpose) -> _State:
        if not os.path.lexists(path):
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
        for older, other in list(self._outputs.unchanged(purpose.source, purpose.format)) if purpose.complete else ():
            if not other.complete and older.parent == path.absolute().parent:
                shutil.rmtree(older) if older.is_dir() else older.unlink()
                self._outputs.forget(older)


def names_for(stem: str, suffix: str, complete: bool, taken: frozenset[str] = frozenset()) -> Iterator[str]:
    """Yield names for a file: STEM, STEM-2, …; if it is incomplete, STEM, STEM.partial, STEM.partial-2, …, each with the suffix.

    taken: ``name_key`` of the names of the session's other files, which are left out from the second name on.
    """
    yield f"{stem}{suffix}"
    if not complete:
        stem = f"{stem}.partial"
        yield f"{stem}{suffix}"
    numbered = (f"{stem}-{number}{suffix}" for number in count(2))
    yield from (name for name in numbered if name_key(name) not in taken)


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
