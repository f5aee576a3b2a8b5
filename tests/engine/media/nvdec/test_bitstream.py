"""Packets as a hardware decoder's parser takes them: whole without any container, and honest about a change of format."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest

from framefleet.engine.media.container.video_file import VideoFile
from framefleet.engine.media.nvdec.bitstream import Bitstream, DamagedError
from framefleet.engine.media.segment import SegmentDecoder, packets_of
from framefleet.engine.media.types import Segment
from tests.engine.media.conftest import Clip
from tests.support.media import make_video

HEVC = {"codec": "libx265", "options": {"preset": "ultrafast", "x265-params": "log-level=none:info=0:keyint=12:scenecut=0"}}
OPEN_HEVC = {"codec": "libx265", "options": {"preset": "ultrafast", "x265-params": "log-level=none:info=0:keyint=12:open-gop=1:bframes=3"}}
CLIPS: dict[str, dict[str, Any]] = {
    "a.mp4": {"bframes": 3},
    "a.mkv": {"bframes": 3, "open_gop": True},
    "a.ts": {"bframes": 3},
    "b.mp4": HEVC,
    "b.mkv": OPEN_HEVC,
    "b.ts": HEVC,
    "c.webm": {"codec": "libvpx-vp9", "options": {"deadline": "good", "cpu-used": "5", "auto-alt-ref": "1", "lag-in-frames": "10"}},
    "d.webm": {"codec": "libvpx", "options": {"deadline": "realtime", "cpu-used": "8"}},
}


def stream_of(path: Path, start: int | None = None, end: int | None = None) -> tuple[Bitstream, list[bytes]]:
    with VideoFile(path) as file:
        bitstream = Bitstream(file.codec.name, file.codec.extradata)
        found: list[bytes] = []
        for packet in packets_of(file, Segment(0, start, end, 0)):
            found.append(bytes(bitstream.convert(memoryview(packet)) if found else bitstream.first(bytearray(packet))))
        return bitstream, found


def pictures(codec: str, packets: list[bytes], extradata: bytes | None = None) -> list[Any]:
    context = av.CodecContext.create(codec, "r")
    context.extradata = extradata
    frames = [frame for content in packets for frame in context.decode(av.Packet(content))]  # type: ignore[attr-defined]
    return [frame.to_ndarray() for frame in [*frames, *context.decode(None)]]  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", CLIPS)
def test_a_decoder_needs_nothing_but_these_packets(name: str, clip: Clip) -> None:
    path = clip(name, frames=40, **CLIPS[name])
    with VideoFile(path) as file:
        codec, extradata = file.codec.name, file.codec.extradata
        originals = [bytes(packet) for packet in file.packets()]
    _, packets = stream_of(path)
    expected = pictures(codec, originals, extradata)
    found = pictures(codec, packets)
    assert len(found) == len(expected) == 40
    assert all(np.array_equal(*pair) for pair in zip(found, expected, strict=True))


@pytest.mark.parametrize("name", ["a.mp4", "a.mkv", "a.ts", "b.mp4", "b.mkv"])
def test_nor_in_the_middle_of_the_stream(name: str, clip: Clip) -> None:
    path = clip(name, frames=40, **CLIPS[name])
    with VideoFile(path) as file:
        codec = file.codec.name
        keys = [packet.pts for packet in file.packets() if packet.is_keyframe]
    assert len(keys) >= 3
    whole, _ = stream_of(path)
    part, packets = stream_of(path, start=keys[1], end=keys[2])
    assert part.format == whole.format
    context = av.CodecContext.create(codec, "r")
    context.flags |= 1 << 3  # also what comes before a clean point
    frames = [frame for content in packets for frame in context.decode(av.Packet(content))]  # type: ignore[attr-defined]
    frames += context.decode(None)  # type: ignore[attr-defined]
    assert len(frames) >= 11


@pytest.mark.parametrize("name", ["o.mkv", "o.ts", "p.mkv", "p.ts"])
def test_leading_pictures_can_be_left_out(name: str, clip: Clip) -> None:
    coder = (
        OPEN_HEVC
        if name[0] == "p"
        else {"bframes": 3, "open_gop": True, "options": {"x264-params": "open-gop=1:bframes=3:b-pyramid=none:b-adapt=0"}}
    )
    path = clip(name, frames=60, **coder, **({} if "gop" in coder else {"gop": 14}))
    with VideoFile(path) as file:
        codec = file.codec.name
        start = [packet.pts for packet in file.packets() if packet.is_keyframe][2]
        segment = Segment(0, start, None, 0)
        expected = [(pts, frame.to_ndarray()) for pts, frame, _ in SegmentDecoder(file, segment).outcomes() if not isinstance(frame, str)]
    context, bitstream, found, left_out = av.CodecContext.create(codec, "r"), Bitstream(codec, file.codec.extradata), [], 0
    with VideoFile(path) as file:
        for packet in (*packets_of(file, segment), None):
            if packet is not None:
                first = packet.pts == start
                data = bitstream.first(bytearray(packet)) if first else bitstream.convert(bytearray(packet))
                if packet.pts < start and bitstream.is_skippable_leading(data):  # type: ignore[operator]
                    left_out += 1
                    continue
                new = av.Packet(bytes(data))
                new.pts = packet.pts
            found += [(frame.pts, frame.to_ndarray()) for frame in context.decode(new if packet else None)]  # type: ignore[attr-defined]
    assert left_out
    assert [pts for pts, _ in found] == [pts for pts, _ in expected]
    assert all(np.array_equal(one[1], other[1]) for one, other in zip(found, expected, strict=True))


def test_lengths_of_two_bytes(clip: Clip) -> None:
    path = clip("a.mp4", frames=40, bframes=3)
    with VideoFile(path) as file:
        extradata = bytearray(file.codec.extradata or b"")
        originals = [bytes(packet) for packet in file.packets()]
    _, expected = stream_of(path)
    extradata[4] = extradata[4] & ~3 | 1
    bitstream = Bitstream("h264", bytes(extradata))
    found = []
    for content in originals:
        short, position = b"", 0
        while position < len(content):
            length = int.from_bytes(content[position : position + 4], "big")
            short += content[position + 2 : position + 4 + length]
            position += 4 + length
        found.append(bytes(bitstream.convert(bytearray(short)) if found else bitstream.first(bytearray(short))))
    assert found == expected


@pytest.mark.parametrize("name", ["a.mp4", "b.mp4"])
def test_torn_packets_are_noticed(name: str, clip: Clip) -> None:
    path = clip(name, frames=40, **CLIPS[name])
    with VideoFile(path) as file:
        content = bytes(next(file.packets()))
        for damaged in (content[:-1], content + b"\0", b"\xff" + content[1:], content[:3]):
            with pytest.raises(DamagedError, match="damaged"):
                Bitstream(file.codec.name, file.codec.extradata).first(bytearray(damaged))


@pytest.mark.parametrize("name", ["a.mp4", "a.ts", "b.mkv", "b.ts"])
def test_zeros_in_the_middle_of_a_picture_are_noticed(name: str, clip: Clip) -> None:
    path = clip(name, frames=40, **CLIPS[name])
    with VideoFile(path) as file:
        codec, extradata = file.codec.name, file.codec.extradata
        packets = [bytes(packet) for packet in file.packets()]
    picture = max(packets[1:8], key=len)
    for start, end in ((20, 52), (20, len(picture) - 4)):
        bitstream = Bitstream(codec, extradata)
        bitstream.first(bytearray(packets[0]))
        bitstream.convert(bytearray(picture))
        torn = bytearray(picture)
        torn[start:end] = bytes(end - start)
        with pytest.raises(DamagedError, match="damaged"):
            bitstream.convert(torn)


def test_zeros_to_the_end_are_damage_where_the_length_of_a_unit_is_stored(clip: Clip) -> None:
    with VideoFile(clip("a.mp4", frames=40, bframes=3)) as file:
        bitstream, packets = Bitstream("h264", file.codec.extradata), [bytes(packet) for packet in file.packets()]
    bitstream.first(bytearray(packets[0]))
    with pytest.raises(DamagedError, match="damaged"):
        bitstream.convert(bytearray(packets[1][:-32] + bytes(32)))


def test_zeros_around_units_with_start_codes_are_no_damage(clip: Clip) -> None:
    with VideoFile(clip("a.ts", frames=40, bframes=3)) as file:
        bitstream, packets = Bitstream("h264", file.codec.extradata), [bytes(packet) for packet in file.packets()]
    assert bytes(packets[0]) == bitstream.first(bytearray(packets[0]))
    padded = packets[1] + bytes(200) + packets[2] + bytes(200)
    assert bitstream.convert(bytearray(padded)) == padded


def joined(first: Path, second: Path, target: Path) -> Path:
    """The packets of two files in one, as if the stream went on."""
    with av.open(str(first)) as one, av.open(str(second)) as two, av.open(str(target), "w") as output:
        copy = output.add_stream_from_template(one.streams.video[0])
        for number, packet in enumerate(packet for given in (one, two) for packet in given.demux(video=0) if packet.size):
            packet.pts = packet.dts = number
            packet.time_base = Fraction(1, 30)
            packet.stream = copy
            output.mux(packet)
    return target


@pytest.mark.parametrize(
    ("suffix", "options"),
    [
        ("ts", {}),
        ("mp4", {"options": {"x264-params": "repeat-headers=1"}}),
        ("ts", HEVC),
        ("webm", {"codec": "libvpx-vp9", "options": {"deadline": "realtime", "cpu-used": "8"}}),
        ("webm", {"codec": "libvpx", "options": {"deadline": "realtime", "cpu-used": "8"}}),
    ],
)
def test_a_change_of_format_is_noticed(suffix: str, options: dict[str, Any], tmp_path: Path) -> None:
    same = make_video(tmp_path / f"same.{suffix}", 20, (128, 96), **options)
    other = make_video(tmp_path / f"other.{suffix}", 20, (192, 96), **options)
    stream_of(joined(same, same, tmp_path / f"one.{suffix}"))
    with pytest.raises(DamagedError, match="changes its format"):
        stream_of(joined(same, other, tmp_path / f"two.{suffix}"))
    assert stream_of(same)[0].format != stream_of(other)[0].format


def test_a_stream_has_to_begin_with_a_keyframe(clip: Clip) -> None:
    for name, expected in (("c.webm", "keyframe"), ("d.webm", "keyframe")):
        with VideoFile(clip(name, frames=40, **CLIPS[name])) as file:
            packets = list(file.packets())
            with pytest.raises(DamagedError, match=expected):
                Bitstream(file.codec.name, None).first(bytearray(packets[3]))
    with pytest.raises(DamagedError, match="parameter set"):
        Bitstream("h264", None).first(bytearray(b"\0\0\0\1\x41\x9a\x24"))


def test_vp9_frames_of_another_size_are_noticed() -> None:
    def header(*fields: tuple[int, int]) -> bytearray:
        bits = "".join(format(value, f"0{width}b") for value, width in fields)
        return bytearray(int(bits.ljust(320, "0"), 2).to_bytes(40, "big"))

    key = header((2, 2), (0, 2), (0, 1), (0, 1), (1, 1), (0, 1), (0x498342, 24), (2, 3), (0, 1), (127, 16), (95, 16))
    start = ((2, 2), (0, 2), (0, 1), (1, 1), (1, 1), (0, 1))  # an inter frame
    bitstream = Bitstream("vp9", None)
    bitstream.first(key)
    bitstream.convert(header(*start, (0, 2), (0, 8), (0, 12), (0b01, 2)))
    bitstream.convert(header((2, 2), (0, 2), (1, 1)))  # shows an earlier frame
    for unreliable in (header(*start, (0, 2), (0, 8), (0, 12), (0, 3)), header(*start[:4], (0, 1), (0, 1), (1, 1))):
        with pytest.raises(DamagedError, match="may change"):
            bitstream.convert(unreliable)


def test_what_has_start_codes_is_left_as_it_is(clip: Clip) -> None:
    path = clip("a.ts", frames=40, bframes=3)
    with VideoFile(path) as file:
        originals = [bytes(packet) for packet in file.packets()]
    assert stream_of(path)[1] == originals
