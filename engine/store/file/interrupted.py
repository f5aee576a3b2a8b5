"""Finds the runs that a crash or a power failure interrupted."""

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from engine.errors import ExportError
from engine.processes.file_lock import FileLock, LockedError
from engine.store.reading.reader import SessionReader

NEWEST = 20
"""Number of sessions that are examined, the newest ones."""


@dataclass(frozen=True)
class Interrupted:
    """A run that did not end in order. sources: number of its sources. unfinished: files that are not finished."""

    database: Path
    sources: int
    unfinished: tuple[Path, ...]


def find_interrupted(folder: Path) -> list[Interrupted]:
    """Return the interrupted runs whose sessions are in ``folder``, newest first, without those that another process goes on with."""
    with suppress(OSError):
        sessions = sorted(folder.glob("*.sqlite"), key=lambda path: path.stat().st_mtime_ns, reverse=True)
        return [found for path in sessions[:NEWEST] if (found := _examine(path)) is not None]
    return []


def _examine(database: Path) -> Interrupted | None:
    try:
        with FileLock(database.with_name(f".{database.name}.lock")), SessionReader(database) as reader:
            sources = reader.sources()
    except (ExportError, LockedError, OSError):
        return None
    unfinished = tuple(source.file for source in sources if not source.finished)
    return Interrupted(database, len(sources), unfinished) if unfinished else None
