"""Finds the processes of members of groups, and injects faults into them."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np

from framefleet.engine.pool.groups.remote_backend import RemoteBackend
from framefleet.engine.pool.protocol import Setup
from framefleet.engine.pool.worker import worker
from framefleet.engine.types import DeviceId, FrameResult
from tests.support.pool import SignalOnce, alive, broken_device_main, engine_fault_main, worker_pids
from tests.support.running.fork_server import forked_by


def member_pids(group: str = "cpu:0+cpu:1") -> list[int]:
    """Processes of the members of the group that this process runs."""
    parent = worker_pids().get(group)
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            started_by = int(stat.read_text().rpartition(")")[2].split()[1])
            spawned = started_by == parent and b"spawn_main" in (stat.parent / "cmdline").read_bytes()
            if spawned or forked_by(parent, stat.parent):
                found.append(int(stat.parent.name))
    return sorted(found)


def signal_to_a_member(number: signal.Signals) -> SignalOnce:
    """Sends a signal to a member of the group when the first frames are done. For ``run_pool``."""
    return SignalOnce(number, lambda: member_pids()[0])


def gone(pids: Sequence[int], seconds: float = 60.0) -> bool:
    """Whether these processes end within this number of seconds."""
    deadline = time.monotonic() + seconds
    while any(alive(pid) for pid in pids) and time.monotonic() < deadline:
        time.sleep(0.02)
    return not any(alive(pid) for pid in pids)


@contextmanager
def slowed(pid: int, share: float, period: float = 0.03) -> Iterator[None]:
    """Slow a process down: it runs only for this share (0..1) of every period, in seconds, and is stopped for the rest."""
    done = threading.Event()

    def work() -> None:
        with suppress(ProcessLookupError):
            while not done.is_set():
                os.kill(pid, signal.SIGSTOP)
                time.sleep((1 - share) * period)
                os.kill(pid, signal.SIGCONT)
                time.sleep(share * period)

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def same_detections(a: Sequence[FrameResult], b: Sequence[FrameResult], tolerance: float = 0.05) -> None:
    """Fails unless two runs have the same detections: boxes within ``tolerance`` pixels, scores within ``tolerance`` / 1000."""
    assert len(a) == len(b)
    for one, other in zip(a, b, strict=True):
        assert (one.ref.index, one.ref.pts, one.failure) == (other.ref.index, other.ref.pts, other.failure)
        if one.detections is None or other.detections is None:
            continue
        left, right = (
            found.select(np.lexsort((found.boxes[:, 1], found.boxes[:, 0], found.class_ids)))
            for found in (one.detections, other.detections)
        )
        assert len(left) == len(right), one.ref
        np.testing.assert_array_equal(left.class_ids, right.class_ids)
        np.testing.assert_allclose(left.boxes, right.boxes, atol=tolerance)
        np.testing.assert_allclose(left.scores, right.scores, atol=tolerance / 1000)


def group_fault_main(connection: Connection[Any, Any], setup: Setup, *, numbers: frozenset[int], how: str) -> None:
    """A real worker of a group whose members have the fault of ``engine_fault_main``."""
    RemoteBackend.worker_main = staticmethod(partial(engine_fault_main, numbers=numbers, how=how))
    worker.main(connection, setup)


def members_main(connection: Connection[Any, Any], setup: Setup, *, main: Callable[..., None]) -> None:
    """A real worker of a group whose members run ``main``."""
    RemoteBackend.worker_main = staticmethod(main)
    worker.main(connection, setup)


def _dying(connection: Connection[Any, Any], setup: Setup) -> None:
    if str(setup.device) == "cpu:0":
        os._exit(3)
    worker.main(connection, setup)


def dying_member_main(connection: Connection[Any, Any], setup: Setup) -> None:
    """A real worker of a group. Its member for cpu:0 ends at once whenever it is started."""
    RemoteBackend.worker_main = staticmethod(_dying)
    worker.main(connection, setup)


def merging_fault_main(connection: Connection[Any, Any], setup: Setup) -> None:
    """A real worker of a group with a bug in the code that merges tiles."""
    from framefleet.engine.pool.groups import group

    def faulty(*_: Any) -> Any:
        raise ZeroDivisionError("a bug")

    group.merge = faulty  # type: ignore[attr-defined,assignment]
    worker.main(connection, setup)


def small_memory_main(connection: Connection[Any, Any], setup: Setup) -> None:
    """A real worker of a group that allocates no more shared memory than its engines need."""
    from framefleet.engine.pool.groups import group

    group.MIN_BYTES = 0
    worker.main(connection, setup)


def broken_member_main(connection: Connection[Any, Any], setup: Setup, *, device: DeviceId, late: bool) -> None:
    """A real worker of a group whose members have the fault of ``broken_device_main``."""
    RemoteBackend.worker_main = staticmethod(partial(broken_device_main, device=device, late=late))
    worker.main(connection, setup)
