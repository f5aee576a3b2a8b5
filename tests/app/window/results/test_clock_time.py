"""The window shows the clock time of the picture if the session knows when the video began."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.window.main_window import MainWindow
from tests.support.media import make_video
from tests.support.window import write_results


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
