"""Locks a session for the one process that writes it, until its export ends. Finds sessions whose run a crash or power failure ended."""

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from framefleet.engine.errors import ExportError
from framefleet.engine.processes.file_lock import FileLock, LockedError, held_here
from framefleet.engine.store.reading.reader import SessionReader
from framefleet.engine.store.schema import explained


def lock_session(path: Path) -> FileLock:
    """Lock the session at ``path`` until the lock is closed. Creates its folder if necessary.

    Raises ExportError if another process writes the session, or the folder cannot be written.
    """
    with explained(path, "write"):
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            return FileLock(_lock_of(path))
        except LockedError as error:
            raise ExportError(
                f"cannot write {path}: another run uses it, {error.holder}: wait until it has ended, or choose another folder"
            ) from error


def written_here(path: Path) -> bool:
    """Whether a run of this process has locked the session at ``path``."""
    return held_here(_lock_of(path))


def _lock_of(path: Path) -> Path:
    return path.with_name(f".{path.name}.lock")


NEWEST = 20
"""Number of sessions that are examined, the newest ones."""


@dataclass(frozen=True)
class Interrupted:
    """A run that did not end in order. sources: number of its sources. unfinished: files that are not finished."""

    database: Path
    sources: int
    unfinished: tuple[Path, ...]


def find_interrupted(folder: Path) -> list[Interrupted]:
    """Return the interrupted runs whose sessions are in ``folder``, newest first, without those that another process continues."""
    with suppress(OSError):
        sessions = sorted(folder.glob("*.sqlite"), key=lambda path: path.stat().st_mtime_ns, reverse=True)
        return [found for path in sessions[:NEWEST] if (found := _examine(path)) is not None]
    return []


def _examine(database: Path) -> Interrupted | None:
    try:
        with FileLock(_lock_of(database)), SessionReader(database) as reader:
            sources = reader.sources()
    except (ExportError, LockedError, OSError):
        return None
    unfinished = tuple(source.file for source in sources if not source.finished)
    return Interrupted(database, len(sources), unfinished) if unfinished else None
