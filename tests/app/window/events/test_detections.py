"""The table of all detections."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import replace

import pytest
from PySide6.QtCore import Qt

from framefleet.app.window.events.detections import CLASS, CONFIDENCE, FRAME, SIZE, TIME, TRACK
from framefleet.app.window.main_window import MainWindow
from framefleet.app.window.queue.item import ItemState
from framefleet.app.window.queue.panel import QueuePanel
from framefleet.app.window.viewer.filter_panel import FilterPanel
from framefleet.app.window.zones.workspace import Zones
from tests.support.media import make_video
from tests.support.window import feature, write_results

FRAMES = 30


@pytest.fixture
def window(shared_window: MainWindow) -> MainWindow:
    return shared_window


@pytest.fixture
def panel(window, qtbot, tmp_path):
    """The listed detections of a video."""
    video = make_video(tmp_path / "a.mp4", FRAMES, (320, 240))
    window.open_paths([write_results(tmp_path / "a.sqlite", video, FRAMES).database])
    window.context.actions.zones.setChecked(True)
    feature(window, Zones).tabs.buttons.button(1).click()
    qtbot.waitUntil(lambda: feature(window, Zones).detections.model.rowCount() == FRAMES, timeout=20_000)
    return feature(window, Zones).detections


def test_detections_are_sorted_in_the_background(panel, qtbot):
    model, order = panel.model, Qt.SortOrder.DescendingOrder
    cells = [model.index(row, FRAME).data() for row in range(FRAMES)]
    panel.table.sortByColumn(FRAME, order)
    assert model.index(0, FRAME).data() == "0"  # Qt's thread did not sort
    qtbot.waitUntil(lambda: [model.index(row, FRAME).data() for row in range(FRAMES)] == cells[::-1])
    panel.table.sortByColumn(CLASS, order)
    panel.table.sortByColumn(FRAME, Qt.SortOrder.AscendingOrder)  # while it sorts
    qtbot.waitUntil(lambda: [model.index(row, FRAME).data() for row in range(FRAMES)] == cells)


def test_the_last_filter_counts_and_another_file_hides_the_detections(panel, qtbot, window):
    window.context.filter.set_confidence(0.5)
    window.context.filter.set_confidence(0.95)
    qtbot.waitUntil(lambda: panel.count.text() == "0 detections", timeout=20_000)
    window.context.filter.set_confidence(0.5)
    qtbot.waitUntil(lambda: panel.count.text() == f"{FRAMES} detections", timeout=20_000)
    panel.show_item(None)
    assert panel.model.rowCount() == 0


def test_the_detections_that_are_shown_are_listed_and_a_row_jumps_to_its_frame(window, qtbot, tmp_path):
    video = make_video(tmp_path / "a.mp4", FRAMES, (320, 240))
    window.open_paths([write_results(tmp_path / "a.sqlite", video, FRAMES).database])
    qtbot.waitUntil(lambda: window.context.viewer.canvas.result is not None, timeout=20_000)
    window.context.actions.zones.setChecked(True)
    panel = feature(window, Zones).detections
    assert panel.model.rowCount() == 0  # nothing is read while it is hidden
    feature(window, Zones).tabs.buttons.button(1).click()
    qtbot.waitUntil(lambda: panel.model.rowCount() == FRAMES, timeout=20_000)
    cells = [panel.model.index(12, column).data() for column in (TIME, FRAME, CLASS, TRACK, CONFIDENCE, SIZE)]
    assert cells == ["0:00.40", "12", "person", "", "89 %", "20 × 30"]
    assert panel.count.text() == f"{FRAMES} detections"
    assert panel.table.isColumnHidden(TRACK)
    panel.table.clicked.emit(panel.model.index(12, 0))
    qtbot.waitUntil(lambda: window.context.viewer.player.position == 0.4, timeout=20_000)
    window.context.filter.set_confidence(0.95)
    qtbot.waitUntil(lambda: panel.model.rowCount() == 0, timeout=20_000)
    window.context.filter.set_confidence(0.5)
    feature(window, FilterPanel).classes.show_only(1)
    qtbot.waitUntil(lambda: panel.model.rowCount() == FRAMES // 3)


def test_the_column_of_tracks_is_shown_where_there_are_some(panel, qtbot):
    assert panel.table.isColumnHidden(TRACK)
    table = panel.model.table.copy()
    table["track"][5] = 3
    panel.model.show_table(table, panel.model.labels)
    qtbot.waitUntil(lambda: not panel.table.isColumnHidden(TRACK))
    assert panel.model.index(5, TRACK).data() == "3"


def test_another_file_is_read_if_the_reading_before_fails(panel, qtbot, window, tmp_path):
    good = feature(window, QueuePanel).current
    panel.show_item(replace(good, key=99, results=replace(good.results, database=tmp_path / "gone.sqlite")))
    qtbot.waitUntil(lambda: panel.count.text() != "", timeout=20_000)
    panel.show_item(good)
    qtbot.waitUntil(lambda: panel.model.rowCount() == FRAMES, timeout=20_000)
    assert panel.count.text() == f"{FRAMES} detections"


@pytest.mark.parametrize("goes_on", [False, True])
def test_frames_that_a_run_stores_after_the_pause_are_listed(panel, qtbot, window, goes_on):
    """goes_on: in another run, before the first one has said that it ended."""
    zones, done = feature(window, Zones), feature(window, QueuePanel).current
    paused = replace(done, state=ItemState.PAUSED, progress=replace(done.progress, finished=None))
    with closing(sqlite3.connect(done.results.database, isolation_level=None)) as connection:
        late = connection.execute("SELECT * FROM frames WHERE frame >= 20").fetchall()
        connection.execute("DELETE FROM frames WHERE frame >= 20")
        zones.show_item(paused)
        qtbot.waitUntil(lambda: panel.model.rowCount() == 20 and zones.counting.tracks.length == 19 / 30)
        connection.executemany(f"INSERT INTO frames VALUES ({', '.join('?' * len(late[0]))})", late)
    later = replace(paused, state=ItemState.RUNNING, begun=done.results) if goes_on else replace(paused, progress=done.progress)
    window.context.queue.update(later)  # what shows the file again finds it in this state, too
    zones.show_item(later)
    qtbot.waitUntil(lambda: panel.model.rowCount() == FRAMES and zones.counting.tracks.length == 29 / 30)
