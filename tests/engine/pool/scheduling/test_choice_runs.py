"""Runs whose strategy changes to ``frames``, or might: real workers measure what their videos need."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import pytest

from engine.errors import UsageError
from engine.media.probe import probe
from engine.pool import cpu_fallback as cpu_fallback
from engine.pool.cpu_fallback import CpuFallback
from engine.pool.events import (
    DeviceReady,
    DeviceStarting,
    EngineBuilding,
    Event,
    FramesDone,
    SourceFinished,
    SourceOpened,
    StrategyChosen,
)
from engine.pool.pool import EnginePool
from engine.pool.protocol import Setup
from engine.pool.scheduling.strategies import estimate, frames
from engine.pool.worker import worker
from engine.settings import Isolation, Parallel
from engine.types import DeviceId
from tests.support.groups import same_detections
from tests.support.media import make_video, rewrap, truncated
from tests.support.pool import CPUS, Seen, quicker_than, run_pool, slow_build_main, tiny_settings, with_worker

THREE = tuple(DeviceId("cpu", str(number)) for number in range(3))
FRAMES = 230
AUTO = tiny_settings(Parallel.AUTO, confidence=0.1)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """whole.mp4, .mkv and .ts have one keyframe, cut.mp4 has many; cut short they are damaged."""
    folder = tmp_path_factory.mktemp("choice")
    make_video(folder / "cut.mp4", FRAMES, (160, 120))
    make_video(folder / "whole.mp4", FRAMES, (160, 120), gop=10 * FRAMES)
    for suffix in ("mkv", "ts"):
        rewrap(folder / "whole.mp4", folder / f"whole.{suffix}")
    truncated(folder / "whole.mkv", folder / "damaged.mkv", 0.95)
    return folder


@pytest.fixture
def dealing(monkeypatch: pytest.MonkeyPatch) -> None:
    """CPU devices count as devices of their own, small videos as long ones, and dealing always pays, however fast this machine is."""
    monkeypatch.setattr(frames, "apart", lambda devices: len(devices) > 1)
    monkeypatch.setattr(frames, "LEAST_FRAMES", 200)
    monkeypatch.setattr(estimate, "CHANGE_TIMES", -1e9)


@pytest.mark.usefixtures("dealing")
@pytest.mark.parametrize(
    ("name", "may"), [("whole.mp4", True), ("whole.mkv", True), ("whole.ts", True), ("damaged.mkv", True), ("cut.mp4", False)]
)
def test_real_files_are_told_apart(name: str, may: bool, folder: Path) -> None:
    assert frames.may_pay([probe(folder / name)], CPUS) is may


def strategies(seen: Seen) -> list[str]:
    return [event.strategy for event in seen.events if isinstance(event, StrategyChosen)]


def reasons(seen: Seen) -> list[str]:
    return [event.reason for event in seen.events if isinstance(event, StrategyChosen)]


def check_complete(seen: Seen, source: int = 0) -> None:
    assert seen.finished[source].error is None
    assert seen.finished[source].ledger.inferred == len(seen.frames[source]) == FRAMES
    assert sum(isinstance(event, SourceOpened) and event.source == source for event in seen.events) == 1


@pytest.fixture(scope="module")
def alone(folder: Path) -> Seen:
    """One device, nothing shared."""
    return run_pool([folder / "whole.mp4"], CPUS[:1], AUTO)


@pytest.mark.usefixtures("dealing")
@pytest.mark.parametrize("isolation", [*Isolation])
def test_a_video_that_cannot_be_cut_is_dealt(isolation: Isolation, folder: Path, alone: Seen) -> None:
    refusals: list[str] = []

    def change(pool: EnginePool, event: Event, _: Seen) -> None:
        if isinstance(event, FramesDone) and not refusals:
            for call, device in ((pool.remove_device, CPUS[0]), (pool.add_device, THREE[2])):
                with pytest.raises(UsageError) as caught:
                    call(device)
                refusals.append(str(caught.value))

    seen = run_pool([folder / "whole.mp4"], CPUS, replace(AUTO, isolation=isolation), change)
    assert strategies(seen) == ["segments", "frames"]
    check_complete(seen)
    same_detections(seen.frames[0], alone.frames[0])
    assert {frame.device for frame in seen.frames[0]} == set(CPUS)
    assert not seen.failures
    assert not seen.left
    done = {device: sum(frame.device == device for frame in seen.frames[0]) for device in CPUS}
    assert {stats.device: stats.frames for stats in seen.stats if stats.final} == done
    assert all("no device can join or leave" in refusal for refusal in refusals)


@pytest.mark.usefixtures("dealing")
def test_a_file_that_can_be_cut_starts_nobody_twice(folder: Path) -> None:
    seen = run_pool([folder / "cut.mp4"], CPUS, AUTO)
    check_complete(seen)
    assert strategies(seen) == ["segments"]
    assert sum(isinstance(event, DeviceStarting) for event in seen.events) == 2


def endless_build_main(connection: Connection[Any, Any], setup: Setup) -> None:
    """A real worker; the engine of cpu:1, unless it is a member of a group, is not ready before the run ends."""
    from engine.backends.openvino.backend import OpenVinoBackend

    def endless(*_: object) -> Any:
        while True:
            time.sleep(1)

    if setup.device == CPUS[1]:
        OpenVinoBackend._activate_impl = endless  # type: ignore[method-assign]
    worker.main(connection, setup)


@pytest.mark.usefixtures("dealing")
def test_engines_under_way_are_given_up_and_a_file_that_cannot_be_opened_does_not_count(folder: Path) -> None:
    seen = run_pool([folder / "missing.mp4", folder / "whole.mkv"], CPUS, AUTO, pool_type=with_worker(endless_build_main))
    assert "does not exist" in (seen.finished[0].error or "")
    assert strategies(seen) == ["segments", "frames"]
    check_complete(seen, 1)


@pytest.mark.usefixtures("dealing")
def test_engines_that_are_ready_first_are_built_again(folder: Path) -> None:
    seen = run_pool([folder / "whole.mp4"], CPUS, AUTO, when_ready=True)
    check_complete(seen)
    assert strategies(seen) == ["segments", "frames"]
    assert len(seen.ready) == 4


@pytest.mark.usefixtures("dealing")
def test_a_file_that_comes_later_keeps_the_strategy(folder: Path) -> None:
    """Also where it would have been another one."""
    for first, later, chosen in (("whole.mp4", "cut.mp4", ["segments", "frames"]), ("cut.mp4", "whole.mp4", ["segments"])):
        added: list[int] = []

        def add(pool: EnginePool, event: Event, _: Seen, path: Path = folder / later, added: list[int] = added) -> None:
            if isinstance(event, FramesDone) and not added:
                added.append(pool.add(path))
                pool.finish()

        with EnginePool(AUTO, CPUS) as pool:
            pool.add(folder / first)
            seen = Seen()
            for event in pool.events():
                seen.add(event)
                add(pool, event, seen)
        assert strategies(seen) == chosen
        check_complete(seen, 0)
        check_complete(seen, 1)


@pytest.mark.usefixtures("dealing")
def test_a_run_that_a_device_has_joined_stays_open_to_them(folder: Path) -> None:
    def join(pool: EnginePool, event: Event, _: Seen) -> None:
        if isinstance(event, DeviceStarting) and event.device == CPUS[1]:
            pool.add_device(THREE[2])

    seen = run_pool([folder / "whole.mp4"], CPUS, AUTO, join)
    check_complete(seen)
    assert set(strategies(seen)) == {"segments"}


@pytest.fixture
def never(dealing: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is measured, but dealing never pays."""
    monkeypatch.setattr(estimate, "CHANGE_TIMES", 1e9)


@pytest.mark.usefixtures("never")
@pytest.mark.parametrize("isolation", [*Isolation])
def test_where_dealing_does_not_pay_the_video_stays_on_one_device(isolation: Isolation, folder: Path, alone: Seen) -> None:
    seen = run_pool([folder / "whole.mp4"], CPUS, replace(AUTO, isolation=isolation))
    check_complete(seen)
    same_detections(seen.frames[0], alone.frames[0])
    assert strategies(seen) == ["segments", "segments"]
    assert "stays on one device: about" in reasons(seen)[1]
    assert "dealt to all 2 devices it would be" in reasons(seen)[1]
    assert sum(isinstance(event, DeviceStarting) for event in seen.events) == 2
    told = [type(event) for event in seen.events]
    assert told.index(FramesDone) > len(told) - 1 - told[::-1].index(StrategyChosen), "work was given out before the choice"


def slow_survey_main(connection: Connection[Any, Any], setup: Setup) -> None:
    """A real worker that measures until nobody waits any more, or for ten seconds."""
    measure = worker.survey

    def slow(task: Any, backend: Any, stopped: Callable[[], bool]) -> Any:
        deadline = time.monotonic() + 10
        while not stopped() and time.monotonic() < deadline:
            time.sleep(0.01)
        return measure(task, backend, stopped)

    worker.survey = slow
    worker.main(connection, setup)


def run_into_survey(
    path: Path,
    act: Callable[[EnginePool], None],
    isolation: Isolation = Isolation.PROCESS,
    main: Callable[..., None] = slow_survey_main,
) -> Seen:
    """Something happens while the first device that is ready measures."""
    timers: list[threading.Timer] = []

    def react(pool: EnginePool, event: Event, _: Seen) -> None:
        if isinstance(event, DeviceReady) and not timers:
            timers.append(threading.Timer(0.3, act, [pool]))
            timers[0].start()

    settings = replace(AUTO, isolation=isolation)
    seen = run_pool([path], CPUS, settings, react, with_worker(main))
    timers[0].join()
    return seen


def cancel(pool: EnginePool) -> None:
    pool.cancel()


def close(pool: EnginePool) -> None:
    pool.close()


@pytest.mark.usefixtures("dealing")
@pytest.mark.parametrize("isolation", [*Isolation])
@pytest.mark.parametrize("end", [cancel, close])
def test_a_run_may_end_while_it_is_measured(end: Callable[[EnginePool], None], isolation: Isolation, folder: Path) -> None:
    with quicker_than(9):
        seen = run_into_survey(folder / "whole.mp4", end, isolation)
    assert strategies(seen) == ["segments"]
    assert not seen.frames
    assert [event.cancelled for event in seen.events if isinstance(event, SourceFinished)] == ([True] if end is cancel else [])


def watching_survey_main(connection: Connection[Any, Any], setup: Setup, *, path: Path) -> None:
    """A real worker that takes a moment to stop measuring, and notes whether the engine is still there then."""

    def watch(_: Any, backend: Any, stopped: Callable[[], bool]) -> Any:
        while not stopped():
            time.sleep(0.01)
        time.sleep(0.2)
        path.write_text("open" if backend._info is not None else "closed")
        raise SystemExit  # of this thread

    worker.survey = watch
    worker.main(connection, setup)


@pytest.mark.usefixtures("dealing")
def test_an_engine_is_not_closed_while_it_measures(folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "engine"
    seen = run_into_survey(folder / "whole.mp4", close, main=partial(watching_survey_main, path=path))
    assert not seen.frames
    assert path.read_text() == "open"


@pytest.mark.usefixtures("dealing")
def test_a_device_that_joins_or_leaves_meanwhile_settles_it(folder: Path) -> None:
    for change in (lambda pool: pool.add_device(THREE[2]), lambda pool: pool.remove_device(CPUS[1])):
        with quicker_than(9):
            seen = run_into_survey(folder / "whole.mp4", change)
        check_complete(seen)
        assert set(strategies(seen)) == {"segments"}
        assert not seen.failures


@pytest.mark.usefixtures("dealing")
def test_the_device_that_measures_may_leave(folder: Path) -> None:
    with quicker_than(9):
        seen = run_into_survey(folder / "whole.mp4", lambda pool: pool.remove_device(CPUS[0]))
    check_complete(seen)
    assert set(strategies(seen)) == {"segments"}


def mortal_survey_main(connection: Connection[Any, Any], setup: Setup) -> None:
    """A real worker that dies when it has to measure."""

    def die(*_: object) -> Any:
        os.kill(os.getpid(), signal.SIGKILL)

    worker.survey = die
    worker.main(connection, setup)


def raising_survey_main(connection: Connection[Any, Any], setup: Setup) -> None:
    """A real worker with a bug where it measures."""

    def fail(*_: object) -> Any:
        raise ZeroDivisionError("a bug")

    worker.survey = fail
    worker.main(connection, setup)


@pytest.mark.usefixtures("dealing")
@pytest.mark.parametrize("isolation", [*Isolation])
@pytest.mark.parametrize("main", [mortal_survey_main, raising_survey_main])
def test_a_worker_that_dies_measuring_is_not_asked_again(main: Callable[..., None], isolation: Isolation, folder: Path) -> None:
    seen = run_pool([folder / "whole.mp4"], CPUS, replace(AUTO, isolation=isolation), pool_type=with_worker(main))
    check_complete(seen)
    assert strategies(seen) == ["segments"]
    assert {failure.restarting for failure in seen.failures} == {True}


def hanging_survey_main(connection: Connection[Any, Any], setup: Setup) -> None:
    """A real worker that never comes to an end of measuring."""
    worker.survey = lambda *_: time.sleep(1e6)  # type: ignore[assignment,return-value]
    worker.PATIENCE_SECONDS = 0.0
    worker.main(connection, setup)


@pytest.mark.usefixtures("dealing")
def test_measuring_that_hangs_is_ended(folder: Path) -> None:
    seen = run_pool([folder / "whole.mp4"], CPUS, AUTO, pool_type=with_worker(hanging_survey_main, stall_seconds=2.0))
    check_complete(seen)
    assert strategies(seen) == ["segments"]
    assert any("measuring how fast" in failure.message for failure in seen.failures)


@pytest.mark.usefixtures("dealing")
def test_a_file_that_disappears_before_it_is_measured_fails_as_ever(folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "brief.mp4"
    path.write_bytes((folder / "whole.mp4").read_bytes())

    def delete(_: EnginePool, event: Event, __: Seen) -> None:
        if isinstance(event, SourceOpened):
            path.unlink()

    seen = run_pool([path], CPUS, AUTO, delete)
    assert strategies(seen) == ["segments", "segments"]
    assert "could not be measured" in reasons(seen)[1]
    assert "does not exist" in (seen.finished[0].error or "")
    assert sum(seen.finished[0].ledger.failed.values()) == FRAMES


@pytest.mark.usefixtures("dealing")
def test_a_source_that_comes_while_the_first_is_measured(folder: Path) -> None:
    """With it there are as many sources as devices: nothing would be idle."""
    timers: list[threading.Timer] = []

    def add(pool: EnginePool) -> None:
        pool.add(folder / "whole.mkv")
        pool.finish()

    with with_worker(survey_that_waits_main)(AUTO, CPUS) as pool:
        pool.add(folder / "whole.mp4")
        seen = Seen()
        for event in pool.events():
            seen.add(event)
            if isinstance(event, DeviceReady) and not timers:
                timers.append(threading.Timer(0.3, add, [pool]))
                timers[0].start()
    check_complete(seen, 0)
    check_complete(seen, 1)
    assert strategies(seen) == ["segments"]


def survey_that_waits_main(connection: Connection[Any, Any], setup: Setup) -> None:
    """A real worker that measures a second later."""
    measure = worker.survey

    def late(task: Any, backend: Any, stopped: Callable[[], bool]) -> Any:
        time.sleep(1)
        return measure(task, backend, stopped)

    worker.survey = late
    worker.main(connection, setup)


@pytest.mark.usefixtures("dealing")
def test_nobody_stands_in_while_the_first_engine_is_waited_for(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cpu_fallback, "PATIENCE_SECONDS", 0.1)
    helpers: list[CpuFallback] = []
    building = 0

    def react(pool: EnginePool, event: Event, seen: Seen) -> None:
        nonlocal building
        if not seen.opened:
            return  # until then nobody can know that there is something to wait for
        helper = helpers[0] if helpers else CpuFallback(pool, [DeviceId("cuda", "0")])
        helpers[:] = [helper]
        helper.see(event)
        building += isinstance(event, EngineBuilding)
        if building == 30:
            assert pool.choosing
            pool.close()

    seen = run_pool([folder / "whole.mp4"], THREE[1:], AUTO, react, with_worker(slow_builds_main))
    assert building >= 30
    assert {event.device for event in seen.events if isinstance(event, DeviceStarting)} == set(THREE[1:])


def slow_builds_main(connection: Connection[Any, Any], setup: Setup) -> None:
    """A real worker whose engine is never finished, on whatever device it is."""
    slow_build_main(connection, setup, device=setup.device)


@pytest.mark.usefixtures("dealing")
@pytest.mark.parametrize("end", [cancel, close])
@pytest.mark.parametrize("phase", [StrategyChosen, DeviceStarting, DeviceReady])
def test_it_may_end_while_the_devices_change(end: Callable[[EnginePool], None], phase: type[Event], folder: Path) -> None:
    def react(pool: EnginePool, event: Event, seen: Seen) -> None:
        if isinstance(event, phase) and strategies(seen) == ["segments", "frames"]:
            end(pool)

    seen = run_pool([folder / "whole.mp4"], CPUS, AUTO, react)
    assert strategies(seen) == ["segments", "frames"]
    assert [event.cancelled for event in seen.events if isinstance(event, SourceFinished)] == ([True] if end is cancel else [])
