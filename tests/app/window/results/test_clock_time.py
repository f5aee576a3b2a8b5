"""The window shows the clock time of the picture if the session knows when the video began."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import replace
from datetime import UTC
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from framefleet.app.window.main_window import MainWindow
from framefleet.app.window.results.clock_time import clock_preview
from framefleet.engine.media.types import SourceKind
from framefleet.engine.settings.clock import ClockSettings, ClockSource
from tests.support.cli import FAST, run_main
from tests.support.media import dated_picture, make_video
from tests.support.store import video_info
from tests.support.window import queue_item, write_results


@pytest.mark.parametrize("started", ["2026-11-01T23:59:58+01:00", None])
def test_the_clock_time_of_the_picture(qtbot: QtBot, window: MainWindow, tmp_path: Path, started: str | None) -> None:
    results = write_results(tmp_path / "s.sqlite", make_video(tmp_path / "a.mp4", 90, (320, 240)), 90)
    with closing(sqlite3.connect(results.database)) as connection:
        connection.execute("UPDATE sources SET started = ?", (started,))
        connection.commit()
    window.resize(1400, 800)
    window.open_paths([results.database])
    transport, player = window.viewer.transport, window.viewer.player
    qtbot.waitUntil(lambda: player.current is not None and not window.background.busy)
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
    transport, player = window.viewer.transport, window.viewer.player
    qtbot.waitUntil(lambda: player.current is not None and not window.background.busy)
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
