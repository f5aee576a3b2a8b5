"""Live sources in a pool: processes that die, silent cameras, several devices. No received frame is lost from the ledger."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from framefleet.engine.media.live.address import LiveAddress, LiveKind
from framefleet.engine.media.live.messages import LiveState
from framefleet.engine.notices import Notice
from framefleet.engine.pool.events import EpochStarted, Event, FramesDone, SourceFinished, StrategyChosen, StreamChanged, StreamPicture
from framefleet.engine.pool.live_sources import LiveSource, OpenStream, best_move
from framefleet.engine.pool.pool import EnginePool
from framefleet.engine.settings import Parallel
from framefleet.engine.types import DeviceId, FrameResult
from tests.support.live.http_camera import HttpCamera
from tests.support.live.servers import RtspServer
from tests.support.media import damaged, make_video
from tests.support.pool import CPUS, small_settings


def kill(name: str) -> None:
    """Kill the process of the pool with this name."""
    (process,) = [child for child in multiprocessing.active_children() if child.name == f"framefleet {name}"]
    assert process.pid is not None
    os.kill(process.pid, signal.SIGKILL)


CAMERA = LiveSource(LiveAddress(LiveKind.RTSP, "rtsp://camera.example/1", "rtsp://camera.example/1"))
THREE = (*CPUS, DeviceId("cpu", "2"))


class Watched:
    """The events of a pool with live sources, by source."""

    def __init__(self) -> None:
        self.frames: dict[int, list[FrameResult]] = defaultdict(list)
        self.epochs: dict[int, list[EpochStarted]] = defaultdict(list)
        self.changes: dict[int, list[StreamChanged]] = defaultdict(list)
        self.finished: dict[int, SourceFinished] = {}
        self.pictures: dict[int, list[StreamPicture]] = defaultdict(list)

    def add(self, event: Event) -> None:
        match event:
            case FramesDone(source, frames):
                self.frames[source] += frames
            case EpochStarted(source):
                self.epochs[source].append(event)
            case StreamChanged(source):
                self.changes[source].append(event)
            case StreamPicture(source):
                self.pictures[source].append(event)
            case SourceFinished(source):
                self.finished[source] = event

    def check(self) -> None:
        """Check what has to hold whatever happens."""
        for source, finished in self.finished.items():
            frames = self.frames[source]
            assert finished.ledger.balanced
            assert finished.ledger.inferred == len(frames)
            assert [frame.ref.index for frame in frames] == [*range(len(frames))]
            times = [frame.ref.pts for frame in frames]
            assert times == sorted(times)
            assert [epoch.number for epoch in self.epochs[source]] == [*range(len(self.epochs[source]))]


def watch(
    addresses: list[str], step: Callable[[Watched, EnginePool], None], seconds: float = 4.0, devices: tuple[DeviceId, ...] = CPUS[:1]
) -> Watched:
    """Run a pool with live sources that stop after some seconds. step: called after each event."""
    watched = Watched()
    with EnginePool(small_settings(), devices) as pool:
        for number, text in enumerate(addresses):
            address = LiveAddress.read(text)
            assert address is not None
            pool.add_stream(LiveSource(address, seconds=seconds), number)
        pool.finish()
        for event in pool.events():
            watched.add(event)
            step(watched, pool)
    watched.check()
    assert sorted(watched.finished) == [*range(len(addresses))]
    return watched


def once(condition: Callable[[Watched], bool], act: Callable[[], None]) -> Callable[[Watched, EnginePool], None]:
    """Act once, when the condition holds."""
    done: list[bool] = []

    def step(watched: Watched, _: EnginePool) -> None:
        if not done and condition(watched):
            done.append(True)
            act()

    return step


def test_a_device_that_dies_and_comes_back_goes_on_in_another_epoch(tmp_path: Path) -> None:
    with HttpCamera(tmp_path) as camera:
        watched = watch([f"{camera.address}/mjpeg"], once(lambda seen: len(seen.frames[0]) > 20, lambda: kill("cpu:0")), 8.0)
    ledger = watched.finished[0].ledger
    codes = {reason.code for reason in (*ledger.dropped, *ledger.failed)}
    assert "live.device_failed" in codes
    assert [epoch.reason.code for epoch in watched.epochs[0]] == ["live.first", "live.new_device"]
    assert [change.state for change in watched.changes[0]].count(LiveState.CONNECTING) == 1  # the connection stays


def test_a_capture_process_that_dies_is_replaced(tmp_path: Path) -> None:
    with HttpCamera(tmp_path) as camera:
        watched = watch([f"{camera.address}/mjpeg"], once(lambda seen: len(seen.frames[0]) > 20, lambda: kill("stream 0")), 6.0)
    changes = watched.changes[0]
    assert [change.state for change in changes].count(LiveState.CONNECTING) == 2
    assert any(change.reason.code == "live.waits" and change.reason.fields["why"].code == "live.capture_ended" for change in changes)
    assert [epoch.reason.code for epoch in watched.epochs[0]] == ["live.first", "live.reconnected"]


def test_a_size_that_changes_without_a_new_connection_begins_an_epoch(tmp_path: Path) -> None:
    with HttpCamera(tmp_path) as camera:

        def shrink() -> None:
            camera.size = (160, 120)

        watched = watch([f"{camera.address}/mjpeg"], once(lambda seen: len(seen.frames[0]) > 20, shrink))
    assert [epoch.reason.code for epoch in watched.epochs[0]] == ["live.first", "live.new_format"]
    assert [(epoch.width, epoch.height) for epoch in watched.epochs[0]] == [(320, 240), (160, 120)]
    assert {(frame.width, frame.height) for frame in watched.frames[0]} == {(320, 240), (160, 120)}


@pytest.mark.slow  # so it does in tests/engine/media/live/test_capture.py, and a connection is replaced above
def test_a_silent_camera_stalls_and_is_connected_again() -> None:
    with RtspServer(group=10) as server:

        def step(watched: Watched, _: EnginePool) -> None:
            states = [change.state for change in watched.changes[0]]
            if len(watched.frames[0]) > 20 and LiveState.STALLED not in states and not held:
                held.append(True)
                server.command("hold on")
            if LiveState.STALLED in states and len(held) == 1:
                held.append(True)
                server.command("hold off")

        held: list[bool] = []
        watched = watch([server.address], step, 12.0)
    states = [change.state for change in watched.changes[0]]
    after = states[states.index(LiveState.STALLED) :]
    assert after[1:4] == [LiveState.WAITING_TO_RECONNECT, LiveState.CONNECTING, LiveState.WAITING_FOR_KEYFRAME]
    assert LiveState.RUNNING in after
    assert len(watched.epochs[0]) >= 2


def test_few_capture_processes_start_at_once_and_one_that_waits_can_be_cancelled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("framefleet.engine.pool.live_sources.MAX_STARTING", 1)
    started: list[set[str]] = []

    def step(_: Watched, pool: EnginePool) -> None:
        if not started:
            names = {child.name for child in multiprocessing.active_children()}
            started.append({name for name in names if name.startswith("framefleet stream")})
            pool.cancel(3)

    with HttpCamera(tmp_path, rate=10, size=(160, 120)) as camera:
        watched = watch([f"{camera.address}/mjpeg"] * 4, step, 2.0)
    assert started[0] <= {"framefleet stream 0", "framefleet stream 1"}  # the second one, if the first one has told something
    assert all(watched.frames[number] for number in range(3))
    assert [change.state for change in watched.changes[3]] == [LiveState.STOPPED]
    assert watched.finished[3].cancelled


@pytest.mark.parametrize(
    ("parallel", "strategy", "reason"), [("auto", "streams", "live_sources"), ("tiles", "tiles", "tiles_as_settings_say")]
)
def test_a_run_of_live_sources_only_says_that_each_stays_on_one_device(parallel: str, strategy: str, reason: str) -> None:
    with EnginePool(replace(small_settings(), parallel=Parallel(parallel)), CPUS[:1]) as pool:
        pool.add_stream(CAMERA, 0)
        chosen = next(pool.events())
    assert isinstance(chosen, StrategyChosen)
    assert (chosen.strategy, chosen.reason.code) == (strategy, f"pool.{reason}")


def test_a_file_beside_a_live_source_is_cut(tmp_path: Path) -> None:
    with EnginePool(small_settings(), CPUS[:1]) as pool:
        pool.add_stream(CAMERA, 0)
        pool.add(tmp_path / "a.mp4")
        assert next(pool.events()) == StrategyChosen("segments", Notice("pool.only_device", device="cpu:0"))


@pytest.mark.slow  # the test of three devices shares streams, too
def test_streams_are_shared_by_the_devices(tmp_path: Path) -> None:
    with HttpCamera(tmp_path, rate=10, size=(160, 120)) as camera:
        watched = watch([f"{camera.address}/mjpeg"] * 4, lambda *_: None, 6.0, CPUS)
    used = [{str(frame.device) for frame in watched.frames[number]} for number in range(4)]
    # the device that is ready first gets all of them, and gives two to the other one
    assert all(sum(device in devices for devices in used) >= 2 for device in ("cpu:0", "cpu:1")), used
    moved = {epoch.reason.code for number in range(4) for epoch in watched.epochs[number]}
    assert moved <= {"live.first", "live.new_device"}


@pytest.mark.slow
def test_streams_move_when_their_device_leaves(tmp_path: Path) -> None:
    left: list[bool] = []

    def step(watched: Watched, pool: EnginePool) -> None:
        leaving = [frames[-1].device for frames in watched.frames.values() if frames and frames[-1].device == CPUS[1]]
        if not left and leaving:
            left.append(True)
            pool.remove_device(CPUS[1])

    with HttpCamera(tmp_path, rate=10, size=(160, 120)) as camera:
        watched = watch([f"{camera.address}/mjpeg"] * 2, step, 6.0, CPUS)
    assert left
    assert {str(frame.device) for number in range(2) for frame in watched.frames[number][-5:]} == {"cpu:0"}
    assert {epoch.reason.code for number in range(2) for epoch in watched.epochs[number][1:]} == {"live.new_device"}


def test_a_cancelled_stream_ends_while_others_go_on(tmp_path: Path) -> None:
    cancelled: list[bool] = []

    def step(watched: Watched, pool: EnginePool) -> None:
        if not cancelled and len(watched.frames[0]) > 5:
            cancelled.append(True)
            pool.cancel(0)

    with HttpCamera(tmp_path, rate=10, size=(160, 120)) as camera:
        watched = watch([f"{camera.address}/mjpeg"] * 2, step, 4.0)
    assert [watched.finished[number].cancelled for number in range(2)] == [True, False]
    assert len(watched.frames[1]) > len(watched.frames[0])


def test_messages_about_a_stream_that_was_given_up_are_ignored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("framefleet.engine.pool.live_sources.STOP_SECONDS", 0.0)  # the worker is always too late
    cancelled: list[bool] = []

    def step(watched: Watched, pool: EnginePool) -> None:
        if not cancelled and len(watched.frames[0]) > 5:
            cancelled.append(True)
            pool.cancel(0)

    with HttpCamera(tmp_path, rate=10, size=(160, 120)) as camera:
        watched = watch([f"{camera.address}/mjpeg"] * 2, step, 4.0)
    assert [watched.finished[number].cancelled for number in range(2)] == [True, False]


def test_a_frame_whose_worker_could_not_count_it_is_decoded_all_the_same() -> None:
    assert OpenStream(0, CAMERA, 0.0, decoded=10, inferred=12).ledger.decoded == 12


def test_pictures_of_a_watched_source_are_those_of_its_inferred_frames(tmp_path: Path) -> None:
    def step(watched: Watched, pool: EnginePool) -> None:
        if not watched.frames[0] and not watched.pictures[0]:
            pool.watch(0, (160, 120), 0.0)
        elif len(watched.pictures[0]) > 3:
            pool.watch(0, (0, 0), 0.0)

    with HttpCamera(tmp_path) as camera:
        watched = watch([f"{camera.address}/mjpeg"] * 2, step)
    pictures = watched.pictures[0]
    assert pictures
    assert not watched.pictures[1]
    assert {picture.seconds for picture in pictures} <= {frame.ref.pts for frame in watched.frames[0]}
    for picture in pictures:
        assert picture.width <= 160
        assert picture.height <= 120
        assert len(picture.pixels) == 4 * picture.width * picture.height
    assert len({picture.pixels for picture in pictures}) > 1, "the camera's picture moves"
    assert len(watched.frames[0]) > len(pictures), "no more pictures are sent than somebody watches"


@pytest.mark.slow  # worker/test_live_streams.py shares two threads among sources; six streams share three devices below
def test_six_streams_get_an_equal_share_and_none_blocks_another(tmp_path: Path) -> None:
    """Six decode threads share the interpreter's lock of one worker, and the connections have a process each."""
    with HttpCamera(tmp_path, rate=10, size=(160, 120)) as camera:
        watched = watch([f"{camera.address}/mjpeg"] * 6, lambda *_: None, 4.0)
    inferred = [watched.finished[number].ledger.inferred for number in range(6)]
    assert min(inferred) > 0.4 * max(inferred), inferred
    assert all(not watched.finished[number].ledger.failed for number in range(6))


def test_a_storm_of_damage_ends_and_every_frame_is_accounted_for(tmp_path: Path) -> None:
    clean = make_video(tmp_path / "clean.ts", 250, (320, 240), 25, gop=10)
    with HttpCamera(tmp_path) as camera:
        damaged(clean, camera.file, [(share / 100, 150) for share in range(5, 90)], fill=None)
        watched = watch([f"{camera.address}/file.ts"], lambda *_: None, 60.0)
    ledger = watched.finished[0].ledger
    assert sum(ledger.dropped.values()) > 50
    assert {reason.code for reason in ledger.dropped} <= {"live.damaged", "live.before_keyframe", "live.decoder_behind"}
    assert 0 < ledger.inferred < 250


def test_streams_on_three_devices_move_when_one_leaves_and_another_fails(tmp_path: Path) -> None:
    steps: list[str] = []

    def step(watched: Watched, pool: EnginePool) -> None:
        used = Counter(frames[-1].device for frames in watched.frames.values() if frames)
        if not steps and len(used) == 3 and set(used.values()) == {2}:
            steps.append("shared")
            pool.remove_device(THREE[2])
        elif steps == ["shared"] and set(used) == {CPUS[0], CPUS[1]} and set(used.values()) == {3}:
            steps.append("left")
            kill("cpu:1")
        elif steps == ["shared", "left"] and len(used) == 1:
            steps.append("failed")
            for number in range(6):
                pool.cancel(number)

    with HttpCamera(tmp_path, rate=10, size=(160, 120)) as camera:
        watched = watch([f"{camera.address}/mjpeg"] * 6, step, 90.0, THREE)
    assert steps[:2] == ["shared", "left"]
    for number in range(6):
        assert {epoch.reason.code for epoch in watched.epochs[number][1:]} <= {"live.new_device"}


A, B = CPUS


@pytest.mark.parametrize(
    ("costs", "owned", "expected"),
    [
        ({A: None, B: None}, {A: {0: 25.0, 1: 25.0, 2: 25.0}, B: {}}, (0, B)),  # nothing is measured: equal numbers
        ({A: None, B: None}, {A: {0: 25.0}, B: {}}, None),
        ({A: 0.02, B: 0.002}, {A: {0: 25.0, 1: 25.0}, B: {2: 25.0, 3: 25.0}}, (0, B)),  # B is ten times as fast
        ({A: 0.02, B: 0.02}, {A: {0: 25.0, 1: 25.0}, B: {2: 25.0, 3: 25.0}}, None),
        ({A: 0.01, B: 0.01}, {A: {0: 30.0, 1: 20.0}, B: {2: 5.0}}, (1, B)),  # the smaller one: then both have about as much
        ({A: 0.01, B: 0.01}, {A: {0: 25.0, 1: 26.0}, B: {2: 25.0, 3: 20.0}}, None),  # too little to gain
        ({A: 0.01}, {A: {0: 25.0, 1: 25.0}}, None),
    ],
)
def test_streams_move_to_where_the_highest_load_falls(
    costs: dict[DeviceId, float | None], owned: dict[DeviceId, dict[int, float]], expected: tuple[int, DeviceId] | None
) -> None:
    assert best_move(costs, owned) == expected
