"""Damaged files: decoded and failed frames add up to the number of frames that the file announced."""

from __future__ import annotations

import math
import random
import resource
import struct
from itertools import islice
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest

from framefleet.engine.media.cpu_decoding import decode
from framefleet.engine.media.probe import probe
from framefleet.engine.media.types import DecodedFrame, DecodeFailure, SourceInfo
from framefleet.engine.notices import SourceError
from tests.engine.media.conftest import Clip
from tests.support.faults.counts import others_slow
from tests.support.media import damaged, number_of, numbered, rewrap, truncated

FRAMES = 170
CLIPS: dict[str, dict[str, Any]] = {
    "a.mp4": {"bframes": 2, "gop": 20, "audio": True, "muxer": {"movflags": "faststart"}},
    "a.mkv": {"bframes": 2, "gop": 20, "audio": True},
    "a.ts": {"bframes": 2, "gop": 20, "audio": True},
    "a.flv": {"bframes": 2, "gop": 20},
    "a.avi": {"bframes": 2, "gop": 20},
    "a.webm": {"codec": "libvpx-vp9", "gop": 40, "options": {"deadline": "realtime", "cpu-used": "8"}},
    "f.mp4": {"bframes": 2, "gop": 20, "muxer": {"movflags": "frag_keyframe+empty_moov"}},
}


def counts(info: SourceInfo, **options: int) -> tuple[list[int], list[DecodeFailure]]:
    """The numbers of the decoded pictures, and the failures; checks that they add up."""
    frames: list[int] = []
    failures: list[DecodeFailure] = []
    for segment in info.segments:
        total = 0
        for outcome in decode(info, segment, **options):
            if isinstance(outcome, DecodedFrame):
                total += 1
                frames.append(number_of(outcome.image))
            else:
                assert outcome.count > 0
                assert info.path in str(outcome.reason)
                total += outcome.count
                failures.append(outcome)
        assert total == segment.frames
    assert len(frames) + sum(failure.count for failure in failures) == info.frames
    return frames, failures


@pytest.mark.parametrize("name", ["a.mp4", "a.mkv", "a.flv", "a.avi", "a.webm"])
@pytest.mark.parametrize("share", others_slow([0.5, 0.8], 0.5))
def test_a_truncated_file_is_not_silently_short(name: str, share: float, clip: Clip, tmp_path: Path) -> None:
    info = probe(truncated(clip(name, frames=FRAMES, **CLIPS[name]), tmp_path / name, share))
    assert abs(info.frames - FRAMES) <= 2, "the header states the number"
    frames, failures = counts(info)
    assert failures
    assert frames
    assert frames[: len(frames) - 4] == list(range(len(frames) - 4))  # the last group of pictures may lack some
    assert failures[-1].ref.pts > frames[-1] / 30 - 0.2


def test_frames_that_are_lost_at_the_end_come_behind_the_last_one(clip: Clip, tmp_path: Path) -> None:
    info = probe(truncated(clip("a.mkv", frames=FRAMES, gop=20), tmp_path / "a.mkv", 0.5))
    frames, failures = counts(info)
    last = max(outcome.ref.pts for segment in info.segments for outcome in decode(info, segment) if isinstance(outcome, DecodedFrame))
    assert frames
    assert [failure.ref.pts for failure in failures if failure.ref.pts < last + 0.9 / 30] == []


@pytest.mark.parametrize("name", ["a.mkv", "a.webm", "a.flv", "a.ts"])
def test_the_last_lost_frames_are_reported(name: str, clip: Clip, tmp_path: Path) -> None:
    source = clip(name, frames=FRAMES, size=(160, 96), **CLIPS[name])
    for missing in (1, 700, 2000, 5000):  # bytes
        if name in ("a.mkv", "a.webm", "a.flv") and missing == 1:
            continue  # only the index or the trailer
        path = truncated(source, tmp_path / name, 1 - missing / source.stat().st_size)
        frames, failures = counts(probe(path))
        if len(set(frames)) < FRAMES or name == "a.ts":
            assert failures, f"{FRAMES - len(frames)} frames are lost silently without the last {missing} bytes"
        if name in ("a.mkv", "a.webm"):
            assert len(frames) + sum(failure.count for failure in failures) == FRAMES, "the header states the duration and the size"


@pytest.mark.parametrize(
    ("box", "start", "length"),
    [("ctts", 16, 1), ("ctts", 15, 238), ("elst", 16, 4), ("mdhd", 0, 4), ("mdhd", 16, 1), ("mvhd", 17, 1), ("stts", 18, 1)],
    ids=["order of a frame", "orders", "edit list", "clock", "clock's rate", "list's clock", "intervals"],
)
def test_a_damaged_index_of_an_mp4_leaves_out_no_frame_silently(box: str, start: int, length: int, clip: Clip, tmp_path: Path) -> None:
    """FFmpeg leaves out frames whose computed time is outside the edit list. start: after the type of the box. Bytes are flipped."""
    content = bytearray(clip("a.mp4", frames=FRAMES, **CLIPS["a.mp4"]).read_bytes())
    place = content.index(box.encode()) + start
    content[place : place + length] = bytes(value ^ 0xFF for value in content[place : place + length])
    path = tmp_path / "a.mp4"
    path.write_bytes(content)
    info = probe(path)
    frames, failures = counts(info)
    assert failures or len(frames) == FRAMES, f"{FRAMES - len(frames)} frames are lost silently"


@pytest.mark.parametrize("begin", others_slow([1, 12, 511, 513, 5 * 512 + 3], 12, 513))
def test_an_edit_list_may_begin_within_a_frame(begin: int, clip: Clip, tmp_path: Path) -> None:
    """FFmpeg leaves this frame out. The list's duration is rounded to milliseconds, so it may seem to cover the whole frame."""
    content = bytearray(clip("a.mp4", frames=FRAMES, **CLIPS["a.mp4"]).read_bytes())
    place, ticks = content.index(b"elst") + 12, FRAMES * 512
    (first,) = struct.unpack_from(">i", content, place + 4)
    struct.pack_into(">Ii", content, place, math.ceil((ticks - begin) / 15360 * 1000), first + begin)
    path = tmp_path / "a.mp4"
    path.write_bytes(content)
    frames, failures = counts(probe(path))
    assert (len(frames), failures) == (FRAMES - math.ceil(begin / 512), [])


@pytest.mark.parametrize("name", ["a.mp4", "a.mov", "a.mkv", "a.ts", "a.flv"])
@pytest.mark.parametrize("frames", [110, 111, 112, 113])
def test_a_copied_part_is_not_damaged(name: str, frames: int, clip: Clip, tmp_path: Path) -> None:
    """Its last frames in decoding order are shown after frames that would follow, as in clips of ``ffmpeg -t … -c copy``."""
    path = tmp_path / name
    with av.open(str(clip("a.mp4", frames=FRAMES, **CLIPS["a.mp4"]))) as given, av.open(str(path), "w") as output:
        copy = output.add_stream_from_template(given.streams.video[0])
        for packet in islice((packet for packet in given.demux(video=0) if packet.size), frames):
            assert packet.pts is not None
            assert packet.dts is not None
            packet.pts, packet.dts, packet.stream = packet.pts - 15 * 512, packet.dts - 15 * 512, copy  # MP4: an edit list hides the first
            output.mux(packet)
    shown, failures = counts(probe(path))
    assert not failures
    assert len(shown) in (frames, frames - 15)


@pytest.mark.parametrize("delay", [100, 2000])
@pytest.mark.parametrize("length", [3000, 4000])
def test_an_edit_list_may_delay_and_shorten_a_video(delay: int, length: int, clip: Clip, tmp_path: Path) -> None:
    """Editors write so a part of a video whose sound begins earlier. delay, length: milliseconds. The part begins at 1 s."""
    content = bytearray(clip("d.mp4", frames=FRAMES, bframes=2, gop=20).read_bytes())
    place = content.index(b"elst") - 4
    size, (first,) = int.from_bytes(content[place : place + 4], "big"), struct.unpack_from(">i", content, place + 20)
    edits = struct.pack(">I4sII2i2h2i2h", 40, b"elst", 0, 2, delay, -1, 1, 0, length, first + 15360, 1, 0)
    content[place : place + size] = edits
    for box in (b"edts", b"trak", b"moov"):
        start = content.rindex(box, 0, place + 1) - 4
        struct.pack_into(">I", content, start, int.from_bytes(content[start : start + 4], "big") + len(edits) - size)
    path = tmp_path / "d.mp4"
    path.write_bytes(content)
    info = probe(path)
    assert counts(info) == (list(range(30, 30 + length * 30 // 1000)), [])
    assert info.origin == pytest.approx(delay / 1000, abs=0.001)
    assert info.duration == pytest.approx(length / 1000, abs=0.001)


def test_frames_removed_from_the_middle_are_counted_although_few_are_left(clip: Clip, tmp_path: Path) -> None:
    source = clip("a.flv", frames=FRAMES, **CLIPS["a.flv"])
    content = source.read_bytes()
    path = tmp_path / "a.flv"
    path.write_bytes(content[: len(content) // 10] + content[-len(content) // 25 :])
    info = probe(path)
    frames, _ = counts(info)
    assert len(frames) < FRAMES // 4
    assert abs(info.frames - FRAMES) <= 2


def test_an_flv_that_ends_between_two_frames_is_truncated(clip: Clip, tmp_path: Path) -> None:
    content = clip("a.flv", frames=FRAMES, **CLIPS["a.flv"]).read_bytes()
    ends, position = [], 9  # each tag ends with its length
    while position + 15 < len(content):
        position += 15 + int.from_bytes(content[position + 5 : position + 8], "big")
        ends.append(position)
    path = tmp_path / "a.flv"
    path.write_bytes(content[: ends[-6] + 4])
    info = probe(path)
    frames, _ = counts(info)
    assert len(frames) < info.frames == FRAMES


def test_media_data_that_no_fragment_describes_is_counted(clip: Clip, tmp_path: Path) -> None:
    content = bytearray(clip("f.mp4", frames=FRAMES, **CLIPS["f.mp4"]).read_bytes())
    content[content.rindex(b"trun") : content.rindex(b"trun") + 4] = b"free"
    path = tmp_path / "f.mp4"
    path.write_bytes(content)
    frames, failures = counts(probe(path))
    assert len(frames) < FRAMES
    assert failures


def test_a_frame_of_a_broadcast_whose_start_is_damaged_is_counted(clip: Clip, tmp_path: Path) -> None:
    """Its data become part of the frame before it, and FFmpeg computes times for the others."""
    content = bytearray(clip("a.ts", frames=FRAMES, **CLIPS["a.ts"]).read_bytes())
    start = [place for place in range(0, len(content), 188) if content[place + 1 : place + 3] == b"\x41\0"][-3]  # begins a frame
    place = content.index(b"\0\0\1\xe0", start) + 9
    content[place : start + 188] = bytes(start + 188 - place)
    path = tmp_path / "a.ts"
    path.write_bytes(content)
    assert probe(path).frames == FRAMES


def test_small_damage_between_frames_is_reported(clip: Clip, tmp_path: Path) -> None:
    """A lost B-frame leaves a gap in the times in display order only."""
    source = clip("a.flv", frames=FRAMES, **CLIPS["a.flv"])
    for number in range(20, 40):
        path = damaged(source, tmp_path / "a.flv", [(number / 60, 4)], fill=None)
        frames, failures = counts(probe(path))
        # a changed picture may show another number, so only their count tells
        assert failures or len(frames) == FRAMES, f"{FRAMES - len(frames)} frames are lost silently"


def test_a_truncated_frame_fails_even_if_its_decoder_reports_nothing(clip: Clip, tmp_path: Path) -> None:
    """VP9's decoder returns a picture for a part of a packet."""
    source = clip("v.mp4", frames=40, gop=20, codec="libvpx-vp9", muxer={"movflags": "faststart"})
    whole = pictures(source)
    assert len(whole) == 40
    size = source.stat().st_size
    for missing in range(size // 40, size // 4, size // 40):  # bytes
        for pts, image in pictures(truncated(source, tmp_path / "v.mp4", 1 - missing / size)).items():
            assert np.array_equal(image, whole[pts]), f"without {missing} bytes, the frame at {pts:.3f} s differs"


def pictures(path: Path) -> dict[float, Any]:
    """The decoded pictures by time."""
    info = probe(path)
    outcomes = [outcome for segment in info.segments for outcome in decode(info, segment)]
    return {outcome.ref.pts: outcome.image for outcome in outcomes if isinstance(outcome, DecodedFrame)}


def test_undamaged_frames_at_a_truncated_end_are_not_lost_by_threads(clip: Clip, tmp_path: Path) -> None:
    info = probe(truncated(clip("a.mp4", frames=FRAMES, **CLIPS["a.mp4"]), tmp_path / "a.mp4", 0.6))
    assert counts(info, threads=4)[0] == counts(info, threads=1)[0]


def test_an_mp4_without_its_index_is_an_error(clip: Clip, tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="unfinished"):
        probe(truncated(clip("b.mp4", frames=FRAMES), tmp_path / "b.mp4", 0.9))


@pytest.mark.parametrize("name", CLIPS)
def test_zeros_in_the_middle(name: str, clip: Clip, tmp_path: Path) -> None:
    source = clip(name, frames=FRAMES, size=(160, 96), **CLIPS[name])
    info = probe(damaged(source, tmp_path / name, [(0.5, source.stat().st_size // 8)]))
    frames, failures = counts(info)
    assert failures
    if name == "f.mp4":  # behind a broken box nothing can be found; the number of bytes tells about how many frames that is
        assert abs(info.frames - FRAMES) <= FRAMES // 5
    else:
        assert abs(info.frames - FRAMES) <= 4
        assert len(frames) > FRAMES // 2
        assert frames[-20:] == list(range(FRAMES - 20, FRAMES)), "the rest after the damage"


def test_failures_stand_where_the_frames_are_missing(clip: Clip, tmp_path: Path) -> None:
    def spoil(number: int, data: bytes, _key: bool) -> bytes:
        return bytes(len(data)) if 120 <= number < 130 else data

    info = probe(rewrap(clip("a.mkv", frames=FRAMES, gop=20), tmp_path / "a.mkv", spoil))
    assert info.frames == FRAMES
    outcomes = [outcome for segment in info.segments for outcome in decode(info, segment)]
    times = [outcome.ref.pts for outcome in outcomes]
    assert times == sorted(times)
    failed = [outcome for outcome in outcomes if isinstance(outcome, DecodeFailure)]
    assert failed[0].ref.pts == pytest.approx(4.0, abs=0.01)
    assert 10 <= sum(failure.count for failure in failed) <= 20
    assert "4.000 s" in str(failed[0].reason)


def test_a_frame_that_the_decoder_marks_as_damaged_is_a_failure(clip: Clip, tmp_path: Path) -> None:
    def spoil(number: int, data: bytes, _key: bool) -> bytes:
        return data[:20] + bytes(len(data) - 20) if number == 25 else data

    info = probe(rewrap(clip("n.mkv", frames=60, gop=20, picture=noisy), tmp_path / "a.mkv", spoil))
    with av.open(info.path) as container:
        assert [frame.is_corrupt for frame in container.decode(video=0)] == [number == 25 for number in range(60)]
    (failure,) = counts(info)[1]
    assert (failure.ref.pts, failure.count) == (pytest.approx(25 / 30, abs=0.001), 1)


def test_skipping_counts_failures_like_frames(clip: Clip, tmp_path: Path) -> None:
    source = clip("a.mkv", frames=FRAMES, **CLIPS["a.mkv"])
    info = probe(truncated(source, tmp_path / "a.mkv", 0.5))
    (segment,) = info.segments[-1:]
    whole = [
        (outcome.ref.pts, isinstance(outcome, DecodedFrame))
        for outcome in decode(info, segment)
        for _ in range(outcome.count if isinstance(outcome, DecodeFailure) else 1)
    ]
    for skip in (0, 10, segment.frames - 3, segment.frames):
        rest = [
            (outcome.ref.pts, isinstance(outcome, DecodedFrame))
            for outcome in decode(info, segment, skip)
            for _ in range(outcome.count if isinstance(outcome, DecodeFailure) else 1)
        ]
        assert rest == whole[skip:]


def test_a_damaged_picture_of_an_mjpeg_is_named(clip: Clip, tmp_path: Path) -> None:
    def tear(number: int, data: bytes, _key: bool) -> bytes:
        return data[: len(data) // 2] if number == 7 else data

    info = probe(rewrap(clip("m.avi", frames=20, codec="mjpeg", pix_fmt="yuvj420p"), tmp_path / "m.avi", tear))
    frames, failures = counts(info)
    assert frames == [number for number in range(20) if number != 7]
    assert [(failure.ref.pts, failure.count) for failure in failures] == [(pytest.approx(7 / 30), 1)]


def test_a_gap_in_a_broadcast_counts_and_a_natural_one_does_not(clip: Clip, tmp_path: Path) -> None:
    source = clip("a.ts", frames=FRAMES, gop=20)
    content = source.read_bytes()
    start = len(content) // 2 // 188 * 188
    path = tmp_path / "a.ts"
    path.write_bytes(content[:start] + content[start + 188 * 60 :])
    info = probe(path)
    assert abs(info.frames - FRAMES) <= 1
    frames, _ = counts(info)
    assert len(frames) < FRAMES - 3
    uneven = [number * 2 + number // 5 * 7 for number in range(FRAMES)]
    healthy = probe(clip("u.ts", frames=FRAMES, pts=uneven, gop=20))
    assert healthy.frames == FRAMES
    assert counts(healthy)[1] == []


def test_large_gaps_between_frames_do_not_count_as_damage(clip: Clip) -> None:
    """A variable frame rate, in containers whose damage is recognised by gaps."""
    pts = [number * 40 + number // 30 * 5000 for number in range(FRAMES)]
    for name in ("g.mkv", "g.flv", "g.mp4"):
        info = probe(clip(name, frames=FRAMES, pts=pts, gop=20, bframes=2))
        assert info.frames == FRAMES, name
        assert counts(info)[1] == [], name


def test_pictures_that_an_avi_repeats_do_not_count_as_damage(clip: Clip, tmp_path: Path) -> None:
    pts = [number + number // 10 * 7 for number in range(FRAMES)]  # the file has empty chunks for the skipped numbers
    source = clip("r.avi", frames=FRAMES, pts=pts, codec="mpeg4", gop=20)
    info = probe(source)
    assert info.frames == FRAMES
    assert counts(info) == (list(range(FRAMES)), [])
    cut = probe(truncated(source, tmp_path / "r.avi", 0.6))
    frames, failures = counts(cut)
    assert frames == list(range(len(frames)))
    assert failures, "those behind the end are still missed"
    assert abs(cut.frames - FRAMES) <= 5, "and as many of them are empty as in the rest"


def noisy(number: int, size: tuple[int, int]) -> Any:
    """Numbered, but hard to compress: a flipped bit then hits picture data."""
    image = numbered(number, size).copy()
    rows = slice(size[1] // 2, size[1] * 3 // 4)
    image[rows] = np.random.default_rng(number).integers(0, 255, image[rows].shape, dtype=np.uint8)
    return image


@pytest.mark.parametrize("name", others_slow(CLIPS, "a.mp4", "a.mkv", "a.ts"))
def test_mutations_end_in_an_error_or_in_counts_that_add_up(name: str, clip: Clip, tmp_path: Path) -> None:
    content = clip(name, frames=120, picture=noisy, **CLIPS[name]).read_bytes()
    path = tmp_path / name
    ends = {"error": 0, "counted": 0}
    for seed in range(8):
        path.write_bytes(mutated(content, random.Random(seed), seed % 4))
        try:
            info = probe(path)
        except SourceError:
            ends["error"] += 1
        else:
            counts(info)
            ends["counted"] += 1
    assert ends["counted"] >= 3
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss < 3 << 20  # KiB


def mutated(content: bytes, rng: random.Random, kind: int) -> bytes:
    """Flipped bits, a missing end, zeros or a missing piece."""
    result = bytearray(content)
    position = rng.randrange(len(content))
    match kind:
        case 0:
            for _ in range(rng.choice((1, 5, 50))):
                result[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
        case 1:
            del result[max(16, position) :]
        case 2:
            length = rng.choice((16, 200, 2000, 8000))
            result[position : position + length] = bytes(len(result[position : position + length]))
        case _:
            del result[position : position + rng.choice((10, 500, 4000))]
    return bytes(result)


def test_a_forged_duration_does_not_invent_frames(clip: Clip, tmp_path: Path) -> None:
    content = clip("a.mkv", frames=FRAMES, **CLIPS["a.mkv"]).read_bytes()
    name = content.index(b"\x44\x89\x88")  # Matroska's Duration, a float of eight bytes
    (tmp_path / "a.mkv").write_bytes(content[: name + 3] + struct.pack(">d", 1e15) + content[name + 11 :])
    info = probe(tmp_path / "a.mkv")
    assert info.frames == FRAMES
    assert counts(info) == (list(range(FRAMES)), [])


TS_CODECS: dict[str, dict[str, Any]] = {
    "h264": {"codec": "libx264", "bframes": 2},
    "hevc": {"codec": "libx265", "options": {"x265-params": "log-level=none:bframes=2"}},
    "mpeg2": {"codec": "mpeg2video", "options": {"q": "3", "bf": "2"}},
}


@pytest.mark.parametrize("codec", TS_CODECS)
@pytest.mark.parametrize("lengths", others_slow([(10, 10, 10), (7, 1, 25, 2)], (7, 1, 25, 2)), ids=str)
def test_the_frames_at_the_seams_of_joined_broadcasts_are_good(codec: str, lengths: tuple[int, ...], clip: Clip, tmp_path: Path) -> None:
    """The continuity counters begin anew with each part, and the times continue."""
    parts, content, first = [], b"", 0
    for frames in lengths:
        part = clip("part.ts", frames=frames, gop=10, pts=range(first, first + frames), picture=noisy, **TS_CODECS[codec])
        parts += list(pictures(part).values())
        content += part.read_bytes()
        first += frames
    path = tmp_path / "joined.ts"
    path.write_bytes(content)
    with av.open(str(path)) as container:
        assert any(packet.is_corrupt for packet in container.demux(video=0)), "FFmpeg marks frames at the seams"
    for threads in (1, 4):
        info = probe(path)
        outcomes = [outcome for segment in info.segments for outcome in decode(info, segment, threads=threads)]
        assert [outcome for outcome in outcomes if isinstance(outcome, DecodeFailure)] == []
        images = [outcome.image for outcome in outcomes if isinstance(outcome, DecodedFrame)]
        assert len(images) == len(parts) == sum(lengths)
        assert all(np.array_equal(image, part) for image, part in zip(images, parts, strict=True))


@pytest.mark.parametrize("codec", others_slow(TS_CODECS, "h264"))
@pytest.mark.parametrize("lost", ["a packet within a frame", "the end of a frame", "an end and the next start"])
def test_a_frame_of_a_broadcast_that_lost_packets_fails_and_the_one_before_it_does_not(
    codec: str, lost: str, clip: Clip, tmp_path: Path
) -> None:
    source = clip("whole.ts", frames=40, gop=10, picture=noisy, **TS_CODECS[codec])
    content = source.read_bytes()
    packets = [content[place : place + 188] for place in range(0, len(content), 188)]
    video = [number for number, packet in enumerate(packets) if packet[1] & 0x1F == 1 and packet[2] == 0]
    starts = [number for number in video if packets[number][1] & 0x40]
    path = tmp_path / "lost.ts"
    for frame in (5, 14, 23):
        mine = [number for number in video if starts[frame] <= number < starts[frame + 1]]
        gone = {
            "a packet within a frame": mine[2:3],
            "the end of a frame": mine[-2:],
            "an end and the next start": [*mine[-2:], starts[frame + 1]],
        }[lost]
        path.write_bytes(b"".join(packet for number, packet in enumerate(packets) if number not in gone))
        with av.open(str(source)) as container:
            times = [float(packet.pts * packet.time_base) for packet in container.demux(video=0) if packet.pts is not None]
        # with several threads, FFmpeg once left a damaged frame without a mark
        outcomes = [outcome for segment in probe(path).segments for outcome in decode(probe(path), segment, threads=1)]
        failed = [failure.ref.pts for failure in outcomes if isinstance(failure, DecodeFailure)]
        good = [outcome.ref.pts for outcome in outcomes if isinstance(outcome, DecodedFrame)]
        assert times[frame] in failed
        assert times[frame] not in good
        assert times[frame - 1] in good
