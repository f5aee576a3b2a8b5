"""Several videos in step, with real preview processes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from framefleet.app.window.grid.grid import Cell, Grid
from framefleet.app.window.main_window import MainWindow
from framefleet.app.window.player.player import FollowingClock, PlaybackClock
from framefleet.app.window.queue.panel import QueuePanel
from framefleet.app.window.viewer.canvas import GAP, MIN_SIZE
from framefleet.engine.media.types import SourceKind
from framefleet.engine.pool.events import Ledger
from framefleet.engine.store.session import SessionWriter
from tests.support.media import make_video
from tests.support.store import make_frame, video_info
from tests.support.window import feature

PATIENCE = 60_000


@pytest.fixture
def window(shared_window: MainWindow) -> MainWindow:
    return shared_window


@pytest.fixture(scope="module")
def videos(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("grid")
    return [make_video(folder / f"{number}.mp4", 300, (64, 48)) for number in range(3)]


def in_step(window: MainWindow, offset: float = 0.0) -> bool:
    position = window.context.viewer.player.position
    return all(abs(cell.position - position - offset) < 0.02 for cell in feature(window, Grid).cells.values())


def test_a_following_clock_is_ahead_of_the_other_and_never_late() -> None:
    leader = PlaybackClock()
    clock = FollowingClock(leader)
    clock.offset = 5.0
    assert clock.reached(10.0) is None
    leader.due(2.0, now=10.0)
    assert clock.reached(11.0) == 8.0
    assert clock.due(9.0, now=11.0) == 12.0
    assert clock.due(3.0, now=11.0) == 11.0
    leader.set_speed(2.0)
    leader.due(2.0, now=20.0)
    assert clock.due(9.0, now=20.0) == 21.0


def test_videos_of_a_grid_jump_play_and_stop_together_and_a_click_makes_one_the_main_one(
    qtbot: QtBot, window: MainWindow, videos: list[Path]
) -> None:
    window.open_paths(videos)
    player = window.context.viewer.player
    qtbot.waitUntil(lambda: window.context.viewer.canvas.placement is not None, timeout=PATIENCE)
    player.pause()
    qtbot.keyClick(window, Qt.Key.Key_G, Qt.KeyboardModifier.ControlModifier)
    assert len(feature(window, Grid).cells) == 2
    timeline = window.context.viewer.transport.timeline
    high = timeline.sizeHint().height()
    timeline.set_lanes([])
    assert timeline.sizeHint().height() == high  # files with more or fewer classes do not move the pictures
    player.seek(2.0)
    qtbot.waitUntil(lambda: player.position == pytest.approx(2.0) and in_step(window), timeout=PATIENCE)
    player.play()
    qtbot.waitUntil(lambda: player.position > 3.0, timeout=PATIENCE)
    assert all(cell.player.playing for cell in feature(window, Grid).cells.values())
    player.pause()
    qtbot.waitUntil(lambda: in_step(window), timeout=PATIENCE)
    where = player.position
    key, cell = next(iter(feature(window, Grid).cells.items()))
    qtbot.mouseClick(cell.canvas, Qt.MouseButton.LeftButton)
    assert window.context.selection.key == key
    qtbot.waitUntil(lambda: player.position == pytest.approx(where, abs=0.02) and in_step(window), timeout=PATIENCE)
    assert len(feature(window, Grid).cells) == 2
    feature(window, Grid).set_side(1)
    assert not feature(window, Grid).cells


def test_more_videos_need_no_larger_window(qtbot: QtBot, window: MainWindow, tmp_path: Path) -> None:
    window.open_paths([make_video(tmp_path / f"{number} {'long ' * 20}name.mp4", 10, (64, 48)) for number in range(4)])
    qtbot.waitUntil(lambda: len(window.context.queue) == 4 and window.context.viewer.canvas.placement is not None, timeout=PATIENCE)
    one = window.minimumSizeHint()
    for side in (2, 3, 4):
        feature(window, Grid).set_side(side)
        assert len(feature(window, Grid).cells) == 3
        assert window.context.viewer.pictures.minimumSizeHint().height() <= MIN_SIZE.height() + 4 * GAP
        assert window.context.viewer.pictures.minimumSizeHint().width() <= MIN_SIZE.width() + 4 * GAP
    feature(window, Grid).set_side(1)
    assert window.minimumSizeHint() == one
    assert window.context.viewer.canvas.minimumSize() == MIN_SIZE


def test_up_to_sixteen_cameras_are_shown_at_once(qtbot: QtBot, window: MainWindow, tmp_path: Path) -> None:
    database = tmp_path / "s.sqlite"
    with SessionWriter(database, ("person",), {}) as writer:  # the second box of each frame has a class without a label
        for number in range(17):
            address = f"rtsp://127.0.0.1:9/{number}"
            writer.add_source(number, address, replace(video_info(address, 1), kind=SourceKind.LIVE))
            writer.add_frames([make_frame(number, 0)])
            writer.finish_source(number, address, Ledger(1, 1), 1.0)
    window.open_paths([database])
    qtbot.waitUntil(lambda: len(window.context.queue) == 17, timeout=PATIENCE)
    for count in (4, 9, 16, 1):
        qtbot.keyClick(window, Qt.Key.Key_G, Qt.KeyboardModifier.ControlModifier)
        qtbot.waitUntil(lambda count=count: len(feature(window, Grid).cells) == count - 1, timeout=PATIENCE)


def test_a_removed_file_leaves_the_grid(qtbot: QtBot, window: MainWindow, videos: list[Path]) -> None:
    window.open_paths(videos)
    qtbot.waitUntil(lambda: window.context.viewer.canvas.placement is not None, timeout=PATIENCE)
    feature(window, Grid).set_side(3)
    key = next(iter(feature(window, Grid).cells))
    feature(window, QueuePanel).remove_requested.emit([key])
    qtbot.waitUntil(lambda: key not in feature(window, Grid).cells)
    assert len(feature(window, Grid).cells) == 1


def test_many_removed_files_are_not_opened_one_after_the_other(
    qtbot: QtBot, open_window: Callable[..., MainWindow], tmp_path: Path
) -> None:
    window = open_window()
    window.open_paths([make_video(tmp_path / f"{number}.mp4", 10, (64, 48)) for number in range(12)])
    qtbot.waitUntil(lambda: len(window.context.queue) == 12 and window.context.viewer.canvas.placement is not None, timeout=PATIENCE)
    keys = [item.key for item in window.context.queue]
    feature(window, QueuePanel).show_item(keys[0])
    feature(window, Grid).set_side(2)
    feature(window, QueuePanel).remove_requested.emit(keys[:8])
    qtbot.waitUntil(lambda: set(feature(window, Grid).cells) == set(keys[9:]))
    assert len(feature(window, Grid).findChildren(Cell)) <= 6


def test_videos_run_in_step_by_clock_time(qtbot: QtBot, window: MainWindow, videos: list[Path], tmp_path: Path) -> None:
    begin = datetime(2026, 5, 1, 12, 0, tzinfo=UTC)
    database = tmp_path / "s.sqlite"
    with SessionWriter(database, ("person",), {}) as writer:
        for number, start in enumerate((begin, begin - timedelta(seconds=4))):
            path = str(videos[number])
            writer.add_source(number, path, video_info(path, 300))
            writer.set_start(number, start)
            writer.finish_source(number, path, Ledger(300, 300), 1.0)
    window.open_paths([database])
    player = window.context.viewer.player
    qtbot.waitUntil(lambda: window.context.viewer.canvas.placement is not None, timeout=PATIENCE)
    player.pause()
    feature(window, QueuePanel).show_item(next(iter(window.context.queue)).key)
    feature(window, Grid).set_side(2)
    feature(window, Grid).by_clock.trigger()
    player.seek(1.0)
    qtbot.waitUntil(lambda: player.position == pytest.approx(1.0) and in_step(window, 4.0), timeout=PATIENCE)
