"""Checksums of a session's pages, which SQLite does not have: without them, a flipped bit can change a stored number unnoticed.

They lie behind the database's pages, where SQLite does not look: the CRC-32 of each page, then a footer. ``Connection`` writes them when
this process closes its last connection to a session that it opened for writing. ``connect`` removes them when it opens a session for
writing. A session whose run is under way or was killed has none and is read unchecked. They show damage, not tampering.

When a process closes a file, POSIX systems drop all locks that the process holds on that file, SQLite's too. So this module keeps the
file open until the last connection to it is closed.
"""

import errno
import os
import sqlite3
from collections import defaultdict
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import BinaryIO
from zlib import crc32

from framefleet.engine.store.file.page_sums import FOOTER, HEADER, MAGIC, Footer, damage_in, header, sums_of


@dataclass
class _File:
    """What this process knows of a session's file. stream: open while there are connections. intact: size and times when it was checked.

    changed: whether this process has opened it for writing and has not added checksums yet.
    """

    lock: Lock = field(default_factory=Lock)
    connections: int = 0
    stream: BinaryIO | None = None
    intact: tuple[int, int, int] | None = None
    changed: bool = False

    def release(self) -> None:
        """Close the stream if there are no connections."""
        if not self.connections and self.stream is not None:
            self.stream.close()
            self.stream = None


_files: defaultdict[tuple[int, int], _File] = defaultdict(_File)


class Connection(sqlite3.Connection):
    """A connection to a session, made by ``connect``."""

    path: Path
    file: _File | None = None

    def close(self) -> None:
        """Close the connection; the last one to a changed session adds checksums. Repeated calls have no effect."""
        file, self.file = self.file, None
        if file is None:
            super().close()
            return
        with file.lock:
            file.connections -= 1
            super().close()
            if not file.connections and file.changed and file.stream is not None:
                file.changed = False
                with suppress(OSError, sqlite3.Error):  # removed, read-only or in use: it stays without checksums
                    _add_checksums(self.path, file.stream)
                    file.intact = _state(file.stream)
            file.release()


def connect(path: Path, mode: str, timeout: float) -> Connection:
    """Connect to a session after checking its pages. mode: "ro" or "rw". timeout: seconds to wait for another connection's lock.

    Raises:
        DamagedError: pages do not match their checksums.
        OSError, sqlite3.Error: the file cannot be opened.
    """
    path = path.absolute()
    try:
        status = path.stat()
    except OSError:
        return _open(path, mode, timeout)  # SQLite gives the error
    file = _files[status.st_dev, status.st_ino]
    if mode == "ro":
        _undo_unfinished(path, timeout)
    with file.lock:
        try:
            if file.stream is None:
                file.stream = path.open("rb", buffering=0)
            if not file.changed:
                _check(file, file.stream)
            connection = _open(path, mode, timeout)
            connection.path, connection.file = path, file
            file.connections += 1
        finally:
            file.release()
        if mode == "rw":
            try:
                _remove_checksums(connection, path, file.stream)
                file.changed = True
            except BaseException:
                file.connections -= 1
                connection.file = None
                connection.close()
                file.release()
                raise
    return connection


def _open(path: Path, mode: str, timeout: float) -> Connection:
    return Connection(f"{path.as_uri()}?mode={mode}", timeout, uri=True, isolation_level=None, check_same_thread=False)


def _undo_unfinished(path: Path, timeout: float) -> None:
    """Undo a change during which its process was killed. SQLite does that for connections that may write, and refuses all others."""
    if Path(f"{path.resolve()}-journal").exists():
        with suppress(sqlite3.Error), closing(_open(path, "rw", timeout)) as connection:
            connection.execute("PRAGMA schema_version")


def _check(file: _File, stream: BinaryIO) -> None:
    """Compare all pages with their checksums, unless the file has not changed since the last time. Raises DamagedError if pages differ."""
    before = _state(stream)
    if file.intact == before:
        return
    damaged = damage_in(stream) if before[0] >= HEADER.size else None
    if _state(stream) != before:
        return  # another process has begun to write the session
    if damaged is not None:
        raise damaged
    file.intact = before


def _state(stream: BinaryIO) -> tuple[int, int, int]:
    status = os.fstat(stream.fileno())
    return status.st_size, status.st_mtime_ns, status.st_ctime_ns


def _remove_checksums(connection: sqlite3.Connection, path: Path, stream: BinaryIO) -> None:
    """Remove the checksums of a session that this process is about to change."""
    if Footer.of(stream) is None:
        return
    connection.execute("BEGIN IMMEDIATE")  # keeps other processes from changing the file
    try:
        if (footer := Footer.of(stream)) is not None:
            os.truncate(path, footer.database_size)
    except OSError as error:
        if error.errno not in (errno.EROFS, errno.EACCES, errno.EPERM):  # it cannot be changed: SQLite refuses to, too
            raise
    finally:
        connection.execute("ROLLBACK")


def _add_checksums(path: Path, stream: BinaryIO) -> None:
    """Add checksums to a session behind its last page, unless another process uses it. stream: the file, if it is still at ``path``."""
    if not os.path.samestat(os.fstat(stream.fileno()), path.stat()):
        return
    with path.open("r+b", buffering=0) as target, closing(_open(path, "rw", 0)) as connection:
        connection.execute("PRAGMA journal_mode = DELETE")  # while a reader had the file open, its writer could not do that
        connection.execute("BEGIN IMMEDIATE")  # until the connection is closed, no other process changes the file
        size = path.stat().st_size
        page_size, changes, pages, again = header(target) if size >= HEADER.size else (0, 0, 0, 0)
        if changes != again or not 0 < pages * page_size <= size:
            return  # it has no tables, or is damaged
        sums = sums_of(target, pages, page_size).tobytes()
        target.truncate(pages * page_size)
        target.seek(0, os.SEEK_END)
        with suppress(OSError):
            whole = sums + FOOTER.pack(pages, page_size, changes, crc32(sums), MAGIC)
            if target.write(whole) == len(whole):
                return
        target.truncate(pages * page_size)  # the disk is full
