"""Locks a model for one process at a time."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from engine.errors import DownloadError
from engine.processes.file_lock import FileLock, LockedError


@contextmanager
def locked(folder: Path, name: str) -> Iterator[None]:
    """Hold the lock of the model ``name`` in ``folder``, as a context manager. Creates the folder if necessary.

    Raises DownloadError if another process holds the lock, or the folder cannot be written to.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = FileLock(folder / f".{name}.lock")
    except LockedError as error:
        raise DownloadError(f"{name} is being downloaded already, by {error.holder}: wait until that has ended") from error
    except OSError as error:
        raise DownloadError(f"{folder} cannot be written to: {error.strerror or error}") from error
    with lock:
        yield
