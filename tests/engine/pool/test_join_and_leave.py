"""Devices that join and leave while a pool runs: every frame still comes once, in order."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from framefleet.engine.notices import Notice, UsageError
from framefleet.engine.pool.events import (
    DeviceFailed,
    DeviceLeft,
    DeviceReady,
    DeviceStarting,
    DeviceStats,
    EngineBuilding,
    Event,
    FramesDone,
    SourceFinished,
    StrategyChosen,
)
from framefleet.engine.pool.pool import EnginePool
from framefleet.engine.settings import Isolation, Parallel
from framefleet.engine.types import DeviceId
from tests.support.goldens import Goldens
from tests.support.media import make_video
from tests.support.pool import (
    CPUS,
    Seen,
    engine_fault_main,
    run_pool,
    slow_build_main,
    slow_main,
    small_settings,
    watch,
    watch_and_then,
    with_worker,
    worker_pids,
)

FRAMES = 160
FIRST, SECOND = CPUS
SLOW = with_worker(partial(slow_main, seconds=0.002))
"""A run takes long enough for what happens in it."""

isolations = pytest.mark.parametrize("isolation", [Isolation.THREAD, pytest.param(Isolation.PROCESS, marks=pytest.mark.slow)])
in_processes = pytest.mark.parametrize("isolation", [Isolation.PROCESS, pytest.param(Isolation.THREAD, marks=pytest.mark.slow)])
"""The default run has each isolation in some of the tests."""


@pytest.fixture(scope="module")
def video(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two segments: frames 0 to 107, and the rest."""
    return make_video(tmp_path_factory.mktemp("join") / "video.mp4", FRAMES, (160, 120))


class Once:
    """Does something with the pool when the first event of a kind comes."""

    def __init__(self, kind: type[Event], do: Callable[[EnginePool], None]) -> None:
        self._kind, self._do, self._done = kind, do, False

    def __call__(self, pool: EnginePool, event: Event, _: Seen) -> None:
        if isinstance(event, self._kind) and not self._done:
            self._done = True
            self._do(pool)


def check_complete(seen: Seen, sources: int, failed: frozenset[int] = frozenset()) -> None:
    for source in range(sources):
        assert seen.finished[source].error is None
        assert seen.finished[source].ledger.decoded == len(seen.frames[source]) == FRAMES
        assert not seen.finished[source].ledger.dropped
        assert set(seen.failed(source)) == failed
        for index, frame in enumerate(seen.frames[source]):
            assert frame.ref.pts == pytest.approx(index / 30, abs=1e-3)


def kinds(seen: Seen, device: DeviceId) -> list[type[Event]]:
    """What happened to a device, in order."""
    return [type(event) for event in seen.events if getattr(event, "device", None) == device and not isinstance(event, DeviceStats)]


@pytest.mark.parametrize(
    ("parallel", "isolation"),
    [
        (Parallel.STREAMS, Isolation.THREAD),
        pytest.param(Parallel.SEGMENTS, Isolation.PROCESS, marks=pytest.mark.slow),  # so does the device of the golden
        pytest.param(Parallel.SEGMENTS, Isolation.THREAD, marks=pytest.mark.slow),
        pytest.param(Parallel.STREAMS, Isolation.PROCESS, marks=pytest.mark.slow),
    ],
)
def test_a_device_leaves_and_another_does_its_work(parallel: Parallel, isolation: Isolation, video: Path) -> None:
    leave = Once(FramesDone, lambda pool: pool.remove_device(FIRST))
    seen = run_pool([video] * 2, CPUS, small_settings(parallel, isolation=isolation), leave, SLOW)
    check_complete(seen, 2)
    assert not seen.failures
    assert kinds(seen, FIRST) == [DeviceStarting, DeviceLeft]
    at = seen.events.index(DeviceLeft(FIRST))
    final = seen.events[at - 1]
    assert isinstance(final, DeviceStats)
    assert (final.device, final.final) == (FIRST, True)
    assert final.frames == sum(frame.device == FIRST for frames in seen.frames.values() for frame in frames)
    assert [event.device for event in seen.stats if event.final] == [FIRST, SECOND]


@pytest.mark.slow  # so does the device of the golden
@pytest.mark.parametrize("isolation", [*Isolation])
def test_a_device_joins_and_takes_part(isolation: Isolation, video: Path) -> None:
    join = Once(FramesDone, lambda pool: pool.add_device(SECOND))
    with with_worker(partial(slow_main, seconds=0.005))(small_settings(isolation=isolation), [FIRST]) as pool:
        pool.add(video)

        def react(event: Event, seen: Seen) -> None:
            join(pool, event, seen)
            if isinstance(event, DeviceReady) and event.engine.device == SECOND:
                pool.add(video)
                pool.add(video)
                pool.finish()

        seen = watch(pool.events(), react)
    check_complete(seen, 3)
    assert {event.engine.device for event in seen.ready} == set(CPUS)
    assert {frame.device for frame in seen.frames[1] + seen.frames[2]} == set(CPUS)
    assert len({frame.device for frame in seen.frames[0][:8]}) == 1


@in_processes
def test_devices_join_leave_and_join_again_as_in_the_golden(isolation: Isolation, video: Path, goldens: Goldens) -> None:
    """The second device joins during the first file. Then the first one leaves, joins again, and takes part in two more files."""
    join = Once(FramesDone, lambda pool: pool.add_device(SECOND))
    back = Once(DeviceLeft, lambda pool: pool.add_device(FIRST))
    with with_worker(partial(slow_main, seconds=0.005))(small_settings(isolation=isolation), [FIRST]) as pool:
        pool.add(video)

        def react(event: Event, seen: Seen) -> None:
            join(pool, event, seen)
            back(pool, event, seen)
            if isinstance(event, DeviceReady) and event.engine.device == SECOND:
                pool.add(video)
                pool.remove_device(FIRST)
            if isinstance(event, DeviceReady) and FIRST in seen.left:
                pool.add(video)
                pool.add(video)
                pool.finish()

        seen = watch(pool.events(), react)
    check_complete(seen, 4)
    finals = [event.frames for event in seen.stats if event.final and event.device == FIRST]
    assert finals[-1] == sum(frame.device == FIRST for frames in seen.frames.values() for frame in frames) > finals[0]
    goldens.compare_events("join_and_leave", seen.events)


@pytest.mark.slow
@pytest.mark.parametrize("isolation", [*Isolation])
def test_devices_that_come_and_go_all_the_time_cost_no_frame(isolation: Isolation, video: Path) -> None:
    with SLOW(small_settings(isolation=isolation), CPUS) as pool:
        for _ in range(3):
            pool.add(video)
        pool.finish()

        def move() -> None:
            for device in CPUS * 2:
                time.sleep(0.3)
                try:
                    pool.remove_device(device)
                    time.sleep(0.02)
                    pool.add_device(device)
                except RuntimeError:  # the run is over
                    return

        mover = threading.Thread(target=move)
        mover.start()
        seen = watch(pool.events())
        mover.join()
    check_complete(seen, 3)
    assert not seen.failures


def test_a_worker_that_has_left_a_shared_process_leaves_no_threads_in_it(video: Path) -> None:
    counts: list[int] = []

    def react(pool: EnginePool, event: Event, seen: Seen) -> None:
        if isinstance(event, DeviceReady) and len(seen.ready) > 1:
            status = Path(f"/proc/{worker_pids()['devices']}/status").read_text()
            counts.append(int(status.partition("Threads:")[2].split()[0]))
            pool.cancel() if len(counts) == 6 else pool.remove_device(FIRST)
        if isinstance(event, DeviceLeft):
            pool.add_device(FIRST)

    seen = run_pool([video] * 20, CPUS, small_settings(isolation=Isolation.THREAD), react, SLOW)
    assert seen.left == [FIRST] * 5
    # a decoder's threads come and go, and there may be some more at one look than at another
    assert max(counts[1:]) <= counts[0] + 10, "they pile up"


def test_both_ways_before_the_run_starts(video: Path) -> None:
    with EnginePool(small_settings(), [FIRST]) as pool:
        pool.add_device(SECOND)
        pool.remove_device(FIRST)
        pool.add(video)
        pool.finish()
        seen = watch(pool.events())
    check_complete(seen, 1)
    assert kinds(seen, FIRST) == [DeviceLeft]
    assert {frame.device for frame in seen.frames[0]} == {SECOND}


def test_what_is_wrong_is_told_at_once(video: Path) -> None:
    with EnginePool(small_settings(), [FIRST]) as pool:
        with pytest.raises(UsageError, match="cpu:0 takes part already"):
            pool.add_device(FIRST)
        with pytest.raises(UsageError, match="cpu:1 does not take part: there is cpu:0"):
            pool.remove_device(SECOND)
        pool.add(video)
        with pytest.raises(UsageError, match=r"cpu:0 is the last device, and there is work left"):
            pool.remove_device(FIRST)
        pool.finish()
        check_complete(watch(pool.events()), 1)
        with pytest.raises(RuntimeError, match="the run is over"):
            pool.add_device(SECOND)
        with pytest.raises(RuntimeError, match="the run is over"):
            pool.remove_device(FIRST)


def test_groups_do_not_change() -> None:
    with EnginePool(small_settings(Parallel.FRAMES), CPUS) as pool:
        with pytest.raises(UsageError, match="with the strategy frames no device can join or leave"):
            pool.remove_device(FIRST)
        with pytest.raises(UsageError, match="with the strategy frames no device can join or leave"):
            pool.add_device(DeviceId("cpu", "2"))
        assert next(pool.events()) == StrategyChosen("frames", Notice("pool.as_settings_say"), elastic=False)
    with EnginePool(small_settings(), [FIRST]) as pool:
        with pytest.raises(UsageError, match="add each device separately"):
            pool.add_device(DeviceId.group(*CPUS))
        assert next(pool.events()) == StrategyChosen("segments", Notice("pool.only_device", device="cpu:0"))


def test_the_last_device_may_leave_when_there_is_no_work_and_another_do_what_comes(video: Path) -> None:
    with EnginePool(small_settings(), [FIRST]) as pool:
        pool.add(video)

        def react(event: Event, seen: Seen) -> None:
            if isinstance(event, SourceFinished) and event.source == 0:
                pool.remove_device(FIRST)
            if isinstance(event, DeviceLeft):
                pool.add(video)  # no device takes part
            if isinstance(event, SourceFinished) and event.source == 1:
                pool.add_device(FIRST)
                pool.add(video)
                pool.finish()

        seen = watch(pool.events(), react)
    assert str(seen.finished[1].error) == "no device is left: cpu:0: it was removed"
    assert [seen.finished[source].ledger.inferred for source in (0, 2)] == [FRAMES, FRAMES]
    assert kinds(seen, FIRST) == [DeviceStarting, DeviceLeft, DeviceStarting]


def test_the_last_device_may_come_back_while_it_leaves(video: Path) -> None:
    with EnginePool(small_settings(), [FIRST]) as pool:
        pool.add(video)

        def leave_and_come_back() -> None:
            pool.remove_device(FIRST)
            time.sleep(0.05)  # so that it is on its way
            pool.add_device(FIRST)
            pool.add(video)
            pool.finish()

        seen = watch_and_then(pool, leave_and_come_back)
    check_complete(seen, 2)


@isolations
def test_a_device_leaves_while_a_suspect_task_runs(isolation: Isolation, video: Path) -> None:
    """The task goes on carefully elsewhere, and only the frame that kills is lost."""
    removed = False

    def react(pool: EnginePool, event: Event, seen: Seen) -> None:
        nonlocal removed
        if seen.failures and isinstance(event, FramesDone) and not removed:
            pool.remove_device(event.frames[-1].device)
            removed = True

    main = partial(engine_fault_main, numbers=frozenset({90}), how="kill")
    seen = run_pool([video], CPUS, small_settings(isolation=isolation), react, with_worker(main))
    assert len(seen.left) == 1
    check_complete(seen, 1, frozenset({90}))


@in_processes
def test_a_device_whose_engine_is_being_built_leaves_at_once(isolation: Isolation, video: Path) -> None:
    leave = Once(EngineBuilding, lambda pool: pool.remove_device(FIRST))
    main = partial(slow_build_main, device=FIRST)
    seen = run_pool([video] * 2, CPUS, small_settings(isolation=isolation), leave, with_worker(main))
    check_complete(seen, 2)
    assert kinds(seen, FIRST)[-1] is DeviceLeft
    assert not seen.failures


def test_an_engine_waits_for_the_earlier_one_of_its_device(video: Path) -> None:
    """Two engines of a device in one process would share its memory."""
    leave = Once(EngineBuilding, lambda pool: pool.remove_device(FIRST))
    join = Once(DeviceLeft, lambda pool: pool.add_device(FIRST))

    def react(pool: EnginePool, event: Event, seen: Seen) -> None:
        leave(pool, event, seen)
        join(pool, event, seen)

    main = partial(slow_build_main, device=FIRST)
    seen = run_pool([video] * 2, CPUS, small_settings(isolation=Isolation.THREAD), react, with_worker(main))
    check_complete(seen, 2)
    assert Notice("pool.waiting_for_engine") in [event.phase for event in seen.events if isinstance(event, EngineBuilding)]


@isolations
def test_an_engine_that_takes_long_does_not_hold_up_its_leaving(isolation: Isolation, video: Path) -> None:
    """Its batch is given to another device; in a shared process it comes to its end unheard."""
    times: dict[str, float] = {}

    def react(pool: EnginePool, event: Event, seen: Seen) -> None:
        if len(seen.ready) == 2 and "asked" not in times and "ready" in times and time.monotonic() - times["ready"] > 0.3:
            times["asked"] = time.monotonic()
            pool.remove_device(FIRST)
        if len(seen.ready) == 2 and "ready" not in times:
            times["ready"] = time.monotonic()

    main = partial(slow_main, device=FIRST, seconds=1000.0)  # a run that waited for it would not end
    seen = run_pool([video] * 3, CPUS, small_settings(isolation=isolation), react, with_worker(main))
    check_complete(seen, 3)
    assert seen.left == [FIRST]
    assert not seen.failures


def test_a_device_that_failed_may_be_added_again(video: Path) -> None:
    missing = DeviceId("openvino", "NOWHERE")
    again = Once(DeviceFailed, lambda pool: pool.add_device(missing))
    seen = run_pool([video] * 2, [FIRST, missing], react=again, pool_type=SLOW)
    check_complete(seen, 2)
    assert [(failure.device, failure.restarting) for failure in seen.failures] == [(missing, False)] * 2
    assert kinds(seen, missing) == [DeviceStarting, DeviceFailed] * 2


def test_a_killed_device_that_is_leaving_has_left(video: Path) -> None:
    def leave(pool: EnginePool) -> None:
        os.kill(worker_pids()["cpu:0"], signal.SIGSTOP)  # so that it cannot stop by itself
        pool.remove_device(FIRST)

    seen = run_pool([video] * 4, CPUS, small_settings(), Once(FramesDone, leave), SLOW)
    check_complete(seen, 4)
    assert seen.left == [FIRST]


def test_the_reason_for_the_strategy_keeps_up_with_the_devices(video: Path) -> None:
    seen = run_pool([video], [FIRST], react=Once(DeviceReady, lambda pool: pool.add_device(SECOND)), settings=small_settings(Parallel.AUTO))
    reasons = [str(event.reason) for event in seen.events if isinstance(event, StrategyChosen)]
    assert reasons[0] == "cpu:0 is the only device and does every file from start to end"
    assert reasons[1].startswith("files are cut at keyframes, and all 2 devices work")
    assert len(reasons) == 2
