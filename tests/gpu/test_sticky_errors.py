"""Must hold: a CUDA error that makes a process's context unusable costs no frame. Other devices lose nothing."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from engine.processes.restart_budget import RESTARTS
from engine.settings import Parallel
from engine.types import DeviceId
from tests.gpu.test_join_and_leave import FRAMES, VIDEOS, alone, check_same, settings_for, video  # noqa: F401
from tests.support.pool import Seen, run_pool, sticky_error_main, with_worker

strategies = pytest.mark.parametrize("parallel", [Parallel.SEGMENTS, Parallel.STREAMS])


@strategies
def test_a_gpu_with_one_sticky_error_is_restarted_and_nothing_is_lost(
    parallel: Parallel,
    several: list[DeviceId],
    video: Path,  # noqa: F811
    alone: Seen,  # noqa: F811
    tmp_path: Path,
) -> None:
    victim = several[-1]
    pool = with_worker(partial(sticky_error_main, device=victim, marker=tmp_path / "happened", once=True))
    seen = run_pool([video] * VIDEOS, several, settings_for(parallel), pool_type=pool, when_ready=True)
    assert (tmp_path / "happened").exists()
    check_same(seen, alone)
    assert [(failure.device, failure.restarting) for failure in seen.failures] == [(victim, True)]
    assert "illegal" in seen.failures[0].message.lower()


@strategies
def test_a_gpu_whose_every_worker_breaks_fails_visibly_and_others_do_its_work(
    parallel: Parallel,
    several: list[DeviceId],
    video: Path,  # noqa: F811
    alone: Seen,  # noqa: F811
    tmp_path: Path,
) -> None:
    victim = several[-1]
    pool = with_worker(partial(sticky_error_main, device=victim, marker=tmp_path / "happened", once=False))
    seen = run_pool([video] * VIDEOS, several, settings_for(parallel), pool_type=pool, when_ready=True)
    check_same(seen, alone)
    assert {failure.device for failure in seen.failures} == {victim}
    assert 1 <= len(seen.failures) <= RESTARTS + 1
    assert sum(len(frames) for frames in seen.frames.values()) == VIDEOS * FRAMES
