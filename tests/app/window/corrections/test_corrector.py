"""Objects are corrected in the whole window, by keys."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt

from framefleet.app.window.corrections.corrector import Correction, Corrector
from framefleet.app.window.grid.grid import Grid
from framefleet.app.window.main_window import MainWindow
from framefleet.app.window.viewer.filter import ViewFilter
from framefleet.app.window.widgets.banner import Severity
from framefleet.app.window.zones.workspace import Zones
from framefleet.engine.notices import UsageError
from framefleet.engine.pool.events import Ledger
from framefleet.engine.store.corrections import Corrections, OneDetection, edits
from framefleet.engine.store.session import SessionReader, SessionWriter
from framefleet.engine.store.tracks import track_session
from framefleet.engine.types import Detections, FrameRef, FrameResult
from tests.support.media import make_video
from tests.support.store import video_info
from tests.support.window import CPU, feature, pixels, write_results

FRAMES = 20


@pytest.fixture
def window(shared_window: MainWindow) -> MainWindow:
    return shared_window


@pytest.fixture
def shown(window, qtbot, tmp_path) -> MainWindow:
    """A tracked file with one object, and the bar."""
    video = make_video(tmp_path / "a.mp4", FRAMES, (320, 240))
    results = write_results(tmp_path / "a.sqlite", video, FRAMES)
    track_session(results.database)
    window.open_paths([results.database])
    qtbot.waitUntil(lambda: window.context.viewer.canvas.result is not None)
    window.context.viewer.player.pause()
    window.context.actions.correct.setChecked(True)
    return window


def press(qtbot, window, *keys):
    for key in keys:
        qtbot.keyClick(window, key)


def frame_of(window):
    result = window.context.viewer.canvas.result
    return None if result is None else result.ref.index


def read(window):
    database = window.context.viewer.item.results.database
    with SessionReader(database) as reader:
        return [frame.detections for frame in reader.frames(0)]


def waits(qtbot, window, condition):
    qtbot.waitUntil(condition)
    assert not feature(window, Corrector).busy


def test_a_detection_is_confirmed_and_a_track_deleted_by_keys_undone_and_done_again(shown, qtbot):
    bar, canvas = feature(shown, Corrector).bar, shown.context.viewer.canvas
    assert bar.isVisible()
    assert not bar.buttons["confirm"].isEnabled()
    press(qtbot, shown, Qt.Key.Key_E)
    assert bar.selected.text() == f"{canvas.label_of(0)} · track 1"
    press(qtbot, shown, Qt.Key.Key_C)
    waits(qtbot, shown, lambda: bar.selected.text().endswith("verified"))
    assert sum(found.verified.sum() for found in read(shown)) == 1
    press(qtbot, shown, Qt.Key.Key_T, Qt.Key.Key_Backspace)
    waits(qtbot, shown, lambda: canvas.result is not None and len(canvas.result.detections) == 0)
    assert sum(map(len, read(shown))) == 0
    qtbot.keyClick(shown, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    waits(qtbot, shown, lambda: canvas.result is not None and len(canvas.result.detections) == 1)
    assert sum(map(len, read(shown))) == FRAMES
    qtbot.keyClick(shown, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier)
    waits(qtbot, shown, lambda: canvas.result is not None and len(canvas.result.detections) == 0)
    assert said(shown).startswith("Done again: ")
    assert sum(map(len, read(shown))) == 0


def place(window, x, y):
    """The point of the canvas at a pixel of the video."""
    placement = window.context.viewer.canvas.placement
    scale = placement.width / placement.source[0]
    return QPoint(round(placement.x + x * scale), round(placement.y + y * scale))


def drag(qtbot, window, begin, end):
    canvas = window.context.viewer.canvas
    qtbot.mousePress(canvas, Qt.MouseButton.LeftButton, pos=place(window, *begin))
    qtbot.mouseMove(canvas, place(window, (begin[0] + end[0]) / 2, (begin[1] + end[1]) / 2))
    qtbot.mouseMove(canvas, place(window, *end))
    qtbot.mouseRelease(canvas, Qt.MouseButton.LeftButton, pos=place(window, *end))


def test_a_missing_object_is_drawn_and_undone_and_drawn_again(shown, qtbot):
    bar, canvas = feature(shown, Corrector).bar, shown.context.viewer.canvas
    press(qtbot, shown, Qt.Key.Key_W)
    bar.classes.setCurrentIndex(2)
    bar.classes.activated.emit(2)
    assert bar.selected.text() == "Draw the box of a missing object of the class car; another class: R"
    drag(qtbot, shown, (100, 50), (180, 110))
    waits(qtbot, shown, lambda: len(canvas.visible_detections) == 2)
    found = read(shown)[0]
    assert (found.class_ids.tolist(), found.drawn.tolist(), found.verified.tolist()) == ([2, 0], [True, False], [True, False])
    assert np.abs(found.boxes[0] - (100, 50, 180, 110)).max() < 2
    assert said(shown) == "Car added"
    qtbot.keyClick(shown, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    waits(qtbot, shown, lambda: len(canvas.visible_detections) == 1)
    qtbot.keyClick(shown, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier)
    waits(qtbot, shown, lambda: len(canvas.visible_detections) == 2)
    press(qtbot, shown, Qt.Key.Key_Escape)
    assert not bar.draw.isChecked()
    assert bar.isVisible()


def test_a_corner_of_the_selected_object_is_moved(shown, qtbot):
    canvas = shown.context.viewer.canvas
    plain = pixels(canvas.grab().toImage())
    press(qtbot, shown, Qt.Key.Key_E)
    marked = pixels(canvas.grab().toImage())
    assert (marked[-20:] == plain[-20:]).all()
    assert (marked != plain).any()
    drag(qtbot, shown, (20, 40), (60, 90))  # its lower right corner: the box is 0, 10, 20, 40
    waits(qtbot, shown, lambda: abs(canvas.visible_detections.boxes[0][2] - 60) < 2)
    found = read(shown)[0]
    assert np.abs(found.boxes[0] - (0, 10, 60, 90)).max() < 2
    assert (found.drawn.tolist(), found.verified.tolist(), found.tracks.tolist()) == ([True], [True], [1])
    assert said(shown) == "Box of person moved"
    qtbot.keyClick(shown, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    waits(qtbot, shown, lambda: abs(canvas.visible_detections.boxes[0][2] - 20) < 1e-3)


def test_another_class_is_chosen_from_the_list(shown, qtbot):
    bar = feature(shown, Corrector).bar
    press(qtbot, shown, Qt.Key.Key_E)
    bar.classes.activated.emit(2)
    waits(qtbot, shown, lambda: bar.selected.text() == "car · track 1 · verified")
    with Corrections(shown.context.viewer.item.results.database) as corrections:
        assert [str(edit.words) for edit in corrections.edits()] == ["detection 0 (person, 0.90) in frame 0 of a.mp4 labelled car"]


def test_a_track_is_split_at_the_picture_and_the_parts_are_joined(shown, qtbot):
    bar, player = feature(shown, Corrector).bar, shown.context.viewer.player
    press(qtbot, shown, Qt.Key.Key_E, Qt.Key.Key_B)
    qtbot.waitUntil(lambda: bar.selected.text() == "Track 1 begins in this frame: split it in a later one")
    player.seek(5 / 30)
    qtbot.waitUntil(lambda: frame_of(shown) == 5)
    press(qtbot, shown, Qt.Key.Key_E, Qt.Key.Key_B)
    waits(qtbot, shown, lambda: bar.selected.text().endswith("track 2"))
    press(qtbot, shown, Qt.Key.Key_G)
    assert bar.selected.text().startswith("Select the other track and press G")
    player.seek(0.0)
    qtbot.waitUntil(lambda: frame_of(shown) == 0)
    press(qtbot, shown, Qt.Key.Key_E, Qt.Key.Key_G)
    qtbot.waitUntil(lambda: said(shown) == "Tracks 2 and 1 joined")
    assert {found.tracks[0] for found in read(shown)} == {2}


def said(window):
    return window.context.activity.text.toolTip()


def test_the_line_at_the_bottom_says_what_was_done_and_undoes_it(shown, qtbot):
    bar, activity = feature(shown, Corrector).bar, shown.context.activity
    press(qtbot, shown, Qt.Key.Key_E, Qt.Key.Key_C)
    qtbot.waitUntil(lambda: said(shown) == "Person confirmed" and not feature(shown, Corrector).busy)
    assert activity.isVisible()
    press(qtbot, shown, Qt.Key.Key_T)
    bar.classes.activated.emit(2)
    qtbot.waitUntil(lambda: said(shown) == "Track 1 (person) is now car" and not feature(shown, Corrector).busy)
    activity.reveal.click()
    assert said(shown) == "Undone: Track 1 (person) is now car"
    qtbot.waitUntil(lambda: len(edits(shown.context.viewer.item.results.database)) == 1 and not feature(shown, Corrector).busy)


def test_after_undo_the_bar_shows_the_object_instead_of_a_refusal(shown, qtbot):
    bar = feature(shown, Corrector).bar
    press(qtbot, shown, Qt.Key.Key_E)
    bar.classes.activated.emit(2)
    waits(qtbot, shown, lambda: bar.selected.text() == "car · track 1 · verified")
    press(qtbot, shown, Qt.Key.Key_B)
    qtbot.waitUntil(lambda: bar.refused)
    qtbot.keyClick(shown, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    waits(qtbot, shown, lambda: bar.selected.text() == "person · track 1")
    assert (bar.refused, bar.classes.currentText()) == (False, "person")


def test_an_earlier_correction_is_not_offered_when_its_file_is_no_longer_shown(shown, qtbot):
    item, corrector = shown.context.viewer.item, feature(shown, Corrector)
    with Corrections(item.results.database) as corrections:
        corrections.confirm(OneDetection(0, 0, 0))
    corrector.set_shown(True)  # looks for corrections
    shown.context.run.remove(item.key)
    qtbot.waitUntil(lambda: not shown.context.background.busy)
    assert corrector.bar.earlier.isHidden()


def test_split_and_join_wrap_together(open_window, qtbot):
    bar = feature(open_window(), Corrector).bar
    bar.setParent(None)
    qtbot.addWidget(bar)
    bar.show()
    rows = set()
    for width in range(bar.minimumSizeHint().width(), bar.sizeHint().width(), 20):
        bar.resize(width, 200)
        bar.layout().activate()
        tops = {name: button.mapTo(bar, button.rect().topLeft()).y() for name, button in bar.buttons.items()}
        rows.add(len(set(tops.values())))
        assert tops["split"] == tops["join"]
    assert len(rows) > 1
    check, button = bar.track, bar.buttons["confirm"]
    bar.resize(bar.sizeHint())
    bar.layout().activate()
    middles = {widget.mapTo(bar, widget.rect().center()).y() for widget in (check, bar.classes, button)}
    assert max(middles) - min(middles) <= 1


def test_the_panels_below_give_room_to_the_picture_while_objects_are_corrected(shown, qtbot, tmp_path):
    shown.resize(1360, 840)
    shown.context.actions.correct.setChecked(False)
    shown.context.actions.zones.setChecked(True)
    middle = shown.middle
    qtbot.waitUntil(lambda: middle.sizes()[1] > 200)
    before = middle.sizes()
    shown.context.actions.correct.setChecked(True)
    least = max(200, shown.below.minimumSizeHint().height())
    qtbot.waitUntil(lambda: middle.sizes()[1] == least)
    shown.context.actions.correct.setChecked(False)
    qtbot.waitUntil(lambda: middle.sizes() == before)
    shown.open_paths([write_results(tmp_path / "b.sqlite", tmp_path / "b.mp4", 3).database])
    qtbot.waitUntil(lambda: len(shown.context.queue) == 2)
    feature(shown, Grid).set_side(2)  # each picture is small, but there is as much room as before
    qtbot.waitUntil(lambda: shown.context.viewer.canvas.height() < 220)
    shown.context.actions.correct.setChecked(True)
    qtbot.waitUntil(lambda: middle.sizes()[1] == least)
    shown.context.actions.correct.setChecked(False)


def test_in_a_small_window_the_panels_below_are_hidden_while_objects_are_corrected(shown, qtbot):
    shown.resize(1000, 650)
    shown.context.actions.correct.setChecked(False)
    shown.context.actions.zones.setChecked(True)
    area, canvas = shown.below, shown.context.viewer.canvas
    qtbot.waitUntil(lambda: area.height() > 100)
    shown.context.actions.correct.setChecked(True)
    qtbot.waitUntil(lambda: not area.isVisible() and canvas.height() > 250)
    shown.resize(1360, 840)
    qtbot.waitUntil(lambda: area.isVisible() and area.height() >= area.minimumSizeHint().height())
    shown.resize(1000, 650)
    qtbot.waitUntil(lambda: not area.isVisible() and canvas.height() > 250)
    shown.context.actions.correct.setChecked(False)
    qtbot.waitUntil(area.isVisible)
    shown.context.actions.zones.setChecked(False)
    shown.context.actions.correct.setChecked(True)
    shown.context.actions.zones.setChecked(True)  # the user wants the panels now
    qtbot.waitUntil(lambda: area.isVisible() and area.height() > 100)
    shown.context.actions.zones.setChecked(False)
    qtbot.waitUntil(lambda: not area.isVisible())
    shown.context.actions.correct.setChecked(False)
    shown.context.actions.zones.setChecked(True)
    shown.context.actions.correct.setChecked(True)
    qtbot.waitUntil(lambda: not area.isVisible() and canvas.height() > 250)
    shown.context.actions.zones.trigger()  # Ctrl + 3 asks for panels that are not visible
    qtbot.waitUntil(lambda: area.isVisible() and area.height() > 100)
    assert shown.context.actions.zones.isChecked()
    shown.resize(1000, 680)
    shown.context.banners.show_banner("engines", Severity.INFO, "The engines in use", details="Later files use the fastest")
    qtbot.waitUntil(lambda: canvas.height() < 160)
    assert canvas.height() <= shown.context.viewer.pictures.height(), "the whole picture is seen, also below a banner"
    assert shown.height() <= 680
    shown.context.banners.remove("engines")
    shown.context.actions.zones.trigger()
    assert not area.isVisible()
    shown.resize(1360, 840)
    shown.context.actions.correct.setChecked(False)
    qtbot.waitUntil(lambda: shown.middle.sizes()[1] == 0)
    shown.context.actions.zones.setChecked(True)
    shown.context.actions.correct.setChecked(True)
    qtbot.waitUntil(lambda: shown.middle.sizes()[1] > 0)
    shown.context.actions.correct.setChecked(False)
    assert shown.middle.sizes()[1] > 0, "panels that were shown together with the bar stay"


def test_with_a_hidden_class_the_selected_object_is_corrected(window, qtbot, tmp_path):
    info = video_info(str(make_video(tmp_path / "b.mp4", 3, (320, 240))), 3)
    found = Detections(
        np.array([[10, 10, 60, 60], [100, 100, 160, 160]], np.float32), np.array([0.9, 0.8], np.float32), np.array([0, 2], np.int32)
    )
    with SessionWriter(tmp_path / "b.sqlite", ("person", "bicycle", "car"), {"model": "tiny"}) as writer:
        writer.add_source(0, info.path, info)
        writer.add_frames([FrameResult(FrameRef(0, index, index / 30), CPU, 320, 240, found) for index in range(3)])
        writer.finish_source(0, info.path, Ledger(3, 3), 1.0, None, False)
    window.open_paths([tmp_path / "b.sqlite"])
    qtbot.waitUntil(lambda: window.context.viewer.canvas.result is not None)
    window.context.viewer.player.pause()
    window.context.actions.correct.setChecked(True)
    window.context.viewer.set_filter(ViewFilter(0.25, frozenset({2})))
    press(qtbot, window, Qt.Key.Key_E)
    assert feature(window, Corrector).bar.selected.text() == "car"
    frame = frame_of(window)
    press(qtbot, window, Qt.Key.Key_Backspace)
    qtbot.waitUntil(lambda: said(window) == "Car deleted")
    assert read(window)[frame].class_ids.tolist() == [0]


def test_classes_timeline_and_events_are_counted_again_after_a_correction(shown, qtbot):
    counted, timeline = [], shown.context.viewer.transport.timeline
    shown.context.viewer.counted.connect(counted.append)
    shown.context.actions.zones.setChecked(True)
    qtbot.waitUntil(lambda: feature(shown, Zones).list.model.rowCount() == 1, timeout=20_000)
    press(qtbot, shown, Qt.Key.Key_E, Qt.Key.Key_T, Qt.Key.Key_Backspace)
    qtbot.waitUntil(lambda: bool(counted) and sum(counted[-1].values()) == 0, timeout=20_000)
    qtbot.waitUntil(lambda: feature(shown, Zones).list.model.rowCount() == 0, timeout=20_000)
    assert timeline.text_at(0.0) == "0:00.0"
    qtbot.keyClick(shown, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(lambda: sum(counted[-1].values()) == FRAMES, timeout=20_000)
    qtbot.waitUntil(lambda: feature(shown, Zones).list.model.rowCount() == 1, timeout=20_000)
    qtbot.waitUntil(lambda: not shown.context.background.busy, timeout=20_000)


def test_an_object_that_is_not_shown_any_more_is_not_corrected(shown, qtbot, tmp_path):
    bar, nothing = feature(shown, Corrector).bar, feature(shown, Corrector).bar.selected.text()
    database = shown.context.viewer.item.results.database
    press(qtbot, shown, Qt.Key.Key_E)
    shown.context.viewer.set_filter(ViewFilter(0.95))
    press(qtbot, shown, Qt.Key.Key_Backspace)
    assert bar.selected.text() == nothing
    shown.context.viewer.set_filter(ViewFilter(0.25))
    press(qtbot, shown, Qt.Key.Key_E, Qt.Key.Key_G)
    other = write_results(tmp_path / "b.sqlite", make_video(tmp_path / "b.mp4", FRAMES, (320, 240)), FRAMES)
    track_session(other.database)
    shown.open_paths([other.database])
    qtbot.waitUntil(lambda: shown.context.viewer.item.results.database == other.database)
    press(qtbot, shown, Qt.Key.Key_Backspace)
    qtbot.waitUntil(lambda: shown.context.viewer.canvas.result is not None)
    press(qtbot, shown, Qt.Key.Key_E)
    assert bar.selected.text().endswith("track 1")
    for each in (database, other.database):
        assert edits(each) == []


@pytest.mark.parametrize("name", ["relabel", "confirm", "add"])
@pytest.mark.parametrize(
    ("kind", "frame", "says"),
    [
        ("video", FRAMES, "This frame is not stored yet"),
        ("video", 3, "This frame is not stored yet"),  # detection has gone to a later place first
        ("live", FRAMES, "This frame is not stored yet"),
        ("live", 3, "This frame is in another part of the session"),
    ],
)
def test_a_frame_that_is_shown_but_not_in_the_session_is_refused(tmp_path, name, kind, frame, says):
    results = write_results(tmp_path / "a.sqlite", tmp_path / "a.mp4", FRAMES)
    with closing(sqlite3.connect(results.database)) as connection, connection:
        connection.execute("DELETE FROM frames WHERE frame = 3")
        connection.execute("UPDATE sources SET kind = ?", (kind,))
    work = Correction(name, results, ViewFilter(), frame, 0, None, False, 1, None, (10, 10, 60, 60))
    with pytest.raises(UsageError, match=says):
        work.make()


def test_a_second_correction_waits_until_the_first_one_is_seen(shown, qtbot):
    seen = shown.context.viewer.canvas.result
    asked = []

    def again(_key):
        if not asked:
            asked.append("delete")
            press(qtbot, shown, Qt.Key.Key_Backspace)

    feature(shown, Corrector).corrected.connect(again)
    press(qtbot, shown, Qt.Key.Key_E, Qt.Key.Key_Backspace)
    qtbot.waitUntil(lambda: shown.context.viewer.canvas.result is not seen and not feature(shown, Corrector).busy)
    assert (asked, len(edits(shown.context.viewer.item.results.database))) == (["delete"], 1)


def test_without_a_change_nothing_is_corrected(shown, qtbot):
    """Keys while the bar is hidden, a click without a movement, and a selection that is given up."""
    bar, canvas, correct = feature(shown, Corrector).bar, shown.context.viewer.canvas, shown.context.actions.correct
    correct.setChecked(False)
    press(qtbot, shown, Qt.Key.Key_E, Qt.Key.Key_Backspace)
    assert not bar.isVisible()
    assert sum(map(len, read(shown))) == FRAMES

    shown.context.viewer.player.seek(0.0)
    shown.context.viewer.player.toggle()
    assert shown.context.viewer.player.playing
    correct.setChecked(True)
    assert not shown.context.viewer.player.playing, "the video stops when the bar appears"
    qtbot.waitUntil(lambda: frame_of(shown) is not None)

    press(qtbot, shown, Qt.Key.Key_W)
    drag(qtbot, shown, (100, 50), (100, 50))
    assert not feature(shown, Corrector).busy
    assert len(read(shown)[0]) == 1
    press(qtbot, shown, Qt.Key.Key_Escape)

    press(qtbot, shown, Qt.Key.Key_E)
    canvas.highlight(None)  # the mouse leaves the picture
    assert canvas.selected == 0
    press(qtbot, shown, Qt.Key.Key_G)
    assert bar.selected.text().startswith("Select the other track and press G")
    press(qtbot, shown, Qt.Key.Key_Escape)
    assert (canvas.selected, bar.selected.text()) == (None, "Click an object, or press E")
    assert edits(shown.context.viewer.item.results.database) == []
