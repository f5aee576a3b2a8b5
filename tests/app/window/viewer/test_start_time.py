"""Videos whose first frame is not at 0 s, as recordings of broadcasts: the window counts times from that frame."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from pytestqt.qtbot import QtBot

from framefleet.app.window.grid.grid import Grid
from framefleet.app.window.main_window import MainWindow
from framefleet.app.window.player.player import Player
from framefleet.app.window.queue.item import Part
from framefleet.app.window.timeline.face import MARGIN
from framefleet.engine.store.appearances import EVENTS, EventKind
from tests.support.media import make_video
from tests.support.window import feature

FRAMES, START = 45, 3000
FIRST, LAST = START / 30, (START + FRAMES - 1) / 30
PATIENCE = 60_000


@pytest.fixture(scope="module")
def video(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("late") / "late.mkv"
    return make_video(path, FRAMES, (64, 48), pts=range(START, START + FRAMES))


@pytest.fixture
def player(qtbot: QtBot, window: MainWindow, video: Path) -> Player:
    window.open_paths([video])
    player = window.context.viewer.player
    qtbot.waitUntil(lambda: player.current is not None, timeout=PATIENCE)
    player.pause()
    player.seek(0.0)
    qtbot.waitUntil(lambda: player.position == pytest.approx(FIRST, abs=0.01), timeout=PATIENCE)
    return player


def test_times_and_the_timeline_count_from_the_first_frame(qtbot: QtBot, window: MainWindow, player: Player) -> None:
    transport = window.context.viewer.transport
    timeline = transport.timeline
    assert (transport.time.text(), transport.frame.text(), timeline.value()) == ("0:00.0", "frame 0", 0)
    window.context.viewer.seeking.to_end()
    qtbot.waitUntil(lambda: player.position == pytest.approx(LAST, abs=0.01), timeout=PATIENCE)
    assert (transport.time.text(), transport.frame.text()) == ("0:01.4", "frame 44")
    middle = QPoint(int(MARGIN + (timeline.width() - 2 * MARGIN) / 2), timeline.height() - 10)
    qtbot.mouseClick(timeline, Qt.MouseButton.LeftButton, pos=middle)
    qtbot.waitUntil(lambda: player.position == pytest.approx(FIRST + 0.75, abs=0.05), timeout=PATIENCE)
    qtbot.mouseMove(timeline, middle + QPoint(1, 0))
    assert window.context.viewer.glimpse.text.text().startswith("0:00.7")
    qtbot.waitUntil(lambda: not window.context.viewer.glimpse.picture.pixmap().isNull(), timeout=PATIENCE)
    window.context.viewer.mark(end=True)
    assert timeline.part == Part(0.0, pytest.approx(player.position - FIRST))  # as ``detect --to`` counts
    events = np.zeros(1, EVENTS)
    events["kind"], events["start"], events["end"] = EventKind.CROSSING, FIRST + 1, FIRST + 1
    transport.set_events(events)
    assert "crossing" in timeline.text_at(1.0)


def test_playing_backwards_stops_at_the_first_frame(qtbot: QtBot, window: MainWindow, player: Player) -> None:
    player.seek(FIRST + 0.2)
    qtbot.waitUntil(lambda: player.position == pytest.approx(FIRST + 0.2, abs=0.01), timeout=PATIENCE)
    window.context.viewer.seeking.shuttle(-1)
    qtbot.waitUntil(lambda: not player.playing, timeout=PATIENCE)
    assert player.position == pytest.approx(FIRST, abs=0.01)


def test_a_grid_shows_videos_in_step_from_their_first_frames(qtbot: QtBot, window: MainWindow, player: Player, tmp_path: Path) -> None:
    window.open_paths([make_video(tmp_path / "other.mp4", FRAMES, (64, 48))])
    feature(window, Grid).set_side(2)
    qtbot.waitUntil(lambda: len(feature(window, Grid).cells) == 1, timeout=PATIENCE)
    player.seek(FIRST + 1)
    (cell,) = feature(window, Grid).cells.values()
    qtbot.waitUntil(lambda: cell.position == pytest.approx(1.0), timeout=PATIENCE)
