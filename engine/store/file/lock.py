"""Locks a session for the one process that writes it, from its creation to the end of its export."""

from pathlib import Path

from engine.errors import ExportError
from engine.processes.file_lock import FileLock, LockedError
from engine.store.schema import explained


def lock_session(path: Path) -> FileLock:
    """Lock the session at ``path`` until the lock is closed. Creates its folder if necessary.

    Raises ExportError if another process writes the session, or the folder cannot be written.
    """
    with explained(path, "create"):
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            return FileLock(path.with_name(f".{path.name}.lock"))
        except LockedError as error:
            raise ExportError(
                f"cannot write {path}: another run uses it, {error.holder}: wait until it has ended, or choose another folder"
            ) from error
