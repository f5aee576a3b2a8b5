"""Stored results of the window's files belong to one session: another one at the same path is not taken for it."""

from __future__ import annotations

import sqlite3
import tracemalloc
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from datetime import UTC
from pathlib import Path
from threading import Event

import pytest
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from framefleet.app.window.main_window import MainWindow
from framefleet.app.window.queue.item import ItemState, Part, QueueItem
from framefleet.app.window.results.stored import clock_preview, count_stored, read_stored
from framefleet.app.window.timeline.class_counts import Tally
from framefleet.app.window.widgets.banner import Banner
from framefleet.engine.media.types import SourceKind
from framefleet.engine.notices import ExportError
from framefleet.engine.settings import EngineSettings, RunSettings
from framefleet.engine.settings.clock import ClockSettings, ClockSource
from framefleet.engine.store.corrections import Corrections
from framefleet.engine.store.lookup import DetectionLookup, Stored
from framefleet.engine.store.session import SessionReader
from tests.support.cli import FAST, run_main
from tests.support.media import dated_picture, make_video
from tests.support.models import tiny_files
from tests.support.store import video_info, write_session
from tests.support.window import queue_item, write_results

PATIENCE = 30_000


@pytest.fixture
def window(shared_window: MainWindow) -> MainWindow:
    return shared_window


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
    count_stored([(item, Tally())], Event())


def test_files_that_are_not_shown_need_little_memory(tmp_path: Path) -> None:
    files = 100
    write_session(tmp_path / "s.sqlite", {f"{number}.mp4": 4 for number in range(files)})
    tracemalloc.start()
    try:
        items = [replace(item, key=key) for key, item in enumerate(read_stored(tmp_path / "s.sqlite"))]
        tallies = [Tally(complete=False) for _ in items]
        waiting = tracemalloc.get_traced_memory()[0]
        count_stored(list(zip(items, tallies, strict=True)), Event(), shown=5)
        counted = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert waiting < files * 8_000
    assert counted - 2 * 200_000 < files * 15_000, "only the shown file keeps when its two classes were seen"
    assert [key for key, tally in enumerate(tallies) if not tally.compact] == [5]
    assert {tuple(tally.counts(0.85).items()) for tally in tallies} == {((0, 4), (1, 0))}


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
    qtbot.waitUntil(lambda: window.context.selection.item is not None, timeout=PATIENCE)
    (item,) = window.context.queue
    length = 60 / 25
    assert item.part == (None if begin is None or end is None else Part(pytest.approx(begin), pytest.approx(end)))
    assert window.context.viewer.transport.timeline.detected == pytest.approx(
        (0, 1) if item.part is None else (begin / length, end / length)
    )
    if "end" in limits:
        window.context.viewer.player.seek(1.5)
        qtbot.waitUntil(lambda: window.context.viewer.canvas.note == "Not analysed: outside the analysed part", timeout=PATIENCE)


def test_the_window_says_that_the_results_were_replaced_and_opens_the_new_ones(qtbot: QtBot, window: MainWindow, tmp_path: Path) -> None:
    database, video = tmp_path / "session.sqlite", make_video(tmp_path / "first.mp4", 10, (320, 240))
    write_results(database, video, 10)
    set_created(database)
    window.open_paths([database])
    canvas, player = window.context.viewer.canvas, window.context.viewer.player
    qtbot.waitUntil(lambda: canvas.result is not None, timeout=PATIENCE)
    (before,) = window.context.queue
    write_results(tmp_path / "other.sqlite", video, 5)
    (tmp_path / "other.sqlite").replace(database)
    player.step(1)
    qtbot.waitUntil(lambda: "another run has replaced these results" in canvas.note, timeout=PATIENCE)
    assert window.context.queue.get(before.key).summary == "Replaced by another run"
    (banner,) = [
        each for each in window.context.banners.findChildren(Banner) if "has replaced the results in session.sqlite" in each.message
    ]
    next(button for button in banner.findChildren(QPushButton) if button.text() == "Open the new results").click()
    qtbot.waitUntil(lambda: len(window.context.queue) == 1 and window.context.queue.get(before.key) is None, timeout=PATIENCE)
    qtbot.waitUntil(lambda: canvas.result is not None, timeout=PATIENCE)
    (after,) = window.context.queue
    assert after.progress.frames == 5
    assert not after.replaced


@pytest.mark.slow  # the test above has replaced results that were opened
def test_the_window_notices_that_another_run_has_replaced_results_of_its_own(qtbot: QtBot, window: MainWindow, tmp_path: Path) -> None:
    video = make_video(tmp_path / "first.mp4", 60, (320, 240))
    own = RunSettings(tiny_files(2), engine=EngineSettings(stored_confidence=0.05))
    (key,) = window.context.run.add([video], (own, ("x", "y", "z")))
    window.context.selection.show_moment(key, 0.0)
    qtbot.waitUntil(lambda: window.context.queue.get(key).state is ItemState.DONE, timeout=PATIENCE)
    qtbot.waitUntil(lambda: window.context.viewer.canvas.result is not None, timeout=PATIENCE)
    window.context.run.set_settings(RunSettings(tiny_files(1)), ("p", "q", "r"), restart=False)  # ends the session
    qtbot.waitUntil(lambda: not window.context.run.has_run, timeout=PATIENCE)
    other = tmp_path / "other.sqlite"
    write_results(other, video, 5)
    set_created(other)
    other.replace(window.context.queue.get(key).results.database)
    window.context.viewer.player.seek(1.5)
    qtbot.waitUntil(lambda: window.context.queue.get(key).replaced, timeout=PATIENCE)


@pytest.mark.parametrize("started", ["2026-11-01T23:59:58+01:00", None])
def test_the_clock_time_of_the_picture(qtbot: QtBot, window: MainWindow, tmp_path: Path, started: str | None) -> None:
    results = write_results(tmp_path / "s.sqlite", make_video(tmp_path / "a.mp4", 90, (320, 240)), 90)
    with closing(sqlite3.connect(results.database)) as connection:
        connection.execute("UPDATE sources SET started = ?", (started,))
        connection.commit()
    window.resize(1400, 800)
    window.open_paths([results.database])
    transport, player = window.context.viewer.transport, window.context.viewer.player
    qtbot.waitUntil(lambda: player.current is not None and not window.context.background.busy)
    player.pause()
    player.seek(2.5)
    qtbot.waitUntil(lambda: player.position == 2.5)
    assert (transport.clock.text(), transport.clock.isVisible()) == (("2026-11-02 00:00:00", True) if started else ("", False))
    window.resize(900, 600)
    transport.resize(500, transport.height())
    transport.set_position(2.5)
    assert transport.clock.text() == ("00:00:00" if started else "")


def test_the_time_when_a_picture_was_taken(qtbot: QtBot, window: MainWindow, tmp_path: Path) -> None:
    folder = tmp_path / "station"
    folder.mkdir()
    for number, time in enumerate(("2026:11:01 23:59:58", "", "2026:11:01 08:00:00")):
        (folder / f"{number}.jpg").write_bytes(dated_picture({36867: time}, size=(320, 240)))
    run = run_main("detect", folder, *FAST, "--quiet", "--clock", "metadata", "--out", tmp_path / "out")
    assert run.status == 0, run.err
    window.resize(1400, 800)
    window.open_paths([tmp_path / "out" / "session.sqlite"])
    transport, player = window.context.viewer.transport, window.context.viewer.player
    qtbot.waitUntil(lambda: player.current is not None and not window.context.background.busy)
    for position, expected in ((0.0, "2026-11-01 23:59:58"), (1.0, ""), (2.0, "2026-11-01 08:00:00")):
        player.seek(position)
        qtbot.waitUntil(lambda position=position: player.position == position)
        assert (transport.clock.text(), transport.clock.isVisible()) == (expected, bool(expected))
        assert transport.hint.isVisible()


def test_the_settings_show_what_a_choice_gives() -> None:
    utc = ClockSettings(ClockSource.NAME, UTC)
    assert clock_preview(utc, None) == {"clock": "north_20261101_070000.mp4 → 2026-11-01 07:00:00"}
    dated = queue_item(Path("cam_20260102_030405.mp4"))
    assert clock_preview(utc, dated) == {"clock": "cam_20260102_030405.mp4 → 2026-01-02 03:04:05"}
    assert clock_preview(utc, queue_item(Path("a.mp4"))) == {"clock": "a.mp4: no time is found"}
    metadata = ClockSettings(ClockSource.METADATA, UTC)
    info = replace(video_info("a.mp4", 10), created="2026-05-06T07:08:09Z")
    assert clock_preview(metadata, queue_item(Path("a.mp4"), info=info)) == {"clock": "a.mp4 → 2026-05-06 07:08:09"}
    assert clock_preview(utc, queue_item(Path("20260102_030405"), info=replace(info, kind=SourceKind.IMAGES))) == {}
    assert clock_preview(metadata, dated) == clock_preview(ClockSettings(), dated) == {}
