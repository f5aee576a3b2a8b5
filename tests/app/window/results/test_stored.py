"""Stored results of the window's files belong to one session: another one at the same path is not taken for it."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from threading import Event

import pytest
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from framefleet.app.window.main_window import MainWindow
from framefleet.app.window.queue.item import ItemState, Part, QueueItem
from framefleet.app.window.results.stored import count_stored, read_stored
from framefleet.app.window.timeline.class_counts import Tally
from framefleet.app.window.widgets.banner import Banner
from framefleet.engine.errors import ExportError
from framefleet.engine.settings import EngineSettings, RunSettings
from framefleet.engine.store.lookup import DetectionLookup, Stored
from framefleet.engine.store.objects.corrections import Corrections
from framefleet.engine.store.session import SessionReader
from tests.support.media import make_video
from tests.support.models import tiny_files
from tests.support.window import write_results

PATIENCE = 30_000


def set_created(database: Path) -> None:
    """Say that the session is older: a run cannot replace a session within the second that created it."""
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.execute("UPDATE session SET value = '2026-01-01T00:00:00+00:00' WHERE key = 'created'")


@pytest.fixture
def item(tmp_path: Path) -> QueueItem:
    """Results that another run has replaced since they were opened."""
    database = tmp_path / "session.sqlite"
    write_results(database, tmp_path / "first.mp4", 10)
    set_created(database)
    (found,) = read_stored(database)
    with DetectionLookup() as lookup:
        assert lookup.result(stored(found), 0.0) is not None
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
    with DetectionLookup() as lookup:
        assert lookup.result(stored(item), 0.0) is None
        assert lookup.result(Stored(stored(item).database, 0), 0.0) is not None  # of the new session, opened by the same process


@pytest.mark.parametrize(
    ("limits", "begin", "end"), [({}, None, None), ({"begin": "20"}, 20 / 30, 60 / 25), ({"end": "30"}, 0.0, 29 / 30 + 1 / 25)]
)
def test_only_the_part_of_a_limited_run_counts_as_analysed(
    qtbot: QtBot, window: MainWindow, tmp_path: Path, limits: dict[str, str], begin: float | None, end: float | None
) -> None:
    database = tmp_path / "session.sqlite"
    write_results(database, make_video(tmp_path / "a.mp4", 60, (320, 240)), 60, **limits)
    with closing(sqlite3.connect(database)) as connection, connection:
        first, last = int(limits.get("begin", 0)), int(limits.get("end", 60))
        connection.execute(f"DELETE FROM frames WHERE frame NOT BETWEEN {first} AND {last - 1}")
    window.open_paths([database])
    qtbot.waitUntil(lambda: window.shown.item is not None, timeout=PATIENCE)
    (item,) = window.items
    length = 60 / 25
    assert item.part == (None if begin is None or end is None else Part(pytest.approx(begin), pytest.approx(end)))
    assert window.viewer.transport.timeline._detected == pytest.approx((0, 1) if item.part is None else (begin / length, end / length))
    if "end" in limits:
        window.viewer.player.seek(1.5)
        qtbot.waitUntil(lambda: window.viewer.canvas.note == "Not analysed: outside the analysed part", timeout=PATIENCE)


def test_the_window_says_that_the_results_were_replaced_and_opens_the_new_ones(qtbot: QtBot, window: MainWindow, tmp_path: Path) -> None:
    database, video = tmp_path / "session.sqlite", make_video(tmp_path / "first.mp4", 10, (320, 240))
    write_results(database, video, 10)
    set_created(database)
    window.open_paths([database])
    canvas, player = window.viewer.canvas, window.viewer.player
    qtbot.waitUntil(lambda: canvas.result is not None, timeout=PATIENCE)
    (before,) = window.items
    write_results(tmp_path / "other.sqlite", video, 5)
    (tmp_path / "other.sqlite").replace(database)
    player.step(1)
    qtbot.waitUntil(lambda: "another run has replaced these results" in canvas.note, timeout=PATIENCE)
    assert window.items.get(before.key).summary == "Replaced by another run"
    (banner,) = [each for each in window.banners.findChildren(Banner) if "has replaced the results in session.sqlite" in each.message]
    next(button for button in banner.findChildren(QPushButton) if button.text() == "Open the new results").click()
    qtbot.waitUntil(lambda: len(window.items) == 1 and window.items.get(before.key) is None, timeout=PATIENCE)
    qtbot.waitUntil(lambda: canvas.result is not None, timeout=PATIENCE)
    (after,) = window.items
    assert after.progress.frames == 5
    assert not after.replaced


def test_the_window_notices_that_another_run_has_replaced_results_of_its_own(qtbot: QtBot, window: MainWindow, tmp_path: Path) -> None:
    video = make_video(tmp_path / "first.mp4", 60, (320, 240))
    own = RunSettings(tiny_files(2), engine=EngineSettings(confidence=0.05))
    (key,) = window.controller.add([video], (own, ("x", "y", "z")))
    window.shown.show_moment(key, 0.0)
    qtbot.waitUntil(lambda: window.items.get(key).state is ItemState.DONE, timeout=PATIENCE)
    qtbot.waitUntil(lambda: window.viewer.canvas.result is not None, timeout=PATIENCE)
    window.controller.set_settings(RunSettings(tiny_files(1)), ("p", "q", "r"), restart=False)  # ends the session
    qtbot.waitUntil(lambda: window.controller._session is None, timeout=PATIENCE)
    other = tmp_path / "other.sqlite"
    write_results(other, video, 5)
    set_created(other)
    other.replace(window.items.get(key).results.database)
    window.viewer.player.seek(1.5)
    qtbot.waitUntil(lambda: window.items.get(key).replaced, timeout=PATIENCE)
