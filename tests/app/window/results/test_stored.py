"""Stored results of the window's files belong to one session: another one at the same path is not taken for it."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from threading import Event

import pytest

from app.window.queue.item import QueueItem
from app.window.results.stored import count_stored, read_stored
from app.window.timeline.class_counts import Tally
from engine.errors import ExportError
from engine.store.lookup import DetectionLookup, Stored
from engine.store.objects.corrections import Corrections
from engine.store.session import SessionReader
from tests.support.window import write_results


@pytest.fixture
def item(tmp_path: Path) -> QueueItem:
    """Results that another run has replaced since they were opened."""
    database = tmp_path / "session.sqlite"
    write_results(database, tmp_path / "first.mp4", 10)
    with closing(sqlite3.connect(database)) as connection:  # a run cannot replace a session within the second that created it
        connection.execute("UPDATE session SET value = '2026-01-01T00:00:00+00:00' WHERE key = 'created'")
        connection.commit()
    (found,) = read_stored(database)
    assert DetectionLookup().result(stored(found), 0.0) is not None
    write_results(tmp_path / "other.sqlite", tmp_path / "second.mp4", 10)
    (tmp_path / "other.sqlite").replace(database)
    return found


def stored(item: QueueItem) -> Stored:
    assert item.results is not None
    return Stored(item.results.database, item.results.source, created=item.results.created)


def read(item: QueueItem) -> None:
    assert item.results is not None
    SessionReader(item.results.database, created=item.results.created).close()


def read_by_view(item: QueueItem) -> None:
    assert item.results is not None
    with SessionReader(item.results.database) as reader:
        view = reader.view
    write_results(item.results.database.with_name("third.sqlite"), Path("third.mp4"), 5)
    with closing(sqlite3.connect(item.results.database.with_name("third.sqlite"))) as connection:
        connection.execute("UPDATE session SET value = '2026-01-02T00:00:00+00:00' WHERE key = 'created'")
        connection.commit()
    item.results.database.with_name("third.sqlite").replace(item.results.database)
    SessionReader.of(view).close()


def count(item: QueueItem) -> None:
    count_stored(item, Tally(), Event())


def correct(item: QueueItem) -> None:
    assert item.results is not None
    Corrections(item.results.database, item.results.created).close()


@pytest.mark.parametrize("use", [read, read_by_view, count, correct])
def test_another_session_at_the_path_is_an_error(use: Callable[[QueueItem], None], item: QueueItem) -> None:
    with pytest.raises(ExportError, match="another run has replaced it in the meantime: open it again"):
        use(item)


def test_the_picture_shows_no_boxes_of_another_session(item: QueueItem) -> None:
    assert DetectionLookup().result(stored(item), 0.0) is None
    assert DetectionLookup().result(Stored(stored(item).database, 0), 0.0) is not None
