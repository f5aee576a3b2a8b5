"""Clips copied from videos: from a keyframe on, without a gap."""

from __future__ import annotations

from fractions import Fraction
from itertools import islice
from pathlib import Path

import av
import numpy as np
import pytest

from framefleet.engine.media.annotation.writer import VideoWriter
from framefleet.engine.media.cutting import copy_clip, encode_clip, write_still
from framefleet.engine.media.images import write_picture
from framefleet.engine.media.preview.reader import VideoReader
from framefleet.engine.notices import ExportError, Notice
from framefleet.engine.processes.watchdog import Clock
from framefleet.engine.store.clips import Cut, CutsJob
from framefleet.engine.store.clips_process import write_cuts
from tests.engine.media.conftest import Clip
from tests.support.media import joined, make_sound, number_of


@pytest.mark.parametrize(("name", "gop"), [("a.mkv", 25), ("a.mkv", 27), ("a.mp4", 25), ("a.ts", 25)])
@pytest.mark.parametrize("target", ["clip.mkv", "clip.mp4"])
def test_a_copied_clip_has_all_frames_from_its_keyframe_to_its_end(name: str, gop: int, target: str, clip: Clip, tmp_path: Path) -> None:
    source = clip(name, frames=90, gop=gop, bframes=3, open_gop=True)
    with VideoReader(source) as reader:
        times = {number_of(frame.image): frame.ref.pts for frame in reader}
    copy_clip(source, times[55], times[64], tmp_path / target)
    with VideoReader(tmp_path / target) as reader:
        numbers = [number_of(frame.image) for frame in reader]
    keyframe = 55 // gop * gop
    assert numbers == list(range(keyframe, keyframe + len(numbers)))
    assert 63 <= numbers[-1] <= 67


def test_a_clip_of_av1_is_copied(clip: Clip, tmp_path: Path) -> None:
    source = clip("a.mp4", frames=10, codec="libsvtav1", options={"preset": "12", "svtav1-params": "log-level=0"})
    copy_clip(source, 0.0, 1.0, tmp_path / "clip.mp4")
    with VideoReader(tmp_path / "clip.mp4") as reader:
        assert len(list(reader)) == 10


def test_exact_clips_of_an_avi_hold_their_frames_although_it_has_no_presentation_times(clip: Clip, tmp_path: Path) -> None:
    source = clip("a.avi", frames=60, gop=12, codec="mpeg4", options={"q": "2", "bf": "2"})
    with VideoReader(source) as reader:
        times = {number_of(frame.image): frame.ref.pts for frame in reader}
    encode_clip(source, times[33], times[40], tmp_path / "exact.mp4")
    write_still(source, times[35], tmp_path / "still.jpg")
    with VideoReader(tmp_path / "exact.mp4") as reader:
        assert [number_of(frame.image) for frame in reader] == list(range(33, 40))
    with VideoReader(tmp_path / "still.jpg") as reader:
        assert number_of(next(reader).image) == 35
    with pytest.raises(ExportError, match="AVI and ASF do not say when their frames are shown"):
        copy_clip(source, times[33], times[40], tmp_path / "copied.mp4")


def test_a_codec_that_a_container_cannot_hold_is_named(clip: Clip, tmp_path: Path) -> None:
    with pytest.raises(ExportError, match="MP4 cannot hold its codec wmv2"):
        copy_clip(clip("a.wmv", frames=5, codec="wmv2"), 0.0, 1.0, tmp_path / "clip.mp4")


@pytest.mark.parametrize("pixels", ["yuyv422", "yuv420p"])
def test_a_clip_of_raw_video_names_the_file_and_says_what_to_do(pixels: str, clip: Clip, tmp_path: Path) -> None:
    source = clip("raw.avi", frames=5, codec="rawvideo", pix_fmt=pixels)
    with pytest.raises(ExportError, match=r"MKV cannot hold its codec rawvideo .*write exact clips") as raised:
        copy_clip(source, 0.0, 1.0, tmp_path / "clip.mkv")
    assert raised.value.notice.fields["path"] == source
    encode_clip(source, 0.0, 1.0, tmp_path / "exact.mp4")
    with VideoReader(tmp_path / "exact.mp4") as reader:
        assert [number_of(frame.image) for frame in reader] == list(range(5))


@pytest.mark.parametrize(("codec", "name"), [("libmp3lame", "mp3"), ("aac", "aac"), ("ac3", "ac3")])
@pytest.mark.parametrize("exact", [False, True], ids=["copied", "exact"])
def test_the_sound_of_a_clip_lasts_as_long_as_its_pictures(codec: str, name: str, exact: bool, tmp_path: Path) -> None:
    source = make_sound(tmp_path / "a.mkv", 4.0, codec)
    (encode_clip if exact else copy_clip)(source, 1.2, 2.5, tmp_path / "clip.mp4")
    with av.open(str(tmp_path / "clip.mp4")) as container:
        (track,) = container.streams.audio
        assert track.codec_context.codec.canonical_name == name
        ends = [
            max(float((packet.pts + packet.duration) * packet.time_base) for packet in container.demux(stream) if packet.pts is not None)
            for stream in (container.streams.video[0], track)
            if container.seek(0) is None
        ]
    length = 1152 / 48_000 if name == "mp3" else 1536 / 48_000  # of a packet, seconds
    assert ends[0] == pytest.approx(1.3, abs=0.01)
    assert ends[0] - length / 2 <= ends[1] <= ends[0] + 2 * length


def test_sound_that_only_matroska_can_hold_is_copied_there_and_named_elsewhere(tmp_path: Path) -> None:
    name = "pcm_s16le"
    source = make_sound(tmp_path / "a.mkv", 2.0, name)
    assert copy_clip(source, 0.0, 1.0, tmp_path / "clip.mkv") == ""
    with av.open(str(tmp_path / "clip.mkv")) as container:
        (track,) = container.streams.audio
        assert track.codec_context.codec.canonical_name == name
        assert sum(packet.size for packet in container.demux(track)) > 0
    notes: list[Notice] = []
    cuts = tuple(Cut(str(tmp_path / f"{number}.mp4"), 0.0, 1.0) for number in range(2))
    for exact in (False, True):
        write_cuts(CutsJob(str(source), cuts, exact), notes.append, lambda _: None, Clock())
    assert notes == 4 * [Notice("store.sound_left_out", path=source, codec=name)]
    with av.open(cuts[0].target) as container:
        assert not container.streams.audio


@pytest.mark.parametrize(
    ("end", "frames", "length"),
    [(1.3, 10, 1.2), *(pytest.param(*each, marks=pytest.mark.slow) for each in ((1.0, 9, 0.9), (4.0, 11, 3.9), (9.0, 13, 8.5)))],
)
@pytest.mark.parametrize("name", ["v.mp4", "v.mkv"])
def test_the_last_picture_of_an_exact_clip_is_shown_as_long_as_in_the_video(
    name: str, end: float, frames: int, length: float, clip: Clip, tmp_path: Path
) -> None:
    """Ten frames a second, then pictures of two, five and 0.5 seconds. The clip begins with the second frame."""
    times = [*range(11), 30, 80, 85]
    source = clip(name, frames=14, rate=10, pts=times, gop=5)
    encode_clip(source, 0.1, end, tmp_path / "exact.mp4")
    with av.open(str(tmp_path / "exact.mp4")) as container:
        assert container.duration is not None
        assert len(list(container.decode(video=0))) == frames
        assert container.duration / 1e6 == pytest.approx(length, abs=0.01)


def test_what_a_video_does_not_have_cannot_be_cut_out(clip: Clip, tmp_path: Path) -> None:
    source = clip("a.mp4", frames=30)
    with pytest.raises(ExportError, match=r"a\.mp4 has no frame from 50\.000 s to 60\.000 s that can be decoded"):
        encode_clip(source, 50, 60, tmp_path / "clip.mp4")
    with pytest.raises(ExportError, match=r"a\.mp4: the frame at 0\.013 s was not found again: detect again"):
        write_still(source, 0.013, tmp_path / "still.jpg")


def test_a_video_without_a_keyframe(clip: Clip, tmp_path: Path) -> None:
    """The first packet, which is the only keyframe, is missing."""
    with av.open(str(clip("a.mkv", frames=12, codec="mpeg2video"))) as given, av.open(str(tmp_path / "b.mkv"), "w") as output:
        track = output.add_stream_from_template(given.streams.video[0])
        for packet in islice((packet for packet in given.demux(video=0) if packet.size), 1, None):
            packet.stream = track
            output.mux(packet)
    with pytest.raises(ExportError, match=r"b\.mkv has no frame from which a clip can begin: repair the file"):
        copy_clip(tmp_path / "b.mkv", 0.0, 1.0, tmp_path / "clip.mkv")


def test_pictures_that_no_file_can_hold(tmp_path: Path) -> None:
    with pytest.raises(ExportError, match=r"a picture cannot be encoded as \.jpg"):
        write_picture(np.zeros((1, 70_000, 3), np.uint8), tmp_path / "a.jpg")
    planes = np.zeros((16, 70_000), np.uint8), np.zeros((8, 35_000), np.uint8), np.zeros((8, 35_000), np.uint8)
    with pytest.raises(ExportError, match="the video cannot be encoded"):
        VideoWriter(tmp_path / "a.mp4", (70_000, 16), Fraction(25), Fraction(1, 25)).write(planes, Fraction(0))


def test_a_raw_stream_is_said_to_have_no_times(clip: Clip, tmp_path: Path) -> None:
    with pytest.raises(ExportError, match="a raw stream has no times"):
        copy_clip(clip("a.h264", frames=30), 0.4, 0.8, tmp_path / "clip.mkv")


def test_clips_behind_the_restart_of_a_broadcast_s_clock_hold_their_frames(tmp_path: Path) -> None:
    source = joined(tmp_path / "a.ts", 40, 120, size=(96, 64), gop=20)
    with VideoReader(source) as reader:
        times = {number_of(frame.image): frame.ref.pts for frame in reader}
    still = Cut(str(tmp_path / "still.jpg"), times[66])
    reports: list[int] = []
    for exact, name in ((False, "copied.mp4"), (True, "exact.mp4")):
        job = CutsJob(str(source), (Cut(str(tmp_path / name), times[63], times[70]), still), exact)
        assert write_cuts(job, lambda _: None, reports.append, Clock()) == 2
    assert reports.count(0) > 2 * len(times), "the whole file is read first, and a watchdog waits for reports"
    with VideoReader(tmp_path / "exact.mp4") as reader:
        assert [number_of(frame.image) for frame in reader] == list(range(63, 70))
    with VideoReader(tmp_path / "copied.mp4") as reader:
        assert [number_of(frame.image) for frame in reader][:10] == list(range(60, 70))
    with VideoReader(tmp_path / "still.jpg") as reader:
        assert number_of(next(reader).image) == 66
