"""A worker that replaces another one takes its precision."""

from __future__ import annotations

import os
import signal
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import pytest

from framefleet.engine.pool.events import DeviceReady, Event
from framefleet.engine.pool.pool import EnginePool
from framefleet.engine.pool.protocol import Setup
from framefleet.engine.pool.worker import worker
from framefleet.engine.settings import Parallel, Precision, RunSettings
from tests.support.groups import member_pids, members_main
from tests.support.media import make_video
from tests.support.models import small_files
from tests.support.pool import CPUS, Seen, run_pool, with_worker, worker_pids


def precision_main(connection: Connection[Any, Any], setup: Setup, *, path: Path) -> None:
    """A worker that notes the precision that it is asked for."""
    with path.open("a") as file:
        file.write(f"{setup.engine.precision}\n")
    worker.main(connection, setup)


@pytest.mark.parametrize("victim", ["worker", "worker of a group", "member"])
def test_a_replacement_takes_the_precision_of_the_first_worker(victim: str, tmp_path: Path) -> None:
    """Else it might choose another one, if its device was tuned meanwhile."""
    notes, killed = tmp_path / "notes.txt", list[int]()
    main = partial(precision_main, path=notes)

    def kill(_: EnginePool, event: Event, __: Seen) -> None:
        if isinstance(event, DeviceReady) and not killed:
            killed.append(member_pids("cpu:0")[0] if victim == "member" else worker_pids()["cpu:0"] or 0)
            os.kill(killed[0], signal.SIGKILL)

    single = victim == "worker"
    settings = RunSettings(small_files(), parallel=Parallel.STREAMS if single else Parallel.FRAMES)
    pool = with_worker(main if single else partial(members_main, main=main))
    seen = run_pool([make_video(tmp_path / "a.mp4", 12, (96, 64))], CPUS[:1], settings, kill, pool)
    first, again = (event.engine for event in seen.ready)
    assert notes.read_text().split() == [Precision.AUTO, first.precision]
    assert (again.precision, again.reason) == (first.precision, first.reason)
    assert len(seen.frames[0]) == 12
