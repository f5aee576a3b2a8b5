"""Must hold: where one device fails at every inference, the others lose nothing and do its frames; it fails visibly."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from framefleet.engine.processes.outcome import RESTARTS
from framefleet.engine.settings import Parallel
from tests.support.groups import broken_member_main
from tests.support.media import make_video
from tests.support.pool import CPUS, broken_device_main, run_pool, small_settings, with_worker

FRAMES = 160


@pytest.fixture(scope="module")
def video(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_video(tmp_path_factory.mktemp("broken") / "video.mp4", FRAMES, (160, 120))


SHORT = [Parallel.SEGMENTS, Parallel.FRAMES]
LONG = [pytest.param(parallel, marks=pytest.mark.slow) for parallel in (Parallel.STREAMS, Parallel.TILES)]


@pytest.mark.parametrize("parallel", [*SHORT, *LONG])
def test_a_device_that_fails_at_every_inference_costs_no_frame(parallel: Parallel, video: Path) -> None:
    grouped = parallel in (Parallel.FRAMES, Parallel.TILES)
    main = partial(broken_member_main if grouped else broken_device_main, device=CPUS[1], late=True)
    seen = run_pool([video] * 2, CPUS, small_settings(parallel, batch=4), pool_type=with_worker(main), when_ready=True)
    assert {failure.device for failure in seen.failures} == {CPUS[1]}
    assert all("the engine stopped working" in str(failure.message) for failure in seen.failures)
    assert len(seen.failures) <= RESTARTS + 1
    for source in range(2):
        assert seen.failed(source) == {}
        assert seen.finished[source].ledger.inferred == len(seen.frames[source]) == FRAMES
