"""A device that is much slower than the other one: real workers, one of them stopped for most of the time."""

from __future__ import annotations

from pathlib import Path

import pytest

from framefleet.engine.pool.events import DeviceReady, Event, SourceFinished
from framefleet.engine.pool.pool import EnginePool
from framefleet.engine.settings import Parallel
from tests.support.groups import same_detections, slowed
from tests.support.media import make_video
from tests.support.pool import CPUS, Seen, run_pool, small_settings, worker_pids

FRAMES = 430
SEGMENT = 108


@pytest.fixture(scope="module")
def video(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four segments of about as many frames."""
    return make_video(tmp_path_factory.mktemp("unequal") / "video.mp4", FRAMES, (160, 120))


@pytest.fixture(scope="module")
def alone(video: Path) -> Seen:
    """One device does all the work."""
    return run_pool([video], CPUS[:1], small_settings(Parallel.SEGMENTS, confidence=0.1))


@pytest.mark.slow  # test_throughput.py tries who does what with many kinds of devices, and test_frames.py slows a real one down
@pytest.mark.parametrize("decode_threads", [1, 3])
def test_the_other_device_takes_over_what_a_slow_one_has_not_got_to(decode_threads: int, video: Path, alone: Seen) -> None:
    settings = small_settings(Parallel.SEGMENTS, confidence=0.1, decode_threads=decode_threads)
    brakes: list[slowed] = []  # type: ignore[valid-type]

    def brake(_: EnginePool, event: Event, seen: Seen) -> None:
        if isinstance(event, DeviceReady) and len(seen.ready) == len(CPUS):
            # it runs for 0.1 s at a time: in much less, a busy machine may not let it run at all, and a stopped worker is killed after 5 s
            brakes.append(slowed(worker_pids()[str(CPUS[1])], 0.1, period=1.0))
            brakes[0].__enter__()  # type: ignore[attr-defined]
        if isinstance(event, SourceFinished):
            brakes[0].__exit__(None, None, None)  # type: ignore[attr-defined]

    seen = run_pool([video], CPUS, settings, brake, when_ready=True)
    assert seen.finished[0].ledger.inferred == len(seen.frames[0]) == FRAMES
    assert not seen.failures
    same_detections(seen.frames[0], alone.frames[0])
    slow = sum(frame.device == CPUS[1] for frame in seen.frames[0])
    assert slow < SEGMENT
