"""Only the sound frames that the packets promise pass, in their order; FFmpeg stands in for the hardware."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from engine.media.awaited import AwaitedFrames, DamagedError
from engine.media.decode import decode
from engine.media.probe import probe
from engine.media.segment import packets_of
from engine.media.types import DecodedFrame, Segment, SourceInfo
from engine.media.video import VideoFile
from tests.engine.media.conftest import Clip
from tests.support.media import rewrap, truncated

FRAMES = 250
CLIPS: dict[str, dict[str, Any]] = {
    "a.mp4": {"bframes": 3, "gop": 20},
    "b.mp4": {"bframes": 3, "gop": 25, "pts": [number - 40 for number in range(FRAMES)], "muxer": {"avoid_negative_ts": "disabled"}},
    "c.mkv": {"bframes": 3, "gop": 22, "open_gop": True, "audio": True},
    "d.ts": {"bframes": 2, "gop": 20},
    "e.mkv": {"pts": [number * 2 + number // 5 * 7 for number in range(FRAMES)], "gop": 20},
    "f.webm": {
        "codec": "libvpx-vp9",
        "gop": 40,
        "options": {"deadline": "good", "cpu-used": "5", "auto-alt-ref": "1", "lag-in-frames": "16"},
    },
}


def passed(path: Path, segment: Segment, tamper: Any = None) -> Iterator[tuple[int, int]]:
    """pts and address (here: pts again) of what passes. tamper: changes the list of (number, pts) that one packet completes."""
    with VideoFile(path) as file:
        awaited = AwaitedFrames(file, segment)
        numbers: dict[int | None, int] = {}
        for packet in packets_of(file, segment):
            number = awaited.expect(packet)
            numbers[packet.pts] = number
            frames = [(numbers[frame.pts], frame.pts) for frame in file.decode(packet)]
            yield from awaited.matched(tamper(number, frames) if tamper else frames, damaged=False)  # type: ignore[arg-type]
        yield from awaited.matched([(numbers[frame.pts], frame.pts) for frame in file.decode(None)], damaged=False)  # type: ignore[misc]
        awaited.end()


def times(info: SourceInfo, segment: Segment) -> list[float]:
    with VideoFile(Path(info.path)) as file:
        base = file.time_base
    return [float(pts * base) for pts, address in passed(Path(info.path), segment) if pts == address]


@pytest.mark.parametrize("name", CLIPS)
def test_the_same_frames_pass_as_the_other_way(name: str, clip: Clip) -> None:
    info = probe(clip(name, frames=FRAMES, **CLIPS[name]))
    assert len(info.segments) >= 2
    for segment in info.segments:
        frames = list(decode(info, segment))
        assert all(isinstance(frame, DecodedFrame) for frame in frames)
        assert times(info, segment) == [frame.pts for frame in frames]


@pytest.mark.parametrize(
    ("reason", "tamper"),
    [
        ("missing or out of order", lambda number, frames: [] if number == 30 else frames),
        ("missing or out of order", lambda _number, frames: [(found + (found == 30), pts) for found, pts in frames]),
    ],
)
def test_a_frame_too_few_is_noticed(reason: str, tamper: Any, clip: Clip) -> None:
    info = probe(clip("a.mp4", frames=FRAMES, **CLIPS["a.mp4"]))
    with pytest.raises(DamagedError, match=reason):
        list(passed(Path(info.path), info.segments[0], tamper))


def test_missing_frames_at_the_end_are_noticed(clip: Clip) -> None:
    info = probe(clip("e.mkv", frames=FRAMES, **CLIPS["e.mkv"]))
    last = info.segments[-1]
    with pytest.raises(DamagedError, match="missing"):
        list(passed(Path(info.path), last, lambda number, frames: [] if number == last.frames - 1 else frames))
    announced = Segment(last.number, last.start, last.end, last.frames + 1)
    with pytest.raises(DamagedError, match="missing"):
        list(passed(Path(info.path), announced))


def test_damage_matters_only_in_frames_that_are_wanted(clip: Clip) -> None:
    path = clip("c.mkv", frames=FRAMES, **CLIPS["c.mkv"])
    second = probe(path).segments[1]
    with VideoFile(path) as file:
        awaited = AwaitedFrames(file, second)
        packets = packets_of(file, second)
        leading = {}
        for packet in packets:
            number = awaited.expect(packet)
            if packet.pts is not None and second.start is not None and packet.pts < second.start:
                leading[number] = packet.pts
            if number == 5:
                break
        assert leading, "an open GOP"
        assert list(awaited.matched(list(leading.items()), damaged=True)) == []
        with pytest.raises(DamagedError, match="damaged"):
            list(awaited.matched([(0, 0)], damaged=True))


@pytest.mark.parametrize("name", ["a.mp4", "c.mkv", "d.ts"])
def test_torn_files_are_noticed(name: str, clip: Clip, tmp_path: Path) -> None:
    options = CLIPS[name] | ({"muxer": {"movflags": "faststart"}} if name == "a.mp4" else {})
    info = probe(truncated(clip(name, frames=FRAMES, **options), tmp_path / name, 0.7))
    last = info.segments[-1]
    with pytest.raises(DamagedError):
        list(passed(Path(info.path), last))


def test_times_have_to_be_there(clip: Clip, tmp_path: Path) -> None:
    info = probe(rewrap(clip("a.mp4", frames=FRAMES, **CLIPS["a.mp4"]), tmp_path / "a.h264"))
    with pytest.raises(DamagedError, match="no presentation time"):
        list(passed(Path(info.path), info.segments[0]))
