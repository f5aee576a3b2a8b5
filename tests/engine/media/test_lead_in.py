"""Files that begin within a group of pictures: they begin with the first frame that can be decoded, and nothing counts as damage."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import av
import pytest

from framefleet.engine.media.container.hidden_packets import LeadIn
from framefleet.engine.media.container.video_file import VideoFile, VideoPacket
from framefleet.engine.media.cpu_decoding import decode
from framefleet.engine.media.nvdec.format import first_frame
from framefleet.engine.media.probe import probe
from framefleet.engine.media.types import DecodedFrame, DecodeFailure, Sampling, SourceInfo
from framefleet.engine.notices import Notice
from framefleet.engine.settings.kinds import Moments
from tests.engine.media.conftest import Clip
from tests.engine.media.nvdec.test_format import times
from tests.support.media import damaged, make_field_video, number_of

FRAMES = 300
X265 = "log-level=none:open-gop=1:bframes=4:keyint=25:min-keyint=25:scenecut=0"
CODECS: dict[str, dict[str, Any]] = {
    "h264": {"bframes": 3, "gop": 25, "open_gop": True},
    "hevc": {"codec": "libx265", "options": {"preset": "ultrafast", "x265-params": X265}},
    "mpeg2": {"codec": "mpeg2video", "gop": 12, "options": {"q": "3", "bf": "2"}},
}


def from_any_packet(source: Path, target: Path) -> Path:
    """Copy all from frame 80 on: a recording of a broadcast. The packet before it holds the end of another frame."""
    content = source.read_bytes()
    starts = [place for place in range(0, len(content), 188) if content[place + 1 : place + 3] == b"\x41\0"]
    target.write_bytes(content[starts[80] - 188 :])
    return target


def from_a_keyframe(source: Path, target: Path, moved: bool = True) -> Path:
    """Copy the packets from a keyframe on. moved: its time becomes 0, and leading frames get negative ones."""
    options = {"use_editlist": "0"} if target.suffix == ".mp4" else {}  # the list of edits would leave out the leading frames
    with av.open(str(source)) as given, av.open(str(target), "w", options=options) as output:
        stream = given.streams.video[0]
        copy = output.add_stream_from_template(stream)
        packets = [packet for packet in given.demux(stream) if packet.size]
        first = next(number for number, packet in enumerate(packets) if packet.is_keyframe and number >= len(packets) * 2 // 5)
        origin = (packets[first].pts or 0) if moved else 0
        for packet in packets[first:]:
            assert packet.pts is not None
            assert packet.dts is not None
            packet.pts, packet.dts, packet.stream = packet.pts - origin, packet.dts - origin, copy
            output.mux(packet)
    return target


def cut(kind: str, codec: str, clip: Clip, folder: Path) -> Path:
    source = clip("a.ts", frames=FRAMES, **CODECS[codec])
    if kind == "mpeg-ts":
        return from_any_packet(source, folder / "cut.ts")
    return from_a_keyframe(source, folder / f"cut.{kind.partition(',')[0]}", "0" in kind)


def outcomes(info: SourceInfo, threads: int = 1) -> list[DecodedFrame[Any] | DecodeFailure]:
    return [outcome for segment in info.segments for outcome in decode(info, segment, threads=threads)]


def numbers(info: SourceInfo, threads: int = 1) -> list[int]:
    return [number_of(outcome.image) for outcome in outcomes(info, threads) if isinstance(outcome, DecodedFrame)]


KINDS = [
    *(("mpeg-ts", codec) for codec in CODECS),
    *((kind, codec) for kind in ("mkv", "mkv, from 0") for codec in ("hevc", "mpeg2")),
    ("mp4", "hevc"),
]


@pytest.mark.parametrize(("kind", "codec"), KINDS)
def test_a_cut_video_begins_with_its_first_frame_that_can_be_decoded(kind: str, codec: str, clip: Clip, tmp_path: Path) -> None:
    path = cut(kind, codec, clip, tmp_path)
    info = probe(path)
    for threads in (1, 4):
        found = outcomes(info, threads)
        assert [outcome for outcome in found if isinstance(outcome, DecodeFailure)] == []
        assert len(found) == info.frames
        assert info.origin == found[0].ref.pts
        assert [outcome.ref.pts for outcome in found] == sorted({outcome.ref.pts for outcome in found})
        shown = numbers(info, threads)
        assert shown == list(range(shown[0], FRAMES))
    assert info.duration == pytest.approx(info.frames / 30, abs=0.01)
    assert len(info.segments) == 2
    with VideoFile(path) as file:
        packets = sum(file.shows(packet) for packet in file.packets())
    assert info.note == Notice("media.begins_within_group", path=path, count=packets - info.frames)
    assert packets > info.frames


@pytest.mark.parametrize(("kind", "codec"), KINDS)
def test_samples_of_a_cut_video_count_from_its_first_frame(kind: str, codec: str, clip: Clip, tmp_path: Path) -> None:
    path = cut(kind, codec, clip, tmp_path)
    whole = outcomes(probe(path))
    for begin, every in (("0", "7"), ("0s", "0.5s"), ("1s", "1")):
        sampled = outcomes(probe(path, Sampling(begin=Moments().read(begin), every=Moments().read(every))))
        assert len(sampled) > 8
        assert sampled[0].ref.index == (30 if begin == "1s" else 0)
        assert [outcome.ref.pts for outcome in sampled] == [whole[outcome.ref.index].ref.pts for outcome in sampled]
        assert all(isinstance(outcome, DecodedFrame) for outcome in sampled)


@pytest.mark.parametrize("codec", ["h264", "hevc"])
def test_nvdec_gets_a_cut_video_from_its_first_keyframe_on(codec: str, clip: Clip, tmp_path: Path) -> None:
    info = probe(cut("mpeg-ts", codec, clip, tmp_path))
    first = info.segments[0]
    frames = list(decode(info, first))
    with VideoFile(Path(info.path)) as file:
        found = first_frame(file, first)
        assert found.frame.pts is not None
        assert file.seconds(found.frame.pts) == frames[0].ref.pts
        assert found.packets[0][1] == found.frame.pts
    if first.end is not None:  # the end of a broadcast is left to FFmpeg
        assert times(info, first, 5) == [frame.ref.pts for frame in frames]


def test_damage_within_a_cut_video_counts(clip: Clip, tmp_path: Path) -> None:
    path = cut("mpeg-ts", "h264", clip, tmp_path)
    whole = probe(path)
    info = probe(damaged(path, tmp_path / "damaged.ts", [(0.6, 3000)]))
    found = outcomes(info)
    failed = [outcome for outcome in found if isinstance(outcome, DecodeFailure)]
    assert failed
    assert info.frames == sum(outcome.count if isinstance(outcome, DecodeFailure) else 1 for outcome in found)
    assert abs(info.frames - whole.frames) <= 1
    assert info.origin == whole.origin
    assert failed[0].ref.pts > found[0].ref.pts + 1


@pytest.mark.parametrize("name", ["a.mkv", "a.mp4"])
def test_a_damaged_first_keyframe_is_damage(name: str, clip: Clip, tmp_path: Path) -> None:
    source = clip(name, frames=60, gop=20, bframes=2, muxer={"movflags": "faststart"} if name == "a.mp4" else {})
    with av.open(str(source)) as container:
        first, second = (packet for packet, _ in zip(container.demux(video=0), range(2), strict=False))
        assert first.pos is not None
        assert first.is_keyframe
        assert not second.is_keyframe
    size = source.stat().st_size
    info = probe(damaged(source, tmp_path / name, [(first.pos / size, first.size)]))
    assert info.note is None
    assert info.frames == 60
    assert sum(outcome.count for outcome in outcomes(info) if isinstance(outcome, DecodeFailure)) >= 20


@pytest.mark.parametrize("first", [30, 31])
def test_a_recording_of_interlaced_video_may_begin_within_a_frame(first: int, tmp_path: Path) -> None:
    """first: the number of the first packet. Each frame has two."""
    content = make_field_video(tmp_path / "a.ts", 60, (160, 128), repeated=True).read_bytes()
    starts = [place for place in range(0, len(content), 188) if content[place + 1 : place + 3] == b"\x41\0"]
    path = tmp_path / "cut.ts"
    path.write_bytes(content[starts[first] :])
    info = probe(path)
    assert info.frames == 36
    assert numbers(info) == [24] * 12 + [36] * 12 + [48] * 12
    assert info.note == Notice("media.begins_within_group", path=path, count=9)


def test_the_second_field_of_the_keyframe_can_be_decoded() -> None:
    lead_in = LeadIn(4)
    held = []
    for pts in (5, 6, 10, 11, 6, 7, 8, 9, 12):
        packet: VideoPacket = av.Packet(bytes(1))
        packet.pts, packet.is_keyframe = pts, pts == 10
        if lead_in.holds(packet):
            held.append(pts)
    assert held == [5, 6, 6, 7, 8, 9]


@pytest.mark.parametrize("bframes", [1, 2])
def test_an_avi_may_begin_with_b_frames_that_cannot_be_decoded(bframes: int, clip: Clip, tmp_path: Path) -> None:
    source = clip("a.avi", frames=60, codec="mpeg4", gop=12, options={"bf": str(bframes), "q": "3"})
    path = from_a_keyframe(source, tmp_path / "cut.avi")
    info = probe(path)
    shown = numbers(info)
    assert len(outcomes(info)) == len(shown) == info.frames
    assert shown == list(range(shown[0], 60))
    with VideoFile(path) as file:
        assert sum(1 for _ in file.packets()) == info.frames + bframes
