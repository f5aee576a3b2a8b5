"""The tables of a session database, and how a session is created, opened and checked.

A frame is one row with its detections as one packed array. Tracks and corrections lie beside it, by frame and by place in the frame, so the
model's results stay as they are. See ``docs/adr/0027-frames-as-arrays.md``.
"""

import errno
import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import cache
from pathlib import Path

import numpy as np

from framefleet.engine.notices import ExportError, Notice, UsageError
from framefleet.engine.processes.outcome import file_limit, lack_of_resources
from framefleet.engine.store.checksums import DamagedError, connect, describe_damage

APPLICATION_ID = 0x46464C54  # "FFLT": marks a session among SQLite databases
VERSION = 5
WAIT = 5.0  # seconds to wait for another connection's lock

BOX = np.dtype([("class_id", "<i4"), ("confidence", "<f4"), ("corners", "<f4", (4,))])
"""A detection in ``frames.boxes``. corners: x1, y1, x2, y2 in source pixels."""

TRACK = np.dtype("<i4")
"""A number in ``frame_tracks.tracks``: the track of the detection at the same place, -1 = none."""

BEHIND_GAP = -1
"""Number of a row of ``segments``: from its frame on frames are missing, because the run ended early."""

TABLES = (
    "CREATE TABLE session (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
    "CREATE TABLE labels (class_id INTEGER PRIMARY KEY, label TEXT NOT NULL)",
    """CREATE TABLE devices (
    number INTEGER PRIMARY KEY, device TEXT NOT NULL UNIQUE,
    name TEXT, backend TEXT, precision TEXT, reason TEXT, batch INTEGER, options TEXT
)""",
    """CREATE TABLE sources (
    source INTEGER PRIMARY KEY, path TEXT NOT NULL,
    kind TEXT, codec TEXT, width INTEGER, height INTEGER, frames INTEGER, duration REAL, rate REAL,
    finished INTEGER NOT NULL DEFAULT 0, cancelled INTEGER NOT NULL DEFAULT 0,
    decoded INTEGER NOT NULL DEFAULT 0, inferred INTEGER NOT NULL DEFAULT 0,
    dropped TEXT NOT NULL DEFAULT '{}', failed TEXT NOT NULL DEFAULT '{}', seconds REAL, error TEXT,
    size INTEGER, modified INTEGER, digest TEXT, decoder TEXT, started TEXT, skipped INTEGER NOT NULL DEFAULT 0, created TEXT, origin REAL
)""",
    """CREATE TABLE frames (
    source INTEGER NOT NULL, frame INTEGER NOT NULL, pts REAL NOT NULL, width INTEGER NOT NULL, height INTEGER NOT NULL,
    device INTEGER NOT NULL REFERENCES devices (number), name TEXT, failure TEXT, created TEXT, clock TEXT, boxes BLOB NOT NULL,
    PRIMARY KEY (source, frame)
)""",
    "CREATE INDEX frames_by_pts ON frames (source, pts)",
    # where the stored frames of each segment begin. start: as in ``Segment``. frame: index of the segment's first frame
    """CREATE TABLE segments (
    source INTEGER NOT NULL, segment INTEGER NOT NULL, start INTEGER, frame INTEGER NOT NULL, PRIMARY KEY (source, segment)
) WITHOUT ROWID""",
    # one row for each tracked object: its class, and the frames in which it was first and last seen
    """CREATE TABLE tracks (
    source INTEGER NOT NULL, track INTEGER NOT NULL, class_id INTEGER NOT NULL,
    first_frame INTEGER NOT NULL, last_frame INTEGER NOT NULL, detections INTEGER NOT NULL, PRIMARY KEY (source, track)
) WITHOUT ROWID""",
    # the tracks of a frame's detections; only frames in which a detection has a track
    """CREATE TABLE frame_tracks (
    source INTEGER NOT NULL, frame INTEGER NOT NULL, tracks BLOB NOT NULL, PRIMARY KEY (source, frame)
) WITHOUT ROWID""",
    # name and version of the tracker that tracked each source
    "CREATE TABLE trackers (source INTEGER PRIMARY KEY, tracker TEXT NOT NULL)",
    # what a person changed of the detection at a place in a frame; NULL = nothing
    """CREATE TABLE corrections (
    source INTEGER NOT NULL, frame INTEGER NOT NULL, place INTEGER NOT NULL,
    class_id INTEGER, track INTEGER, deleted INTEGER, verified INTEGER, PRIMARY KEY (source, frame, place)
) WITHOUT ROWID""",
    # what the user did, in order; the number of an undone edit is below 0
    "CREATE TABLE edits (edit INTEGER PRIMARY KEY, made TEXT NOT NULL, words TEXT NOT NULL)",
    # what ``corrections`` said before each edit, for undo, and what an undone edit makes of it, for redo
    """CREATE TABLE edited (
    edit INTEGER NOT NULL, source INTEGER NOT NULL, frame INTEGER NOT NULL, place INTEGER NOT NULL,
    class_id INTEGER, track INTEGER, deleted INTEGER, verified INTEGER, PRIMARY KEY (edit, source, frame, place)
) WITHOUT ROWID""",
    # the files that Framefleet wrote from sessions at this place, see ``engine.store.destinations``. The key comes first: otherwise,
    # the integrity check of SQLite 3.40 finds errors where there are none
    """CREATE TABLE outputs (
    path TEXT NOT NULL, size INTEGER NOT NULL, modified INTEGER NOT NULL,
    source TEXT NOT NULL, format TEXT NOT NULL, complete INTEGER NOT NULL, content TEXT NOT NULL, PRIMARY KEY (path, size, modified)
) WITHOUT ROWID""",
)
"""The statements that create a session. A file with other tables, views or triggers is refused."""

DRAWN = """CREATE TABLE drawn (
    edit INTEGER NOT NULL, source INTEGER NOT NULL, frame INTEGER NOT NULL, place INTEGER NOT NULL,
    x1 REAL, y1 REAL, x2 REAL, y2 REAL, PRIMARY KEY (edit, source, frame, place)
) WITHOUT ROWID"""
"""The boxes that a person drew or moved. A session has this table from the first of them on.

edit: 0: valid now. Another number: what was valid before this edit, as in ``edited``; NULL: nothing. A place behind those of the model's
detections is that of an added one.
"""

OF_SOURCE = ("sources", "frames", "segments", "tracks", "frame_tracks", "trackers", "corrections")
"""The tables that hold something of each source. Their first column is its number."""

COMPLETE = "finished AND NOT cancelled AND error IS NULL"
"""Whether a row of ``sources`` has all frames of its source, in SQL."""

ORIGIN = "coalesce(origin, (SELECT pts FROM frames f WHERE f.source = s.source AND frame = 0), 0)"
"""The pts (seconds) from which times of a row of ``sources s`` count, in SQL: that of the first frame."""

MAX_VALUE = 1 << 26
"""Bytes of the longest text or array that is read from a session. A frame with a million boxes has less."""


def exact(text: str) -> str | bytes:
    """Convert a file name to the form in which the database stores it: bytes if it is not valid text."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return os.fsencode(text)
    return text


def absolute(folder: str | bytes, path: str | bytes) -> str:
    """Return the absolute path of a source. folder: the folder that relative paths refer to. Both as the database stores them."""
    return os.path.normpath(Path(os.fsdecode(folder), os.fsdecode(path)))


def create(path: Path) -> sqlite3.Connection:
    """Create a session database, and its folder if necessary. The file must not exist, and does not if this fails."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    connection = connect(path, "rw", WAIT)
    try:
        # tables first, in one transaction, then the log: a process that dies in between leaves a valid session or an empty file
        marks = f"PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {VERSION}"
        connection.executescript(f"BEGIN; {'; '.join(TABLES)}; {marks}; COMMIT")
        prepare_writing(connection)
    except BaseException:
        connection.close()
        path.unlink(missing_ok=True)  # a full disk would leave an empty file
        raise
    return connection


def prepare_writing(connection: sqlite3.Connection) -> None:
    """Let readers read while this connection writes."""
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = NORMAL")


def open_existing(path: Path, mode: str) -> sqlite3.Connection:
    """Open an existing session database. mode: "ro" or "rw"; "rw" also accepts an empty database.

    Raises ExportError if the file is damaged or of another kind, holds tables, views or triggers that a session does not have, or has
    another format.
    """
    try:
        connection = connect(path, mode, WAIT)
    except DamagedError as error:
        raise ExportError(Notice("store.checksum_differs", path=path, what=describe_damage(path, error))) from error
    try:
        _check(path, connection, mode)
    except BaseException:
        connection.close()
        raise
    return connection


def _check(path: Path, connection: sqlite3.Connection, mode: str) -> None:
    """Refuse what is no session: a file may come from anybody."""
    connection.execute("PRAGMA trusted_schema = OFF")
    connection.execute("PRAGMA cell_size_check = ON")
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MAX_VALUE)
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if mode == "rw" and is_empty(connection):
        return
    if application != APPLICATION_ID:
        raise ExportError(Notice("store.no_session", path=path))
    if version != VERSION:
        code = "store.newer_format" if version > VERSION else "store.older_format"
        raise ExportError(Notice(code, path=path, format=version, known=VERSION))
    found = set(connection.execute("SELECT type, name, tbl_name, sql FROM sqlite_master LIMIT 1000"))
    for kind, name, *_ in sorted(found - _objects() - _objects((DRAWN,)), key=repr):
        raise ExportError(Notice("store.foreign_object", path=path, kind=str(kind)[:20], name=str(name)[:100]))
    for kind, name, *_ in sorted(_objects() - found, key=repr):
        raise ExportError(Notice("store.missing_object", path=path, kind=kind, name=name))


@cache
def _objects(tables: tuple[str, ...] = TABLES) -> frozenset[tuple[str, str, str, str | None]]:
    """Tables and their indices, as SQLite describes them."""
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript("; ".join(tables))
        return frozenset(connection.execute("SELECT type, name, tbl_name, sql FROM sqlite_master"))


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """Let the block change all that it changes or, after an error, nothing."""
    with connection:
        connection.execute("BEGIN IMMEDIATE")
        yield


def has_drawn(connection: sqlite3.Connection) -> bool:
    """Whether a session has the table ``DRAWN``."""
    return connection.execute("SELECT 1 FROM main.sqlite_master WHERE type = 'table' AND name = 'drawn'").fetchone() is not None


def forget_edits(connection: sqlite3.Connection, which: str) -> None:
    """Forget edits, so that they can be neither undone nor made again. What they changed stays. which: a condition on ``edit``, in SQL."""
    for table in ("edited", "edits", *["drawn"] * has_drawn(connection)):
        connection.execute(f"DELETE FROM {table} WHERE {which}")


def is_empty(connection: sqlite3.Connection) -> bool:
    """Whether the database has no tables: a process died while it created the file."""
    return connection.execute("SELECT 1 FROM main.sqlite_master").fetchone() is None


def _remedies() -> dict[str, Notice]:
    return {
        "SQLITE_FULL": Notice("store.disk_full"),
        "SQLITE_READONLY": Notice("store.read_only"),
        "SQLITE_CANTOPEN": Notice("store.not_writable"),
        "SQLITE_PERM": Notice("store.permission_denied"),
        "SQLITE_NOTADB": Notice("store.other_file"),
        "SQLITE_CORRUPT": Notice("store.damaged"),
        "SQLITE_TOOBIG": Notice("store.damaged"),
        "SQLITE_INTERRUPT": Notice("store.damaged"),
        "SQLITE_BUSY": Notice("store.in_use"),
        "SQLITE_IOERR": Notice("store.disk_failed"),
    }


def _cannot(action: str, path: Path, value: object) -> ExportError:
    match action:
        case "read":
            return ExportError(Notice("store.cannot_read", path=path, value=value))
        case "create":
            return ExportError(Notice("store.cannot_create", path=path, value=value))
        case "make":
            return ExportError(Notice("store.cannot_make", path=path, value=value))
    return ExportError(Notice("store.cannot_write", path=path, value=value))


@contextmanager
def explained(path: Path, action: str) -> Iterator[None]:
    """Convert errors of SQLite and of the file system to ExportError, with the file and the remedy.

    Programming errors (a frame stored twice, a closed connection) are not converted. action: "read", "write", "create" or "make".
    """
    try:
        yield
    except (sqlite3.OperationalError, sqlite3.DatabaseError) as error:
        name = getattr(error, "sqlite_errorname", None)
        if name is None and type(error) is sqlite3.OperationalError:
            name = "SQLITE_CORRUPT"  # Python's module cannot decode a text: no error of SQLite, which stores any bytes
        if name is None or isinstance(error, (sqlite3.IntegrityError, sqlite3.ProgrammingError)):
            raise
        kind = "_".join(name.split("_")[:2])  # SQLITE_IOERR_WRITE is an SQLITE_IOERR
        remedies = _remedies()
        if action == "read":
            remedies |= {"SQLITE_CANTOPEN": Notice("store.not_there"), "SQLITE_NOTADB": Notice("store.not_a_session")}
        if (limit := file_limit()) is not None:  # SQLite does not say which error of the system it met
            remedies |= {"SQLITE_FULL": limit, "SQLITE_IOERR": limit}
            if action == "read":
                remedies["SQLITE_READONLY"] = limit  # an unfinished change could not be undone
        raise _cannot(action, path, remedies.get(kind, str(error))) from error
    except OSError as error:
        remedy = lack_of_resources(error) or Notice("store.system_error", reason=error.strerror or str(error))
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            remedy = Notice("store.disk_full")
        elif error.errno in (errno.EEXIST, errno.ENOTDIR) and (
            file := next((each for each in (path, path.parent) if each.is_file()), None)
        ):
            remedy = Notice("store.is_a_file", file=file)
        raise _cannot(action, path, remedy) from error


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Convert the errors that a damaged session causes when its values are used to ExportError."""
    try:
        with explained(path, "read"):
            yield
    except (ValueError, TypeError, LookupError, ArithmeticError, RecursionError, MemoryError, UsageError) as error:
        raise _cannot("read", path, Notice("store.damaged")) from error


def wrong_value(path: Path, where: str, value: object) -> ExportError:
    """The error for a stored value that no run writes. where: the table, and the source and frame if known."""
    return ExportError(Notice("store.wrong_value", path=path, where=where, value=f"{value!r:.60}"))
