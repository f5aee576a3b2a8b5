"""What hangs is noticed, on whichever side; engines that take long to build; engines that change."""

from __future__ import annotations

import signal
import threading
import time
from functools import partial
from pathlib import Path

import cv2
import pytest

from framefleet.engine.pool.events import DeviceReady, EngineBuilding, Event, FramesDone
from framefleet.engine.pool.pool import EnginePool
from framefleet.engine.pool.protocol import Failed
from framefleet.engine.pool.worker import worker
from framefleet.engine.processes.watchdog import Watchdog
from tests.support.media import make_video, numbered
from tests.support.notices import words
from tests.support.pool import (
    CPUS,
    Seen,
    SignalOnce,
    decoder_fault_main,
    engine_fault_main,
    hanging_build_main,
    run_pool,
    shrinking_main,
    slow_build_main,
    small_settings,
    watch,
    with_worker,
    worker_pids,
)

FRAMES = 130
STALL = 1.5


@pytest.fixture(scope="module")
def video(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two segments: frames 0 to 107, and the rest."""
    return make_video(tmp_path_factory.mktemp("watchdog") / "video.mp4", FRAMES, (160, 120))


def check_complete(seen: Seen, source: int, failed: set[int] | None = None) -> None:
    assert seen.finished[source].error is None
    assert seen.finished[source].ledger.decoded == len(seen.frames[source]) == FRAMES
    assert set(seen.failed(source)) == (failed or set())


class Bitten(Exception):  # noqa: N818
    """The watchdog ends the thread that it runs in, as ``die`` ends the process."""


def test_clocks_run_out_only_while_the_pool_listens() -> None:
    bites: list[str] = []
    held_up = True

    def die(why: Failed) -> None:
        bites.append(str(why.message))
        raise Bitten

    watchdog = Watchdog(0.6, lambda: held_up, die)  # type: ignore[arg-type]
    quick, patient, slow, gone = (watchdog.add() for _ in range(4))
    gone.start(words("what is removed"), 0.1)
    watchdog.remove(gone)
    slow.start(words("decoding x.mp4"), 0.6)
    patient.start(words("an inference"), 60.0)

    def run() -> None:
        with pytest.raises(Bitten):
            watchdog.run()

    thread = threading.Thread(target=run)
    thread.start()
    for _ in range(10):
        quick.start(words("what is done in time"), 0.6)
        time.sleep(0.1)
        quick.stop()
    held_up = False
    for _ in range(10):
        time.sleep(0.1)
        watchdog.reset()
    assert not bites
    thread.join()
    assert bites == ["decoding x.mp4 did not come to an end within 1 s"]


def test_a_worker_without_a_sign_of_life_is_killed_and_its_work_done_again(video: Path) -> None:
    stop = SignalOnce(signal.SIGSTOP, lambda: worker_pids()["cpu:0"])
    seen = run_pool([video] * 2, CPUS[:1], small_settings(decode_threads=2), stop, with_worker(worker.main, STALL))
    (failure,) = seen.failures
    assert failure.restarting
    assert "no sign of life for 5 s" in str(failure.message)
    for source in (0, 1):
        check_complete(seen, source)


def test_a_worker_that_freezes_while_its_engine_is_built_is_replaced(video: Path) -> None:
    stop = SignalOnce(signal.SIGSTOP, lambda: worker_pids()["cpu:0"], EngineBuilding)

    def react(pool: EnginePool, event: Event, seen: Seen) -> None:
        stop(pool, event, seen)
        if isinstance(event, EngineBuilding) and worker_pids()["cpu:0"] != stop.pid:
            pool.cancel()

    seen = run_pool([video], CPUS[:1], react=react, pool_type=with_worker(partial(slow_build_main, device=CPUS[0]), STALL))
    (failure,) = seen.failures
    assert failure.restarting
    assert "no sign of life for 5 s" in str(failure.message)


def test_an_engine_whose_building_hangs_is_built_again(video: Path, tmp_path: Path) -> None:
    main = partial(hanging_build_main, first=tmp_path / "first")
    seen = run_pool([video], CPUS[:1], pool_type=with_worker(main))
    (failure,) = seen.failures
    assert failure.restarting
    assert str(failure.message) == "a step in building the engine for cpu:0 did not come to an end within 1 s"
    check_complete(seen, 0)


def test_a_frame_at_which_the_decoder_hangs_is_given_up(video: Path, tmp_path: Path) -> None:
    hanging = tmp_path / "hanging.png"
    cv2.imwrite(str(hanging), numbered(200, (64, 48)))
    main = partial(decoder_fault_main, number=200, how="hang")
    settings = small_settings(decode_threads=2)
    clip = make_video(tmp_path / "short.mp4", 40, (64, 48))
    seen = run_pool([clip, hanging, clip], CPUS[:1], settings, pool_type=with_worker(main, STALL))
    # the decoder has to pass the first frame to reach the next one, so that it is tried once more without it
    assert [failure.restarting for failure in seen.failures] == [True] * 3
    assert all("decoding" in str(failure.message) and "hanging.png" in str(failure.message) for failure in seen.failures)
    assert list(seen.failed(1)) == [0]
    assert not seen.failed(0)
    assert not seen.failed(2)
    assert [seen.finished[source].ledger.inferred for source in (0, 2)] == [40, 40]


def test_a_frame_on_which_the_engine_hangs_is_given_up(video: Path) -> None:
    main = partial(engine_fault_main, numbers=frozenset({120}), how="hang")
    seen = run_pool([video], CPUS[:1], pool_type=with_worker(main, STALL))
    assert ["an inference on cpu:0 did not" in str(failure.message) for failure in seen.failures] == [True, True]
    check_complete(seen, 0, failed={120})


def test_a_consumer_that_rests_is_no_reason_to_kill_a_worker(video: Path) -> None:
    def react(pool: EnginePool, event: Event, seen: Seen) -> None:
        if isinstance(event, FramesDone) and event.frames[0].ref.index == 0:
            time.sleep(STALL + 1)

    settings = small_settings(confidence=0.01, decode_threads=2)  # 500 boxes, so that messages are large
    seen = run_pool([video], CPUS[:1], settings, react, with_worker(worker.main, STALL))
    assert not seen.failures
    check_complete(seen, 0)


def test_devices_that_are_ready_work_while_another_one_is_still_built(video: Path) -> None:
    seen = run_pool([video, video], CPUS, pool_type=with_worker(partial(slow_build_main, device=CPUS[1]), STALL))
    assert not seen.failures, "building is not hanging"
    for source in (0, 1):
        check_complete(seen, source)
    assert {event.engine.device for event in seen.ready} == {CPUS[0]}
    building = [event for event in seen.events if isinstance(event, EngineBuilding)]
    assert {(event.device, event.phase.code) for event in building} == {(CPUS[1], "backends.tensorrt_time_tactics")}
    fractions = [event.fraction for event in building]
    assert fractions == sorted(fractions)
    assert fractions[0] < fractions[-1] < 1


def test_building_can_be_given_up_at_once(video: Path) -> None:
    with with_worker(partial(slow_build_main, device=CPUS[0]))(small_settings(), CPUS[:1]) as pool:
        pool.add(video)
        pool.finish()

        def react(event: Event, seen: Seen) -> None:
            if isinstance(event, EngineBuilding):
                pool.cancel()

        seen = watch(pool.events(), react)  # the build would take 1,000 s
    assert seen.finished[0].cancelled


def test_an_engine_that_shrinks_loses_no_frame_and_says_so(video: Path) -> None:
    main = partial(shrinking_main, after=8, batch=2)
    seen = run_pool([video], CPUS[:1], small_settings(batch=8), pool_type=with_worker(main))
    assert not seen.failures
    check_complete(seen, 0)
    assert [(event.engine.batch, "out of memory" in str(event.engine.reason)) for event in seen.ready] == [(8, False), (2, True)]
    assert isinstance(seen.events[-1], type(seen.stats[-1]))
    assert [event for event in seen.events if isinstance(event, DeviceReady)] == seen.ready
