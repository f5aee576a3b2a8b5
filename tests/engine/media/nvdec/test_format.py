"""Only the sound frames that the packets promise pass, in their order; FFmpeg stands in for the hardware."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from heapq import heappop, heappush
from pathlib import Path
from typing import Any

import pytest

from framefleet.engine.media.container.video_file import VideoFile, VideoPacket
from framefleet.engine.media.cpu_decoding import decode
from framefleet.engine.media.nvdec.bitstream import DamagedError, UncertainEndError
from framefleet.engine.media.nvdec.format import AwaitedFrames, decoder_time, leads
from framefleet.engine.media.probe import probe
from framefleet.engine.media.types import DecodedFrame, Segment, SourceInfo
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


def passed(
    path: Path, segment: Segment, tamper: Callable[[list[int]], list[int]] | None = None, most: int = 1
) -> Iterator[tuple[int, int]]:
    """pts that pass, and those of FFmpeg's frames. tamper: may drop frames; the others then bear other times, as with NVDEC's parser.

    most: packets that are decoded together where that is allowed; their frames have no times then.
    """
    waiting: list[int] = []
    with VideoFile(path) as file:
        awaited = AwaitedFrames(file, segment)

        def decoded(packets: list[VideoPacket | None]) -> Iterator[tuple[int, int]]:
            frames = [frame.pts for packet in packets for frame in file.decode(packet) if frame.pts is not None]
            kept = tamper(frames) if tamper else frames
            times = [0 if awaited.counted else heappop(waiting) for _ in kept]
            for found in awaited.matched(list(zip(times, kept, strict=True)), damaged=False):
                yield from found

        group: list[VideoPacket | None] = []
        for packet in awaited.packets():
            assert packet.pts is not None
            if not packet.is_discard and not leads(segment, packet.pts):  # those FFmpeg leaves out
                heappush(waiting, decoder_time(packet.pts))
            if not packet.is_discard:
                awaited.feed(packet.pts)
            group.append(packet)
            awaited.counted |= most > 1 and awaited.countable
            if not awaited.counted or len(group) == most:
                yield from decoded(group)
                group = []
        yield from decoded([*group, None])
        awaited.end()


def times(info: SourceInfo, segment: Segment, most: int) -> list[float]:
    with VideoFile(Path(info.path)) as file:
        base = file.time_base
    return [float(pts * base) for pts, address in passed(Path(info.path), segment, most=most) if pts == address]


@pytest.mark.parametrize("most", [1, 5])
@pytest.mark.parametrize("name", CLIPS)
def test_the_same_frames_pass_as_the_other_way(name: str, most: int, clip: Clip) -> None:
    info = probe(clip(name, frames=FRAMES, **CLIPS[name]))
    assert len(info.segments) >= 2
    for segment in info.segments[:-1] if name.endswith(".ts") else info.segments:
        frames = list(decode(info, segment))
        assert all(isinstance(frame, DecodedFrame) for frame in frames)
        assert times(info, segment, most) == [frame.ref.pts for frame in frames]


@pytest.mark.parametrize("most", [1, 5])
def test_a_frame_that_is_dropped_is_noticed(most: int, clip: Clip) -> None:
    path = clip("a.mp4", frames=FRAMES, **CLIPS["a.mp4"])
    segment = probe(path).segments[0]
    gone = [pts for pts, _ in passed(path, segment)][30]
    with pytest.raises(DamagedError, match="missing"):
        list(passed(path, segment, lambda frames: [pts for pts in frames if pts != gone], most))


def test_a_frame_too_many_is_noticed(clip: Clip) -> None:
    path = clip("a.mp4", frames=FRAMES, **CLIPS["a.mp4"])
    segment = probe(path).segments[0]
    doubled = [pts for pts, _ in passed(path, segment)][-4]
    with pytest.raises(DamagedError, match="out of order"):
        list(passed(path, segment, lambda frames: [pts for pts in frames for _ in range(1 + (pts == doubled))], 5))


def test_frames_out_of_order_are_noticed(clip: Clip) -> None:
    path = clip("a.mp4", frames=FRAMES, **CLIPS["a.mp4"])
    with VideoFile(path) as file:
        awaited = AwaitedFrames(file, probe(path).segments[0])
        times = [decoder_time(packet.pts or 0) for packet, _ in zip(awaited.packets(), range(9), strict=False)]
        assert [len(found) for found in awaited.matched([(time, 0) for time in sorted(times)[:3]], damaged=False)] == [3]
        with pytest.raises(DamagedError, match="out of order"):
            list(awaited.matched([(sorted(times)[4], 0)], damaged=False))


def test_what_the_container_announces_has_to_come(clip: Clip) -> None:
    path = clip("e.mkv", frames=FRAMES, **CLIPS["e.mkv"])
    last = probe(path).segments[-1]
    with pytest.raises(DamagedError, match="missing"):
        list(passed(path, Segment(last.number, last.start, last.end, last.frames + 1)))


def test_damage_matters_only_in_frames_that_are_wanted(clip: Clip) -> None:
    path = clip("c.mkv", frames=FRAMES, **CLIPS["c.mkv"])
    second = probe(path).segments[1]
    assert second.start is not None
    with VideoFile(path) as file:
        awaited = AwaitedFrames(file, second)
        times = [packet.pts or 0 for packet, _ in zip(awaited.packets(), range(6), strict=False)]
        leading = [pts for pts in times if pts < second.start]
        assert leading, "an open GOP"
        assert list(awaited.matched([(decoder_time(pts), 0) for pts in leading], damaged=True)) == []
        with pytest.raises(DamagedError, match="damaged"):
            list(awaited.matched([(decoder_time(second.start), 0)], damaged=True))


def test_the_end_of_a_broadcast_is_left_to_ffmpeg(clip: Clip) -> None:
    path = clip("d.ts", frames=FRAMES, **CLIPS["d.ts"])
    segments = probe(path).segments
    passing, found = passed(path, segments[-1]), []
    with pytest.raises(UncertainEndError):  # noqa: PT012
        while True:
            found.append(next(passing))
    assert segments[-1].frames - 8 < len(found) < segments[-1].frames


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
