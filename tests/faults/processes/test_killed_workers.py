"""Must hold: a worker killed at any moment costs no frame. Every run completes and equals an undisturbed one.

Long form: ``pytest tests/faults/processes/test_killed_workers.py -m slow -s`` (ten moments each, about 15 minutes).
"""

from __future__ import annotations

import os
import random
import signal
import statistics
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from framefleet.engine.pool.events import DeviceFailed, DeviceReady, Event
from framefleet.engine.pool.pool import EnginePool
from framefleet.engine.settings import Isolation, Parallel
from tests.support.faults.counts import long_count
from tests.support.faults.seeds import seeded
from tests.support.groups import member_pids, same_detections
from tests.support.media import make_video
from tests.support.pool import CPUS, Seen, run_pool, small_settings, worker_pids

FRAMES, SOURCES, MOMENTS = 120, 2, long_count(10)

combinations = [
    pytest.param(parallel, isolation, id=f"{parallel}-{isolation}") for parallel in list(Parallel)[1:] for isolation in Isolation
]


READY_SECONDS = 5.0
"""Most processor time of a replacement until it is ready, on two cores. On an idle machine, its wall time is less."""


@dataclass
class Killer:
    """Kills a random worker, or member of a group, after a delay in seconds.

    ready: seconds from the kill to each replacement. spent: seconds of processor time that the new processes had spent by then.
    """

    delay: float
    choice: random.Random
    killed: int | None = None
    ready: list[float] = field(default_factory=list)
    spent: list[float] = field(default_factory=list)
    _at: float = 0.0
    _before: set[int] = field(default_factory=set)
    _down: set[str] = field(default_factory=set)
    _timer: threading.Timer | None = None

    def react(self, _: EnginePool, event: Event, __: Seen) -> None:
        if self._timer is None:
            self._timer = threading.Timer(self.delay, self._kill)
            self._timer.start()
        match event:
            case DeviceFailed(device, _, True):
                self._down.add(str(device))
            case DeviceReady(engine) if str(engine.device) in self._down:
                self._down.remove(str(engine.device))
                self.ready.append(time.monotonic() - self._at)
                self.spent.append(sum(_processor_seconds(pid) for pid in _pids() - self._before))

    def _kill(self) -> None:
        self._before, self._at = _pids(), time.monotonic()
        if self._before:
            self.killed = self.choice.choice(sorted(self._before))
            with suppress(ProcessLookupError):
                os.kill(self.killed, signal.SIGKILL)

    def end(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer.join()


def _pids() -> set[int]:
    """The processes of all workers and members."""
    return {pid for pid in [*worker_pids().values(), *member_pids()] if pid}


def _processor_seconds(pid: int) -> float:
    with suppress(OSError):
        user, system = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13]
        return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")
    return 0.0


@pytest.fixture(scope="module")
def video(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_video(tmp_path_factory.mktemp("killed") / "video.mp4", FRAMES, (160, 120))


def kill_at_random_moments(parallel: Parallel, isolation: Isolation, video: Path, moments: int) -> None:
    choice = seeded()
    settings = small_settings(parallel, isolation=isolation, batch=4)
    started = time.monotonic()
    undisturbed = run_pool([video] * SOURCES, CPUS, settings)
    seconds = time.monotonic() - started
    killed, ready, spent = 0, list[float](), list[float]()
    while killed < moments:
        killer = Killer(choice.uniform(0, seconds), choice)
        try:
            seen = run_pool([video] * SOURCES, CPUS, settings, killer.react)
        finally:
            killer.end()
        killed += killer.killed is not None
        ready += killer.ready
        spent += killer.spent
        for source in range(SOURCES):
            assert seen.finished[source].error is None
            assert seen.finished[source].ledger.inferred == len(seen.frames[source]) == FRAMES
            same_detections(seen.frames[source], undisturbed.frames[source])
        assert all(failure.restarting for failure in seen.failures)
    assert max(spent, default=0.0) < READY_SECONDS
    took = "-, every run ended before"
    if ready:
        times, processor = (f"{statistics.median(each):.2f} s (longest {max(each):.2f})" for each in (ready, spent))
        took = f"{times}, number {len(ready)}; processor time {processor}"
    print(f"{parallel}, {isolation}: {killed} of {killed} complete; replacement ready after {took}")


@pytest.mark.parametrize(("parallel", "isolation"), [combinations[2]])
def test_a_worker_killed_at_a_random_moment_costs_no_frame(parallel: Parallel, isolation: Isolation, video: Path) -> None:
    kill_at_random_moments(parallel, isolation, video, 1)


@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.parametrize(("parallel", "isolation"), combinations)
def test_workers_killed_at_many_random_moments_cost_no_frame(parallel: Parallel, isolation: Isolation, video: Path) -> None:
    kill_at_random_moments(parallel, isolation, video, MOMENTS)
