"""Workers that die, hang back, or meet what they cannot digest; and the pool's owner dying."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from functools import partial
from pathlib import Path

import pytest

from framefleet.engine.notices import Notice
from framefleet.engine.pool.events import DeviceFailed, DeviceReady, DeviceStarting, Event, FramesDone
from framefleet.engine.pool.pool import EnginePool
from framefleet.engine.pool.scheduling.strategies import DIED_TWICE
from framefleet.engine.processes.child import NICE
from framefleet.engine.processes.outcome import RESTARTS
from framefleet.engine.settings import Isolation, ModelFiles, Parallel
from tests.support.goldens import Goldens
from tests.support.media import make_video
from tests.support.models import TINY_CFG
from tests.support.notices import words
from tests.support.paths import PYTHONPATH
from tests.support.pool import (
    CPUS,
    Seen,
    alive,
    build_fault_main,
    decoder_fault_main,
    engine_fault_main,
    exiting_main,
    probe_fault_main,
    run_pool,
    slow_main,
    small_settings,
    thread_fault_main,
    watch,
    with_worker,
    worker_pids,
)

FRAMES = 230


@pytest.fixture(scope="module")
def video(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two segments: frames 0 to 107, and the rest."""
    return make_video(tmp_path_factory.mktemp("failures") / "video.mp4", FRAMES, (160, 120))


def check_complete(seen: Seen, source: int, failed: set[int] | None = None) -> None:
    finished = seen.finished[source]
    assert finished.error is None
    assert finished.ledger.decoded == len(seen.frames[source]) == FRAMES
    for index, frame in enumerate(seen.frames[source]):
        assert frame.ref.pts == pytest.approx(index / 30, abs=1e-3)
    if failed is not None:
        assert set(seen.failed(source)) == failed


class Killer:
    """Kills a device's worker at each of its first frames after a start."""

    def __init__(self, device: str, times: int) -> None:
        self._device, self._left, self._armed = device, times, True

    def __call__(self, _: EnginePool, event: Event, __: Seen) -> None:
        if isinstance(event, DeviceReady) and str(event.engine.device) == self._device:
            self._armed = True
        if isinstance(event, FramesDone) and self._armed and self._left:
            pid = worker_pids().get(self._device)
            if pid is not None:
                os.kill(pid, signal.SIGKILL)
                self._left -= 1
                self._armed = False


def cancel_after_failure(pool: EnginePool, event: Event, _: Seen) -> None:
    if isinstance(event, DeviceFailed):
        pool.cancel()


@pytest.mark.slow  # tests/faults/processes/test_killed_workers.py kills one, too
@pytest.mark.parametrize(("parallel", "devices"), [(Parallel.AUTO, 1), (Parallel.STREAMS, 2), (Parallel.SEGMENTS, 2)])
def test_a_killed_worker_costs_no_frame(parallel: Parallel, devices: int, video: Path) -> None:
    seen = run_pool([video, video], CPUS[:devices], small_settings(parallel), Killer("cpu:0", 1))
    for source in (0, 1):
        check_complete(seen, source, failed=set())
    (failure,) = seen.failures
    assert failure.restarting
    assert "SIGKILL" in str(failure.message)
    assert [event.attempt for event in seen.events if isinstance(event, DeviceStarting) and str(event.device) == "cpu:0"] == [1, 2]


def test_frames_are_not_to_blame_for_a_worker_that_somebody_kills(video: Path) -> None:
    times = 2  # a frame of its own fault would be given up
    sources = [video] * times  # on a busy machine, a worker may finish a video before it is killed
    seen = run_pool(sources, CPUS[:1], react=Killer("cpu:0", times))
    assert [failure.restarting for failure in seen.failures] == [True] * times
    for source in range(times):
        check_complete(seen, source, failed=set())


def test_work_stays_unfinished_when_somebody_kills_every_worker(video: Path) -> None:
    def react(pool: EnginePool, event: Event, seen: Seen) -> None:
        if isinstance(event, DeviceReady):
            os.kill(worker_pids()["cpu:0"], signal.SIGKILL)

    seen = run_pool([video], CPUS[:1], react=react)
    assert [failure.restarting for failure in seen.failures] == [True] * RESTARTS + [False]
    assert seen.finished[0].cancelled
    assert seen.finished[0].ledger.failed == {}
    assert "SIGKILL" in str(seen.finished[0].error)


def test_a_worker_killed_again_and_again_is_given_up_and_the_other_does_its_work(video: Path) -> None:
    def react(pool: EnginePool, event: Event, seen: Seen) -> None:
        if isinstance(event, DeviceStarting) and event.device == CPUS[0]:
            os.kill(worker_pids()["cpu:0"], signal.SIGKILL)

    seen = run_pool([video, video], CPUS, react=react)
    assert [failure.restarting for failure in seen.failures] == [True] * RESTARTS + [False]
    assert "did not help" in str(seen.failures[-1].message)
    for source in (0, 1):
        check_complete(seen, source, failed=set())
        assert {frame.device for frame in seen.frames[source]} == {CPUS[1]}


def test_without_a_device_left_every_source_ends_with_an_error(video: Path) -> None:
    seen = run_pool([video, video], CPUS[:1], pool_type=with_worker(exiting_main))
    assert [failure.restarting for failure in seen.failures] == [True] * RESTARTS + [False]
    assert all("status 3" in str(failure.message) for failure in seen.failures)
    assert ["no device is left" in str(seen.finished[source].error) for source in (0, 1)] == [True, True]


def test_an_error_in_the_model_is_told_at_once_and_not_tried_again(video: Path, tmp_path: Path) -> None:
    seen = run_pool([video], CPUS, small_settings(model=ModelFiles(tmp_path / "no.cfg", "random:1")))
    assert [(failure.restarting, "no.cfg" in str(failure.message)) for failure in seen.failures] == [(False, True)] * 2
    assert "no.cfg" in str(seen.finished[0].error)
    assert len([event for event in seen.events if isinstance(event, DeviceStarting)]) == 2


def test_an_unexpected_error_while_building_is_tried_again(video: Path, capfd: pytest.CaptureFixture[str]) -> None:
    seen = run_pool([video], CPUS[:1], react=cancel_after_failure, pool_type=with_worker(build_fault_main))
    assert [(str(failure.message), failure.restarting) for failure in seen.failures] == [("ZeroDivisionError: an unexpected error", True)]
    assert "Traceback" in capfd.readouterr().err


def test_a_bug_in_a_thread_ends_the_worker_instead_of_hanging_it(video: Path, capfd: pytest.CaptureFixture[str]) -> None:
    seen = run_pool([video], CPUS[:1], react=cancel_after_failure, pool_type=with_worker(thread_fault_main))
    assert [(str(failure.message), failure.restarting) for failure in seen.failures] == [("ZeroDivisionError: a bug", True)]
    assert "Traceback" in capfd.readouterr().err


@pytest.mark.parametrize(("batch", "how"), [(1, "late"), (4, "raise"), pytest.param(4, "late", marks=pytest.mark.slow)])
def test_a_picture_the_engine_refuses_is_a_failed_frame(batch: int, how: str, video: Path) -> None:
    main = partial(engine_fault_main, numbers=frozenset({7, 150}), how=how)
    seen = run_pool([video], CPUS[:1], small_settings(batch=batch), pool_type=with_worker(main))
    assert not seen.failures
    check_complete(seen, 0, failed={7, 150})
    assert seen.finished[0].ledger.failed == {Notice("backends.inference_failed", problem=words("the engine's fault")): 2}


def test_an_engine_that_stopped_working_is_built_again(video: Path) -> None:
    main = partial(engine_fault_main, numbers=frozenset({120}), how="break")
    seen = run_pool([video], CPUS[:1], pool_type=with_worker(main))
    assert [failure.restarting for failure in seen.failures] == [True, True]
    assert "the engine stopped working: the engine's fault" in str(seen.failures[0].message)
    check_complete(seen, 0, failed={120})


def test_a_picture_that_kills_the_worker_twice_is_given_up(video: Path) -> None:
    main = partial(engine_fault_main, numbers=frozenset({130}), how="kill")
    seen = run_pool([video], CPUS, pool_type=with_worker(main))
    crashed = [failure.device for failure in seen.failures]
    assert set(crashed) == set(CPUS)
    assert len(crashed) == 2 + (crashed[0] == crashed[1])  # two crashes of one device prove nothing about the picture
    check_complete(seen, 0, failed={130})
    assert seen.failed(0)[130] == DIED_TWICE.reason


def test_a_picture_that_kills_the_decoder_costs_the_rest_of_its_segment_as_in_the_golden(video: Path, goldens: Goldens) -> None:
    seen = run_pool([video], CPUS[:1], pool_type=with_worker(partial(decoder_fault_main, number=60, how="kill")))
    assert [failure.restarting for failure in seen.failures] == [True] * 3
    assert seen.finished[0].ledger.decoded == FRAMES
    assert set(seen.failed(0)) == set(range(60, 108))
    goldens.compare_events("crash.decoder", seen.events)


def test_a_decoder_that_gives_up_costs_the_rest_of_its_segment_and_says_why(video: Path) -> None:
    seen = run_pool([video], CPUS[:1], pool_type=with_worker(partial(decoder_fault_main, number=60, how="raise")))
    assert not seen.failures
    assert set(seen.failed(0)) == set(range(60, 108))
    assert str(seen.finished[0].error) == "the decoder's fault"
    assert seen.finished[0].ledger.failed == {words("the decoder's fault"): 48}


def test_a_file_that_kills_the_worker_when_opened_is_given_up(video: Path, tmp_path: Path) -> None:
    (tmp_path / "deadly.mp4").write_bytes(video.read_bytes())
    main = partial(probe_fault_main, name="deadly.mp4")
    seen = run_pool([tmp_path / "deadly.mp4", video], CPUS[:1], pool_type=with_worker(main))
    assert "opening it ended the worker twice" in str(seen.finished[0].error)
    check_complete(seen, 1)


@pytest.mark.parametrize(
    ("number", "devices", "isolation"),
    [
        (0, 1, Isolation.PROCESS),
        pytest.param(130, 2, Isolation.PROCESS, marks=pytest.mark.slow),
        pytest.param(130, 2, Isolation.THREAD, marks=pytest.mark.slow),
    ],
)
def test_files_at_which_the_system_kills_workers_are_set_aside(
    number: int, devices: int, isolation: Isolation, video: Path, tmp_path: Path
) -> None:
    deadly = [tmp_path / f"deadly-{copy}.mp4" for copy in range(2)]
    for path in deadly:
        path.write_bytes(video.read_bytes())
    main = partial(decoder_fault_main, number=number, how="out of memory", name="deadly")
    seen = run_pool([*deadly, video], CPUS[:devices], small_settings(isolation=isolation), pool_type=with_worker(main))
    assert all(failure.restarting for failure in seen.failures)
    for source, path in enumerate(deadly):
        finished = seen.finished[source]
        assert finished.cancelled
        assert finished.error is not None
        assert (finished.error.code, finished.error.fields["path"]) == ("pool.left_unfinished", path)
        assert "SIGKILL" in str(finished.error)
        assert not seen.failed(source)
    check_complete(seen, 2, failed=set())


def test_a_file_at_whose_opening_the_system_kills_workers_is_set_aside(video: Path, tmp_path: Path) -> None:
    (tmp_path / "deadly.mp4").write_bytes(video.read_bytes())
    main = partial(probe_fault_main, name="deadly.mp4", number=signal.SIGKILL)
    seen = run_pool([tmp_path / "deadly.mp4", video], CPUS[:1], pool_type=with_worker(main))
    assert [failure.restarting for failure in seen.failures] == [True] * 3
    assert "deadly.mp4 stays unfinished" in str(seen.finished[0].error)
    check_complete(seen, 1, failed=set())


def test_workers_ignore_ctrl_c_and_give_way_to_others(video: Path) -> None:
    def react(pool: EnginePool, event: Event, seen: Seen) -> None:
        if isinstance(event, DeviceStarting | FramesDone):
            (pid,) = worker_pids().values()
            os.kill(pid, signal.SIGINT)
        if isinstance(event, FramesDone):
            assert os.getpriority(os.PRIO_PROCESS, pid) == os.getpriority(os.PRIO_PROCESS, 0) + NICE

    seen = run_pool([video], react=react)
    assert not seen.failures
    check_complete(seen, 0, failed=set())


@pytest.mark.parametrize("isolation", [Isolation.PROCESS, Isolation.THREAD])
def test_ctrl_c_in_the_owner_stops_everything(isolation: Isolation) -> None:
    with EnginePool(small_settings(isolation=isolation), CPUS) as pool:
        interrupt = threading.Timer(0.6, os.kill, (os.getpid(), signal.SIGINT))
        interrupt.start()
        with pytest.raises(KeyboardInterrupt):
            watch(pool.events())
        interrupt.join()
        assert not worker_pids()


def test_a_worker_that_does_not_react_is_killed(video: Path) -> None:
    with EnginePool(small_settings(), CPUS[:1]) as pool:
        pool.add(video)
        events = pool.events()
        next(event for event in events if isinstance(event, FramesDone))
        (pid,) = worker_pids().values()
        os.kill(pid, signal.SIGSTOP)
        pool.close()
        assert not alive(pid)


OWNER = """
    import sys
    from pathlib import Path
    from framefleet.engine.pool.events import DeviceStarting, FramesDone
    from framefleet.engine.pool.pool import EnginePool
    from framefleet.engine.settings import EngineSettings, ModelFiles, Precision, RunSettings
    from framefleet.engine.types import DeviceId
    from tests.support.pool import worker_pids

    if __name__ == "__main__":
        settings = RunSettings(ModelFiles(Path(sys.argv[1]), "random:1"), engine=EngineSettings(precision=Precision.FP32))
        pool = EnginePool(settings, [DeviceId("cpu", "0"), DeviceId("cpu", "1")])
        pool.add(Path(sys.argv[2]))
        for event in pool.events():
            if type(event).__name__ == sys.argv[3] and len(worker_pids()) == 2:
                print(*worker_pids().values(), flush=True)
                sys.stdin.read()
"""


@pytest.mark.parametrize("moment", [pytest.param("DeviceStarting", marks=pytest.mark.slow), "FramesDone"])
def test_workers_do_not_outlive_a_killed_owner(moment: str, video: Path, tmp_path: Path) -> None:
    script = tmp_path / "owner.py"
    script.write_text(textwrap.dedent(OWNER))
    owner = subprocess.Popen(
        [sys.executable, script, TINY_CFG, video, moment],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": PYTHONPATH},
    )
    assert owner.stdin is not None
    assert owner.stdout is not None
    pids = [int(pid) for pid in owner.stdout.readline().split()]
    assert len(pids) == 2
    owner.kill()
    owner.wait()
    owner.stdin.close()
    owner.stdout.close()
    while any(alive(pid) for pid in pids):  # the test's own time limit ends this
        time.sleep(0.02)


def test_a_crash_is_told_before_the_restart_as_in_the_golden(video: Path, goldens: Goldens) -> None:
    seen = run_pool([video], CPUS[:1], react=Killer("cpu:0", 1), pool_type=with_worker(partial(slow_main, seconds=0.002)))
    check_complete(seen, 0, failed=set())
    goldens.compare_events("crash", seen.events)
