"""The player with its real preview process, on videos whose every frame carries its number."""

from __future__ import annotations

import os
import shutil
import signal
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import av
import pytest
from PySide6.QtCore import QSize
from pytestqt.qtbot import QtBot

from framefleet.app.window.player import preview_client
from framefleet.app.window.player.player import LATE, Playback, PlaybackClock, Player
from framefleet.app.window.player.preview_client import PreviewClient, Shown
from framefleet.app.window.queue.item import Ahead, ItemState
from framefleet.engine.notices import Notice
from framefleet.engine.pool.events import FramesAhead
from framefleet.engine.store.session import SessionReader
from framefleet.engine.types import FrameResult
from tests.support.media import make_video, number_of, truncated
from tests.support.window import changed, pixels, queue_item, write_results

FRAMES = 45


@pytest.fixture(scope="module")
def video(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_video(tmp_path_factory.mktemp("player") / "numbers.mp4", FRAMES, bframes=2)


class Screen:
    """Notes what the player shows."""

    def __init__(self, player: Player) -> None:
        self.pictures: list[Shown] = []
        self.results: list[FrameResult | None] = []
        self.states: list[Playback] = []
        self.failures: list[str] = []
        player.shown.connect(self.pictures.append)
        player.result.connect(self.results.append)
        player.changed.connect(self.states.append)
        player.failed.connect(self.failures.append)

    @property
    def numbers(self) -> list[int]:
        return [number_of(pixels(shown.image)) for shown in self.pictures]


@pytest.fixture
def client() -> Iterator[PreviewClient]:
    client = PreviewClient()
    yield client
    client.stop()


@pytest.fixture
def player(client: PreviewClient) -> Player:
    return Player(client)


def test_stepping_shows_every_frame_exactly_once_both_ways(qtbot: QtBot, player: Player, video: Path) -> None:
    screen = Screen(player)
    player.open(queue_item(video), play=False)
    qtbot.waitUntil(lambda: len(screen.pictures) == 1)
    for expected in range(1, 15):  # across a keyframe, at 12
        player.step(1)
        qtbot.waitUntil(lambda count=expected: len(screen.pictures) == count + 1)
    for expected in range(13, -1, -1):
        player.step(-1)
        qtbot.waitUntil(lambda count=29 - expected: len(screen.pictures) == count)
    assert screen.numbers == [*range(15), *range(13, -1, -1)]


def test_a_seek_shows_that_frame_and_scrubbing_ends_at_the_last_place(qtbot: QtBot, player: Player, video: Path) -> None:
    screen = Screen(player)
    player.open(queue_item(video), play=False)
    for frame in range(FRAMES):
        player.seek(frame / 30)
    player.seek(31 / 30 + 0.01)
    qtbot.waitUntil(lambda: bool(screen.pictures) and screen.numbers[-1] == 31)
    assert len(screen.pictures) < 10  # most places were skipped
    assert player.position == pytest.approx(31 / 30)
    player.step(1)  # the next picture is its answer, not one of an earlier place
    qtbot.waitUntil(lambda: screen.numbers[-1] != 31)
    assert screen.numbers[-1] == 32


@pytest.mark.parametrize("step", [1, -1])
def test_a_step_during_a_jump_begins_at_its_picture(qtbot: QtBot, player: Player, video: Path, step: int) -> None:
    screen = Screen(player)
    player.open(queue_item(video), play=False)
    qtbot.waitUntil(lambda: len(screen.pictures) == 1)
    player.seek(20 / 30)
    player.step(step)
    qtbot.waitUntil(lambda: len(screen.pictures) == 3)
    assert screen.numbers == [0, 20, 20 + step]


def test_a_seek_is_not_lost_when_the_picture_changes_its_size_meanwhile(qtbot: QtBot, player: Player, video: Path) -> None:
    screen = Screen(player)
    player.open(queue_item(video), play=False)
    qtbot.waitUntil(lambda: len(screen.pictures) == 1)
    player.seek(0.5)
    player.set_viewport(QSize(320, 180))
    player.reread()
    qtbot.waitUntil(lambda: len(screen.pictures) >= 2)
    assert screen.numbers[-1] == 15
    player.step(-1)
    player.set_viewport(QSize(322, 180))
    qtbot.waitUntil(lambda: screen.numbers[-1] == 14)


def test_playing_shows_all_frames_in_order_at_their_time_and_stops_at_the_end(qtbot: QtBot, player: Player, video: Path) -> None:
    screen = Screen(player)
    player.open(queue_item(video), play=True)
    qtbot.waitUntil(lambda: len(screen.pictures) == FRAMES and not player.playing)
    assert screen.numbers == list(range(FRAMES))
    player.play()
    qtbot.waitUntil(lambda: len(screen.pictures) > FRAMES)
    assert screen.numbers[FRAMES] == 0
    player.pause()


def test_each_picture_comes_with_the_detections_of_its_own_frame(qtbot: QtBot, player: Player, video: Path, tmp_path: Path) -> None:
    results = write_results(tmp_path / "s.sqlite", video, FRAMES)
    screen = Screen(player)
    player.open(queue_item(video, ItemState.DONE, results), play=True)
    qtbot.waitUntil(lambda: len(screen.pictures) == FRAMES and not player.playing)
    for number, shown in zip(screen.numbers, screen.pictures, strict=True):
        assert shown.result is not None
        assert shown.result.detections is not None
        assert shown.result.detections.boxes[0, 0] == number


def test_while_detection_runs_playing_waits_for_it(qtbot: QtBot, player: Player, video: Path, tmp_path: Path) -> None:
    results = write_results(tmp_path / "s.sqlite", video, 10)  # as if ten frames were done so far
    item = queue_item(video, ItemState.RUNNING, results, frames=10, head=9 / 30)
    screen = Screen(player)
    player.open(item, play=True)
    qtbot.waitUntil(lambda: bool(screen.states) and screen.states[-1] == Playback(True, waiting=True))
    assert screen.numbers == list(range(10))
    player.set_wait(False)
    qtbot.waitUntil(lambda: len(screen.pictures) > 12)
    assert screen.pictures[11].result is None
    assert Playback(True) in screen.states
    player.pause()


def test_after_a_jump_beyond_the_analysed_part_playing_waits_too(qtbot: QtBot, player: Player, video: Path, tmp_path: Path) -> None:
    results = write_results(tmp_path / "s.sqlite", video, 10)
    screen = Screen(player)
    player.open(queue_item(video, ItemState.RUNNING, results, frames=10, head=9 / 30), play=True)
    qtbot.waitUntil(lambda: bool(screen.states) and screen.states[-1] == Playback(True, waiting=True))
    player.seek(20 / 30)
    qtbot.waitUntil(lambda: screen.numbers[-1] == 20 and screen.states[-1] == Playback(True, waiting=True))
    player.set_wait(False)
    qtbot.waitUntil(lambda: screen.numbers[-1] > 21)
    player.pause()


def test_detections_behind_a_gap_are_shown_and_playing_waits_for_no_others(
    qtbot: QtBot, player: Player, video: Path, tmp_path: Path
) -> None:
    item = queue_item(video, ItemState.RUNNING, write_results(tmp_path / "s.sqlite", video, 10), frames=10, head=9 / 30)
    screen = Screen(player)
    wanted: list[tuple[int, float]] = []
    player.detection_wanted.connect(lambda *place: wanted.append(place))
    player.open(item, play=False)
    player.seek(20 / 30)
    qtbot.waitUntil(lambda: bool(wanted))
    ((key, pts),) = wanted
    assert (key, round(30 * pts)) == (item.key, 20)
    with SessionReader(write_results(tmp_path / "ahead.sqlite", video, 30).database) as reader:
        frames = [replace(frame, ref=frame.ref._replace(pts=frame.ref.index / 30)) for frame in reader.frames(0)]
    ahead = Ahead().after(FramesAhead(0, tuple(frames[18:21]), 2)).after(FramesAhead(0, tuple(frames[21:30]), 2))
    player.update_item(changed(item, ahead=ahead), queue_busy=False)
    assert [result.ref.index for result in screen.results if result is not None] == [20], "at once, although nothing is stored"
    player.play()
    qtbot.waitUntil(lambda: screen.states[-1] == Playback(True, waiting=True))
    assert screen.numbers[-9:] == list(range(21, 30))
    assert [shown.result.ref.index for shown in screen.pictures[-9:] if shown.result is not None] == list(range(21, 30))
    assert wanted == [(key, pts)], "a place is asked for once"


def test_a_place_passed_while_playing_is_not_asked_for(qtbot: QtBot, player: Player, video: Path, tmp_path: Path) -> None:
    item = queue_item(video, ItemState.RUNNING, write_results(tmp_path / "s.sqlite", video, 10), frames=10, head=9 / 30)
    wanted: list[float] = []
    player.detection_wanted.connect(lambda _, pts: wanted.append(pts))
    player.set_wait(False)
    player.open(item, play=True)
    qtbot.waitUntil(lambda: not player.playing)
    qtbot.waitUntil(lambda: bool(wanted))
    assert [round(30 * pts) for pts in wanted] == [FRAMES - 1], "only the last one, at which it rests"


def test_a_sampled_run_holds_boxes_and_playing_does_not_wait_for_frames_that_are_left_out(
    qtbot: QtBot, player: Player, video: Path, tmp_path: Path
) -> None:
    results = write_results(tmp_path / "s.sqlite", video, 21, every=10)  # 0, 10 and 20 are done so far
    screen = Screen(player)
    player.open(queue_item(video, ItemState.RUNNING, results, frames=3, head=20 / 30), play=True)
    qtbot.waitUntil(lambda: bool(screen.states) and screen.states[-1] == Playback(True, waiting=True))
    assert screen.numbers == list(range(21))
    assert [shown.result.ref.index for shown in screen.pictures if shown.result is not None] == [0] * 10 + [10] * 10 + [20]


def test_detections_that_come_later_appear_on_the_picture_that_is_on(qtbot: QtBot, player: Player, video: Path, tmp_path: Path) -> None:
    screen = Screen(player)
    item = queue_item(video, ItemState.RUNNING)
    player.open(item, play=False)
    qtbot.waitUntil(lambda: len(screen.pictures) == 1)
    assert screen.pictures[0].result is None
    results = write_results(tmp_path / "s.sqlite", video, 5)
    player.update_item(changed(item, results=results, head=4 / 30), queue_busy=False)
    qtbot.waitUntil(lambda: len(screen.results) == 1)
    with SessionReader(results.database) as reader:
        stored = reader.frame_at(0, 0.0)
    assert stored is not None
    assert screen.results[0] is not None
    assert screen.results[0].ref == stored.ref


def test_boxes_of_an_earlier_run_go_when_a_file_is_detected_anew(qtbot: QtBot, player: Player, video: Path, tmp_path: Path) -> None:
    item = queue_item(video, ItemState.DONE, write_results(tmp_path / "s.sqlite", video, FRAMES), head=1.0)
    screen = Screen(player)
    player.open(item, play=False)
    qtbot.waitUntil(lambda: len(screen.pictures) == 1)
    assert screen.pictures[0].result is not None
    player.update_item(queue_item(video), queue_busy=False)
    assert screen.results == [None]
    again = write_results(tmp_path / "again.sqlite", video, FRAMES)
    player.update_item(changed(item, results=again), queue_busy=False)
    qtbot.waitUntil(lambda: len(screen.results) == 2)
    assert screen.results[1] is not None


def test_a_file_that_is_no_video_is_explained(qtbot: QtBot, player: Player, tmp_path: Path) -> None:
    screen = Screen(player)
    (tmp_path / "broken.mp4").write_bytes(b"not a video at all")
    player.open(queue_item(tmp_path / "broken.mp4"), play=True)
    qtbot.waitUntil(lambda: len(screen.failures) == 1)
    assert "broken.mp4 is not a video" in screen.failures[0]
    assert not player.playing


def test_a_recording_whose_only_keyframe_is_cut_off_says_so(qtbot: QtBot, player: Player, tmp_path: Path) -> None:
    whole, rest = make_video(tmp_path / "whole.ts", FRAMES, gop=15), tmp_path / "rest.ts"
    with av.open(str(whole)) as file:
        first, second, *_ = ((packet.pos, packet.size) for packet in file.demux(video=0) if packet.is_keyframe and packet.size)
    rest.write_bytes(whole.read_bytes()[first[0] + first[1] // 2 : second[0] + second[1] // 2])
    screen = Screen(player)
    player.open(queue_item(rest), play=True)
    qtbot.waitUntil(lambda: len(screen.failures) == 1)
    assert "rest.ts has no frame that can be decoded" in screen.failures[0]
    assert not player.playing


def test_a_recording_that_is_not_finished_plays_what_is_there_and_later_what_was_added(
    qtbot: QtBot, player: Player, tmp_path: Path
) -> None:
    whole = make_video(tmp_path / "whole.mkv", FRAMES)
    growing = truncated(whole, tmp_path / "growing.mkv", 0.6)
    screen = Screen(player)
    player.open(queue_item(growing), play=True)
    qtbot.waitUntil(lambda: bool(screen.pictures) and not player.playing)
    there = len(screen.pictures)
    assert screen.numbers == list(range(there))
    assert there < FRAMES
    growing.write_bytes(whole.read_bytes())
    player.seek(FRAMES / 30)
    qtbot.waitUntil(lambda: screen.numbers[-1] == FRAMES - 1)
    assert not screen.failures


def test_pictures_of_a_folder_are_shown_by_position(qtbot: QtBot, player: Player, data: Path) -> None:
    screen = Screen(player)
    player.open(queue_item(data / "images"), play=False)
    qtbot.waitUntil(lambda: len(screen.pictures) == 1)
    player.seek(2.0)
    qtbot.waitUntil(lambda: len(screen.pictures) == 2)
    player.step(-1)
    qtbot.waitUntil(lambda: len(screen.pictures) == 3)
    assert [shown.name for shown in screen.pictures] == ["dog.jpg", "person.jpg", "horses.jpg"]


def test_after_a_crash_the_preview_starts_again_and_says_so(qtbot: QtBot, client: PreviewClient, player: Player, video: Path) -> None:
    screen = Screen(player)
    crashes: list[tuple[Notice, bool]] = []
    client.crashed.connect(lambda reason, again: crashes.append((reason, again)))
    player.open(queue_item(video), play=False)
    qtbot.waitUntil(lambda: len(screen.pictures) == 1)
    assert client.process_id is not None
    os.kill(client.process_id, signal.SIGKILL)
    player.seek(20 / 30)
    qtbot.waitUntil(lambda: len(screen.pictures) == 2)
    assert screen.numbers[-1] == 20
    qtbot.waitUntil(lambda: len(crashes) == 1)
    ((reason, again),) = crashes
    assert reason.code == "processes.killed"
    assert again


def test_a_preview_that_freezes_is_started_again(
    qtbot: QtBot, client: PreviewClient, player: Player, video: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(preview_client, "FROZEN_SECONDS", 0.0)
    screen = Screen(player)
    player.open(queue_item(video), play=False)
    qtbot.waitUntil(lambda: len(screen.pictures) == 1)
    frozen = client.process_id
    assert frozen is not None
    os.kill(frozen, signal.SIGSTOP)
    with qtbot.waitSignal(client.crashed, timeout=60_000) as crashed:
        player.seek(20 / 30)
    assert crashed.args[0].code == "processes.no_sign_of_life"
    qtbot.waitUntil(lambda: len(screen.pictures) == 2, timeout=60_000)
    assert screen.numbers[-1] == 20
    assert client.process_id != frozen


def test_a_still_is_small_and_does_not_disturb_the_player(qtbot: QtBot, client: PreviewClient, player: Player, video: Path) -> None:
    screen = Screen(player)
    player.open(queue_item(video), play=False)
    with qtbot.waitSignal(client.still) as still:
        client.fetch_still(str(video), (64, 64))
    assert still.args[0] == str(video)
    assert still.args[1].width() == 64
    player.step(1)
    qtbot.waitUntil(lambda: len(screen.pictures) == 2)
    assert screen.numbers == [0, 1]


@pytest.mark.parametrize("missing", [False, True])
def test_a_still_of_a_file_that_cannot_be_read_does_not_move_the_player(
    qtbot: QtBot, client: PreviewClient, player: Player, video: Path, tmp_path: Path, missing: bool
) -> None:
    screen = Screen(player)
    if missing:
        (tmp_path / "broken.mp4").symlink_to("n" * 300)  # such a link cannot even be examined
    else:
        (tmp_path / "broken.mp4").write_bytes(b"not a video at all")
    player.open(queue_item(video), play=False, at=0.5)
    qtbot.waitUntil(lambda: len(screen.pictures) == 1)
    with qtbot.waitSignal(client.still) as still:
        process = client.process_id
        client.fetch_still(str(tmp_path / "broken.mp4"), (64, 64))
    assert (still.args[1], client.process_id) == (None, process)
    player.step(1)
    qtbot.waitUntil(lambda: len(screen.pictures) == 2)
    assert screen.numbers == [15, 16]


def test_a_picture_that_is_kept_is_not_overwritten_and_others_use_its_place_afterwards(
    qtbot: QtBot, player: Player, client: PreviewClient, video: Path
) -> None:
    kept: list[Shown] = []
    numbers: list[int] = []

    def look(shown: Shown) -> None:
        numbers.append(number_of(pixels(shown.image)))
        if len(kept) < 2:
            kept.append(shown)

    player.shown.connect(look)
    player.open(queue_item(video), play=True)
    qtbot.waitUntil(lambda: len(numbers) == FRAMES and not player.playing)
    assert numbers == list(range(FRAMES))
    assert [number_of(pixels(shown.image)) for shown in kept] == [0, 1]
    client.stop()
    assert [number_of(pixels(shown.image)) for shown in kept] == [0, 1]


def test_after_the_end_no_request_starts_a_process(qtbot: QtBot, client: PreviewClient, player: Player, video: Path) -> None:
    screen = Screen(player)
    player.open(queue_item(video), play=True)
    qtbot.waitUntil(lambda: len(screen.pictures) == 2)
    client.stop()
    player.seek(0.5)
    client.fetch_still(str(video), (64, 64))
    assert client.process_id is None


def test_when_the_window_goes_the_process_goes(qtbot: QtBot, video: Path) -> None:
    client = PreviewClient()
    with qtbot.waitSignal(client.still):
        client.fetch_still(str(video), (64, 64))
    process = client.process_id
    assert process is not None
    client.stop()
    client.stop()
    with pytest.raises(ProcessLookupError):
        os.kill(process, 0)


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no such names")
def test_small_pictures_come_with_the_path_of_a_file_whose_name_is_no_text(qtbot: QtBot, client: PreviewClient, video: Path) -> None:
    path = os.fsdecode(os.fsencode(video.parent) + b"/\xff.mp4")
    shutil.copy(video, path)
    with qtbot.waitSignal(client.near_arrived, timeout=60_000) as near_arrived:
        client.fetch_near(path, 0.0, (64, 48))
    assert near_arrived.args is not None
    assert near_arrived.args[0] == path


def test_pictures_are_due_at_their_pts_times_the_speed() -> None:
    clock = PlaybackClock()
    assert clock.due(10.0, now=100.0) == 100.0
    assert clock.due(10.5, now=100.1) == pytest.approx(100.5)
    clock.set_speed(2.0)
    assert clock.due(11.0, now=200.0) == 200.0
    assert clock.due(12.0, now=200.0) == pytest.approx(200.5)
    assert clock.reached(200.25) == pytest.approx(11.5)


def test_a_little_late_is_caught_up_much_is_not() -> None:
    clock = PlaybackClock()
    clock.due(0.0, now=0.0)
    assert clock.due(1.0, now=1.0 + LATE / 2) == 1.0
    assert clock.due(2.0, now=5.0) == 5.0
    assert clock.due(3.0, now=5.0) == 6.0


def test_after_a_pause_the_clock_starts_anew() -> None:
    clock = PlaybackClock()
    clock.due(0.0, now=0.0)
    clock.stop()
    assert clock.reached(9.0) is None
    assert clock.due(0.1, now=9.0) == 9.0
