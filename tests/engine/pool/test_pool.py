"""The pool with real processes, real files and small models."""

from __future__ import annotations

import gc
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from framefleet.engine.backends import create_backend
from framefleet.engine.media.cpu_decoding import decode_planes
from framefleet.engine.media.probe import probe
from framefleet.engine.media.types import DecodeFailure, SourceKind
from framefleet.engine.notices import Notice, UsageError
from framefleet.engine.pool.events import DeviceReady, DeviceStarting, DeviceStats, Event, FramesDone, SourceFinished, StrategyChosen
from framefleet.engine.pool.hosts import stop_all
from framefleet.engine.pool.pool import EnginePool
from framefleet.engine.pool.scheduling import workers
from framefleet.engine.settings import Decode, EngineSettings, Isolation, Parallel, Precision
from framefleet.engine.types import Detections, DeviceId
from tests.support.media import make_video, truncated, write_pictures
from tests.support.models import tiny_network
from tests.support.pool import (
    CPUS,
    Seen,
    cpu_seconds,
    run_pool,
    small_settings,
    tiny_settings,
    wait_until_blocked,
    watch,
    watch_and_then,
    worker_pids,
)


@pytest.fixture(scope="module")
def long_video(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four segments."""
    return make_video(tmp_path_factory.mktemp("pool") / "long.mp4", 430, (160, 120))


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Good ones of every kind with unusable ones in between."""
    folder = tmp_path_factory.mktemp("sources")
    pictures = write_pictures(folder / "pictures", 40)
    (pictures / "7.png").write_bytes(b"no picture")
    (folder / "junk.mp4").write_bytes(b"junk" * 1000)
    whole = make_video(folder / "whole.mkv", 130, (128, 96), bframes=2)
    return [
        make_video(folder / "cut.mp4", 260, (160, 120), gop=25),  # in three segments
        folder / "junk.mp4",
        pictures,
        folder / "missing.mp4",
        truncated(whole, folder / "truncated.mkv", 0.6),
        whole,
        pictures / "3.png",
    ]


@pytest.fixture(scope="module")
def expected(sources: list[Path]) -> dict[int, list[Detections | Notice]]:
    """What the decoder and the engine give without a pool, frame by frame."""
    found: dict[int, list[Detections | Notice]] = {}
    with create_backend(CPUS[0]) as backend:
        backend.activate(tiny_network(), EngineSettings(precision=Precision.FP32))
        for number, path in enumerate(sources):
            if path.name in ("junk.mp4", "missing.mp4"):
                continue
            info, found[number] = probe(path), []
            for segment in info.segments:
                for frame in decode_planes(info, segment, oblong_only=True):
                    if not isinstance(frame, DecodeFailure):
                        found[number] += backend.infer([frame.image], still=info.kind is SourceKind.IMAGES)
                    else:
                        found[number] += [frame.reason] * frame.count
    return found


def test_nvdec_without_a_gpu_is_refused() -> None:
    settings = small_settings()
    settings = replace(settings, engine=replace(settings.engine, decode=Decode.NVDEC))
    with pytest.raises(UsageError, match=r"NVDEC is part of NVIDIA's GPUs.*cpu:0, cpu:1"):
        EnginePool(settings, CPUS)
    EnginePool(settings, (*CPUS, DeviceId("cuda", "0"))).close()


@pytest.mark.parametrize(("gop", "hint"), [(1000, True), (60, False)], ids=["uncut", "cut"])
def test_a_long_video_that_cannot_be_cut_gives_a_hint_once(gop: int, hint: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "LONG_FRAMES", 200)
    path = make_video(tmp_path / "video.mp4", 230, (64, 48), gop=gop)
    seen = run_pool([tmp_path / "missing.mp4", path], CPUS)
    chosen = [event for event in seen.events if isinstance(event, StrategyChosen)]
    assert [event.strategy for event in chosen] == ["segments"] * (1 + hint)
    assert ("--parallel frames" in str(chosen[-1].reason)) is hint
    assert seen.finished[1].ledger.inferred == 230


@pytest.mark.parametrize(
    ("parallel", "devices", "batch", "isolation"),
    [
        pytest.param(Parallel.AUTO, 1, None, Isolation.PROCESS, id="one", marks=pytest.mark.slow),
        pytest.param(Parallel.AUTO, 1, 4, Isolation.PROCESS, id="batches", marks=pytest.mark.slow),
        pytest.param(Parallel.STREAMS, 2, None, Isolation.PROCESS, id="streams"),
        pytest.param(Parallel.SEGMENTS, 2, None, Isolation.PROCESS, id="segments", marks=pytest.mark.slow),
        # default runs compare threads with a single device: groups/test_frames.py
        pytest.param(Parallel.SEGMENTS, 2, 4, Isolation.THREAD, id="threads", marks=pytest.mark.slow),
    ],
)
def test_every_frame_of_every_source_as_without_a_pool(
    parallel: Parallel,
    devices: int,
    batch: int | None,
    isolation: Isolation,
    sources: list[Path],
    expected: dict[int, list[Detections | Notice]],
) -> None:
    seen = run_pool(sources, CPUS[:devices], tiny_settings(parallel, batch=batch, isolation=isolation), when_ready=True)
    assert sorted(seen.finished) == list(range(len(sources)))
    assert not seen.failures
    assert isinstance(seen.events[0], StrategyChosen)
    assert {event.engine.device for event in seen.ready} == set(CPUS[:devices])
    for number, path in enumerate(sources):
        finished = seen.finished[number]
        if number not in expected:
            assert number not in seen.opened
            assert finished.ledger.decoded == 0
            assert path.name in str(finished.error)
            continue
        assert finished.error is None
        assert len(seen.frames[number]) == finished.ledger.decoded == len(expected[number])
        for frame, right in zip(seen.frames[number], expected[number], strict=True):
            if isinstance(right, Notice):
                assert frame.failure == right
                continue
            assert frame.detections is not None
            np.testing.assert_array_equal(frame.detections.class_ids, right.class_ids)
            np.testing.assert_allclose(frame.detections.boxes, right.boxes, rtol=1e-4, atol=1e-3)
            np.testing.assert_allclose(frame.detections.scores, right.scores, rtol=1e-4)
    assert any(len(right) for rights in expected.values() for right in rights if isinstance(right, Detections)), "nothing was compared"
    times = [frame.ref.pts for frame in seen.frames[0]]
    np.testing.assert_allclose(times, np.arange(260) / 30, atol=1e-3)
    assert [frame.ref.name for frame in seen.frames[2]][:3] == ["0.png", "1.png", "2.png"]
    assert list(seen.failed(2)) == [7]
    assert seen.failed(4)
    if parallel is Parallel.STREAMS:
        assert all(len({frame.device for frame in frames}) == 1 for frames in seen.frames.values() if frames)
    assert len({frame.device for frames in seen.frames.values() for frame in frames}) == devices
    check_statistics(seen, devices)


def check_statistics(seen: Seen, devices: int) -> None:
    final = [event for event in seen.stats if event.final]
    assert [event.device for event in final] == list(CPUS[:devices])
    assert sum(event.frames for event in final) == sum(finished.ledger.inferred for finished in seen.finished.values())
    for event in final:
        if event.frames:
            assert event.latency_p50 is not None
            assert event.latency_p99 is not None
            assert 0 < event.latency_p50 <= event.latency_p99
            assert event.frames_per_second > 0
            assert list(event.stages) == ["decode", "queue", "preprocess", "infer", "deliver"]
            assert all(milliseconds >= 0 for milliseconds in event.stages.values())
    for event in seen.stats:
        count = event.frames
        assert count <= next(last.frames for last in final if last.device == event.device)


def test_sources_may_be_added_while_it_runs(tmp_path: Path) -> None:
    video = make_video(tmp_path / "short.mp4", 40, (64, 48))
    with EnginePool(small_settings(), CPUS[:1]) as pool:
        assert pool.add(video) == 0

        def add_later() -> None:
            time.sleep(0.3)  # while the pool has nothing to do
            assert pool.add(video) == 1
            pool.finish()

        seen = watch_and_then(pool, add_later)
    assert [seen.finished[number].ledger.inferred for number in (0, 1)] == [40, 40]
    assert len([event for event in seen.events if isinstance(event, DeviceStarting)]) == 1


def test_cancelling_one_source_and_then_all(long_video: Path) -> None:
    def react(pool: EnginePool, event: Event, seen: Seen) -> None:
        if isinstance(event, FramesDone) and event.source == 0:
            pool.cancel(0)
        if isinstance(event, FramesDone) and event.source == 1:
            pool.cancel()

    seen = run_pool([long_video] * 4, CPUS[:1], react=react)
    assert [seen.finished[number].cancelled for number in range(4)] == [True] * 4
    for number in range(4):
        ledger = seen.finished[number].ledger
        assert ledger.inferred == len(seen.frames[number]) < 430
        assert ledger.decoded == ledger.inferred + sum(ledger.dropped.values())
    assert seen.frames[1]
    assert not seen.frames[3]


def test_an_empty_run_starts_nothing() -> None:
    seen = run_pool([])
    assert [type(event) for event in seen.events] == [StrategyChosen]


def test_wrong_use_is_refused(long_video: Path) -> None:
    with pytest.raises(UsageError, match="no device"):
        EnginePool(small_settings(), [])
    with pytest.raises(UsageError, match="twice"):
        EnginePool(small_settings(), [CPUS[0], CPUS[0]])
    with EnginePool(small_settings(), CPUS) as pool:
        pool.events()
        with pytest.raises(RuntimeError, match="called before"):
            pool.events()
        pool.finish()
        with pytest.raises(RuntimeError, match="accepts no more sources"):
            pool.add(long_video)
    pool.close()
    pool.cancel()
    pool.finish()
    with pytest.raises(RuntimeError, match="accepts no more sources"):
        pool.add(long_video)


@pytest.mark.parametrize("phase", [StrategyChosen, DeviceStarting, DeviceReady, FramesDone])
def test_a_pool_can_be_closed_in_every_phase(phase: type[Event], long_video: Path) -> None:
    with EnginePool(small_settings(), CPUS) as pool:
        pool.add(long_video)
        pool.finish()
        events = pool.events()
        for event in events:
            if isinstance(event, phase):
                break
        started = set(worker_pids())
        pool.close()
        assert len(started) == (0 if phase is StrategyChosen else 2)
        assert not worker_pids()
        assert [
            event for event in events if not isinstance(event, StrategyChosen | DeviceStarting | DeviceReady | FramesDone | DeviceStats)
        ] == []


def test_an_interrupted_shutdown_can_be_repeated_before_it_ends(long_video: Path) -> None:
    pool = EnginePool(small_settings(), CPUS)
    pool.add(long_video)
    events = pool.events()
    next(event for event in events if isinstance(event, DeviceReady))
    interrupted = stop_all(pool._supervisor._workers.values())
    next(interrupted)  # a signal comes here
    pool.close()
    interrupted.close()


def test_closing_from_another_thread_ends_the_iteration() -> None:
    with EnginePool(small_settings(), CPUS[:1]) as pool:
        closer = threading.Timer(0.5, pool.close)
        closer.start()
        seen = watch(pool.events())
        closer.join()
    assert not any(isinstance(event, SourceFinished) for event in seen.events)


def first_frames(path: Path) -> tuple[FramesDone, Iterator[Event]]:
    pool = EnginePool(small_settings(), CPUS[:1])
    pool.add(path)
    events = pool.events()
    return next(event for event in events if isinstance(event, FramesDone)), events


def test_a_forgotten_iterator_leaves_nothing_behind(long_video: Path) -> None:
    done, events = first_frames(long_video)
    assert done.frames
    assert worker_pids()
    del events
    assert not worker_pids()


def test_runs_leave_no_open_files(long_video: Path) -> None:
    def open_files() -> int:
        return len(list(Path("/proc/self/fd").iterdir()))

    first_frames(long_video)  # multiprocessing starts its resource tracker, which stays
    gc.collect()  # earlier tests may have left open files in reference cycles
    before = open_files()
    first_frames(long_video)
    EnginePool(small_settings(), CPUS)
    assert open_files() <= before


def test_a_slow_consumer_stops_the_worker(long_video: Path) -> None:
    settings = small_settings(confidence=0.001)  # everything is found, so that messages are large
    with EnginePool(settings, CPUS[:1]) as pool:
        pool.add(long_video)
        events = pool.events()
        next(event for event in events if isinstance(event, FramesDone))
        (pid,) = worker_pids().values()
        wait_until_blocked(pid)
        before = cpu_seconds(pid)
        # and then it goes on
        assert sum(1 for event, _ in zip((event for event in events if isinstance(event, FramesDone)), range(5), strict=False)) == 5
        while cpu_seconds(pid) - before < 0.1:
            next(events)


def test_the_window_can_use_a_pool_without_the_heavy_libraries() -> None:
    code = "import sys, framefleet.engine.pool.pool; print([name for name in ('av', 'cv2', 'openvino', 'PySide6') if name in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "[]"
