"""Lines, zones and events in the whole window."""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import closing, nullcontext
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from threading import Event

import numpy as np
import pytest
from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QWidget

from framefleet.app.window.main_window import MainWindow
from framefleet.app.window.queue.item import ItemState
from framefleet.app.window.queue.panel import QueuePanel
from framefleet.app.window.results.export import ExportDialog
from framefleet.app.window.settings.preferences import Preferences
from framefleet.app.window.viewer.filter import ViewFilter
from framefleet.app.window.viewer.filter_panel import FilterPanel
from framefleet.app.window.widgets import translation
from framefleet.app.window.zones.counts.counting import count_files
from framefleet.app.window.zones.panel import ShownParts
from framefleet.app.window.zones.sets import FilesDialog
from framefleet.app.window.zones.shape_table import ClassesPopup
from framefleet.app.window.zones.workspace import Zones
from framefleet.engine.media.types import Segment, SourceInfo, SourceKind
from framefleet.engine.model.load import check_model
from framefleet.engine.pool.events import Ledger
from framefleet.engine.pool.pool import EnginePool
from framefleet.engine.store.clock import Clock
from framefleet.engine.store.files import lock_session
from framefleet.engine.store.session import SessionReader, SessionWriter
from framefleet.engine.store.tracks import has_current_tracks, track_session, track_source
from framefleet.engine.types import Detections, FrameRef, FrameResult
from framefleet.engine.zones.file import zones_text
from framefleet.engine.zones.shapes import Line, Zone, ZoneSet
from tests.support.media import make_video
from tests.support.models import tiny_files
from tests.support.pool import slow_main
from tests.support.store import video_info
from tests.support.window import CPU, feature, write_results

FRAMES = 60


@pytest.fixture(scope="module")
def tracked(tmp_path_factory) -> Path:
    """The session of a video of FRAMES frames, with tracks."""
    folder = tmp_path_factory.mktemp("tracked")
    results = write_results(folder / "a.sqlite", make_video(folder / "a.mp4", FRAMES, (320, 240)), FRAMES)
    track_session(results.database)
    return results.database


@pytest.fixture
def window(shared_window) -> MainWindow:
    return shared_window


@pytest.fixture
def shown(window, qtbot, tmp_path, tracked) -> Zones:
    """A file whose only object moves by 2 of 640 pixels a frame from x = 20."""
    (tmp_path / "camera").mkdir()
    video = make_video(tmp_path / "camera" / "a.mp4", FRAMES, (320, 240))
    database = shutil.copy(tracked, tmp_path / "a.sqlite")
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.execute("UPDATE sources SET path = ?", (str(video),))
    window.open_paths([database])
    qtbot.waitUntil(lambda: window.context.viewer.player.current is not None)
    window.context.actions.zones.setChecked(True)
    qtbot.waitUntil(lambda: feature(window, Zones).list.model.rowCount() == 1)
    return feature(window, Zones)


def choose(shown, title):
    """Choose an entry of the menu of sets."""
    next(action for action in shown.panel.menu.actions() if action.text() == title).trigger()


def below_the_chart(shown, values, spacing):
    """The texts below the chart at some times."""
    return shown.chart.plot.getPlotItem().getAxis("bottom").tickStrings(values, 1.0, spacing)


def write_folder(place, count):
    """Write pictures of 320×240 with one object each, and their session. Returns its path."""
    folder = place / "pictures"
    folder.mkdir()
    image = QImage(320, 240, QImage.Format.Format_RGB32)
    image.fill(0)
    names = tuple(f"{number}.png" for number in range(count))
    for name in names:
        assert image.save(str(folder / name))
    info = SourceInfo(str(folder), SourceKind.IMAGES, "png", 320, 240, count, None, None, (Segment(0, 0, count, count, names),))
    found = Detections(np.array([[10, 10, 40, 80]], np.float32), np.array([0.9], np.float32), np.array([0], np.int32))
    with SessionWriter(place / "s.sqlite", ("person",), {}) as writer:
        writer.add_source(0, str(folder), info)
        writer.add_frames(FrameResult(FrameRef(0, number, float(number)), CPU, 320, 240, found) for number in range(count))
        writer.finish_source(0, str(folder), Ledger(count, count), 1.0, None, False)
    return place / "s.sqlite"


def draw_zone(zones, *points):
    zones.editor.begin(Zone)
    for point in points:
        zones.editor.add_point(point)
    zones.editor.finish()


def choose_scope(zones, number):
    zones.panel.scope.setCurrentIndex(number)
    zones.panel.scope.activated.emit(number)


def draw_gate(zones):
    zones.editor.begin(Line)
    zones.editor.add_point((40, 5))
    zones.editor.add_point((40, 100))


def test_dropped_lines_and_zones_are_those_of_the_shown_video_or_of_the_next_one(window, shown, qtbot, tmp_path):
    gate = ZoneSet((640, 480), (Line("Gate", (80, 10), (80, 200)),))
    (tmp_path / "gate.json").write_text(zones_text(gate))
    window.context.actions.zones.setChecked(False)
    window.open_paths([tmp_path / "gate.json"])
    assert window.context.actions.zones.isChecked()
    assert [shape.name for shape in shown.editor.zones.shapes] == ["Gate"]
    assert not window.context.banners.texts, "it is not a list of worst frames"
    window.context.selection.show(None)
    window.context.run.remove(next(iter(window.context.queue)).key)
    assert not shown.editor.zones.shapes
    other = make_video(tmp_path / "b.mp4", FRAMES, (320, 240))
    results = write_results(tmp_path / "b.sqlite", other, FRAMES)
    window.open_paths([tmp_path / "gate.json", results.database])
    qtbot.waitUntil(lambda: [shape.name for shape in shown.editor.zones.shapes] == ["Gate"])
    assert shown.set.library.name_for(other) is not None

    said = []
    shown.set.failed.connect(said.append)
    (tmp_path / "none.json").write_text('{"zones": 7}')
    window.open_paths([tmp_path / "none.json"])
    assert len(said) == 1
    assert "none.json" in said[0]
    assert [shape.name for shape in shown.editor.zones.shapes] == ["Gate"]


def test_a_drawn_line_is_counted_kept_listed_and_exported(shown, qtbot, window, tmp_path):
    draw_gate(shown)
    qtbot.waitUntil(lambda: shown.list.model.rowCount() == 2)
    assert [shown.panel.model.index(0, column).data() for column in range(4)] == ["Line 1", "All", "← 0", "→ 1"]
    assert shown.list.model.index(1, 3).data() == "crosses Line 1 backward"
    stored = json.loads((window.context.data / "zones" / "a.json").read_text())
    assert stored["lines"] == [{"name": "Line 1", "from": [40, 5], "to": [40, 100], "classes": []}]
    assert shown.panel.sets.currentText() == "This video only · a"
    assert shown.set.library.name_for(tmp_path / "camera" / "b.mp4") is None, "lines belong to a video until they are given away"
    choose(shown, "Use for all videos of this folder")
    assert shown.set.library.name_for(tmp_path / "camera" / "b.mp4") == "a"
    assert shown.panel.sets.currentText() == "All videos in camera · a"

    def last_dialog():
        return window.findChildren(ExportDialog)[-1]

    shown.list.save.click()
    assert last_dialog().choice.forms == ("events",)
    assert [line.name for line in last_dialog().choice.options.zones.lines] == ["Line 1"]
    last_dialog().reject()
    window.context.viewer.transport.set_clock(Clock(datetime(2026, 11, 1, 7, 50, tzinfo=UTC)))
    assert below_the_chart(shown, [0.0], 60.0) == ["07:50"]

    window.context.requests.export.emit(feature(window, QueuePanel).current, "")
    assert last_dialog().with_zones == (0,)
    last_dialog().reject()
    shown.set.library.assign(tmp_path / "camera", None)
    window.context.requests.export.emit(feature(window, QueuePanel).current, "")
    assert last_dialog().with_zones == ()


def test_events_counts_and_heat_are_those_of_the_shown_detections(shown, qtbot, window):
    draw_gate(shown)
    rows = shown.list.model.rowCount
    qtbot.waitUntil(lambda: rows() == 2)
    assert shown.counting.tracks.heat.cells.sum() == FRAMES
    counted = shown.panel.model.index(0, 3)
    for hide, show in (
        (lambda: window.context.filter.set_confidence(0.95), lambda: window.context.filter.set_confidence(0.5)),
        (lambda: feature(window, FilterPanel).classes.set_all(False), lambda: feature(window, FilterPanel).classes.set_all(True)),
    ):
        hide()
        qtbot.waitUntil(lambda: rows() == 0 and counted.data().endswith(" 0"))
        assert not shown.counting.tracks.heat.cells.any()
        show()
        qtbot.waitUntil(lambda: rows() == 2 and counted.data().endswith(" 1"))
        assert shown.counting.tracks.heat.cells.sum() == FRAMES


def test_counts_of_a_run_are_those_of_the_shown_detections(shown, qtbot, window):
    """The session is complete, but the file counts as running, as if it grew."""
    draw_gate(shown)
    qtbot.waitUntil(lambda: shown.list.model.rowCount() == 2)
    window.context.filter.set_confidence(0.95)
    shown.show_item(replace(feature(window, QueuePanel).current, state=ItemState.RUNNING))
    assert shown.list.count.text() == "The events are listed when the file is done."
    counted, remark = shown.panel.model.index(0, 3), shown.panel.remark
    qtbot.waitUntil(lambda: remark.text().startswith("Counted while detecting"))
    assert counted.data() == "→ 0"
    window.context.filter.set_confidence(0.5)
    qtbot.waitUntil(lambda: counted.data() == "→ 1")


def test_when_detection_begins_again_nothing_of_the_earlier_results_stays(shown, qtbot, window):
    draw_gate(shown)
    qtbot.waitUntil(lambda: shown.list.model.rowCount() == 2)
    key, counted = window.context.selection.key, shown.panel.model.index(0, 3)
    window.context.run.detect_again(key)  # without a model, it waits
    assert (shown.list.model.rowCount(), shown.counting.tracks, shown._counts) == (0, None, None)
    assert "1" not in counted.data()
    assert [shape.name for shape in shown.editor.zones.shapes] == ["Line 1"]


@pytest.mark.parametrize("shown_before", [True, False])
def test_the_stored_events_of_a_file_are_listed_until_it_goes_on_and_ends(
    open_window, qtbot, tmp_path, monkeypatch, shown_before: bool
) -> None:
    monkeypatch.setattr(EnginePool, "worker_main", staticmethod(partial(slow_main, seconds=0.01 if shown_before else 0.1)))
    window = open_window()
    run, queue, zones = window.context.run, window.context.queue, feature(window, Zones)
    settings = Preferences.of(tiny_files(), devices=(CPU,)).run_settings()
    run.set_settings(settings, check_model(settings.model).labels, restart=False)
    window.context.actions.zones.setChecked(True)
    zones.tabs.buttons.button(1).click()
    window.open_paths([make_video(tmp_path / "long.mp4", 600, (32, 32))])
    qtbot.waitUntil(lambda: any(item.progress.frames > 30 for item in queue), timeout=30_000)
    run.set_paused(True)
    tables = zones.list.model, zones.detections.model
    if shown_before:
        qtbot.waitUntil(lambda: all(table.rowCount() for table in tables), timeout=30_000)
    listed: list[bool] = []
    run.item_changed.connect(lambda _: listed.append(all(table.rowCount() for table in tables)))
    run.set_paused(False)
    qtbot.waitUntil(lambda: [item.state for item in queue] == [ItemState.RUNNING], timeout=30_000)
    if shown_before:
        assert all(listed)
        assert " events. The others are listed when the file is done." in zones.list.count.text()
    else:
        qtbot.waitUntil(lambda: all(table.rowCount() for table in tables), timeout=30_000)
        assert [item.state for item in queue] == [ItemState.RUNNING]
        run.cancel(next(iter(queue)).key)
        return
    before = zones.detections.model.rowCount()
    qtbot.waitUntil(lambda: [item.state for item in queue] == [ItemState.DONE], timeout=30_000)
    model, count = zones.detections.model, zones.detections.count
    qtbot.waitUntil(lambda: model.rowCount() > before and count.text() == f"{model.rowCount():,} detections", timeout=30_000)


def test_a_change_of_the_filter_while_a_file_is_read_is_not_lost(shown, window, qtbot):
    rows = shown.list.model.rowCount
    shown.counting.read()
    window.context.filter.set_confidence(0.95)
    shown.counting.count_again()  # the file is still being read
    qtbot.waitUntil(lambda: rows() == 0)


@pytest.mark.slow  # tests above have the sum, and the counts of the shown detections
def test_the_sum_of_all_files_is_that_of_the_shown_detections(shown, qtbot, window):
    draw_gate(shown)
    choose_scope(shown, 1)
    counted = shown.panel.model.index(0, 3)
    qtbot.waitUntil(lambda: counted.data().endswith(" 1") and shown.panel.remark.text() == "The sum of 1 file.")
    window.context.filter.set_confidence(0.95)
    qtbot.waitUntil(lambda: counted.data().endswith(" 0"))


def test_in_small_panels_no_button_is_cut_and_no_tool_lies_behind_the_table(open_window, qtbot):
    zones = feature(open_window(), Zones)  # its panels are taken out
    panel = zones.panel
    tools = [panel.line, panel.undo, panel.delete]
    for each, buttons in ((panel, tools), (zones.tabs, zones.tabs.buttons.buttons())):
        each.setParent(None)
        qtbot.addWidget(each)
        each.resize(each.minimumSizeHint().width(), 400)
        each.show()
        assert each.width() < 350
        assert all(button.width() >= button.sizeHint().width() and button.geometry().right() < each.width() for button in buttons)
    panel.resize(222, 200)
    qtbot.waitUntil(lambda: panel.height() == 200 and panel.scope.width() > 0)
    assert max(tool.geometry().bottom() for tool in (panel.delete, panel.scope)) < panel.table.geometry().top()
    assert panel.table.height() >= 46


def test_a_small_window_shows_an_event_and_what_the_fields_above_it_are_for(shown, qtbot, window):
    window.resize(1000, 650)
    qtbot.waitUntil(lambda: window.size() == QSize(1000, 650))
    events, search = shown.list.table, shown.list.search
    qtbot.waitUntil(lambda: events.viewport().height() >= events.rowHeight(0))
    margins = 2 * search.fontMetrics().horizontalAdvance("M")
    assert search.width() >= search.fontMetrics().horizontalAdvance(search.placeholderText()) + margins
    window.resize(1280, 720)  # a low screen shows three lines
    draw_gate(shown)
    table = shown.panel.table
    qtbot.waitUntil(lambda: window.size() == QSize(1280, 720) and table.viewport().height() >= 3 * table.rowHeight(0))
    tabs = shown.tabs
    places = [button.geometry() for button in tabs.buttons.buttons()]
    tabs.mark_one_file((tabs.stack.currentWidget(),))
    qtbot.waitUntil(lambda: tabs.one_file.isVisible() and tabs.one_file.geometry().top() > tabs.stack.geometry().bottom())
    assert [button.geometry() for button in tabs.buttons.buttons()] == places, "the mark of lists of one file moves no head"


def test_the_row_of_the_only_line_can_be_chosen_again_after_another_file_was_shown(shown, qtbot, window):
    draw_gate(shown)
    for _ in range(2):
        shown.set.choose("a")
    assert shown.set.library.names() == ["a"], "another look makes no further set"
    assert len(shown.editor.zones.shapes) == 1
    shown.editor.select(0)
    table = shown.panel.table
    assert (shown.editor.selected, table.currentIndex().row()) == (0, 0)
    item = feature(window, QueuePanel).current
    shown.show_item(None)
    shown.show_item(item)
    assert (shown.editor.selected, table.currentIndex().row(), table.selectionModel().hasSelection()) == (None, -1, False)
    qtbot.mouseClick(table.viewport(), Qt.MouseButton.LeftButton, pos=table.visualRect(shown.panel.model.index(0, 0)).center())
    assert shown.editor.selected == 0
    assert shown.panel.turn.isEnabled()


def test_the_table_renames_limits_classes_and_has_columns_for_what_there_is(shown, qtbot):
    def headings():
        return [
            shown.panel.model.headerData(number, Qt.Orientation.Horizontal)
            for number in range(2, 6)
            if not shown.panel.table.isColumnHidden(number)
        ]

    draw_gate(shown)
    model = shown.panel.model
    assert model.setData(model.index(0, 0), "gate")
    assert model.setData(model.index(0, 1), "car, person")
    assert shown.editor.zones.shapes[0] == Line("gate", (40, 5), (40, 100), ("car", "person"))
    model.setData(model.index(0, 1), "lorry")
    qtbot.waitUntil(lambda: "does not have" in shown.panel.note.text())
    assert headings() == ["Forward", "Backward"]
    draw_zone(shown, (0, 0), (30, 0), (30, 200))
    assert headings() == ["Forward", "Backward", "Visits", "Mean time"]
    shown.editor.select(0)
    shown.editor.delete()
    assert headings() == ["Visits", "Mean time"]


def test_the_counts_of_all_files_with_the_set_are_added(shown, qtbot, window, tmp_path):
    draw_gate(shown)
    shown.set.give_folder()
    results = write_results(tmp_path / "b.sqlite", make_video(tmp_path / "camera" / "b.mp4", FRAMES, (320, 240)), FRAMES)
    track_session(results.database)
    window.open_paths([results.database])
    untracked = write_results(tmp_path / "c.sqlite", make_video(tmp_path / "camera" / "c.mp4", FRAMES, (320, 240)), FRAMES)
    window.open_paths([untracked.database])
    qtbot.waitUntil(lambda: len(window.context.queue) == 3)
    feature(window, QueuePanel).show_item(next(iter(window.context.queue)).key)

    def row():
        return [shown.panel.model.index(0, column).data() for column in (2, 3)]

    qtbot.waitUntil(lambda: row() == ["← 0", "→ 1"])
    choose_scope(shown, 1)
    qtbot.waitUntil(lambda: row() == ["← 0", "→ 2"])
    assert shown.panel.remark.text() == "The sum of 2 files."
    assert shown.panel.note.text() == "Without tracks or of another shape: c.mp4."
    shown.editor.reverse(0)
    qtbot.waitUntil(lambda: row() == ["→ 2", "← 0"])
    choose(shown, "Use for other videos…")
    dialog = window.findChild(FilesDialog)
    dialog.tree.topLevelItem(0).child(1).setCheckState(0, Qt.CheckState.Unchecked)
    dialog.accept()
    qtbot.waitUntil(lambda: row() == ["→ 1", "← 0"])
    assert shown.panel.remark.text() == "The sum of 1 file."
    shown.set.share("a", [item.path for item in window.context.queue], [])
    qtbot.waitUntil(lambda: row() == ["→ 2", "← 0"])
    window.context.run.remove(list(window.context.queue)[1].key)
    qtbot.waitUntil(lambda: row() == ["→ 1", "← 0"])
    choose_scope(shown, 0)
    qtbot.waitUntil(lambda: row() == ["→ 1", "← 0"])


def begin_at(database, time):
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.execute("UPDATE sources SET started = ?", (f"2026-11-01T{time}+01:00",))


def test_several_files_are_counted_on_one_clock_and_their_tracks_stay_apart(tmp_path):
    files = []
    for name, time in (("b", "07:20:00"), ("a", "06:59:59")):
        results = write_results(tmp_path / f"{name}.sqlite", make_video(tmp_path / f"{name}.mp4", FRAMES, (320, 240)), FRAMES)
        track_session(results.database)
        begin_at(results.database, time)
        files.append(results)
    zones = ZoneSet((320, 240), (Line("one", (25, 5), (25, 100)), Line("two", (50, 5), (50, 100))))
    total = count_files(files, zones, ViewFilter(0.25), Event())
    assert (total.files, total.clock.start) == (2, "2026-11-01T06:59:59.000+01:00")
    last = (FRAMES - 1) / 30
    assert total.recorded == pytest.approx(np.array([[1201, 1201 + last], [0, last]]))
    assert sorted(total.counts.crossings["time"] // 1) == [0, 1, 1201, 1202]
    assert total.counts.route_counts()[["origin", "target", "tracks"]].tolist() == [(0, 1, 2)]
    with closing(sqlite3.connect(files[1].database)) as connection, connection:
        connection.execute("UPDATE sources SET started = NULL")
    assert count_files(files, zones, ViewFilter(0.25), Event()).clock is None


def test_with_all_files_chart_and_routes_count_them_and_the_other_lists_say_that_they_do_not(shown, qtbot, window, tmp_path):
    draw_gate(shown)
    shown.set.give_folder()
    results = write_results(tmp_path / "b.sqlite", make_video(tmp_path / "camera" / "b.mp4", FRAMES, (320, 240)), FRAMES)
    track_session(results.database)
    window.open_paths([results.database])
    qtbot.waitUntil(lambda: len(window.context.queue) == 2)
    feature(window, QueuePanel).show_item(next(iter(window.context.queue)).key)
    qtbot.waitUntil(lambda: shown.editor.zones.shapes != ())
    shown.editor.select(0)
    tabs = shown.tabs
    marked = [False] * 4

    def words():
        found = []
        for button in tabs.buttons.buttons():
            button.click()
            found.append(tabs.one_file.isVisible())
        return found

    assert words() == marked
    choose_scope(shown, 1)
    qtbot.waitUntil(lambda: shown.panel.remark.text() == "The sum of 2 files.")
    assert words() == [True, True, True, False]  # no clock times: the chart shows one file
    assert shown.routes.model.index(0, 3).data() == "2"
    for database, time in ((tmp_path / "a.sqlite", "06:59:59"), (results.database, "07:20:00")):
        begin_at(database, time)
    shown.editor.rename(0, "gate")
    qtbot.waitUntil(lambda: "crossings in 15 min" in shown.chart.heading.text())
    assert words() == [True, True, False, False]
    assert below_the_chart(shown, [1, 5401], 900) == ["07:00", "08:30"]
    choose_scope(shown, 0)
    qtbot.waitUntil(lambda: shown.routes.model.index(0, 3).data() == "1")
    assert "crossings in 1 s" in shown.chart.heading.text()
    assert words() == marked


def test_the_lines_of_a_run_are_shown_with_its_results_until_the_user_removes_them(window, qtbot, tmp_path):
    (tmp_path / "camera").mkdir()
    video = make_video(tmp_path / "camera" / "a.mp4", FRAMES, (320, 240))
    drawn = ZoneSet((640, 480), (Line("gate", (40, 5), (40, 100)),))
    results = write_results(tmp_path / "a.sqlite", video, FRAMES, zones=zones_text(drawn))
    track_session(results.database)
    window.open_paths([results.database])
    window.context.actions.zones.setChecked(True)
    zones = feature(window, Zones)
    qtbot.waitUntil(lambda: zones.list.model.rowCount() == 2)
    assert zones.list.model.index(1, 3).data() == "crosses gate backward"
    assert (zones.editor.zones, zones.set.name) == (drawn, "a")
    assert zones.set.library.keep("other", drawn) == "a"
    zones.set.choose("")
    assert (zones.editor.zones.shapes, zones.set.name) == ((), None)


def test_objects_that_move_too_fast_to_be_followed_are_named(window, qtbot, tmp_path):
    """Ten objects of 12 pixels move 30 pixels a frame."""
    video, frames = make_video(tmp_path / "a.mp4", 10, (320, 240)), 10
    with SessionWriter(tmp_path / "a.sqlite", ("person",), {}) as writer:
        writer.add_source(0, str(video), video_info(str(video), frames))
        for index in range(frames):
            boxes = np.array([[5 + 30 * index, 5 + 20 * row, 17 + 30 * index, 17 + 20 * row] for row in range(10)], np.float32)
            found = Detections(boxes, np.full(10, 0.9, np.float32), np.zeros(10, np.int32))
            writer.add_frames([FrameResult(FrameRef(0, index, index / 30), CPU, 320, 240, found)])
        writer.finish_source(0, str(video), Ledger(frames, frames), 1.0, None, False)
    track_session(tmp_path / "a.sqlite")
    window.open_paths([tmp_path / "a.sqlite"])
    window.context.actions.zones.setChecked(True)
    qtbot.waitUntil(lambda: "longer than their boxes" in feature(window, Zones).panel.note.text())


def open_classes(shown, qtbot):
    table = shown.panel.table
    place = table.visualRect(shown.panel.model.index(0, 1)).center()
    for click in (qtbot.mouseClick, qtbot.mouseDClick):
        click(table.viewport(), Qt.MouseButton.LeftButton, pos=place)
    (popup,) = table.findChildren(ClassesPopup)
    return popup


def test_classes_of_a_line_are_checked_in_a_list(shown, window, qtbot):
    draw_gate(shown)
    labels = window.context.selection.item.results.labels
    popup = open_classes(shown, qtbot)
    rows = [popup.view.item(number) for number in range(popup.view.count())]
    assert [row.text() for row in rows] == ["All", *labels]
    assert [row.checkState() is Qt.CheckState.Checked for row in rows] == [True, *[False] * len(labels)]
    qtbot.mouseClick(popup.view.viewport(), Qt.MouseButton.LeftButton, pos=popup.view.visualItemRect(rows[3]).center())
    popup.view.setCurrentItem(rows[1])
    qtbot.keyClick(popup.view, Qt.Key.Key_Space)
    assert rows[0].checkState() is Qt.CheckState.Unchecked
    qtbot.keyClick(popup, Qt.Key.Key_Return)
    assert shown.editor.zones.shapes[0].classes == (labels[0], labels[2])
    assert shown.panel.model.index(0, 1).data() == f"{labels[0]}, {labels[2]}"
    qtbot.waitUntil(lambda: not shown.panel.table.findChildren(ClassesPopup))
    popup = open_classes(shown, qtbot)
    popup.view.setCurrentItem(popup.everything)
    qtbot.keyClick(popup.view, Qt.Key.Key_Space)
    assert popup.names == []
    qtbot.keyClick(popup, Qt.Key.Key_Escape)
    assert shown.editor.zones.shapes[0].classes == (labels[0], labels[2])


def test_many_classes_can_be_searched_and_unknown_ones_stay(qtbot):
    popup = ClassesPopup([f"class {number}" for number in range(80)], ["Class 7", "unicorn"])
    qtbot.addWidget(popup)
    popup.search.setText("class 7")
    seen = [row.text() for number in range(popup.view.count()) if not (row := popup.view.item(number)).isHidden()]
    assert seen == ["All", "class 7", *(f"class 7{number}" for number in range(10))]
    assert popup.names == ["class 7", "unicorn"]


def test_a_set_is_imported_and_exported(shown, qtbot, tmp_path):
    titles = [action.text() for action in shown.panel.menu.actions() if not action.isEnabled()]
    assert titles == [
        "Export…",
        "Use for all videos of this folder",
        "Use for other videos…",
        "Delete these lines and zones",
    ]  # there is none yet
    draw_gate(shown)
    assert all(action.isEnabled() for action in shown.panel.menu.actions())
    shown.set.write(tmp_path / "out.json")
    shown.set.take(tmp_path / "out.json")
    assert shown.panel.sets.currentData() == "out"
    assert shown.editor.zones.shapes[0].name == "Line 1"
    (tmp_path / "wrong.json").write_text((tmp_path / "out.json").read_text().replace("480", "640"))
    shown.set.take(tmp_path / "wrong.json")
    assert "another shape" in shown.panel.note.text()
    assert shown.panel.sets.currentData() == "out"


def test_a_dropped_file_of_zones_waits_for_a_video_that_can_be_shown(window, qtbot, tmp_path, tracked):
    (tmp_path / "text.mp4").write_text("no video")
    window.open_paths([tmp_path / "text.mp4"])
    qtbot.waitUntil(lambda: window.context.viewer.item is not None)
    (tmp_path / "crossing.json").write_text(zones_text(ZoneSet((320, 240), (Line("gate", (10, 100), (300, 100)),))))
    window.open_paths([tmp_path / "crossing.json"])
    assert window.context.activity.text.text() == "The lines and zones of crossing.json wait for the next video that can be shown."
    window.open_paths([tracked])
    zones = feature(window, Zones)
    qtbot.waitUntil(lambda: window.context.viewer.item.path.name == "a.mp4" and bool(zones.editor.zones.shapes))
    assert (zones.panel.sets.currentData(), zones.editor.zones.shapes[0].name) == ("crossing", "gate")


@pytest.mark.parametrize("own", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_results_without_tracks_can_be_tracked(window, qtbot, tmp_path, own):
    """own: the window's run still holds the session."""
    video = make_video(tmp_path / "a.mp4", FRAMES, (320, 240))
    results = write_results(tmp_path / "a.sqlite", video, FRAMES)
    window.open_paths([results.database])
    qtbot.waitUntil(lambda: window.context.viewer.player.current is not None)
    window.context.actions.zones.setChecked(True)
    qtbot.waitUntil(lambda: feature(window, Zones).panel.track.isVisible())
    assert "have no tracks" in feature(window, Zones).panel.note.text()
    with lock_session(results.database) if own else nullcontext():
        feature(window, Zones).panel.track.click()
        qtbot.waitUntil(lambda: not feature(window, Zones).panel.track.isVisible() and not window.context.background.busy)
    assert feature(window, Zones).list.model.index(0, 2).data() == "1"
    assert has_current_tracks(results.database, 0)
    found = window.context.viewer.canvas  # the picture shows the numbers at once
    qtbot.waitUntil(lambda: found.visible_detections.tracks is not None and found.visible_detections.tracks[0] == 1, timeout=20_000)


def test_the_shown_file_can_be_tracked_while_all_files_are_counted(window, qtbot, tmp_path, tracked):
    untracked = write_results(tmp_path / "b.sqlite", make_video(tmp_path / "b.mp4", FRAMES, (320, 240)), FRAMES)
    window.open_paths([untracked.database])
    qtbot.waitUntil(lambda: window.context.viewer.player.current is not None)
    window.context.actions.zones.setChecked(True)
    zones = feature(window, Zones)
    draw_gate(zones)
    choose_scope(zones, 1)
    qtbot.waitUntil(lambda: zones.panel.note.text() == "Without tracks or of another shape: b.mp4.")
    assert zones.panel.track.isVisible()
    zones.panel.track.click()
    qtbot.waitUntil(lambda: zones.panel.remark.text() == "The sum of 1 file.")
    assert not zones.panel.track.isVisible()


def test_a_file_is_counted_although_the_one_before_could_not_be_read(window, qtbot, tmp_path, tracked):
    lost = write_results(tmp_path / "lost.sqlite", make_video(tmp_path / "lost.mp4", FRAMES, (320, 240)), FRAMES)
    for number, database in enumerate((lost.database, tracked), 1):
        window.open_paths([database])
        qtbot.waitUntil(lambda count=number: len(list(window.context.queue)) == count)
    zones = feature(window, Zones)
    qtbot.waitUntil(lambda: zones.counting.tracks is not None and not window.context.background.busy)
    first, second = window.context.queue
    lost.database.unlink()
    zones.show_item(first)
    zones.show_item(second)  # while the first one is read
    qtbot.waitUntil(lambda: zones.counting.tracks is not None and zones.counting.tracks.tracked)


def test_results_are_read_that_replaced_those_whose_reading_failed(window, qtbot, tracked):
    window.open_paths([tracked])
    zones = feature(window, Zones)
    qtbot.waitUntil(lambda: zones.counting.tracks is not None and not window.context.background.busy)
    (item,) = window.context.queue
    gone = replace(item, results=replace(item.results, database=tracked.with_name("missing.sqlite")))
    for shown in (None, gone, None, item):  # the last one while the first one with its key is read
        zones.show_item(shown)
    qtbot.waitUntil(lambda: zones.counting.tracks is not None and zones.counting.tracks.tracked)


def test_lines_that_cannot_be_stored_are_told_also_when_they_are_counted(open_window, qtbot, tmp_path, tracked):
    window = open_window()
    (tmp_path / "zones").write_text("no folder")
    window.open_paths([tracked])
    qtbot.waitUntil(lambda: window.context.viewer.player.current is not None)
    window.context.actions.zones.setChecked(True)
    zones = feature(window, Zones)
    qtbot.waitUntil(lambda: zones.list.model.rowCount() == 1)
    draw_gate(zones)
    qtbot.waitUntil(lambda: zones.panel.model.index(0, 3).data().endswith(" 1"))
    assert zones.panel.note.text().startswith(f"Cannot write {tmp_path / 'zones'}")
    (tmp_path / "zones").unlink()
    zones.editor.select(0)
    zones.editor.delete()
    zones.set.stop()
    assert not zones.panel.note.text()


def test_a_class_that_the_model_does_not_have_is_told_in_the_language_of_the_window(shown, qtbot, qapp):
    translation.install(qapp, "de")
    try:
        draw_gate(shown)
        shown.editor.set_classes(0, ("zebra",))
        qtbot.waitUntil(lambda: "zebra" in shown.panel.note.text())
        assert "dieses Modell hat keine Klasse" in shown.panel.note.text()
    finally:
        translation.install(qapp, "en")


def test_before_detection_ends_nothing_says_that_tracks_are_missing(window, qtbot, tmp_path):
    results = write_results(tmp_path / "a.sqlite", make_video(tmp_path / "a.mp4", FRAMES, (320, 240)), FRAMES)
    window.open_paths([results.database])
    window.context.actions.zones.setChecked(True)
    panel, zones = feature(window, Zones).panel, feature(window, Zones)
    qtbot.waitUntil(lambda: panel.track.isVisible())
    item = feature(window, QueuePanel).current
    waiting = replace(item, state=ItemState.WAITING)
    window.context.queue.update(waiting)  # what shows the file again finds it in this state, too
    zones.show_item(None)
    zones.show_item(waiting)
    qtbot.waitUntil(lambda: zones.counting.tracks is not None)
    assert (panel.note.text(), panel.track.isVisible()) == ("", False)
    window.context.queue.update(item)
    zones.show_item(item)
    qtbot.waitUntil(lambda: panel.track.isVisible())


def test_the_tracks_of_a_run_appear_when_they_are_stored(window, qtbot, tmp_path):
    video = make_video(tmp_path / "a.mp4", FRAMES, (320, 240))
    results = write_results(tmp_path / "a.sqlite", video, FRAMES, track="bytetrack")
    with lock_session(results.database):
        window.open_paths([results.database])
        window.context.actions.zones.setChecked(True)
        panel = feature(window, Zones).panel
        qtbot.waitUntil(lambda: panel.remark.text() == "Tracking the objects…")
        assert not panel.track.isVisible()
        assert not panel.note.text()
        with SessionReader(results.database) as reader:
            track_source(results.database, 0, reader.frames(0))
        qtbot.waitUntil(lambda: not panel.remark.text() and feature(window, Zones).list.model.index(0, 2).data() == "1")


def test_without_tracks_the_reason_is_said(window, qtbot, tmp_path):
    """A single frame has no track."""
    results = write_results(tmp_path / "a.sqlite", make_video(tmp_path / "a.mp4", 1, (320, 240)), 1)
    track_session(results.database)
    window.open_paths([results.database])
    window.context.actions.zones.setChecked(True)
    note = feature(window, Zones).panel.note
    qtbot.waitUntil(lambda: "No object could be tracked: 1 detection" in note.text())
    assert "no object was seen in several frames in a row" in note.text()


def test_the_panels_are_remembered_and_hidden_in_full_screen(window, qtbot, tmp_path):
    assert not window.below.isVisibleTo(window)
    window.open_paths([write_results(tmp_path / "a.sqlite", make_video(tmp_path / "a.mp4", 5, (320, 240)), 5).database])
    window.context.actions.zones.setChecked(True)
    assert window.below.isVisibleTo(window.middle)
    window.toggle_fullscreen()
    assert not window.below.isVisibleTo(window.middle)
    window.toggle_fullscreen()
    assert window.below.isVisibleTo(window.middle)
    window.keep_arrangement()
    assert window.context.store.value("window/zones_shown") == "yes"


def test_an_event_is_reached_and_the_chart_shows_the_chosen_line_and_counts_stay_without_the_panels(shown, qtbot, window):
    draw_gate(shown)
    qtbot.waitUntil(lambda: shown.list.model.rowCount() == 2, timeout=20_000)
    with qtbot.waitSignal(shown.list.sought) as sought:
        shown.list.step(forward=True)
    assert sought.args == [pytest.approx(1 / 3)]
    assert shown.list.table.currentIndex().row() == 1
    with qtbot.waitSignal(shown.list.sought) as sought:
        shown.list.step(forward=False)
    assert sought.args == [0.0]
    shown.tabs.buttons.button(2).click()
    assert "Line 1: crossings in 1 s, forward upwards" in shown.chart.heading.text()
    shown.editor.select(None)
    assert "Choose a line" in shown.chart.heading.text()
    window.context.actions.zones.setChecked(False)
    assert not window.below.isVisible()
    assert shown.layer.isVisible()
    assert not shown.layer.editing
    assert window.context.viewer.transport.timeline.text_at(1 / 3).endswith("1 crossing")


def test_zones_count_the_objects_in_each_picture_of_a_folder(window, qtbot, tmp_path):
    window.open_paths([write_folder(tmp_path, 4)])
    qtbot.waitUntil(lambda: window.context.viewer.player.current is not None, timeout=20_000)
    window.context.actions.zones.setChecked(True)
    zones = feature(window, Zones)
    draw_zone(zones, (0, 0), (200, 0), (200, 200), (0, 200))
    qtbot.waitUntil(lambda: zones.panel.model.index(0, 4).data() == "4", timeout=20_000)
    assert "lines count tracked objects of videos only" in zones.panel.note.text()
    assert not zones.panel.track.isVisible()


def test_a_folder_of_pictures_has_names_and_numbers_in_place_of_times(window, qtbot, tmp_path):
    window.open_paths([write_folder(tmp_path, 4)])
    window.context.actions.zones.setChecked(True)
    qtbot.waitUntil(lambda: window.context.viewer.transport.hint.text() == "0.png")
    zones, player = feature(window, Zones), window.context.viewer.player
    qtbot.waitUntil(lambda: zones.list.model.rowCount() == 4)  # an object in a picture is not the one in the next picture
    model = zones.list.model
    assert [model.headerData(0, Qt.Orientation.Horizontal), *(model.index(0, column).data() for column in (0, 4))] == [
        *("Picture", "1", "1 picture")
    ]
    zones.tabs.buttons.button(1).click()
    qtbot.waitUntil(lambda: zones.detections.model.rowCount() == 4)
    assert zones.detections.model.index(2, 0).data() == "3"
    player.seek(2.0)
    qtbot.waitUntil(lambda: window.context.viewer.transport.hint.text() == "2.png")


def test_what_is_drawn_over_the_picture_is_kept(window, qtbot, tmp_path):
    parts = feature(window, Zones).parts
    assert {name for name in parts.actions if parts[name]} == {"boxes", "labels", "zones", "trails", "numbers"}
    parts.actions["trails"].trigger()
    parts.actions["heat"].trigger()
    assert (feature(window, Zones).layer.show_trails, feature(window, Zones).layer.show_heat) == (False, True)
    other = QWidget()
    qtbot.addWidget(other)
    again = ShownParts(window.context.store, other)
    assert (again["trails"], again["heat"]) == (False, True)


def test_routes_are_listed_and_sorted(shown, qtbot):
    """The object begins in the zone and crosses the line behind it."""
    draw_zone(shown, (0, 0), (30, 0), (30, 200), (0, 200))
    draw_gate(shown)
    model = shown.routes.model
    qtbot.waitUntil(lambda: model.rowCount() == 1 and model.index(0, 1).data() == "Line 1")
    assert [model.index(0, column).data() for column in range(4)] == ["Zone 1", "Line 1", "person", "1"]
    for column in range(4):
        shown.routes.table.sortByColumn(column, Qt.SortOrder.DescendingOrder)
    shown.tabs.buttons.button(3).click()
    assert shown.tabs.stack.currentWidget() is shown.routes


def test_the_set_is_given_to_chosen_files(shown, qtbot, tmp_path, window):
    draw_gate(shown)
    for place in ("b.mp4", "c.mp4"):
        (tmp_path / "other").mkdir(exist_ok=True)
        window.open_paths([make_video(tmp_path / "other" / place, 3, (320, 240))])
    qtbot.waitUntil(lambda: len(window.context.queue) == 3)
    choose(shown, "Use for other videos…")
    dialog = window.findChild(FilesDialog)
    folders = [dialog.tree.topLevelItem(number) for number in range(2)]
    assert [folder.checkState(0) for folder in folders] == [Qt.CheckState.Checked, Qt.CheckState.Unchecked]
    folders[1].child(0).setCheckState(0, Qt.CheckState.Checked)
    dialog.accept()
    assert [shown.set.library.name_for(item.path) for item in window.context.queue] == ["a", "a", None]
    assert [shown.set.set_for(item) is not None for item in window.context.queue] == [True, True, False]
    first = next(iter(window.context.queue)).path
    assert [shown.set.is_shared(first, item.path) for item in window.context.queue] == [True, True, False]
