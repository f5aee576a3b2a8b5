"""A lock file that admits one process at a time. The operating system frees it when its owner ends, even by a crash."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from engine.errors import DownloadError


@contextmanager
def locked(folder: Path, name: str) -> Iterator[None]:
    """Hold the lock of the model ``name`` in ``folder``. Creates the folder if necessary.

    Raises:
        DownloadError: another process holds it, or the folder cannot be written to.
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
        yield  # closing the file frees the lock; deleting the file would admit a second owner


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
