"""One process at a time: a lock that the operating system frees when its owner ends, however that happens."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from engine.errors import DownloadError


@contextmanager
def locked(folder: Path, name: str) -> Iterator[None]:
    """Hold the lock of the model ``name`` in ``folder``, which is made if need be.

    Raises:
        DownloadError: someone else holds it, or the folder cannot be written to.
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
        yield  # closing the file frees the lock; the file stays, for deleting it would let two owners in


def _take(file: BinaryIO) -> bool:
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
