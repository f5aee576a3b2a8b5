"""Files stay open between segments, and return the same packets as newly opened files."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from framefleet.engine.media.container.video_file import OpenFiles, VideoFile
from framefleet.engine.media.probe import probe
from framefleet.engine.media.segment import packets_of
from framefleet.engine.media.types import Segment
from framefleet.engine.notices import SourceError
from tests.engine.media.conftest import Clip

FRAMES = 170


def read(file: VideoFile, segment: Segment) -> list[tuple[int | None, bytes]]:
    return [(packet.pts, bytes(packet)) for packet in packets_of(file, segment)]


@pytest.mark.parametrize("name", ["a.mp4", "a.mkv", "a.ts"])
def test_segments_in_any_order(name: str, clip: Clip) -> None:
    path = clip(name, frames=FRAMES, bframes=3, gop=20)
    segments = probe(path).segments
    files = OpenFiles()
    used = []
    for segment in (*segments, *reversed(segments), segments[0], segments[-1]):
        with files.use(path, segment) as file:
            found = read(file, segment)
            used.append(file)
        with VideoFile(path) as fresh:
            assert found == read(fresh, segment)
    assert used[1] is used[0], "the next segment finds it open"
    files.close()


def test_a_replaced_file_is_opened_again(clip: Clip, tmp_path: Path) -> None:
    path = tmp_path / "a.mkv"
    shutil.copy(clip("a.mkv", frames=FRAMES, gop=20), path)
    segment = probe(path).segments[1]
    files = OpenFiles()
    with files.use(path, segment) as first:
        before = read(first, segment)
    path.unlink()
    shutil.copy(clip("b.mkv", frames=FRAMES, gop=20, size=(160, 96)), path)
    with files.use(path, segment) as second:
        assert second is not first
        assert read(second, segment) != before
    path.unlink()
    with pytest.raises(SourceError, match="does not exist"), files.use(path, segment):
        pass
    files.close()


def test_after_an_error_a_file_is_closed(clip: Clip) -> None:
    path = clip("a.mkv", frames=FRAMES, bframes=3, gop=20)
    segment = probe(path).segments[1]
    files = OpenFiles()
    with pytest.raises(RuntimeError), files.use(path, segment) as first:
        raise RuntimeError
    with files.use(path, segment) as second:
        assert second is not first
    files.close()
