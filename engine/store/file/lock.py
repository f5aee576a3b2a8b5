"""Locks a session for the one process that writes it, from its creation to the end of its export."""

from __future__ import annotations

from pathlib import Path

from engine.errors import ExportError
from engine.processes.file_lock import FileLock, LockedError, held_here
from engine.store.schema import explained


def lock_session(path: Path) -> FileLock:
    """Lock the session at ``path`` until the lock is closed. Creates its folder if necessary.

    Raises:
        ExportError: another process writes the session, or the folder cannot be written.
    """
    with explained(path, "create"):
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
