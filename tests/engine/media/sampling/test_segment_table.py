"""Which packets of a segment have to be decoded for the wanted frames."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from framefleet.engine.media.container.video_file import VideoFile
from framefleet.engine.media.probe import probe
from framefleet.engine.media.sampling.segment_table import SegmentTable
from framefleet.engine.media.sampling.wanted import Sampling
from framefleet.engine.settings.kinds import Moments
from tests.support.media import make_video


@pytest.fixture(scope="module")
def open_gop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """30 frames/s; the frames from 0.7 s to the keyframe at 0.733 s are stored behind this keyframe."""
    return make_video(tmp_path_factory.mktemp("open") / "open.mkv", 120, (192, 160), bframes=3, gop=22, open_gop=True)


@pytest.mark.parametrize("every", ["1", "1s", "7"])
def test_frames_before_a_keyframe_need_the_keyframe_before_it(open_gop: Path, every: str) -> None:
    info = probe(open_gop, Sampling(begin=Moments().read("0.7s"), every=Moments().read(every)))
    with VideoFile(open_gop) as file:
        table = SegmentTable(file, info.segments[0])
        positions, indices = table.wanted()
        runs = table.runs(positions)
    assert indices[0] == 21
    assert (runs[0].first, runs[0].part.start) == (0, info.segments[0].start)
    assert all(one.last < other.first for one, other in itertools.pairwise(runs))
