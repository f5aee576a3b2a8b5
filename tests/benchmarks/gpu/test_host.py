"""The benchmark of the host: what it counts, and when it says that a target is reached."""

from __future__ import annotations

import threading
from collections.abc import Generator
from pathlib import Path

import pytest

from benchmarks.gpu.host import Detecting, processor_seconds, verdict
from benchmarks.gpu.nvdec import WARM_UP, together
from framefleet.engine.notices import SourceError, literal
from framefleet.engine.settings import EngineSettings, Precision
from framefleet.engine.types import DeviceId
from tests.support.media import make_video
from tests.support.models import tiny_files


class Endless:
    """A source that counts its frames. others: it has its last warm-up frame only after these have theirs."""

    def __init__(self, *others: Endless) -> None:
        self.frames, self.closed, self.warm, self._others = 0, False, threading.Event(), others

    def __call__(self) -> Generator[None, None, None]:
        try:
            while True:
                self.frames += 1
                if self.frames == WARM_UP:
                    for other in self._others:
                        assert other.warm.wait(10)
                    self.warm.set()
                yield
        finally:
            self.closed = True


def test_all_threads_decode_while_the_clock_runs() -> None:
    first = Endless()
    last = Endless(first)
    measured = together([first(), last()], 0.05)
    assert first.closed
    assert last.closed
    assert 0 < measured.frames_per_s * 0.05 <= first.frames + last.frames - 2 * WARM_UP
    assert measured.microseconds > 0


def test_a_thread_that_fails_ends_the_measurement() -> None:
    def broken() -> Generator[None, None, None]:
        yield
        raise SourceError(literal("no more frames"))

    with pytest.raises(SourceError, match="no more frames"):
        together([Endless()(), broken()], 10.0)


@pytest.mark.parametrize(
    ("shares", "cost", "reached"),
    [([0.97, 0.96, 0.93], 190.0, True), ([0.97, 0.95, 0.95], 190.0, False), ([0.99, 0.98, 0.91], 190.0, False), ([0.99] * 3, 201.0, False)],
)
def test_one_bad_round_misses_the_target(shares: list[float], cost: float, reached: bool) -> None:
    assert verdict(shares, cost)[1] == reached


def test_a_video_too_short_for_a_window_is_no_measurement(tmp_path: Path) -> None:
    video = make_video(tmp_path / "video.mp4", 60, (64, 48))
    settings = EngineSettings(precision=Precision.FP32, decode_threads=1)
    with (
        Detecting(tiny_files(), DeviceId("cpu", "0"), settings, tmp_path / "session.sqlite") as detecting,
        pytest.raises(SourceError, match="too few for a window"),
    ):
        detecting.detect(video)


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="Linux only")
def test_processor_time_is_counted_by_thread() -> None:
    import os

    assert sum(processor_seconds(os.getpid()).values()) > 0
