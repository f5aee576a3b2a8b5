"""The cuts of long MP4 files come from a table in the file, and are those that the packets show."""

from __future__ import annotations

import struct
from fractions import Fraction
from itertools import accumulate
from pathlib import Path
from typing import Any

import av
import pytest

from framefleet.engine.media.container import scan
from framefleet.engine.media.cpu_decoding import decode
from framefleet.engine.media.probe import probe
from framefleet.engine.media.types import DecodedFrame, Segment
from tests.engine.media.conftest import Clip
from tests.support.media import number_of, rewrap

FRAMES = 2400
CHECKED = 10
"""Cuts whose packets are read, at most."""

CLIPS: dict[str, dict[str, Any]] = {
    "without b-frames": {"bframes": 0},
    "b-frames": {"bframes": 3},
    "open gop with sound": {"bframes": 3, "open_gop": True, "audio": True},
    "index at the beginning": {"bframes": 3, "muxer": {"movflags": "faststart"}},
    "negative offsets": {"bframes": 3, "muxer": {"movflags": "negative_cts_offsets"}},
    "variable rate": {"bframes": 2, "pts": [*accumulate(33 + number % 7 for number in range(FRAMES))], "time_base": Fraction(1, 1000)},
    "late start": {"bframes": 2, "pts": [90 + 4 * number for number in range(FRAMES)], "time_base": Fraction(1, 100)},
}


def segments(path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[tuple[Segment, ...], int]:
    """The segments of a video, and the number of cuts whose packets were read."""
    read = 0
    cut_at = scan._cut_at

    def counted(*arguments: Any) -> scan.Cut | None:
        nonlocal read
        read += 1
        return cut_at(*arguments)

    with monkeypatch.context() as patch:
        patch.setattr(scan, "_cut_at", counted)
        return probe(path).segments, read


def segments_by_packets(path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[tuple[Segment, ...], int]:
    """The same without the table."""
    with monkeypatch.context() as patch:
        patch.setattr(scan, "composition_offsets", lambda *_: None)
        return segments(path, monkeypatch)


@pytest.mark.parametrize("name", CLIPS)
def test_cuts_are_those_of_the_packets(name: str, clip: Clip, monkeypatch: pytest.MonkeyPatch) -> None:
    path = clip("a.mp4", frames=FRAMES, gop=25, **CLIPS[name])
    found, read = segments(path, monkeypatch)
    assert len(found) == FRAMES // scan.SEGMENT_FRAMES
    assert read <= CHECKED
    assert segments_by_packets(path, monkeypatch) == (found, len(found) - 1)


def test_an_edit_list_may_leave_out_the_first_frames(clip: Clip, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    content = bytearray(clip("a.mp4", frames=FRAMES, gop=25, bframes=3).read_bytes())
    place = content.index(b"elst") + 12
    (first,) = struct.unpack_from(">i", content, place + 4)
    milliseconds = (FRAMES - 260) * 512 * 1000 // 15360
    struct.pack_into(">Ii", content, place, milliseconds, first + 260 * 512)
    path = tmp_path / "a.mp4"
    path.write_bytes(content)
    found, _ = segments(path, monkeypatch)
    assert sum(segment.frames for segment in found) == FRAMES - 260
    assert found == segments_by_packets(path, monkeypatch)[0]


@pytest.mark.parametrize(("start", "length"), [(16, 1), (16 + 8 * 700, 8 * 40), (20, 4), (20 + 8 * 1200, 4)])
def test_a_damaged_table_gives_no_other_cuts(start: int, length: int, clip: Clip, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """start: after the type of the box. Bytes are flipped. FFmpeg reads the same table, so its packets have the same wrong times."""
    content = bytearray(clip("a.mp4", frames=FRAMES, gop=25, bframes=3).read_bytes())
    place = content.index(b"ctts") + start
    content[place : place + length] = bytes(value ^ 0xFF for value in content[place : place + length])
    path = tmp_path / "a.mp4"
    path.write_bytes(content)
    found, _ = segments(path, monkeypatch)
    assert found == segments_by_packets(path, monkeypatch)[0]


def test_a_truncated_file_is_read_whole(clip: Clip, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    content = clip("a.mp4", frames=FRAMES, gop=25, bframes=3, muxer={"movflags": "faststart"}).read_bytes()
    path = tmp_path / "a.mp4"
    path.write_bytes(content[: len(content) * 9 // 10])
    found, _ = segments(path, monkeypatch)
    assert [segment.frames for segment in found] == [FRAMES]


def test_the_second_track_has_a_table_of_its_own(clip: Clip, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = rewrap(clip("a.mp4", frames=FRAMES, gop=25, bframes=3, audio=True), tmp_path / "copy.mp4")
    found, read = segments(path, monkeypatch)
    assert read <= CHECKED
    assert segments_by_packets(path, monkeypatch) == (found, len(found) - 1)


@pytest.mark.parametrize("frames", [250, FRAMES])
def test_no_cut_where_frames_before_a_keyframe_are_shown_after_it(
    frames: int, clip: Clip, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """``ffmpeg -f concat -c copy`` writes such times where the parts overlap."""
    path = tmp_path / "a.mp4"
    with av.open(str(clip("a.mp4", frames=frames, gop=25, bframes=3))) as given, av.open(str(path), "w") as output:
        stream = output.add_stream_from_template(given.streams.video[0])
        last = -1 << 62
        for number, packet in enumerate(packet for packet in given.demux(video=0) if packet.size):
            assert packet.pts is not None
            assert packet.dts is not None
            back = number // 100 * 2 * 512  # each part begins two frames too early
            packet.dts = max(packet.dts - back, last + 1)
            packet.pts, last = max(packet.pts - back, packet.dts), packet.dts
            packet.stream = stream
            output.mux(packet)
    info = probe(path)
    outcomes = [outcome for segment in info.segments for outcome in decode(info, segment)]
    assert [number_of(outcome.image) for outcome in outcomes if isinstance(outcome, DecodedFrame)] == list(range(frames))
    assert len(outcomes) == info.frames == frames
    assert info.segments == segments_by_packets(path, monkeypatch)[0]
