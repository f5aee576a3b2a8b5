"""The player's keys in the whole window, with a real preview process."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QStandardPaths, Qt
from PySide6.QtGui import QColor, QImage
from pytestqt.qtbot import QtBot

from framefleet.app.window.grid.grid import Grid
from framefleet.app.window.main_window import MainWindow
from framefleet.app.window.player.player import Player
from framefleet.app.window.queue.item import ItemState, Part
from framefleet.app.window.settings.preferences import Preferences
from framefleet.app.window.timeline.timeline import MARGIN
from framefleet.app.window.viewer.filter_panel import FilterPanel
from framefleet.engine.media.annotation.layout import class_colour
from framefleet.engine.model.load import check_model
from framefleet.engine.pool.events import Ledger
from framefleet.engine.store.appearances import EVENTS, EventKind
from framefleet.engine.store.session import SessionReader, SessionWriter
from framefleet.engine.types import Detections, FrameRef, FrameResult
from tests.support.media import make_video
from tests.support.models import tiny_files
from tests.support.store import video_info
from tests.support.window import CPU, feature, write_results

PATIENCE = 60_000
NO_KEY = Qt.KeyboardModifier.NoModifier


@pytest.fixture(scope="module")
def video(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_video(tmp_path_factory.mktemp("videos") / "clip.mp4", 40, (320, 240))


def one_box(frame: int, class_id: int | None) -> FrameResult:
    found = Detections()
    if class_id is not None:
        found = Detections(np.array([[9, 9, 20, 20]], np.float32), np.array([0.9], np.float32), np.array([class_id], np.int32))
    return FrameResult(FrameRef(0, frame, frame / 30), CPU, 320, 240, found)


def test_j_and_l_play_in_both_directions_and_faster_each_time(qtbot: QtBot, window: MainWindow, video: Path) -> None:
    window.open_paths([video])
    player, text = window.context.viewer.player, window.context.viewer.transport.speed.text
    qtbot.waitUntil(lambda: window.context.viewer.canvas.placement is not None, timeout=PATIENCE)
    player.pause()
    player.seek(39 / 30)
    qtbot.waitUntil(lambda: player.position == pytest.approx(39 / 30))
    qtbot.keyClick(window, Qt.Key.Key_J)
    assert (text(), player.playing) == ("−1×", True)
    qtbot.waitUntil(lambda: player.position < 30 / 30, timeout=PATIENCE)
    qtbot.keyClick(window, Qt.Key.Key_J)
    assert text() == "−2×"
    qtbot.waitUntil(lambda: player.position == 0.0 and not player.playing, timeout=PATIENCE)
    for speed in ("1×", "2×", "4×", "8×", "8×"):
        qtbot.keyClick(window, Qt.Key.Key_L)
        assert text() == speed
    qtbot.keyClick(window, Qt.Key.Key_K)
    assert (text(), player.playing) == ("1×", False)


def test_n_and_p_jump_to_where_shown_objects_appear(qtbot: QtBot, window: MainWindow, video: Path, tmp_path: Path) -> None:
    seen = {5: 0, 6: 0, 7: 0, 30: 0, 12: 2, 31: 2}  # frame → class
    with SessionWriter(tmp_path / "s.sqlite", ("person", "bicycle", "car"), {}) as writer:
        writer.add_source(0, str(video), video_info(str(video), 40))
        writer.add_frames(one_box(index, seen.get(index)) for index in range(40))
        writer.finish_source(0, str(video), Ledger(40, 40), 1.0)
    window.open_paths([tmp_path / "s.sqlite"])
    player = window.context.viewer.player
    qtbot.waitUntil(lambda: window.context.viewer.canvas.placement is not None, timeout=PATIENCE)
    player.pause()
    feature(window, FilterPanel).classes.show_only(0)
    for key, frame in ((Qt.Key.Key_N, 5), (Qt.Key.Key_N, 30), (Qt.Key.Key_P, 5)):
        qtbot.keyClick(window, key)
        qtbot.waitUntil(lambda frame=frame: player.position == pytest.approx(frame / 30), timeout=PATIENCE)
    qtbot.keyClick(window, Qt.Key.Key_P)
    qtbot.waitUntil(lambda: window.context.viewer.transport.hint.text() == "Nothing that is shown appears before this")
    qtbot.keyClick(window, Qt.Key.Key_Period)
    qtbot.waitUntil(lambda: not window.context.viewer.transport.hint.text())  # it is about the picture before
    feature(window, FilterPanel).classes.show_only(2)
    qtbot.keyClick(window, Qt.Key.Key_N)
    qtbot.waitUntil(lambda: player.position == pytest.approx(12 / 30), timeout=PATIENCE)


@pytest.mark.parametrize(("modifier", "boxes"), [(NO_KEY, True), (Qt.KeyboardModifier.ShiftModifier, False)])
def test_s_saves_the_picture_in_the_size_of_the_video(
    qtbot: QtBot,
    window: MainWindow,
    video: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    modifier: Qt.KeyboardModifier,
    boxes: bool,
) -> None:
    monkeypatch.setattr(QStandardPaths, "writableLocation", lambda _: str(tmp_path / "pictures"))
    results = write_results(tmp_path / "s.sqlite", video, 40)
    window.open_paths([results.database])
    player = window.context.viewer.player
    qtbot.waitUntil(lambda: len(window.context.viewer.canvas.visible_detections) == 1, timeout=PATIENCE)
    player.pause()
    player.seek(20 / 30)
    qtbot.waitUntil(lambda: player.position == pytest.approx(20 / 30))
    qtbot.keyClick(window, Qt.Key.Key_S, modifier)
    name = f"clip 0-00.666{'' if boxes else ' plain'}.png"
    qtbot.waitUntil(lambda: name in window.context.activity.text.text(), timeout=PATIENCE)
    image = QImage(str(tmp_path / "pictures" / name))
    assert (image.width(), image.height()) == (320, 240)
    red, green, blue = class_colour(2)
    assert (image.pixelColor(20, 30) == QColor(red, green, blue)) is boxes


def test_full_screen_hides_the_controls_while_the_mouse_rests(qtbot: QtBot, window: MainWindow, video: Path) -> None:
    window.open_paths([video])
    viewer = window.context.viewer
    qtbot.waitUntil(lambda: viewer.canvas.placement is not None, timeout=PATIENCE)
    window.toggle_fullscreen()
    assert viewer.transport.isVisible()
    qtbot.waitUntil(lambda: viewer.canvas.height() == viewer.height())
    qtbot.waitUntil(lambda: not viewer.transport.isVisible(), timeout=PATIENCE)
    qtbot.mouseMove(viewer.canvas, viewer.canvas.rect().center())
    qtbot.waitUntil(viewer.transport.isVisible)
    window.toggle_fullscreen()
    qtbot.waitUntil(lambda: viewer.canvas.height() < viewer.height())


def test_a_part_is_chosen_with_keys_and_detected_alone(qtbot: QtBot, window: MainWindow, video: Path) -> None:
    settings = Preferences.of(tiny_files(), devices=(CPU,)).run_settings()
    window.context.run.set_settings(settings, check_model(settings.model).labels, restart=False)
    window.open_paths([video])
    player, timeline = window.context.viewer.player, window.context.viewer.transport.timeline
    qtbot.waitUntil(lambda: player.info is not None and player.current is not None, timeout=PATIENCE)
    (item,) = window.context.queue
    player.pause()
    for key, frame in ((Qt.Key.Key_I, 10), (Qt.Key.Key_O, 20)):
        player.seek(frame / 30)
        qtbot.waitUntil(lambda frame=frame: player.position == pytest.approx(frame / 30), timeout=PATIENCE)
        qtbot.keyClick(window, key, Qt.KeyboardModifier.ShiftModifier)
    assert timeline.part == Part(pytest.approx(10 / 30), pytest.approx(20 / 30))
    part = window.context.viewer.transport.part
    assert part.isVisible()
    part.menu().actions()[0].trigger()

    def ended() -> bool:
        now = window.context.queue.get(item.key)
        return now is not None and now.state is ItemState.DONE and now.part is not None

    qtbot.waitUntil(ended, timeout=PATIENCE)
    done = window.context.queue.get(item.key)
    assert done is not None
    assert done.progress.frames == 10
    assert done.results is not None
    with SessionReader(done.results.database) as reader:
        times = reader.times(done.results.source, 10)
    assert (times[0], times[-1]) == pytest.approx((10 / 30, 19 / 30))
    qtbot.keyClick(window, Qt.Key.Key_X)
    assert timeline.part is None


def test_the_card_over_the_timeline_shows_the_picture_there(qtbot: QtBot, window: MainWindow, tmp_path: Path) -> None:
    window.open_paths([make_video(tmp_path / "clip.mp4", 40, (320, 240), gop=40)])
    viewer = window.context.viewer
    qtbot.waitUntil(lambda: viewer.canvas.placement is not None, timeout=PATIENCE)
    viewer.player.pause()
    timeline = viewer.transport.timeline
    qtbot.mouseMove(timeline, timeline.rect().center())
    qtbot.waitUntil(lambda: viewer.hover_card.isVisible() and not viewer.hover_card.picture.pixmap().isNull(), timeout=PATIENCE)
    assert viewer.hover_card.text.text().startswith("0:00.6")
    assert "picture of 0:00.0" in viewer.hover_card.text.text()  # its only keyframe
    assert viewer.hover_card.picture.pixmap().width() <= 176 * viewer.devicePixelRatio()
    window.context.actions.zones.setChecked(True)  # the timeline moves, and the mouse does not
    qtbot.waitUntil(lambda: not viewer.hover_card.isVisible())
    qtbot.mouseMove(timeline, timeline.rect().center() + QPoint(1, 0))
    assert viewer.hover_card.isVisible()
    viewer.clear()
    assert not viewer.hover_card.isVisible()


def test_a_search_that_fails_says_nothing_when_its_file_is_no_longer_shown(qtbot: QtBot, window: MainWindow, tmp_path: Path) -> None:
    database = write_results(tmp_path / "a.sqlite", make_video(tmp_path / "a.mp4", 5, (64, 48)), 5).database
    window.open_paths([database])
    viewer = window.context.viewer
    qtbot.waitUntil(lambda: viewer.player.current is not None and not window.context.background.busy, timeout=PATIENCE)
    database.unlink()
    viewer.seeking.to_detection(forward=True)
    (item,) = window.context.queue
    window.context.run.remove(item.key)
    qtbot.waitUntil(lambda: not window.context.background.busy, timeout=PATIENCE)
    assert not viewer.transport.hint.text()


FRAMES, START = 45, 3000
FIRST, LAST = START / 30, (START + FRAMES - 1) / 30


@pytest.fixture(scope="module")
def late(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("late") / "late.mkv"
    return make_video(path, FRAMES, (64, 48), pts=range(START, START + FRAMES))


@pytest.fixture
def player(qtbot: QtBot, window: MainWindow, late: Path) -> Player:
    window.open_paths([late])
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
    assert window.context.viewer.hover_card.text.text().startswith("0:00.7")
    qtbot.waitUntil(lambda: not window.context.viewer.hover_card.picture.pixmap().isNull(), timeout=PATIENCE)
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
