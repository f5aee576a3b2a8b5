"""Lines, zones and events in the whole window."""

from __future__ import annotations

import json

import pytest

from app.window.zones.workspace import Zones
from engine.store.tracks import track_session
from engine.tracking.follow import TrackerName
from engine.zones.shapes import Line
from tests.support.media import make_video
from tests.support.window import write_results

FRAMES = 60


@pytest.fixture
def shown(window, qtbot, tmp_path) -> Zones:
    """A file whose only object moves by 2 of 640 pixels a frame from x = 20."""
    (tmp_path / "camera").mkdir()
    video = make_video(tmp_path / "camera" / "a.mp4", FRAMES, (320, 240))
    results = write_results(tmp_path / "a.sqlite", video, FRAMES)
    track_session(results.database, TrackerName.BYTETRACK)
    window.open_paths([results.database])
    qtbot.waitUntil(lambda: window.viewer.player.current is not None)
    window.actions_.zones.setChecked(True)
    qtbot.waitUntil(lambda: window.zones.list.model.rowCount() == 1)
    return window.zones


def draw_gate(zones):
    zones.editor.begin(Line)
    zones.editor.add_point((40, 5))
    zones.editor.add_point((40, 100))


def test_a_drawn_line_is_counted_kept_and_listed(shown, qtbot, tmp_path):
    draw_gate(shown)
    qtbot.waitUntil(lambda: shown.list.model.rowCount() == 2)
    assert [shown.panel.model.index(0, column).data() for column in range(4)] == ["Line 1", "All", "0", "1"]
    assert shown.list.model.index(1, 3).data() == "crosses Line 1 backward"
    stored = json.loads((tmp_path / "zones" / "camera.json").read_text())
    assert stored["lines"] == [{"name": "Line 1", "from": [40, 5], "to": [40, 100], "classes": []}]
    assert shown.set.library.name_for(tmp_path / "camera" / "b.mp4") == "camera"
    assert shown.current is not None


def test_the_table_renames_and_limits_classes(shown, qtbot):
    draw_gate(shown)
    model = shown.panel.model
    assert model.setData(model.index(0, 0), "gate")
    assert model.setData(model.index(0, 1), "car, person")
    assert shown.editor.zones.shapes[0] == Line("gate", (40, 5), (40, 100), ("car", "person"))
    model.setData(model.index(0, 1), "lorry")
    qtbot.waitUntil(lambda: "does not have" in shown.panel.note.text())


def test_a_set_is_imported_and_exported(shown, qtbot, tmp_path):
    draw_gate(shown)
    shown.panel.export_requested.emit(tmp_path / "out.json")
    shown.panel.import_requested.emit(tmp_path / "out.json")
    assert shown.panel.sets.currentText() == "out"
    assert shown.editor.zones.shapes[0].name == "Line 1"
    (tmp_path / "wrong.json").write_text((tmp_path / "out.json").read_text().replace("480", "640"))
    shown.panel.import_requested.emit(tmp_path / "wrong.json")
    assert "another shape" in shown.panel.note.text()
    assert shown.panel.sets.currentText() == "out"


def test_an_event_is_reached_by_key_and_click(shown, qtbot, window):
    draw_gate(shown)
    qtbot.waitUntil(lambda: shown.list.model.rowCount() == 2)
    with qtbot.waitSignal(shown.list.sought) as sought:
        shown.list.next()
    assert sought.args == [pytest.approx(1 / 3)]
    with qtbot.waitSignal(shown.list.sought) as sought:
        shown.list.previous()
    assert sought.args == [0.0]


def test_results_without_tracks_can_be_tracked(window, qtbot, tmp_path):
    video = make_video(tmp_path / "a.mp4", FRAMES, (320, 240))
    results = write_results(tmp_path / "a.sqlite", video, FRAMES)
    window.open_paths([results.database])
    qtbot.waitUntil(lambda: window.viewer.player.current is not None)
    window.actions_.zones.setChecked(True)
    qtbot.waitUntil(lambda: window.zones.panel.track.isVisible())
    assert "have no tracks" in window.zones.panel.note.text()
    window.zones.panel.track.click()
    qtbot.waitUntil(lambda: not window.zones.panel.track.isVisible() and not window.background.busy)
    assert window.zones.list.model.index(0, 2).data() == "1"


def test_the_panels_are_remembered_and_hidden_in_full_screen(window, qtbot, tmp_path):
    assert not window.zones.area.isVisibleTo(window)
    window.open_paths([write_results(tmp_path / "a.sqlite", make_video(tmp_path / "a.mp4", 5, (320, 240)), 5).database])
    window.actions_.zones.setChecked(True)
    assert window.zones.area.isVisibleTo(window.middle)
    window.arrangement.toggle_fullscreen()
    assert not window.zones.area.isVisibleTo(window.middle)
    window.arrangement.toggle_fullscreen()
    assert window.zones.area.isVisibleTo(window.middle)
    window.arrangement.keep()
    assert window._store.value("window/zones_shown") == "yes"
