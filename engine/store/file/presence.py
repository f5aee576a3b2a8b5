"""Notices that a session database was removed or moved while a run writes it, and saves its content."""

import sqlite3
from pathlib import Path

from framefleet.engine.store import schema


class Presence:
    """Whether a file is still the one that was at its path at first. The system lets a process write to a removed file without an error."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._first = self._identity()

    @property
    def lost(self) -> bool:
        """Whether the file was removed, moved or replaced."""
        return self._identity() != self._first

    @property
    def replaced(self) -> bool:
        """Whether another file is at the path now."""
        return self._identity() not in (None, self._first)

    def _identity(self) -> tuple[int, int] | None:
        try:
            status = self._path.stat()
        except OSError:
            return None
        return status.st_dev, status.st_ino


def save(connection: sqlite3.Connection, path: Path) -> tuple[sqlite3.Connection, Path]:
    """Write the content of a session whose file at ``path`` was removed to a new file there.

    If another file has taken the path, the new file is ``NAME.saved.sqlite``. Returns the connection to the new file, and its path.

    Raises ExportError if the file cannot be written.
    """
    target = path.with_name(f"{path.stem}.saved{path.suffix}") if path.exists() else path
    with schema.explained(target, "write"):
        target.parent.mkdir(parents=True, exist_ok=True)
        saved = sqlite3.connect(target, isolation_level=None, check_same_thread=False)
        try:
            connection.backup(saved)
        except BaseException:
            saved.close()
            raise
    connection.close()
    return saved, target
