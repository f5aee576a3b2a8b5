"""Files of older formats are read as they are and upgraded when they are written to."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from framefleet.engine.settings.kinds import Moment
from framefleet.engine.store import schema
from framefleet.engine.store.session import SessionReader
from framefleet.engine.store.view import Span
from tests.support.store import LABELS, make_frame, same_frame, write_session

VERSION_1 = """
BEGIN;
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
    dropped TEXT NOT NULL DEFAULT '{}', failed TEXT NOT NULL DEFAULT '{}', seconds REAL, error TEXT
);
CREATE TABLE frames (
    source INTEGER NOT NULL, frame INTEGER NOT NULL, pts REAL NOT NULL, width INTEGER NOT NULL, height INTEGER NOT NULL,
    device INTEGER NOT NULL REFERENCES devices (number), name TEXT, failure TEXT,
    PRIMARY KEY (source, frame)
) WITHOUT ROWID;
CREATE INDEX frames_by_pts ON frames (source, pts);
CREATE TABLE detections (
    source INTEGER NOT NULL, frame INTEGER NOT NULL, ordinal INTEGER NOT NULL, class_id INTEGER NOT NULL,
    confidence REAL NOT NULL, x1 REAL NOT NULL, y1 REAL NOT NULL, x2 REAL NOT NULL, y2 REAL NOT NULL,
    PRIMARY KEY (source, frame, ordinal)
) WITHOUT ROWID;
PRAGMA application_id = 0x46464C54;
PRAGMA user_version = 1;
COMMIT;
"""

SHARED = {
    "session": "key, value",
    "labels": "class_id, label",
    "devices": "number, device, name, backend, precision, reason, batch",
    "sources": "source, path, kind, codec, width, height, frames, duration, rate, finished, cancelled, decoded, inferred, dropped,"
    " failed, seconds, error",
    "frames": "source, frame, pts, width, height, device, name, failure",
    "detections": "source, frame, ordinal, class_id, confidence, x1, y1, x2, y2",
}


@pytest.fixture
def version_1(tmp_path: Path) -> Path:
    """A session of format 1 with three frames of one source."""
    current, old = write_session(tmp_path / "current.sqlite", {"a.mp4": 3}), tmp_path / "s.sqlite"
    with closing(sqlite3.connect(old)) as connection:
        connection.executescript(VERSION_1)
        connection.execute("ATTACH ? AS new", (str(current),))
        for table, columns in SHARED.items():
            connection.execute(f"INSERT INTO {table} ({columns}) SELECT {columns} FROM new.{table}")
        connection.commit()
    return old


def older(tmp_path: Path, version: int, *columns: tuple[str, str]) -> Path:
    """The same session in an older format that lacks these columns of tables."""
    old = write_session(tmp_path / "s.sqlite", {"a.mp4": 3})
    write_session(tmp_path / "current.sqlite", {"a.mp4": 3})
    with closing(sqlite3.connect(old)) as connection:
        for table, column in columns:
            connection.execute(f"ALTER TABLE {table} DROP COLUMN {column}")
        connection.execute(f"PRAGMA user_version = {version}")
        connection.commit()
    return old


TIMES = (("frames", "created"), ("frames", "clock"))
"""Clock times of pictures, which came with format 4."""


@pytest.fixture
def version_2(tmp_path: Path) -> Path:
    return older(tmp_path, 2, ("sources", "created"), ("sources", "origin"), *TIMES)


@pytest.fixture
def version_3(tmp_path: Path) -> Path:
    return older(tmp_path, 3, *TIMES)


@pytest.fixture(params=["version_1", "version_2", "version_3"])
def old_session(request: pytest.FixtureRequest) -> Path:
    path: Path = request.getfixturevalue(request.param)
    return path


def _check(path: Path) -> None:
    with SessionReader(path) as reader:
        assert reader.labels == LABELS
        (source,) = reader.sources()
        assert (source.path, source.complete, source.ledger.inferred, source.ledger.skipped) == ("a.mp4", True, 3, 0)
        assert (source.stamp, source.decoder, source.started, source.created, source.origin) == (None,) * 5
        assert all(map(same_frame, reader.frames(0), [make_frame(0, index) for index in range(3)]))


def test_reading_an_old_file_does_not_change_it(old_session: Path) -> None:
    before = old_session.read_bytes()
    _check(old_session)
    assert old_session.read_bytes() == before


def test_a_part_of_an_old_file_can_be_read(old_session: Path) -> None:
    with SessionReader(old_session, span=Span(Moment(frames=1))) as reader:
        assert [frame.ref.index for frame in reader.frames(0)] == [1, 2]
        assert [times[2:] for times in reader.picture_times(0)] == [(None, None)] * 2


def test_an_old_file_is_upgraded_when_it_is_opened_for_writing(old_session: Path) -> None:
    for _ in range(2):  # the second opening finds nothing to do
        schema.open_existing(old_session, "rw").close()
        _check(old_session)
    with closing(sqlite3.connect(old_session)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (schema.VERSION,)
        upgraded = {row[0]: sorted(row[1:] for row in connection.execute(f"PRAGMA table_info({row[0]})")) for row in _tables(connection)}
    with closing(sqlite3.connect(old_session.with_name("current.sqlite"))) as connection:
        assert {row[0] for row in _tables(connection)} == set(upgraded)
        for table, columns in upgraded.items():
            made = sorted(row[1:] for row in connection.execute(f"PRAGMA table_info({table})"))
            assert [row[1:3] for row in columns] == [row[1:3] for row in made], table


def _tables(connection: sqlite3.Connection) -> list[tuple[str]]:
    return connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
