"""The frames of all segments equal the frames of a decode of the whole file, in order, with the right times and counts."""

from __future__ import annotations

import gc
import hashlib
import os
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import cv2
import numpy as np
import pytest

from framefleet.engine.media.container.scan import SEGMENT_FRAMES
from framefleet.engine.media.cpu_decoding import decode
from framefleet.engine.media.probe import probe
from framefleet.engine.media.types import DecodedFrame, DecodeFailure, Segment, SourceInfo, SourceKind
from framefleet.engine.notices import SourceError
from framefleet.resources import DEMO
from tests.engine.media.conftest import Clip
from tests.support.faults.counts import others_slow
from tests.support.media import joined, make_field_video, make_video, number_of, packed_bitstream, rewrap, wrap_fields

FRAMES = 180
X265 = {"preset": "ultrafast", "x265-params": "log-level=none:open-gop=1:bframes=4:keyint=25:min-keyint=25:scenecut=0"}
VP9 = {"deadline": "realtime", "cpu-used": "8"}
INTRA_REFRESH = {"gop": 40, "options": {"preset": "veryfast", "x264-params": "intra-refresh=1:keyint=40"}}
UNEVEN = [number * 33 + number % 7 * 3 + number // 50 * 900 for number in range(FRAMES)]

CUTTABLE: dict[str, tuple[str, dict[str, Any]]] = {
    "b-frames mp4": ("a.mp4", {"bframes": 3}),
    "open gop mp4": ("a.mp4", {"bframes": 3, "open_gop": True, "gop": 25, "audio": True}),
    "open gop mkv": ("a.mkv", {"bframes": 3, "open_gop": True, "gop": 25, "audio": True}),
    "open gop ts": ("a.ts", {"bframes": 3, "open_gop": True, "gop": 25, "audio": True}),
    "flv": ("a.flv", {"bframes": 3}),
    "many b-frames": ("a.mp4", {"bframes": 8, "gop": 30}),
    "keyframes closer than the reordering": ("a.mp4", {"bframes": 2, "gop": 3}),
    "keyframes closer than the reordering, ts": ("a.ts", {"bframes": 2, "gop": 3}),
    "only keyframes": ("a.mp4", {"gop": 1}),
    "hevc open gop mp4": ("a.mp4", {"codec": "libx265", "options": X265}),
    "hevc open gop mkv": ("a.mkv", {"codec": "libx265", "options": X265}),
    "hevc open gop ts": ("a.ts", {"codec": "libx265", "options": X265}),
    "mpeg-2 ts": ("a.ts", {"codec": "mpeg2video", "options": {"bf": "2"}}),
    "mpeg-2 program stream": ("a.mpg", {"codec": "mpeg2video", "options": {"bf": "2"}}),
    "mpeg-4 mp4": ("a.mp4", {"codec": "mpeg4", "options": {"bf": "2"}}),
    "mpeg-4 avi": ("a.avi", {"codec": "mpeg4"}),
    "mjpeg avi": ("a.avi", {"codec": "mjpeg", "pix_fmt": "yuvj420p"}),
    "prores mov": ("a.mov", {"codec": "prores_ks", "pix_fmt": "yuv422p10le"}),
    "vp9 webm": ("a.webm", {"codec": "libvpx-vp9", "gop": 40, "options": VP9}),
    "vp8 webm": ("a.webm", {"codec": "libvpx", "gop": 40, "options": VP9}),
    "fragmented mp4": ("a.mp4", {"bframes": 3, "muxer": {"movflags": "frag_keyframe+empty_moov"}}),
    "fragmented mp4 after an index": ("a.mp4", {"bframes": 3, "muxer": {"movflags": "frag_keyframe"}}),
    "variable rate mkv": ("a.mkv", {"bframes": 2, "pts": UNEVEN, "time_base": Fraction(1, 1000)}),
    "variable rate mp4, late start": ("a.mp4", {"bframes": 2, "pts": [500 + time for time in UNEVEN], "time_base": Fraction(1, 1000)}),
}
WHOLE: dict[str, tuple[str, dict[str, Any]]] = {
    "a single keyframe": ("a.mp4", {"gop": 9999}),
    "raw h264": ("a.h264", {"bframes": 2}),
    "avi with b-frames": ("a.avi", {"bframes": 2}),
    "avi with mpeg-4 b-frames": ("a.avi", {"codec": "mpeg4", "options": {"bf": "2"}}),
    "asf with b-frames": ("a.asf", {"bframes": 2}),
    "h264 intra refresh mp4": ("a.mp4", INTRA_REFRESH),
    "h264 intra refresh mkv": ("a.mkv", INTRA_REFRESH),
    "h264 intra refresh ts": ("a.ts", INTRA_REFRESH),
    "gif": ("a.gif", {"codec": "gif", "pix_fmt": "rgb8", "rate": 25}),
}


def digest(image: np.ndarray) -> str:
    return hashlib.sha1(np.ascontiguousarray(image)).hexdigest()


def open_files() -> int:
    return sum(1 for _ in Path("/proc/self/fd").iterdir())


def straight(path: Path) -> list[tuple[float | None, str]]:
    """The reference: the whole file decoded at once."""
    with av.open(str(path)) as container:
        return [(frame.time, digest(frame.to_ndarray(format="rgb24"))) for frame in container.decode(video=0)]


def decode_all(info: SourceInfo, **options: int) -> list[DecodedFrame | DecodeFailure]:
    return [outcome for segment in info.segments for outcome in decode(info, segment, **options)]


def check_against_straight(path: Path, times: bool = True) -> SourceInfo:
    info = probe(path)
    expected = straight(path)
    frames: list[DecodedFrame] = []
    for segment in info.segments:
        outcomes = list(decode(info, segment))
        assert len(outcomes) == segment.frames
        assert all(isinstance(outcome, DecodedFrame) for outcome in outcomes), outcomes
        frames += outcomes  # type: ignore[arg-type]
    assert [digest(frame.image) for frame in frames] == [image for _, image in expected]
    if times:
        assert [frame.ref.pts for frame in frames] == [pytest.approx(time, abs=1e-9) for time, _ in expected]
    assert info.frames == len(expected)
    return info


SHORT = (
    *("open gop mp4", "open gop mkv", "open gop ts", "flv", "hevc open gop ts", "mpeg-2 ts", "mpeg-4 avi", "mjpeg avi", "vp9 webm"),
    *("keyframes closer than the reordering", "fragmented mp4", "variable rate mp4, late start"),
)


@pytest.mark.parametrize("name", others_slow(CUTTABLE, *SHORT))
def test_segments_equal_a_straight_decode(name: str, clip: Clip) -> None:
    file, options = CUTTABLE[name]
    info = check_against_straight(clip(file, frames=FRAMES, **options))
    assert info.frames == FRAMES
    assert len(info.segments) >= 2
    assert all(segment.frames >= SEGMENT_FRAMES for segment in info.segments[:-1])
    assert info.segments[0].start is None
    assert info.segments[-1].end is None


@pytest.mark.parametrize("name", WHOLE)
def test_videos_without_possible_cuts_are_one_segment(name: str, clip: Clip) -> None:
    file, options = WHOLE[name]
    info = check_against_straight(clip(file, frames=FRAMES, **options), times=name in ("a single keyframe", "gif") or "intra" in name)
    assert [(segment.start, segment.end, segment.frames) for segment in info.segments] == [(None, None, FRAMES)]


@pytest.mark.parametrize("name", ["raw h264", "avi with b-frames", "avi with mpeg-4 b-frames", "asf with b-frames"])
def test_without_presentation_times_frames_follow_at_the_stated_rate(name: str, clip: Clip) -> None:
    file, options = WHOLE[name]
    frames = decode_all(probe(clip(file, frames=FRAMES, **options)))
    assert [frame.ref.pts for frame in frames] == [pytest.approx(number / 30, abs=1e-3) for number in range(FRAMES)]


def test_packed_b_frames_are_shown_in_order(clip: Clip, tmp_path: Path) -> None:
    path = packed_bitstream(clip("b.avi", frames=FRAMES, codec="mpeg4", options={"bf": "1"}), tmp_path / "a.avi")
    info = probe(path)
    assert (info.frames, info.rate) == (FRAMES, pytest.approx(30))
    frames = [frame for frame in decode_all(info) if isinstance(frame, DecodedFrame)]
    assert [number_of(frame.image) for frame in frames] == list(range(FRAMES))
    assert [frame.ref.pts for frame in frames] == [pytest.approx(number / 30, abs=1e-4) for number in range(FRAMES)]


@pytest.fixture(scope="module")
def fields(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_field_video(tmp_path_factory.mktemp("fields") / "a.h264", 160)


@pytest.mark.parametrize("suffix", ["ts", "mkv", "mp4"])
def test_frames_coded_as_two_fields_count_once(suffix: str, fields: Path, tmp_path: Path) -> None:
    info = check_against_straight(wrap_fields(fields, tmp_path / f"a.{suffix}"))
    assert info.frames == 160
    assert len(info.segments) == 2
    assert info.rate == pytest.approx(25)


def test_frames_before_an_edit_list_begins_are_left_out(clip: Clip) -> None:
    pts = [number - 40 for number in range(FRAMES + 40)]
    path = clip("a.mp4", frames=FRAMES + 40, bframes=3, gop=25, pts=pts, muxer={"avoid_negative_ts": "disabled"})
    info = check_against_straight(path)
    assert info.frames == FRAMES
    assert len(info.segments) >= 2
    assert number_of(next(iter(decode(info, info.segments[0]))).image) == 40  # type: ignore[union-attr]


def test_doubled_times_keep_the_video_whole(clip: Clip) -> None:
    pts = [number - (number % 50 == 49) for number in range(FRAMES)]
    info = probe(clip("a.mkv", frames=FRAMES, pts=pts, time_base=Fraction(1, 30), options={"strict": "-2"}))
    assert len(info.segments) == 1
    assert [number_of(frame.image) for frame in decode_all(info)] == list(range(FRAMES))  # type: ignore[union-attr]


def test_times_continue_where_the_clock_of_a_broadcast_restarts(tmp_path: Path) -> None:
    path = joined(tmp_path / "a.ts", 120, 180, size=(96, 64), gop=20, bframes=2, audio=True)
    info = probe(path)
    assert (info.frames, info.duration, len(info.segments), info.seekable) == (300, pytest.approx(10, abs=0.1), 1, False)
    outcomes = decode_all(info)
    steps = np.diff([outcome.ref.pts for outcome in outcomes])
    assert len(outcomes) == 300
    assert np.abs(steps - 1 / 30).max() < 1e-3
    frames = [
        (round(30 * (frame.ref.pts - outcomes[0].ref.pts)), number_of(frame.image)) for frame in outcomes if isinstance(frame, DecodedFrame)
    ]
    assert frames == [(number, number) for number in range(300)]


MPEG2: dict[str, Any] = {"codec": "mpeg2video", "options": {"bf": "2"}}


@pytest.mark.parametrize(
    ("suffix", "codec", "seconds"),
    [("ts", MPEG2, 0), ("ts", MPEG2, 200), ("mpg", MPEG2, 0), ("mpg", MPEG2, 200), ("mkv", {"bframes": 2}, 0)],
    ids=["ts", "ts from 200 s", "mpg", "mpg from 200 s", "mkv"],
)
def test_times_continue_in_joined_files(suffix: str, codec: dict[str, Any], seconds: int, tmp_path: Path) -> None:
    """FFmpeg takes a step back in MPEG-TS to a minute before the first time for the clock's maximum, and adds 26.5 hours."""
    parts = [
        make_video(tmp_path / f"{number}.{suffix}", 60, (96, 64), pts=range(30 * start, 30 * start + 60), **codec)
        for number, start in enumerate((seconds, 0))
    ]
    path = tmp_path / f"a.{suffix}"
    path.write_bytes(b"".join(part.read_bytes() for part in parts))
    info = probe(path)
    frames = [frame for frame in decode_all(info) if isinstance(frame, DecodedFrame)]
    assert (info.frames, info.seekable, len(frames)) == (120, False, 120)
    assert info.duration == pytest.approx(4, abs=0.2)
    assert np.abs(np.diff([frame.ref.pts for frame in frames]) - 1 / 30).max() < 1 / 60


def test_the_clock_of_a_broadcast_passes_its_maximum(tmp_path: Path) -> None:
    period = 2**33 / 90000  # seconds
    pts = [round(30 * (period - 2)) + number for number in range(FRAMES)]
    path = make_video(tmp_path / "a.ts", FRAMES, (96, 64), gop=20, bframes=2, pts=pts, muxer={"muxdelay": "0"})
    info = probe(path)
    assert (info.frames, info.seekable) == (FRAMES, True)
    assert info.duration == pytest.approx(FRAMES / 30, abs=0.05)
    assert np.diff([frame.ref.pts for frame in decode_all(info)]) == pytest.approx(1 / 30, abs=1e-3)


@pytest.mark.parametrize("lengths", [(10, 12), (40, 3, 40)], ids=str)
def test_the_parts_of_a_joined_ogg_follow_each_other(lengths: tuple[int, ...], tmp_path: Path) -> None:
    """FFmpeg returns the headers of the second part as packets. They are no frames, and they are not lost."""
    path = joined(tmp_path / "a.ogv", *lengths, size=(96, 64), gop=20, codec="libvpx", container="ogg", options={"deadline": "realtime"})
    info = probe(path)
    assert (info.frames, info.seekable) == (sum(lengths), False)
    for threads in (1, 4):
        outcomes = decode_all(info, threads=threads)
        assert [number_of(frame.image) for frame in outcomes if isinstance(frame, DecodedFrame)] == list(range(sum(lengths)))
        assert [outcome.ref.pts for outcome in outcomes] == pytest.approx([number / 30 for number in range(sum(lengths))], abs=1e-3)


def test_threads_lose_nothing(clip: Clip) -> None:
    info = probe(clip("a.mp4", frames=FRAMES, bframes=3))
    results = [[(frame.ref.pts, digest(frame.image)) for frame in decode_all(info, threads=threads)] for threads in (1, 2, 4, 9)]  # type: ignore[union-attr]
    assert all(result == results[0] for result in results)


def test_skipped_frames_are_the_first_ones(clip: Clip) -> None:
    info = probe(clip("a.mkv", frames=FRAMES, bframes=3, open_gop=True, gop=25, audio=True))
    segment = info.segments[1]
    whole = list(decode(info, segment))
    for skip in (0, 1, 17, segment.frames - 1, segment.frames, segment.frames + 5):
        rest = list(decode(info, segment, skip))
        assert [outcome.ref.pts for outcome in rest] == [outcome.ref.pts for outcome in whole[skip:]]


def test_closing_early_releases_the_file(clip: Clip) -> None:
    info = probe(clip("a.mp4", frames=FRAMES, bframes=3))
    before = open_files()
    frames = decode(info, info.segments[0])
    next(frames)
    assert open_files() == before + 1
    frames.close()  # type: ignore[attr-defined]
    assert open_files() == before


def test_a_wrong_start_is_recovered_from_by_reading_everything(clip: Clip) -> None:
    """A segment that does not begin at a keyframe: no frame of the segment may be lost."""
    path = clip("a.mp4", frames=FRAMES, bframes=3)
    info = probe(path)
    second = info.segments[1]
    with av.open(str(path)) as container:
        step = round(1 / (30 * container.streams.video[0].time_base))  # type: ignore[operator]
    odd = Segment(1, second.start + step, second.end, second.frames - 1)  # type: ignore[operator]
    assert [frame.ref.pts for frame in decode(info, odd)] == [frame.ref.pts for frame in decode(info, second)][1:]


def test_a_file_deleted_after_probing_is_an_error(clip: Clip, tmp_path: Path) -> None:
    path = rewrap(clip("a.mp4", frames=FRAMES, bframes=3), tmp_path / "copy.mp4")
    info = probe(path)
    path.unlink()
    with pytest.raises(SourceError, match=r"copy\.mp4 does not exist"):
        list(decode(info, info.segments[0]))


def test_memory_does_not_grow_with_the_length(clip: Clip, tmp_path: Path) -> None:
    looped = probe(rewrap(clip("a.mp4", frames=FRAMES, size=(480, 270), bframes=3), tmp_path / "looped.mp4", times=8))
    assert looped.frames == 8 * FRAMES

    def resident() -> int:
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") >> 20

    sizes = []
    gc.disable()  # what only the garbage collector frees counts as growth: it may come late
    try:
        for segment in looped.segments:
            for _ in decode(looped, segment):
                pass
            sizes.append(resident())
    finally:
        gc.enable()
    assert len(sizes) > 9
    assert sizes[-1] - sizes[2] < 20  # MiB


def test_pictures_are_those_that_opencv_shows(clip: Clip) -> None:
    info = probe(clip("a.mp4", frames=FRAMES, bframes=3))
    capture = cv2.VideoCapture(info.path)
    for number, frame in enumerate(decode_all(info)):
        assert isinstance(frame, DecodedFrame)
        assert frame.ref.pts == pytest.approx(number / 30)
        found, expected = capture.read()
        assert found
        assert not cv2.absdiff(frame.image, cv2.cvtColor(expected, cv2.COLOR_BGR2RGB)).any()
    assert number == FRAMES - 1
    assert not capture.read()[0]


def test_the_demo_clip_is_probed_exactly() -> None:
    info = probe(DEMO.clip)
    assert (info.kind, info.codec, info.width, info.height, info.frames) == (SourceKind.VIDEO, "h264", 1280, 720, 675)
    assert (info.rate, info.duration) == (pytest.approx(25), pytest.approx(27))
    assert sum(segment.frames for segment in info.segments) == info.frames


def test_a_picture_that_is_too_large_fails_alone(clip: Clip, tmp_path: Path) -> None:
    """A video whose pictures change their size, as MJPEG allows."""
    large = cv2.imencode(".jpg", np.zeros((8, 16400, 3), np.uint8))[1].tobytes()
    small = clip("m.mkv", frames=5, codec="mjpeg", pix_fmt="yuvj420p")
    path = rewrap(small, tmp_path / "a.mkv", lambda number, data, _: large if number == 3 else data)
    info = probe(path)
    failures = [item for item in decode(info, info.segments[0]) if isinstance(item, DecodeFailure)]
    assert [(failure.ref.pts, failure.count) for failure in failures] == [(pytest.approx(0.1, abs=0.001), 1)]
    assert str(failures[0].reason).endswith("cannot be converted (a frame of 16400×8: at most 16384×16384 can be used)")
