"""A few frames, spread over sources."""

from __future__ import annotations

from pathlib import Path

from framefleet.engine.detection.frame_format import HostImage
from framefleet.engine.media.examples import examples
from tests.engine.media.conftest import Clip
from tests.support.media import number_of


def first_of(path: Path, count: int) -> list[HostImage]:
    return next(examples([path], count))


def test_frames_are_spread_over_a_video(clip: Clip) -> None:
    numbers = [number_of(image) for image in first_of(clip("a.mp4", frames=240, gop=24), 4)]
    assert len(numbers) == 4
    assert numbers[-1] - numbers[0] >= 96


def test_a_video_of_one_segment_gives_frames_that_differ(clip: Clip) -> None:
    numbers = [number_of(image) for image in first_of(clip("b.mp4", frames=60, gop=60), 4)]
    assert numbers == [0, 12, 24, 36]


def test_a_short_video_gives_what_it_has(clip: Clip) -> None:
    assert len(first_of(clip("c.mp4", frames=5, gop=5), 16)) == 1


def test_a_file_that_cannot_be_read_gives_none(tmp_path: Path) -> None:
    junk = tmp_path / "junk.mp4"
    junk.write_bytes(b"no video")
    assert [*examples([junk, tmp_path / "missing.mp4"], 4)] == [[], []]


def test_further_sources_give_half_of_the_frames(clip: Clip) -> None:
    paths = [clip("a.mp4", frames=240, gop=24), clip("b.mp4", frames=60, gop=60), clip("a.mp4", frames=240, gop=24)]
    assert [*map(len, examples(paths, 4))] == [4, 2, 2]
