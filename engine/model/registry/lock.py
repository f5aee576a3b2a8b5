"""Locks a model by a lock file, for one process at a time. The operating system releases the lock if the process crashes."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from engine.errors import DownloadError


@contextmanager
def locked(folder: Path, name: str) -> Iterator[None]:
    """Hold the lock of the model ``name`` in ``folder``, as a context manager. Creates the folder if necessary.

    Raises:
        DownloadError: another process holds the lock, or the folder cannot be written to.
    """
    path = folder / f".{name}.lock"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        file = path.open("ab")
    except OSError as error:
        raise DownloadError(f"{folder} cannot be written to: {error.strerror or error}") from error
    with file:
        if not _take(file):
            raise DownloadError(f"{name} is being downloaded already, by another window or command: wait until that has ended")
        yield  # closing the file releases the lock; deleting it would let a second process lock a new file


def _take(file: BinaryIO) -> bool:
    """Lock an open file without waiting. Returns whether this succeeded."""
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
