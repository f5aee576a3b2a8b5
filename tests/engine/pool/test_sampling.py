"""Part of a video: the same frames with every strategy, numbered as in the whole video, and the rest counted as skipped."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from framefleet.engine.pool.events import FramesDone, Ledger, SourceFinished, SourceOpened
from framefleet.engine.pool.pool import EnginePool
from framefleet.engine.settings import Parallel
from framefleet.engine.settings.kinds import Moments
from framefleet.engine.types import DeviceId, FrameResult
from tests.support.media import damaged, make_video, write_pictures
from tests.support.pool import CPUS, small_settings

FRAMES = 330


@pytest.fixture(scope="module")
def video(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three segments."""
    return make_video(tmp_path_factory.mktemp("sampling") / "a.mp4", FRAMES, (160, 120), bframes=2, gop=30)


def run(
    path: Path, parallel: Parallel = Parallel.SEGMENTS, devices: Sequence[DeviceId] = CPUS[:1], **part: str
) -> tuple[list[FrameResult], Ledger, int, str | None]:
    """Detect in part of a source. Returns the results, the ledger, the announced number of frames and the error."""
    settings = replace(small_settings(parallel, confidence=0.05), **{name: Moments().read(text) for name, text in part.items()})
    results: list[FrameResult] = []
    announced = 0
    with EnginePool(settings, devices) as pool:
        pool.add(path)
        pool.finish()
        for event in pool.events():
            match event:
                case SourceOpened(_, info):
                    announced = info.to_do
                case FramesDone(_, frames):
                    results += frames
                case SourceFinished(_, ledger, _, error):
                    return results, ledger, announced, error
    raise AssertionError("the source was not finished")


OTHERS = [pytest.param(parallel, marks=pytest.mark.slow) for parallel in (Parallel.STREAMS, Parallel.TILES)]


@pytest.mark.parametrize("parallel", [Parallel.SEGMENTS, Parallel.FRAMES, Parallel.DEPTH, *OTHERS])
def test_every_strategy_takes_the_same_frames(parallel: Parallel, video: Path) -> None:
    results, ledger, announced, error = run(video, parallel, CPUS, begin="1s", every="0.5s")
    expected = list(range(30, FRAMES, 15))
    assert error is None
    assert [frame.ref.index for frame in results] == expected
    assert [frame.ref.pts for frame in results] == [pytest.approx(index / 30, abs=1e-4) for index in expected]
    assert ledger == Ledger(len(expected), len(expected), skipped=FRAMES - len(expected))
    assert announced == len(expected)


def test_the_detections_are_those_of_the_whole_video(video: Path) -> None:
    whole = run(video)[0]
    part = run(video, begin="55", end="5s", every="10")[0]
    assert [frame.ref.index for frame in part] == list(range(55, 150, 10))
    for frame in part:
        same = whole[frame.ref.index]
        assert same.ref == frame.ref
        assert same.detections is not None
        assert frame.detections is not None
        assert (same.detections.boxes == frame.detections.boxes).all()


def test_a_part_behind_the_end_is_an_error(video: Path) -> None:
    results, ledger, _, error = run(video, begin="1h")
    assert (results, ledger) == ([], Ledger())
    assert error is not None
    assert error.code == "media.part_behind_end"


def test_pictures_are_taken_by_number(tmp_path: Path) -> None:
    write_pictures(tmp_path, 90)
    results, ledger, _, error = run(tmp_path, begin="3", end="80", every="25")
    assert error is None
    assert [(frame.ref.index, frame.ref.pts, frame.ref.name) for frame in results] == [(n, n, f"{n}.png") for n in (3, 28, 53, 78)]
    assert ledger == Ledger(4, 4, skipped=86)
    error = run(tmp_path, every="1s")[3]
    assert error is not None
    assert error.code == "media.pictures_without_times"


def test_frames_that_are_lost_fail_in_their_place(tmp_path: Path) -> None:
    source = make_video(tmp_path / "a.mkv", 200, (160, 120), gop=20)
    path = damaged(source, tmp_path / "b.mkv", [(0.5, source.stat().st_size // 8)])
    whole = {frame.ref.index: frame for frame in run(path)[0]}
    results, ledger, _, _ = run(path, every="5")
    assert [frame.ref.index for frame in results] == list(range(0, len(whole), 5))
    assert [frame.failure is None for frame in results] == [whole[frame.ref.index].failure is None for frame in results]
    assert ledger.failed
    assert ledger.decoded + ledger.skipped == len(whole)
