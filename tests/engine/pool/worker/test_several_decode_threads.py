"""Workers that decode several segments at once: the same results, and no frame lost in any failure."""

from __future__ import annotations

import os
import signal
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from framefleet.engine.pool.events import DeviceReady, Event, FramesDone, SourceFinished
from framefleet.engine.pool.pool import EnginePool
from framefleet.engine.pool.scheduling.strategies import DIED_TWICE
from framefleet.engine.settings import Parallel, RunSettings
from tests.support.media import make_video, truncated, write_pictures
from tests.support.pool import (
    CPUS,
    Seen,
    cpu_seconds,
    decoder_fault_main,
    engine_fault_main,
    memory,
    recording_main,
    run_pool,
    small_settings,
    wait_until_blocked,
    with_worker,
    worker_pids,
)

FRAMES = 360
DECODE_THREADS = 3


@pytest.fixture(scope="module")
def video(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three segments of 100 frames and one of 60."""
    return make_video(tmp_path_factory.mktemp("decode_threads") / "video.mp4", FRAMES, (160, 120), gop=25, bframes=2)


def decode_threads(count: int = DECODE_THREADS, parallel: Parallel = Parallel.AUTO, batch: int | None = None) -> RunSettings:
    return small_settings(parallel, batch=batch, decode_threads=count)


def check_complete(seen: Seen, source: int, failed: set[int] | None = None) -> None:
    finished = seen.finished[source]
    assert finished.error is None
    assert finished.ledger.decoded == len(seen.frames[source]) == FRAMES
    np.testing.assert_allclose([frame.ref.pts for frame in seen.frames[source]], np.arange(FRAMES) / 30, atol=1e-3)
    assert set(seen.failed(source)) == (failed or set())


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory, video: Path) -> list[Path]:
    folder = tmp_path_factory.mktemp("sources")
    pictures = write_pictures(folder / "pictures", 70)
    (pictures / "7.png").write_bytes(b"no picture")
    other = make_video(folder / "other.mkv", 130, (128, 96))
    return [video, pictures, truncated(other, folder / "truncated.mkv", 0.6)]


@pytest.fixture(scope="module")
def single(sources: list[Path]) -> Seen:
    return run_pool(sources, settings=decode_threads(1))


@pytest.mark.parametrize(
    ("devices", "parallel", "batch"),
    [
        pytest.param(1, Parallel.AUTO, None, id="one device", marks=pytest.mark.slow),
        pytest.param(1, Parallel.STREAMS, 4, id="batches", marks=pytest.mark.slow),
        pytest.param(2, Parallel.SEGMENTS, None, id="two devices"),
    ],
)
def test_decode_threads_change_no_result(devices: int, parallel: Parallel, batch: int | None, sources: list[Path], single: Seen) -> None:
    seen = run_pool(sources, CPUS[:devices], decode_threads(DECODE_THREADS, parallel, batch))
    assert not seen.failures
    assert {event.engine.decode_threads for event in seen.ready} == {DECODE_THREADS}
    assert {event.engine.decode_threads for event in single.ready} == {1}
    found = 0
    for number in range(len(sources)):
        assert seen.finished[number].ledger == single.finished[number].ledger
        for frame, right in zip(seen.frames[number], single.frames[number], strict=True):
            assert (frame.ref, frame.width, frame.height) == (right.ref, right.width, right.height)
            assert frame.failure == right.failure
            if frame.detections is not None and right.detections is not None:
                np.testing.assert_array_equal(frame.detections.class_ids, right.detections.class_ids)
                np.testing.assert_allclose(frame.detections.boxes, right.detections.boxes, rtol=1e-4, atol=1e-3)
                np.testing.assert_allclose(frame.detections.scores, right.detections.scores, rtol=1e-4)
                found += len(right.detections)
    assert found, "nothing was compared"
    assert seen.failed(2)
    for event in seen.stats:
        assert all(milliseconds >= 0 for milliseconds in event.stages.values())
        if event.final:
            assert event.bottleneck in ("decode", "preprocess", "infer", "deliver")


def at_once(lines: list[str]) -> list[int]:
    """How many segments were under way after each of the lines."""
    under_way: set[str] = set()
    counts = []
    for line in lines:
        (under_way.add if line[0] == "+" else under_way.remove)(line[1:])
        counts.append(len(under_way))
    return counts


@pytest.mark.parametrize("count", [pytest.param(1, marks=pytest.mark.slow), DECODE_THREADS])
def test_each_decode_thread_has_a_segment_under_way(count: int, video: Path, tmp_path: Path) -> None:
    record = tmp_path / "record"
    seen = run_pool([video], settings=decode_threads(count), pool_type=with_worker(partial(recording_main, path=record)))
    check_complete(seen, 0)
    # a segment has ended when its last result is sent: the next one is decoded by then
    assert count <= max(at_once(record.read_text().splitlines()[1:])) <= 2 * count


def end_once(number: signal.Signals, pool: EnginePool, event: Event, seen: Seen) -> None:
    if isinstance(event, FramesDone) and len(seen.frames[0]) > 50 and not seen.failures and len(seen.ready) == len(worker_pids()):
        os.kill(worker_pids()["cpu:0"], number)


@pytest.mark.slow
def test_a_killed_worker_costs_no_frame(video: Path) -> None:
    seen = run_pool([video] * 6, CPUS, decode_threads(), partial(end_once, signal.SIGKILL), when_ready=True)
    assert ["SIGKILL" in str(failure.message) for failure in seen.failures] == [True]
    for source in range(6):
        check_complete(seen, source)


def test_what_was_under_way_when_a_worker_died_is_done_alone(video: Path, tmp_path: Path) -> None:
    record = tmp_path / "record"
    crash = partial(end_once, signal.SIGSEGV)  # a signal from outside, such as SIGKILL, is no fault of a frame
    seen = run_pool([video] * 3, CPUS[:1], decode_threads(), crash, with_worker(partial(recording_main, path=record)))
    assert ["SIGSEGV" in str(failure.message) for failure in seen.failures] == [True]
    for source in range(3):
        check_complete(seen, source)
    before, after = (part.split() for part in record.read_text().split("start")[1:])
    suspects = at_once(before)[-1]
    assert suspects >= DECODE_THREADS
    assert at_once(after)[: 2 * suspects] == [1, 0] * suspects
    assert max(at_once(after)) >= DECODE_THREADS, "and then all decode threads work again"


def test_cancelling_one_source_does_not_disturb_the_other_decode_threads(video: Path) -> None:
    def react(pool: EnginePool, event: Event, seen: Seen) -> None:
        if isinstance(event, FramesDone) and event.source == 1 and len(event.frames) == len(seen.frames[1]):
            pool.cancel(1)

    seen = run_pool([video] * 2, settings=decode_threads(), react=react)
    assert seen.finished[1].cancelled
    ledger = seen.finished[1].ledger
    assert ledger.inferred == len(seen.frames[1]) < FRAMES
    check_complete(seen, 0)


def test_cancelling_everything_and_going_on(video: Path) -> None:
    def react(pool: EnginePool, event: Event, seen: Seen) -> None:
        if isinstance(event, FramesDone) and len(seen.events) < 20 and not seen.finished:
            pool.cancel()
        if isinstance(event, SourceFinished) and event.source == 1:
            pool.add(video)
            pool.finish()

    with EnginePool(decode_threads(), CPUS[:1]) as pool:
        pool.add(video)
        pool.add(video)
        seen = Seen()
        for event in pool.events():
            seen.add(event)
            react(pool, event, seen)
    assert [seen.finished[number].cancelled for number in range(3)] == [True, True, False]
    check_complete(seen, 2)


@pytest.mark.slow
def test_a_picture_that_kills_the_worker_is_found_among_the_decode_threads(video: Path) -> None:
    main = partial(engine_fault_main, numbers=frozenset({130}), how="kill")
    seen = run_pool([video], CPUS[:1], decode_threads(), pool_type=with_worker(main))
    assert [failure.restarting for failure in seen.failures] == [True, True]
    check_complete(seen, 0, failed={130})
    assert seen.failed(0)[130] == DIED_TWICE.reason


@pytest.mark.slow
def test_a_decoder_that_gives_up_costs_only_its_segment(video: Path) -> None:
    seen = run_pool([video], settings=decode_threads(), pool_type=with_worker(partial(decoder_fault_main, number=120, how="raise")))
    assert not seen.failures
    assert set(seen.failed(0)) == set(range(120, 200))
    assert str(seen.finished[0].error) == "the decoder's fault"


@pytest.mark.slow  # a slow consumer stops one decode thread in test_pool.py
def test_memory_stays_flat_and_a_slow_consumer_stops_all_decode_threads(tmp_path: Path) -> None:
    size = 480, 360
    count = 240
    path = make_video(tmp_path / "large.mp4", count, size)
    settings = small_settings(confidence=0.001, decode_threads=DECODE_THREADS)  # everything is found, so that messages are large
    frames, pid, least, most, before, after = 0, 0, 0, 0, 0.0, 0.0

    def react(pool: EnginePool, event: Event, seen: Seen) -> None:
        nonlocal frames, pid, least, most, before, after
        if isinstance(event, DeviceReady):
            (pid,) = worker_pids().values()
        if isinstance(event, FramesDone):
            if not frames:
                wait_until_blocked(pid)
                least, before = memory(pid), cpu_seconds(pid)
            frames += len(event.frames)
            most, after = memory(pid, "VmHWM"), cpu_seconds(pid)

    run_pool([path], settings=settings, react=react)
    assert frames == count
    assert after - before > 0.1, "it had done all before it was stopped"
    assert most - least < 0.2 * count * size[0] * size[1] * 3
