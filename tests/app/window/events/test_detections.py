"""The table of all detections."""

from __future__ import annotations

from app.window.events.detections import CLASS, CONFIDENCE, FRAME, SIZE, TIME, TRACK
from tests.support.media import make_video
from tests.support.window import write_results

FRAMES = 30


def test_the_detections_that_are_shown_are_listed_and_a_row_jumps_to_its_frame(window, qtbot, tmp_path):
    video = make_video(tmp_path / "a.mp4", FRAMES, (320, 240))
    window.open_paths([write_results(tmp_path / "a.sqlite", video, FRAMES).database])
    qtbot.waitUntil(lambda: window.viewer.canvas.result is not None, timeout=20_000)
    window.actions_.zones.setChecked(True)
    panel = window.zones.detections
    assert panel.model.rowCount() == 0  # nothing is read while it is hidden
    window.zones.tabs.buttons.button(1).click()
    qtbot.waitUntil(lambda: panel.model.rowCount() == FRAMES, timeout=20_000)
    cells = [panel.model.index(12, column).data() for column in (TIME, FRAME, CLASS, TRACK, CONFIDENCE, SIZE)]
    assert cells == ["0:00.40", "12", "person", "", "89 %", "20 × 30"]
    assert panel.count.text() == f"{FRAMES} detections"
    panel.table.clicked.emit(panel.model.index(12, 0))
    qtbot.waitUntil(lambda: window.viewer.player.position == 0.4, timeout=20_000)
    window.filter.set_confidence(0.95)
    qtbot.waitUntil(lambda: panel.model.rowCount() == 0, timeout=20_000)
    window.filter.set_confidence(0.5)
    window.filter.classes.show_only(1)
    qtbot.waitUntil(lambda: panel.model.rowCount() == FRAMES // 3)
