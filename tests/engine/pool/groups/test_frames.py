"""Frames shared among several devices: none is lost, duplicated or out of order, whatever happens to a member."""

from __future__ import annotations

import os
import signal
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from framefleet.engine.pool.events import DeviceFailed, DeviceReady, DeviceStarting, Event, FramesDone, SourceFinished, StrategyChosen
from framefleet.engine.pool.pool import EnginePool
from framefleet.engine.pool.scheduling.strategies import DIED_TWICE
from framefleet.engine.pool.worker import worker
from framefleet.engine.processes.outcome import RESTARTS
from framefleet.engine.settings import Isolation, Parallel
from framefleet.engine.types import DeviceId
from tests.support.groups import dying_member_main, gone, group_fault_main, member_pids, same_detections, signal_to_a_member, slowed
from tests.support.media import make_video
from tests.support.pool import CPUS, Seen, engine_fault_main, run_pool, small_settings, with_worker, worker_pids

FRAMES = 80
CUT_FRAMES, GOP = 300, 100
SETTINGS = small_settings(Parallel.FRAMES, confidence=0.1)


@pytest.fixture(scope="module")
def video(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_video(tmp_path_factory.mktemp("frames") / "video.mp4", FRAMES, (160, 120))


@pytest.fixture(scope="module")
def alone(video: Path) -> Seen:
    """One device, nothing shared."""
    return run_pool([video], CPUS[:1], replace(SETTINGS, parallel=Parallel.STREAMS))


@pytest.fixture(scope="module")
def cut(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A video of many segments, which the members decode themselves."""
    return make_video(tmp_path_factory.mktemp("cut") / "video.mp4", CUT_FRAMES, (160, 120), gop=GOP)


@pytest.fixture(scope="module")
def cut_alone(cut: Path) -> Seen:
    return run_pool([cut], CPUS[:1], replace(SETTINGS, parallel=Parallel.STREAMS))


def check_complete(seen: Seen, failed: set[int] | None = None, frames: int = FRAMES) -> None:
    finished = seen.finished[0]
    assert finished.error is None
    assert finished.ledger.decoded == len(seen.frames[0]) == frames
    assert set(seen.failed(0)) == (failed or set())


@pytest.mark.parametrize(
    ("batch", "isolation"),
    [
        (4, Isolation.THREAD),
        pytest.param(1, Isolation.PROCESS, marks=pytest.mark.slow),  # so do several lanes and sources below
        pytest.param(1, Isolation.THREAD, marks=pytest.mark.slow),
        pytest.param(4, Isolation.PROCESS, marks=pytest.mark.slow),
    ],
)
def test_two_devices_find_what_one_finds(isolation: Isolation, batch: int, video: Path, alone: Seen) -> None:
    settings = replace(SETTINGS, isolation=isolation, engine=replace(SETTINGS.engine, batch=batch))
    seen = run_pool([video], CPUS, settings)
    check_complete(seen)
    assert sum(len(frame.detections or ()) for frame in seen.frames[0]) > FRAMES
    same_detections(seen.frames[0], alone.frames[0])
    assert [event.strategy for event in seen.events if isinstance(event, StrategyChosen)] == ["frames"]
    assert {event.engine.device for event in seen.ready} == set(CPUS)
    assert {frame.device for frame in seen.frames[0]} == set(CPUS)
    done = {device: sum(frame.device == device for frame in seen.frames[0]) for device in CPUS}
    assert {stats.device: stats.frames for stats in seen.stats if stats.final} == done
    assert all(stats.latency_p50 and stats.stages["infer"] for stats in seen.stats if stats.final)


def test_one_device_is_a_group_as_well(video: Path, alone: Seen) -> None:
    seen = run_pool([video], CPUS[:1], SETTINGS)
    check_complete(seen)
    same_detections(seen.frames[0], alone.frames[0])


def test_several_lanes_and_sources_keep_their_order(video: Path, alone: Seen) -> None:
    settings = replace(SETTINGS, engine=replace(SETTINGS.engine, decode_threads=3, batch=2))
    seen = run_pool([video, video], CPUS, settings)
    for source in (0, 1):
        same_detections(seen.frames[source], alone.frames[0])


def test_a_killed_member_costs_no_frame(video: Path, alone: Seen) -> None:
    kill_one = signal_to_a_member(signal.SIGKILL)
    seen = run_pool([video] * 2, CPUS, SETTINGS, kill_one)
    assert kill_one.pid
    for source in (0, 1):
        assert seen.finished[source].ledger.inferred == FRAMES
        same_detections(seen.frames[source], alone.frames[0])
    assert all(failure.restarting and "SIGKILL" in str(failure.message) for failure in seen.failures)
    assert len(seen.failures) <= 1
    # where it was noticed before the end, it came back
    assert len([event for event in seen.events if isinstance(event, DeviceStarting)]) == 2 + len(seen.failures)


def test_a_member_that_dies_again_and_again_is_given_up_and_the_other_does_its_work(video: Path, alone: Seen) -> None:
    seen = Seen()
    with with_worker(dying_member_main)(SETTINGS, CPUS) as pool:
        pool.add(video)
        for event in pool.events():
            seen.add(event)
            if isinstance(event, DeviceFailed) and not event.restarting:
                pool.finish()
    same_detections(seen.frames[0], alone.frames[0])
    assert [(failure.device, failure.restarting) for failure in seen.failures] == [(CPUS[0], True)] * RESTARTS + [(CPUS[0], False)]
    assert "status 3" in str(seen.failures[-1].message)
    assert "did not help" in str(seen.failures[-1].message)
    assert {frame.device for frame in seen.frames[0]} == {CPUS[1]}


def test_a_killed_decoding_worker_is_restarted_with_its_members(video: Path) -> None:
    pids: list[int] = []

    def kill_decoding_worker(_: EnginePool, event: Event, __: Seen) -> None:
        if isinstance(event, FramesDone) and not pids:
            pids.extend(member_pids())
            os.kill(worker_pids()["cpu:0+cpu:1"], signal.SIGKILL)

    seen = run_pool([video], CPUS, SETTINGS, kill_decoding_worker)
    check_complete(seen)
    assert [failure.device for failure in seen.failures] == list(CPUS)
    assert all(failure.restarting for failure in seen.failures)
    assert gone(pids)


def test_a_member_that_dies_while_it_has_nothing_to_do_is_started_again(video: Path) -> None:
    pool = EnginePool(SETTINGS, CPUS)
    seen = Seen()
    with pool:
        pool.add(video)
        for event in pool.events():
            seen.add(event)
            if isinstance(event, SourceFinished):
                os.kill(member_pids()[0], signal.SIGKILL)
            if isinstance(event, DeviceReady) and len(seen.ready) == 3:
                pool.finish()
    assert [failure.restarting for failure in seen.failures] == [True]
    check_complete(seen)


def test_a_frame_that_kills_members_fails_alone(video: Path) -> None:
    fault = partial(group_fault_main, numbers=frozenset({50}), how="kill")
    seen = run_pool([video], CPUS, SETTINGS, pool_type=with_worker(fault))
    check_complete(seen, failed={50})
    assert seen.failed(0) == {50: DIED_TWICE.reason}
    assert len(seen.failures) == 2
    assert all(failure.restarting for failure in seen.failures)


@pytest.mark.parametrize("isolation", [Isolation.PROCESS, Isolation.THREAD])
def test_a_frame_that_an_engine_refuses_fails_alone(isolation: Isolation, video: Path) -> None:
    numbers = frozenset({50, 51})
    if isolation is Isolation.PROCESS:
        fault = partial(group_fault_main, numbers=numbers, how="late")
    else:
        fault = partial(engine_fault_main, numbers=numbers, how="late")
    settings = replace(SETTINGS, isolation=isolation, engine=replace(SETTINGS.engine, batch=4))
    seen = run_pool([video], CPUS, settings, pool_type=with_worker(fault))
    check_complete(seen, failed={50, 51})
    assert all("the engine's fault" in str(reason) for reason in seen.failed(0).values())
    assert not seen.failures


def test_a_member_that_hangs_is_replaced(video: Path) -> None:
    """Only the member: neither the other one nor the decoding worker is started again."""
    decoding = set()

    def note(_: EnginePool, event: Event, __: Seen) -> None:
        if isinstance(event, FramesDone | DeviceStarting):
            decoding.update(worker_pids().values())

    fault = partial(group_fault_main, numbers=frozenset({50}), how="hang")
    seen = run_pool([video], CPUS, SETTINGS, note, with_worker(fault, stall_seconds=1.5))
    check_complete(seen, failed={50})
    assert seen.failed(0) == {50: DIED_TWICE.reason}
    assert len(seen.failures) in (1, 2)  # the run may end before the last one is told
    for failure in seen.failures:
        assert failure.restarting
        assert str(failure.message).startswith(f"an inference on {failure.device} did not come to an end")
    assert len(decoding) == 1


def test_a_member_that_freezes_is_replaced(video: Path) -> None:
    stop_one = signal_to_a_member(signal.SIGSTOP)
    seen = run_pool([video], CPUS, SETTINGS, stop_one, with_worker(worker.main, stall_seconds=1.5))
    check_complete(seen)
    (failure,) = seen.failures
    assert failure.restarting
    assert "no sign of life" in str(failure.message)


def test_a_member_that_cannot_be_built_leaves_the_work_to_the_others(video: Path) -> None:
    missing = DeviceId("openvino", "GPU.7")
    seen = run_pool([video], (CPUS[0], missing), SETTINGS)
    check_complete(seen)
    (failure,) = seen.failures
    assert (failure.device, failure.restarting) == (missing, False)
    assert str(failure.message).startswith("OpenVINO finds no device GPU.7")  # the user interface adds the device's name
    assert {frame.device for frame in seen.frames[0]} == {CPUS[0]}


def test_without_a_member_the_run_ends_with_an_error_told_once(video: Path) -> None:
    missing = tuple(DeviceId("openvino", f"GPU.{number}") for number in (7, 8))
    seen = run_pool([video], missing, SETTINGS)
    assert "GPU.7" in str(seen.finished[0].error)
    assert [(failure.device, failure.restarting) for failure in seen.failures if isinstance(failure, DeviceFailed)] in (
        [(missing[0], False), (missing[1], False)],
        [(missing[1], False), (missing[0], False)],
    )


def test_a_slow_device_takes_less(tmp_path: Path) -> None:
    video = make_video(tmp_path / "long.mp4", 300, (64, 48), options={"crf": "40"})
    slow: list[slowed] = []  # type: ignore[valid-type]

    def slow_one(_: EnginePool, event: Event, seen: Seen) -> None:
        if isinstance(event, FramesDone) and not slow:
            slow.append(slowed(member_pids()[0], 1 / 3))
            slow[0].__enter__()

    try:
        seen = run_pool([video], CPUS, SETTINGS, slow_one)
    finally:
        for each in slow:
            each.__exit__(None, None, None)
    check_complete(seen, frames=300)
    shares = sorted(stats.frames for stats in seen.stats if stats.final)
    assert shares[0] < 0.45 * sum(shares)


def test_cancelling_ends_everything_at_once(video: Path) -> None:
    pids: list[int] = []

    def cancel(pool: EnginePool, event: Event, _: Seen) -> None:
        if isinstance(event, FramesDone) and not pids:
            pids.extend(member_pids())
            pool.cancel()

    seen = run_pool([video] * 5, CPUS, SETTINGS, cancel)
    assert all(seen.finished[source].cancelled for source in range(1, 5))
    assert len(pids) == 2
    assert gone(pids)


def test_closing_in_mid_run_leaves_no_process(video: Path) -> None:
    with EnginePool(SETTINGS, CPUS) as pool:
        pool.add(video)
        for event in pool.events():
            if isinstance(event, FramesDone):
                pids = member_pids()
                break
        pool.close()
    assert len(pids) == 2
    assert gone(pids)


def test_members_decode_the_segments_of_a_file_themselves(cut: Path, cut_alone: Seen) -> None:
    """So that no picture travels from process to process: all frames of a segment come from one device."""
    seen = run_pool([cut], CPUS, SETTINGS)
    check_complete(seen, frames=CUT_FRAMES)
    same_detections(seen.frames[0], cut_alone.frames[0])
    devices = [{frame.device for frame in seen.frames[0][start : start + GOP]} for start in range(0, CUT_FRAMES, GOP)]
    assert all(len(each) == 1 for each in devices)
    assert set.union(*devices) == set(CPUS)
    done = {device: sum(frame.device == device for frame in seen.frames[0]) for device in CPUS}
    assert {stats.device: stats.frames for stats in seen.stats if stats.final} == done
    assert all(stats.latency_p50 and stats.stages["decode"] and stats.stages["infer"] for stats in seen.stats if stats.final)
    assert seen.finished[0].decoder.cpu == CUT_FRAMES


@pytest.mark.slow  # a killed member and a frozen one have tests of their own above
@pytest.mark.parametrize("stop", [signal.SIGKILL, signal.SIGSTOP])
def test_the_group_goes_on_with_the_segments_of_a_member_that_ends(stop: signal.Signals, cut: Path, cut_alone: Seen) -> None:
    end_one = signal_to_a_member(stop)
    seen = run_pool([cut], CPUS, SETTINGS, end_one, with_worker(worker.main, stall_seconds=1.5))
    assert end_one.pid
    assert seen.finished[0].ledger.inferred == CUT_FRAMES
    same_detections(seen.frames[0], cut_alone.frames[0])
    assert all(failure.restarting for failure in seen.failures)


@pytest.mark.slow
def test_a_frame_of_a_segment_that_kills_members_fails_alone(cut: Path) -> None:
    fault = partial(group_fault_main, numbers=frozenset({250}), how="kill")
    seen = run_pool([cut], CPUS, SETTINGS, pool_type=with_worker(fault))
    check_complete(seen, failed={250}, frames=CUT_FRAMES)
    assert seen.failed(0) == {250: DIED_TWICE.reason}


def test_a_cancelled_source_ends_its_segments_and_others_follow(cut: Path) -> None:
    def cancel(pool: EnginePool, event: Event, seen: Seen) -> None:
        if isinstance(event, FramesDone) and event.source == 0 and len(seen.frames[0]) < 200:
            pool.cancel(0)

    seen = run_pool([cut, cut], CPUS, SETTINGS, cancel)
    assert seen.finished[0].cancelled
    assert seen.finished[1].ledger.inferred == CUT_FRAMES


def test_a_group_stops_while_members_decode(cut: Path) -> None:
    with EnginePool(SETTINGS, CPUS) as pool:
        pool.add(cut)
        for event in pool.events():
            if isinstance(event, FramesDone):
                pids = [*member_pids(), *worker_pids().values()]
                pool.close()
    assert gone(pids)
