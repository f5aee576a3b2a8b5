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
import struct
from collections import defaultdict
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Any, BinaryIO, NamedTuple, Self
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from framefleet.engine.notices import Notice

MAGIC = b"FFLTCRC1"
FOOTER = struct.Struct(">IIII8s")
HEADER = struct.Struct(">16xH6xII60xI")
"""Of an SQLite database: page size, number of changes, number of pages, number of changes when the pages were counted."""
_CHUNK_PAGES = 256
_MIN_PAGE = 512  # bytes
_STEP = 100  # frames that are tried at once when damage is located
_MAX_NAMED = 5  # sources
_MIN_ROW = 16  # bytes of a stored frame
_STEPS, _STEPS_PER_BYTE = 100_000, 4  # of a statement: no statement of ours takes more, see ``Connection.execute``


class DamagedError(Exception):
    """Pages of a session do not match their checksums. page_size: bytes. pages: their numbers, from 0; empty = unknown."""

    def __init__(self, page_size: int, pages: list[int]) -> None:
        super().__init__(f"{len(pages)} pages do not match their checksums")
        self.page_size, self.pages = page_size, pages


class Footer(NamedTuple):
    """The end of a file with checksums. pages: their number. page_size: bytes. changes: SQLite's count. crc: of the checksums."""

    pages: int
    page_size: int
    changes: int
    crc: int

    @classmethod
    def of(cls, stream: BinaryIO) -> Self | None:
        """The footer of a file, None if it has none."""
        end = stream.seek(0, os.SEEK_END)
        stream.seek(max(0, end - FOOTER.size))
        found = stream.read(FOOTER.size)
        *numbers, magic = FOOTER.unpack(found) if len(found) == FOOTER.size else (b"",)
        return cls(*numbers) if magic == MAGIC else None

    @property
    def database_size(self) -> int:
        """Bytes before the checksums."""
        return self.pages * self.page_size

    def damaged_pages(self, stream: BinaryIO) -> list[int] | None:
        """The pages that do not match their checksums; empty if the checksums are damaged. None: all match, or others changed the file."""
        _, changes, _, again = header(stream)
        if changes == again != self.changes:
            return None  # another program that changes a session counts that in both places; it leaves the checksums as they are
        sums = b""
        if stream.seek(0, os.SEEK_END) == self.database_size + 4 * self.pages + FOOTER.size:
            stream.seek(self.database_size)
            sums = stream.read(4 * self.pages)
        if not sums or crc32(sums) != self.crc:
            return []
        different = np.flatnonzero(sums_of(stream, self.pages, self.page_size) != np.frombuffer(sums, "<u4"))
        return different.tolist() or None


def damage_in(stream: BinaryIO) -> DamagedError | None:
    """What is damaged in a file, None if nothing is, as far as that can be seen."""
    if (footer := Footer.of(stream)) is not None:
        pages = footer.damaged_pages(stream)
        return None if pages is None else DamagedError(footer.page_size, pages)
    page_size, changes, count, again = header(stream)
    rest = stream.seek(0, os.SEEK_END) - page_size * count
    if changes != again or page_size < _MIN_PAGE or not 0 < rest <= 4 * count + FOOTER.size:
        return None
    # a process that was killed while it wrote the checksums leaves the first of them, and else nothing is there
    stream.seek(page_size * count)
    begun = stream.read(min(rest, 4 * count))
    return None if sums_of(stream, count, page_size).tobytes().startswith(begun) else DamagedError(page_size, [])


def header(stream: BinaryIO) -> tuple[int, int, int, int]:
    """The page size (bytes), the number of changes, of pages, and of changes when these were counted."""
    stream.seek(0)
    page_size, *counts = HEADER.unpack(stream.read(HEADER.size))
    return (65536 if page_size == 1 else page_size, *counts)


def sums_of(stream: BinaryIO, pages: int, page_size: int) -> NDArray[np.uint32]:
    """The checksums of the first pages of a file, uint32 (n,)."""
    stream.seek(0)
    sums = np.zeros(pages, "<u4")
    for first in range(0, pages, _CHUNK_PAGES):
        chunk = memoryview(stream.read(page_size * _CHUNK_PAGES))
        for page in range(first, min(first + _CHUNK_PAGES, pages)):
            start = (page - first) * page_size
            sums[page] = crc32(chunk[start : start + page_size])
    return sums


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
    _left = _most = 0

    def limit(self, size: int) -> None:
        """End statements that take more steps than any on a file of this size (bytes): its pages form a loop."""
        self._most = (_STEPS + _STEPS_PER_BYTE * size) // _STEPS
        self.set_progress_handler(self._count, _STEPS)

    def _count(self) -> bool:
        self._left -= 1
        return self._left < 0

    def execute(self, *arguments: Any) -> sqlite3.Cursor:
        """Run a statement, see ``limit``."""
        self._left = self._most
        return super().execute(*arguments)

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

    Raises
    ------
    DamagedError
        Pages do not match their checksums.
    OSError, sqlite3.Error
        The file cannot be opened.
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
        if mode == "ro":
            connection.limit(status.st_size)
        else:
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


def describe_damage(path: Path, damage: DamagedError) -> Notice:
    """The sources and frames whose results the damaged pages hold.

    A copy of the session in memory gets empty pages in their places. SQLite refuses to read these, which shows what they hold.
    """
    content = bytearray(path.read_bytes())
    if not damage.pages or 0 in damage.pages:
        return Notice("store.part_whole_file")
    size = damage.page_size
    for page in damage.pages:
        content[page * size : (page + 1) * size] = bytes(size)
    with closing(sqlite3.connect(":memory:")) as copy:
        copy.deserialize(bytes(content))
        try:
            sources = copy.execute("SELECT source, path, max(frames, decoded) FROM sources ORDER BY source LIMIT 10000").fetchall()
        except sqlite3.Error:
            return Notice("store.part_list_of_sources")
        most = len(content) // _MIN_ROW
        parts = [(os.fsdecode(name), [*_damaged_frames(copy, number, min(frames or 0, most))]) for number, name, frames in sources]
    found = tuple(Notice("store.frames_of", name=name, ranges=tuple(ranges)) for name, ranges in parts if ranges)
    if not found:
        return Notice("store.part_facts")
    if len(found) > _MAX_NAMED:
        return Notice("store.part_results_of_more", sources=found[:_MAX_NAMED], count=len(found) - _MAX_NAMED)
    return Notice("store.part_results_of", sources=found)


def _damaged_frames(copy: sqlite3.Connection, source: int, frames: int) -> Iterator[Notice]:
    """The frames of a source that cannot be read, as ranges. frames: their number."""
    begin: int | None = None
    for first in range(0, frames + _STEP, _STEP):
        readable = first >= frames or _is_readable(copy, source, first)
        if not readable and begin is None:
            begin = first
        if readable and begin is not None:
            yield Notice("store.frames_from_to", first=begin, last=min(first, frames) - 1)
            begin = None


def _is_readable(copy: sqlite3.Connection, source: int, first: int) -> bool:
    query = "SELECT * FROM {table} WHERE source = ? AND frame BETWEEN ? AND ?"
    try:
        for table in ("frames", "frame_tracks"):
            copy.execute(query.format(table=table), (source, first, first + _STEP - 1)).fetchall()
    except sqlite3.Error:
        return False
    return True
