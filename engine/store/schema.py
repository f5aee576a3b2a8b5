"""Creates and opens session databases: the tables, and the upgrade of older files.

Frames and detections are stored in the order of their primary keys (WITHOUT ROWID), so that reading consecutive frames and their boxes
is sequential.
"""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from framefleet.engine.errors import ExportError
from framefleet.engine.store.file.checksums import connect
from framefleet.engine.store.file.damage import describe_damage
from framefleet.engine.store.file.errors import REMEDIES
from framefleet.engine.store.file.errors import explained as explained
from framefleet.engine.store.file.errors import reading as reading
from framefleet.engine.store.file.page_sums import DamagedError

APPLICATION_ID = 0x46464C54  # "FFLT": marks a session among SQLite databases
VERSION = 4
WAIT = 5.0  # seconds to wait for another connection's lock

SEGMENTS = """
CREATE TABLE segments (
    source INTEGER NOT NULL, segment INTEGER NOT NULL, start INTEGER, frame INTEGER NOT NULL, PRIMARY KEY (source, segment)
) WITHOUT ROWID;
"""
"""Where the stored frames of each segment begin. start: as in ``Segment``. frame: index of the segment's first frame.

The row with the segment ``BEHIND_GAP`` says from which frame on frames are missing, because the run ended early.
"""

BEHIND_GAP = -1

OUTPUTS = """
CREATE TABLE outputs (
    path TEXT NOT NULL, size INTEGER NOT NULL, modified INTEGER NOT NULL,
    source TEXT NOT NULL, format TEXT NOT NULL, complete INTEGER NOT NULL, content TEXT NOT NULL, PRIMARY KEY (path, size, modified)
) WITHOUT ROWID;
"""
"""The files that Framefleet wrote from sessions at this place: see ``engine.store.export.outputs``.

The key comes first: otherwise, the integrity check of SQLite 3.40 finds errors where there are none.
"""

TRACKS = """
CREATE TABLE tracks (
    source INTEGER NOT NULL, track INTEGER NOT NULL, class_id INTEGER NOT NULL,
    first_frame INTEGER NOT NULL, last_frame INTEGER NOT NULL, detections INTEGER NOT NULL, PRIMARY KEY (source, track)
) WITHOUT ROWID;
"""
"""One row for each tracked object: its class, and the frames in which it was first and last seen."""

TABLES = f"""
CREATE TABLE session (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE labels (class_id INTEGER PRIMARY KEY, label TEXT NOT NULL);
CREATE TABLE devices (
    number INTEGER PRIMARY KEY, device TEXT NOT NULL UNIQUE,
    name TEXT, backend TEXT, precision TEXT, reason TEXT, batch INTEGER
);
CREATE TABLE sources (
    source INTEGER PRIMARY KEY, path TEXT NOT NULL,
    kind TEXT, codec TEXT, width INTEGER, height INTEGER, frames INTEGER, duration REAL, rate REAL,
    finished INTEGER NOT NULL DEFAULT 0, cancelled INTEGER NOT NULL DEFAULT 0,
    decoded INTEGER NOT NULL DEFAULT 0, inferred INTEGER NOT NULL DEFAULT 0,
    dropped TEXT NOT NULL DEFAULT '{{}}', failed TEXT NOT NULL DEFAULT '{{}}', seconds REAL, error TEXT,
    size INTEGER, modified INTEGER, digest TEXT, decoder TEXT, started TEXT, skipped INTEGER NOT NULL DEFAULT 0, created TEXT, origin REAL
);
CREATE TABLE frames (
    source INTEGER NOT NULL, frame INTEGER NOT NULL, pts REAL NOT NULL, width INTEGER NOT NULL, height INTEGER NOT NULL,
    device INTEGER NOT NULL REFERENCES devices (number), name TEXT, failure TEXT, created TEXT, clock TEXT,
    PRIMARY KEY (source, frame)
) WITHOUT ROWID;
CREATE INDEX frames_by_pts ON frames (source, pts);
CREATE TABLE detections (
    source INTEGER NOT NULL, frame INTEGER NOT NULL, ordinal INTEGER NOT NULL, class_id INTEGER NOT NULL,
    confidence REAL NOT NULL, x1 REAL NOT NULL, y1 REAL NOT NULL, x2 REAL NOT NULL, y2 REAL NOT NULL, track INTEGER,
    PRIMARY KEY (source, frame, ordinal)
) WITHOUT ROWID;
{SEGMENTS}
{OUTPUTS}
{TRACKS}
"""

COMPLETE = "finished AND NOT cancelled AND error IS NULL"
"""Whether a row of ``sources`` has all frames of its source, in SQL."""

ORIGIN = "coalesce(origin, (SELECT pts FROM frames f WHERE f.source = s.source AND frame = 0), 0)"
"""The pts (seconds) from which times of a row of ``sources s`` count, in SQL: that of the first frame."""

ADDED_COLUMNS = {
    "sources": (
        ("size", "INTEGER", "NULL"),
        ("modified", "INTEGER", "NULL"),
        ("digest", "TEXT", "NULL"),
        ("decoder", "TEXT", "NULL"),
        ("started", "TEXT", "NULL"),
        ("skipped", "INTEGER NOT NULL", "0"),
        ("created", "TEXT", "NULL"),
        ("origin", "REAL", "NULL"),
    ),
    "frames": (("created", "TEXT", "NULL"), ("clock", "TEXT", "NULL")),
    "detections": (("track", "INTEGER", "NULL"),),
}
"""Columns that files of older versions lack: by table, each with its name, type and default."""

ADDED_TABLES = {"segments": SEGMENTS, "outputs": OUTPUTS, "tracks": TRACKS}
"""Tables that files of older versions lack."""


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
    """Create a session database, and its folder if necessary. The file must not exist."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    connection = connect(path, "rw", WAIT)
    try:
        # tables first, in one transaction, then the log: a process that dies in between leaves a valid session or an empty file
        connection.executescript(f"BEGIN; {TABLES} PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {VERSION}; COMMIT")
        prepare_writing(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def prepare_writing(connection: sqlite3.Connection) -> None:
    """Let readers read while this connection writes."""
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = NORMAL")


def open_existing(path: Path, mode: str) -> sqlite3.Connection:
    """Open an existing session database. mode: "ro" or "rw"; "rw" also accepts an empty database.

    A file of an older format is upgraded if mode is "rw". Otherwise, temporary views give its tables the columns of this format.

    Raises ExportError if the file is damaged or of another kind, or a newer Framefleet wrote it.
    """
    try:
        connection = connect(path, mode, WAIT)
    except DamagedError as error:
        what = f"a checksum does not match in {describe_damage(path, error)}"
        raise ExportError(f"cannot open {path}: {what}. {REMEDIES['SQLITE_CORRUPT'].capitalize()}") from error
    try:
        (application,) = connection.execute("PRAGMA application_id").fetchone()
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        empty = mode == "rw" and is_empty(connection)
        if application != APPLICATION_ID and not empty:
            raise ExportError(f"cannot open {path}: {REMEDIES['SQLITE_NOTADB']}")
        if version > VERSION:
            raise ExportError(
                f"cannot open {path}: a newer Framefleet wrote it (format {version}, this one reads {VERSION}): update Framefleet"
            )
        if version < VERSION and not empty:
            _upgrade(connection) if mode == "rw" else _view_as_current(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def _upgrade(connection: sqlite3.Connection) -> None:
    """Change a file of an older version to this version."""
    with transaction(connection):
        if connection.execute("PRAGMA user_version").fetchone() == (VERSION,):
            return  # another process has upgraded it meanwhile
        for table, columns in _missing_columns(connection):
            for name, kind, default in columns:
                connection.execute(f"ALTER TABLE {table} ADD COLUMN {name} {kind} DEFAULT {default}")
        for statement in (*_missing_tables(connection), f"PRAGMA user_version = {VERSION}"):
            connection.execute(statement)


def _view_as_current(connection: sqlite3.Connection) -> None:
    """Let queries see a file of an older version as one of this version, without changing it."""
    connection.execute("PRAGMA temp_store = MEMORY")
    for table, _ in _missing_columns(connection):
        connection.execute(f"CREATE TEMP VIEW {table} AS SELECT {current_columns(connection, table)} FROM main.{table} t")
    for statement in _missing_tables(connection):
        connection.execute(statement.replace("CREATE TABLE", "CREATE TEMP TABLE"))


def current_columns(connection: sqlite3.Connection, table: str) -> str:
    """Return the columns of a table ``t`` for SELECT: those that the file has, and those of this version that it lacks."""
    missing = dict(_missing_columns(connection)).get(table, [])
    return ", ".join(("t.*", *(f"{default} AS {name}" for name, _, default in missing)))


def _missing_columns(connection: sqlite3.Connection) -> list[tuple[str, list[tuple[str, str, str]]]]:
    missing = []
    for table, columns in ADDED_COLUMNS.items():
        there = {name for _, name, *_ in connection.execute(f"PRAGMA main.table_info({table})")}
        missing.append((table, [column for column in columns if column[0] not in there]))
    return [(table, columns) for table, columns in missing if columns]


def _missing_tables(connection: sqlite3.Connection) -> list[str]:
    return [statement for name, statement in ADDED_TABLES.items() if not has_table(connection, name)]


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """Let the block change all that it changes or, after an error, nothing."""
    with connection:
        connection.execute("BEGIN IMMEDIATE")
        yield


def has_table(connection: sqlite3.Connection, name: str) -> bool:
    """Whether the file has a table."""
    return connection.execute("SELECT 1 FROM main.sqlite_master WHERE type = 'table' AND name = ?", (name,)).fetchone() is not None


def is_empty(connection: sqlite3.Connection) -> bool:
    """Whether the database has no tables: a process died while it created the file."""
    return connection.execute("SELECT 1 FROM main.sqlite_master").fetchone() is None
