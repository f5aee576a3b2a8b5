"""A few frames, spread over a source."""

from __future__ import annotations

from pathlib import Path

from engine.media.examples import examples
from tests.engine.media.conftest import Clip
from tests.support.media import number_of


def test_frames_are_spread_over_a_video(clip: Clip) -> None:
    numbers = [number_of(image) for image in examples(clip("a.mp4", frames=240, gop=24), 4)]
    assert len(numbers) == 4
    assert numbers[-1] - numbers[0] >= 96


def test_a_video_of_one_segment_gives_frames_that_differ(clip: Clip) -> None:
    numbers = [number_of(image) for image in examples(clip("b.mp4", frames=60, gop=60), 4)]
    assert numbers == [0, 12, 24, 36]


def test_a_short_video_gives_what_it_has(clip: Clip) -> None:
    assert len(examples(clip("c.mp4", frames=5, gop=5), 16)) == 1


def test_a_file_that_cannot_be_read_gives_none(tmp_path: Path) -> None:
    junk = tmp_path / "junk.mp4"
    junk.write_bytes(b"no video")
    assert examples(junk, 4) == []
    assert examples(tmp_path / "missing.mp4", 4) == []
