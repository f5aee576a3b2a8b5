"""Must hold: a worker that is stopped, an engine whose building hangs and a decoder that hangs are noticed and replaced.

Long form: ``pytest tests/faults/processes/test_frozen_workers.py -m slow -s``.
"""

from __future__ import annotations

import os
import random
import signal
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest

from framefleet.engine.pool.events import DeviceFailed, DeviceStarting, Event
from framefleet.engine.pool.pool import EnginePool
from framefleet.engine.pool.worker import worker
from framefleet.engine.processes.child_main import MIN_PATIENCE
from framefleet.engine.processes.outcome import RESTARTS
from framefleet.engine.settings import Isolation, Parallel
from tests.support.faults.counts import long_count, others_slow
from tests.support.faults.seeds import seeded
from tests.support.groups import member_pids, members_main
from tests.support.media import make_video
from tests.support.pool import (
    CPUS,
    Seen,
    hanging_build_main,
    hanging_decoder_main,
    probe_fault_main,
    run_pool,
    small_settings,
    with_worker,
    worker_pids,
)

FRAMES, MOMENTS = 120, long_count(4)


@pytest.fixture(scope="module")
def video(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_video(tmp_path_factory.mktemp("frozen") / "video.mp4", FRAMES, (160, 120))


def check_complete(seen: Seen, sources: int) -> None:
    for source in range(sources):
        assert seen.finished[source].error is None
        assert seen.finished[source].ledger.inferred == len(seen.frames[source]) == FRAMES


def test_a_worker_that_is_stopped_before_it_says_anything_is_replaced(video: Path) -> None:
    """The other one opens the sources meanwhile; the run does not wait for it."""
    stopped: list[int] = []

    def react(_: EnginePool, event: Event, __: Seen) -> None:
        if isinstance(event, DeviceStarting) and event.device == CPUS[1] and not stopped:
            stopped.append(worker_pids()["cpu:1"])
            os.kill(stopped[0], signal.SIGSTOP)

    seen = run_pool([video] * 2, CPUS, react=react)
    assert stopped
    check_complete(seen, 2)


@pytest.mark.parametrize("isolation", others_slow([*Isolation], Isolation.PROCESS))
def test_a_worker_that_is_stopped_while_it_opens_a_source_is_replaced(isolation: Isolation, video: Path, tmp_path: Path) -> None:
    main = partial(probe_fault_main, name=video.name, number=signal.SIGSTOP, once=tmp_path / "stopped")
    seen = run_pool([video] * 2, CPUS[:1], small_settings(isolation=isolation), pool_type=with_worker(main))
    assert (tmp_path / "stopped").exists()
    check_complete(seen, 2)
    (failure,) = seen.failures
    assert failure.restarting
    assert "no sign of life" in str(failure.message)


def test_a_decoder_that_hangs_again_and_again_fails_visibly_and_the_run_ends(video: Path) -> None:
    seen = run_pool([video], CPUS[:1], pool_type=with_worker(hanging_decoder_main, stall_seconds=1.0))
    assert "decoding" in str(seen.failures[0].message)
    assert len(seen.failures) <= RESTARTS + 1
    finished = seen.finished[0]
    assert finished.error is not None or sum(finished.ledger.failed.values()) == finished.ledger.decoded > 0


PATIENCE = 2.0
LATE_SECONDS = 10.0

strategies = [Parallel.STREAMS, Parallel.SEGMENTS, Parallel.FRAMES, Parallel.TILES, Parallel.DEPTH]


def notice_hang(kind: str, parallel: Parallel, video: Path, first: Path) -> float:
    """Run with a build or a decoder that hangs once. Returns the seconds from the beginning of the hang until it was noticed."""
    noticed: list[float] = []

    def react(_: EnginePool, event: Event, __: Seen) -> None:
        if isinstance(event, DeviceFailed) and not noticed:
            noticed.append(time.time())

    main: Callable[..., None]
    if kind == "build":
        main = partial(hanging_build_main, first=first, patience=PATIENCE)
        if parallel in (Parallel.FRAMES, Parallel.TILES):
            main = partial(members_main, main=main)
    else:
        main = partial(hanging_decoder_main, first=first)
    # another device would do all the work before a hanging build is noticed; a group waits for its members
    devices = CPUS[:1] if kind == "build" and parallel in (Parallel.STREAMS, Parallel.SEGMENTS) else CPUS
    # the patience for a frame is too short for a slow machine's engine, except where a decoder hangs
    stall = PATIENCE if kind == "decoder" else EnginePool.stall_seconds
    seen = run_pool([video] * 2, devices, small_settings(parallel, batch=4), react, pool_type=with_worker(main, stall))
    check_complete(seen, 2)
    assert all(failure.restarting for failure in seen.failures)
    assert f"within {PATIENCE:.0f} s" in str(seen.failures[0].message)
    return noticed[0] - first.stat().st_mtime


@pytest.mark.parametrize(
    ("kind", "parallel"), [("build", Parallel.FRAMES), pytest.param("decoder", Parallel.FRAMES, marks=pytest.mark.slow)]
)  # and test_watchdog.py
def test_a_hang_in_a_library_is_noticed_and_the_worker_replaced(kind: str, parallel: Parallel, video: Path, tmp_path: Path) -> None:
    print(f"{notice_hang(kind, parallel, video, tmp_path / 'hung'):.1f} s until the hang was noticed")


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("parallel", strategies)
@pytest.mark.parametrize("kind", ["build", "decoder"])
def test_hangs_in_libraries_are_noticed_in_time(kind: str, parallel: Parallel, video: Path, tmp_path: Path) -> None:
    seconds = [notice_hang(kind, parallel, video, tmp_path / str(number)) for number in range(MOMENTS)]
    print(f"{kind}, {parallel}: noticed after {max(seconds):.1f} s at most, with a patience of {PATIENCE:.0f} s")
    assert max(seconds) < PATIENCE + LATE_SECONDS


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("parallel", [Parallel.SEGMENTS, Parallel.FRAMES])
def test_a_build_that_always_hangs_fails_visibly_and_the_run_ends(parallel: Parallel, video: Path, tmp_path: Path) -> None:
    """Each hang takes so long that the restarts lie more than a minute apart: the limit counts without the hangs."""
    main: Callable[..., None] = partial(hanging_build_main, first=tmp_path / "first", patience=13.0, always=True)
    if parallel is Parallel.FRAMES:
        main = partial(members_main, main=main)
    seen = run_pool([video], CPUS, small_settings(parallel, batch=4), pool_type=with_worker(main))
    assert {failure.device for failure in seen.failures if not failure.restarting} >= set(CPUS)
    assert all("did not help" in str(failure.message) for failure in seen.failures if not failure.restarting and failure.device in CPUS)
    assert seen.finished[0].cancelled or seen.finished[0].error


def stop_at(delay: float, choice: random.Random) -> tuple[Callable[[EnginePool, Event, Seen], None], list[float], Callable[[], None]]:
    """A reaction that stops a random process after a delay. Returns it, the times of the stop and the first failure, and its end."""
    times: list[float] = []
    timer: list[threading.Timer] = []

    def stop() -> None:
        pids = sorted([*worker_pids().values(), *member_pids()])
        if pids:
            with suppress(ProcessLookupError):
                os.kill(choice.choice(pids), signal.SIGSTOP)
                times.append(time.monotonic())

    def react(_: EnginePool, event: Event, __: Seen) -> None:
        if not timer:
            timer.append(threading.Timer(delay, stop))
            timer[0].start()
        if isinstance(event, DeviceFailed):
            times.append(time.monotonic())

    def end() -> None:
        timer[0].cancel()
        timer[0].join()

    return react, times, end


@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("isolation", [*Isolation])
@pytest.mark.parametrize("parallel", strategies)
def test_workers_stopped_at_many_random_moments_are_replaced(parallel: Parallel, isolation: Isolation, video: Path) -> None:
    choice = seeded()
    settings = small_settings(parallel, isolation=isolation, batch=4)
    started = time.monotonic()
    run_pool([video] * 2, CPUS, settings, pool_type=with_worker(worker.main))
    seconds, noticed, stops = time.monotonic() - started, list[float](), 0
    while stops < MOMENTS:
        react, times, end = stop_at(choice.uniform(0, seconds), choice)
        try:
            seen = run_pool([video] * 2, CPUS, settings, react)
        finally:
            end()
        stops += bool(times)
        noticed += [times[1] - times[0]] if len(times) > 1 else []
        check_complete(seen, 2)
        assert all(failure.restarting for failure in seen.failures)
    latest = max(noticed, default=0)
    print(f"{parallel}, {isolation}: {stops} of {stops} complete; {len(noticed)} noticed, {latest:.1f} s after the stop at most")
    assert latest < MIN_PATIENCE + LATE_SECONDS
