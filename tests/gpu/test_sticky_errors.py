"""Must hold: a CUDA error that makes a process's context unusable costs no frame. Other devices lose nothing."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from framefleet.engine.processes.outcome import RESTARTS
from framefleet.engine.settings import Parallel
from framefleet.engine.types import DeviceId
from tests.gpu.test_join_and_leave import VIDEOS, alone, check_same, settings_for, video  # noqa: F401
from tests.support.pool import Seen, run_pool, sticky_error_main, with_worker

strategies = pytest.mark.parametrize("parallel", [Parallel.SEGMENTS, Parallel.STREAMS])


@strategies
@pytest.mark.parametrize("once", [True, False], ids=["once", "always"])
def test_a_gpu_with_a_sticky_error_fails_visibly_and_nothing_is_lost(
    parallel: Parallel,
    once: bool,
    several: list[DeviceId],
    video: Path,  # noqa: F811
    alone: Seen,  # noqa: F811
    tmp_path: Path,
) -> None:
    victim, marker = several[-1], tmp_path / "happened"
    pool = with_worker(partial(sticky_error_main, device=victim, marker=marker, once=once))
    seen = run_pool([video] * VIDEOS, several, settings_for(parallel), pool_type=pool, when_ready=True)
    assert marker.exists()
    check_same(seen, alone)
    assert {failure.device for failure in seen.failures} == {victim}
    assert 1 <= len(seen.failures) <= RESTARTS + 1
    if once:
        assert [failure.restarting for failure in seen.failures] == [True]
        assert "illegal" in str(seen.failures[0].message).lower()
