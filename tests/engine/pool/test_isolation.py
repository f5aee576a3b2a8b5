"""Workers that share a process: who dies with whom, and who does not. (That they detect the same is in ``test_pool``.)"""

from __future__ import annotations

import os
import signal
from collections import Counter
from functools import partial
from pathlib import Path

import pytest

from framefleet.engine.pool.events import DeviceFailed, DeviceReady, DeviceStarting, DeviceStats, Event, FramesDone
from framefleet.engine.pool.pool import EnginePool
from framefleet.engine.pool.scheduling.strategies import DIED_TWICE
from framefleet.engine.processes.outcome import RESTARTS
from framefleet.engine.settings import Isolation
from framefleet.engine.types import DeviceId
from tests.support.media import make_video
from tests.support.pool import (
    CPUS,
    Seen,
    engine_fault_main,
    exiting_main,
    run_pool,
    slow_build_main,
    small_settings,
    thread_fault_main,
    with_worker,
    worker_pids,
)

FRAMES = 120
TOGETHER = small_settings(isolation=Isolation.THREAD)


@pytest.fixture(scope="module")
def video(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two segments: frames 0 to 107, and the rest."""
    return make_video(tmp_path_factory.mktemp("isolation") / "video.mp4", FRAMES, (160, 120))


def check_complete(seen: Seen, sources: int, failed: frozenset[int] = frozenset()) -> None:
    for source in range(sources):
        assert seen.finished[source].error is None
        assert seen.finished[source].ledger.decoded == len(seen.frames[source]) == FRAMES
        assert set(seen.failed(source)) == failed


def test_all_devices_work_in_one_process_which_may_be_killed(video: Path) -> None:
    pids: list[dict[str, int]] = []

    def react(pool: EnginePool, event: Event, seen: Seen) -> None:
        if isinstance(event, FramesDone) and not pids:
            pids.append(worker_pids())
            os.kill(pids[0]["devices"], signal.SIGKILL)

    seen = run_pool([video] * 3, CPUS, TOGETHER, react)
    assert list(pids[0]) == ["devices"]
    check_complete(seen, 3)
    assert [(failure.device, failure.restarting, "SIGKILL" in str(failure.message)) for failure in seen.failures] == [
        (device, True, True) for device in CPUS
    ]
    assert Counter(event.device for event in seen.events if isinstance(event, DeviceStarting)) == dict.fromkeys(CPUS, 2)


def test_an_engine_that_cannot_be_built_ends_its_own_worker_only(video: Path) -> None:
    missing = DeviceId("openvino", "NOWHERE")
    pids = set()

    def react(pool: EnginePool, event: Event, seen: Seen) -> None:
        if isinstance(event, DeviceReady | FramesDone):
            pids.add(worker_pids()["devices"])

    seen = run_pool([video] * 2, [missing, CPUS[0]], TOGETHER, react)
    check_complete(seen, 2)
    assert [(failure.device, failure.restarting) for failure in seen.failures] == [(missing, False)]
    assert "NOWHERE" in str(seen.failures[0].message)
    assert len(pids) == 1, "the process was started again"
    assert [event.attempt for event in seen.events if isinstance(event, DeviceStarting)] == [1, 1]


def test_a_picture_that_kills_the_process_twice_is_the_only_one_given_up(video: Path) -> None:
    main = partial(engine_fault_main, numbers=frozenset({110}), how="kill")
    seen = run_pool([video], CPUS, TOGETHER, pool_type=with_worker(main))
    assert Counter(failure.device for failure in seen.failures) == dict.fromkeys(CPUS, 2)
    check_complete(seen, 1, frozenset({110}))
    assert seen.failed(0)[110] == DIED_TWICE.reason


def test_an_engine_that_hangs_is_told_from_the_others(video: Path) -> None:
    """All are started again; what the others had is not suspected of anything, and the frame is given up."""
    main = partial(engine_fault_main, numbers=frozenset({115}), how="hang")
    seen = run_pool([video], CPUS, TOGETHER, pool_type=with_worker(main, 1.2))
    check_complete(seen, 1, frozenset({115}))
    hanging = [failure for failure in seen.failures if "did not come to an end" in str(failure.message)]
    assert {str(failure.message).partition(" did not")[0] for failure in hanging} <= {f"an inference on {device}" for device in CPUS}
    assert len(hanging) == 2
    assert all(failure.restarting for failure in seen.failures)


def test_who_ended_the_process_is_told_and_who_did_not_is_not_blamed(video: Path, capfd: pytest.CaptureFixture[str]) -> None:
    def react(pool: EnginePool, event: Event, seen: Seen) -> None:
        if isinstance(event, DeviceFailed) and not event.restarting:
            pool.cancel()

    seen = run_pool([video] * 3, CPUS, TOGETHER, react, with_worker(thread_fault_main))
    told = {(failure.device, str(failure.message).partition(";")[0]) for failure in seen.failures}
    assert told <= {
        entry
        for one, other in (CPUS, CPUS[::-1])
        for entry in ((one, "ZeroDivisionError: a bug"), (other, f"the worker of {one} ended the process that both share"))
    }
    given_up = next(failure for failure in seen.failures if not failure.restarting)
    assert str(given_up.message).startswith("ZeroDivisionError"), "a device without a fault was given up"
    own = [failure for failure in seen.failures if failure.device == given_up.device and "Zero" in str(failure.message)]
    assert len(own) == RESTARTS + 1
    assert "Traceback" in capfd.readouterr().err


def test_without_words_every_device_is_to_blame(video: Path) -> None:
    seen = run_pool([video], CPUS, TOGETHER, pool_type=with_worker(exiting_main))
    for device in CPUS:
        assert [failure.restarting for failure in seen.failures if failure.device == device] == [True] * RESTARTS + [False]
    assert all("status 3" in str(failure.message) for failure in seen.failures)
    assert "no device is left" in str(seen.finished[0].error)


@pytest.mark.parametrize("phase", [DeviceStarting, DeviceReady, FramesDone])
def test_closing_is_quick_in_every_phase(phase: type[Event], video: Path) -> None:
    with EnginePool(TOGETHER, CPUS) as pool:
        pool.add(video)
        events = pool.events()
        next(event for event in events if isinstance(event, phase))
        pool.close()
        assert not worker_pids()
        assert not any(isinstance(event, DeviceFailed) for event in events)


def test_a_build_that_takes_long_does_not_hold_up_the_others_nor_the_end(video: Path) -> None:
    main = partial(slow_build_main, device=CPUS[0])
    seen = run_pool([video] * 2, CPUS, TOGETHER, pool_type=with_worker(main))
    check_complete(seen, 2)
    assert {event.engine.device for event in seen.ready} == {CPUS[1]}
    assert not seen.failures


def test_every_worker_reports_its_last_statistics(video: Path) -> None:
    seen = run_pool([video] * 3, CPUS, TOGETHER)
    final = [event for event in seen.stats if event.final]
    assert [event.device for event in final] == list(CPUS)
    assert sum(event.frames for event in final) == 3 * FRAMES
    for device in CPUS:
        measured = [event for event in seen.stats if event.device == device and isinstance(event, DeviceStats)]
        assert len(measured) > 1
