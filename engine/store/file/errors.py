"""Messages for errors of SQLite and the file system: what cannot be done with which session, and the remedy."""

import errno
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from framefleet.engine.errors import ExportError, UsageError

REMEDIES = {
    "SQLITE_FULL": "the disk is full: free some space or choose another folder",
    "SQLITE_READONLY": "it is read-only: choose another folder, or change the permissions",
    "SQLITE_CANTOPEN": "it cannot be opened: check that the folder exists and may be written, or choose another folder",
    "SQLITE_PERM": "permission denied: choose another folder, or change the permissions",
    "SQLITE_NOTADB": "it is not a session database: choose another name, or move the file away",
    "SQLITE_CORRUPT": "the file is damaged: move it away or delete it, and run the detection again",
    "SQLITE_BUSY": "another run or window is using it: choose another folder, or close that one",
    "SQLITE_IOERR": "the disk failed or is full: check the space left and the disk, or choose another folder",
}

REMEDIES_READING = REMEDIES | {
    "SQLITE_CANTOPEN": "it is not there, or cannot be opened: check the name and the permissions",
    "SQLITE_NOTADB": "it is not a session database: give the .sqlite file that a run has written",
}


@contextmanager
def explained(path: Path, action: str) -> Iterator[None]:
    """Convert errors of SQLite and of the file system to ExportError, with the file and the remedy.

    Programming errors (a frame stored twice, a closed connection) are not converted. action: a verb for the message, such as "read".
    """
    try:
        yield
    except (sqlite3.OperationalError, sqlite3.DatabaseError) as error:
        name = getattr(error, "sqlite_errorname", None)
        if name is None or isinstance(error, (sqlite3.IntegrityError, sqlite3.ProgrammingError)):
            raise
        kind = "_".join(name.split("_")[:2])  # SQLITE_IOERR_WRITE is an SQLITE_IOERR
        remedies = REMEDIES_READING if action == "read" else REMEDIES
        raise ExportError(f"cannot {action} {path}: {remedies.get(kind, error)}") from error
    except OSError as error:
        remedy = f"{error.strerror or error}: choose another folder, or change the permissions"
        if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            remedy = REMEDIES["SQLITE_FULL"]
        elif error.errno in (errno.EEXIST, errno.ENOTDIR) and (
            file := next((each for each in (path, path.parent) if each.is_file()), None)
        ):
            remedy = f"{file} is a file: choose another folder"
        raise ExportError(f"cannot {action} {path}: {remedy}") from error


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Convert the errors that a damaged session causes when its values are used to ExportError."""
    try:
        with explained(path, "read"):
            yield
    except (ValueError, TypeError, LookupError, ArithmeticError, UsageError) as error:
        raise ExportError(f"cannot read {path}: {REMEDIES['SQLITE_CORRUPT']}") from error
