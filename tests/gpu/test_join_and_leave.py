"""GPUs, and a GPU and a CPU, that join, leave and fail while a pool runs: every frame still comes once, in order, with the same boxes."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from framefleet.engine.pool.events import DeviceLeft, DeviceReady, Event, FramesDone
from framefleet.engine.pool.pool import EnginePool
from framefleet.engine.settings import Isolation, Parallel, Precision, RunSettings
from framefleet.engine.types import DeviceId
from tests.support.groups import same_detections
from tests.support.media import make_video
from tests.support.pool import Seen, run_pool, tiny_settings, watch, worker_pids

GPU, CPU = DeviceId("cuda", "0"), DeviceId("cpu", "0")
FRAMES = 960
VIDEOS = 6

isolations = pytest.mark.parametrize("isolation", [*Isolation])
segments_and_streams = pytest.mark.parametrize("parallel", [Parallel.SEGMENTS, Parallel.STREAMS])


def settings_for(
    parallel: Parallel = Parallel.SEGMENTS, isolation: Isolation = Isolation.PROCESS, precision: Precision = Precision.FP16
) -> RunSettings:
    settings = tiny_settings(parallel, confidence=0.1, batch=8, isolation=isolation)
    return replace(settings, engine=replace(settings.engine, precision=precision))


@pytest.fixture(scope="module")
def video(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_video(tmp_path_factory.mktemp("join") / "video.mp4", FRAMES, (320, 240))


@pytest.fixture(scope="module")
def alone(video: Path) -> Seen:
    """What one GPU finds."""
    return run_pool([video], (GPU,), settings_for())


def check_same(seen: Seen, alone: Seen, videos: int = VIDEOS) -> None:
    assert sorted(seen.finished) == list(range(videos))
    for source, finished in seen.finished.items():
        assert (finished.error, finished.ledger.inferred) == (None, FRAMES)
        same_detections(seen.frames[source], alone.frames[0], tolerance=1.0)


def after(frames: int, do: Callable[[EnginePool], None]) -> Callable[[EnginePool, Event, Seen], None]:
    """Do something with the pool once so many frames have come."""
    done = False

    def react(pool: EnginePool, event: Event, seen: Seen) -> None:
        nonlocal done
        if not done and isinstance(event, FramesDone) and sum(map(len, seen.frames.values())) >= frames:
            done = True
            do(pool)

    return react


@isolations
@segments_and_streams
def test_a_gpu_leaves_and_others_do_its_work(
    parallel: Parallel, isolation: Isolation, several: list[DeviceId], video: Path, alone: Seen
) -> None:
    leave = after(1, lambda pool: pool.remove_device(several[-1]))
    seen = run_pool([video] * VIDEOS, several, settings_for(parallel, isolation), leave, when_ready=True)
    check_same(seen, alone)
    assert seen.left == [several[-1]]
    assert not seen.failures


@isolations
def test_a_gpu_joins_and_takes_part(isolation: Isolation, several: list[DeviceId], video: Path, alone: Seen) -> None:
    first, joining = several[:2]
    with EnginePool(settings_for(isolation=isolation), [first]) as pool:
        pool.add(video)
        join = after(1, lambda pool: pool.add_device(joining))

        def react(event: Event, seen: Seen) -> None:
            join(pool, event, seen)
            if isinstance(event, DeviceReady) and event.engine.device == joining:
                for _ in range(VIDEOS - 1):
                    pool.add(video)
                pool.finish()

        seen = watch(pool.events(), react)
    check_same(seen, alone)
    assert {frame.device for source in range(1, VIDEOS) for frame in seen.frames[source]} == {first, joining}


@segments_and_streams
def test_a_gpu_whose_process_is_killed_loses_nothing(parallel: Parallel, several: list[DeviceId], video: Path, alone: Seen) -> None:
    victim = several[-1]
    kill = after(1, lambda _: os.kill(worker_pids()[str(victim)], signal.SIGKILL))
    seen = run_pool([video] * VIDEOS, several, settings_for(parallel), kill, when_ready=True)
    check_same(seen, alone)
    assert [failure.device for failure in seen.failures] == [victim]


def test_a_cpu_joins_a_gpu_and_does_the_rest_when_that_leaves(video: Path, alone: Seen) -> None:
    leave = after(FRAMES, lambda pool: pool.remove_device(GPU))
    with EnginePool(settings_for(precision=Precision.FP32), [GPU]) as pool:
        pool.add_device(CPU)

        def react(event: Event, seen: Seen) -> None:
            if isinstance(event, DeviceReady) and len(seen.ready) == 2:
                for _ in range(VIDEOS - 1):
                    pool.add(video)
            elif isinstance(event, DeviceLeft):  # a fast GPU is done with the others by then
                pool.add(video)
                pool.finish()
            leave(pool, event, seen)

        seen = watch(pool.events(), react)
    assert seen.left == [GPU]
    assert not seen.failures
    assert {frame.device for frame in seen.frames[VIDEOS - 1]} == {CPU}
    for source in range(VIDEOS):
        assert seen.finished[source].ledger.inferred == len(seen.frames[source]) == FRAMES
        found, expected = (sum(len(frame.detections or ()) for frame in frames) for frames in (seen.frames[source], alone.frames[0]))
        assert found == pytest.approx(expected, rel=0.05)  # decoded and computed another way
