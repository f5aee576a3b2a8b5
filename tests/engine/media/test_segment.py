"""Sampled frames are frames of the whole video, with its indices and times, chosen by a simple rule."""

from __future__ import annotations

import itertools
import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from framefleet.engine.media.container.video_file import VideoFile
from framefleet.engine.media.cpu_decoding import decode
from framefleet.engine.media.probe import probe
from framefleet.engine.media.segment import SegmentTable
from framefleet.engine.media.types import DecodedFrame, DecodeFailure, Sampling, SourceInfo, Wanted
from framefleet.engine.notices import SourceError
from framefleet.engine.settings.kinds import Moment, Moments
from tests.engine.media.conftest import Clip
from tests.engine.media.test_cpu_decoding import CUTTABLE, FRAMES, UNEVEN, WHOLE
from tests.support.faults.counts import others_slow
from tests.support.media import damaged, make_video, number_of


@pytest.fixture(scope="module")
def open_gop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """30 frames/s; the frames from 0.7 s to the keyframe at 0.733 s are stored behind this keyframe."""
    return make_video(tmp_path_factory.mktemp("open") / "open.mkv", 120, (192, 160), bframes=3, gop=22, open_gop=True)


@pytest.mark.parametrize("every", ["1", "1s", "7"])
def test_frames_before_a_keyframe_need_the_keyframe_before_it(open_gop: Path, every: str) -> None:
    info = probe(open_gop, Sampling(begin=Moments().read("0.7s"), every=Moments().read(every)))
    with VideoFile(open_gop) as file:
        table = SegmentTable(file, info.segments[0])
        positions, indices = table.wanted()
        runs = table.runs(positions)
    assert indices[0] == 21
    assert (runs[0].first, runs[0].part.start) == (0, info.segments[0].start)
    assert all(one.last < other.first for one, other in itertools.pairwise(runs))


CLIPS: dict[str, tuple[str, dict[str, Any]]] = {
    **CUTTABLE,
    **WHOLE,
    "uneven, b-frames, open gop": ("u.mkv", {"bframes": 3, "open_gop": True, "gop": 20, "pts": UNEVEN, "time_base": Fraction(1, 1000)}),
}
SAMPLINGS = [
    ("", "", "0.4s"),
    ("", "", "7"),
    ("2.5s", "4.2s", ""),
    ("50", "131", ""),
    ("1.01s", "", "0.7s"),
    ("1.01s", "", "25"),
    ("40", "5s", "0.9s"),
    ("", "33", "0.25s"),
    ("100s", "", ""),
    ("500", "", "1s"),
    ("0", "1", "1"),
]


def sampling(begin: str, end: str, every: str) -> Sampling:
    return Sampling(*(Moments().read(text) if text else None for text in (begin, end, every)))


def outcomes(info: SourceInfo, **options: int) -> list[DecodedFrame | DecodeFailure]:
    return [outcome for segment in info.segments for outcome in decode(info, segment, **options)]


def chosen(times: list[float], last: float, wanted: Sampling) -> list[int]:
    """Indices of the wanted frames, as the guide states the rule. times: of all frames. last: the end of the last frame, seconds."""
    times = [time - times[0] for time in times]
    ends = [*times[1:], last]

    def seconds(moment: Moment | None) -> float | None:
        return None if moment is None or moment.seconds is None else float(moment.seconds)

    begin, end, every = (seconds(moment) for moment in (wanted.begin, wanted.end, wanted.every))
    tiny = 1e-7
    part = [
        index
        for index, (time, after) in enumerate(zip(times, ends, strict=True))
        if not (wanted.begin and wanted.begin.frames is not None and index < wanted.begin.frames)
        and not (wanted.end and wanted.end.frames is not None and index >= wanted.end.frames)
        and not (begin is not None and after <= begin + tiny)
        and not (end is not None and time >= end - tiny)
    ]
    if not part or wanted.every is None:
        return part
    if every is None:
        return part[:: wanted.every.frames]
    origin = begin if begin is not None else times[part[0]]
    ticks = [origin + number * every for number in range(1 + int((last - origin) / every))]
    if end is not None:
        ticks = [tick for tick in ticks if tick < end - tiny]
    return [index for index in part if any(times[index] - tiny <= tick < ends[index] - tiny for tick in ticks)]


def check(path: Path, wanted: Sampling, rate: float, whole: list[DecodedFrame | DecodeFailure]) -> None:
    """Compare the samples with the whole video. rate: of the video, frames/s. whole: its frames."""
    times = [outcome.ref.pts for outcome in whole]
    expected = chosen(times, times[-1] - times[0] + 0.9 / rate, wanted)
    if wanted.begin is not None and not expected:
        with pytest.raises(SourceError, match=rf"{re.escape(str(path))} has {FRAMES} frames.* lies behind its end"):
            probe(path, wanted)
        return
    info = probe(path, wanted)
    found = outcomes(info, threads=2)
    assert [outcome.ref.index for outcome in found] == expected
    assert [outcome.ref.pts for outcome in found] == [times[index] for index in expected]
    for index, outcome in zip(expected, found, strict=True):
        reference = whole[index]
        assert isinstance(outcome, DecodedFrame) == isinstance(reference, DecodedFrame), (index, outcome)
        if isinstance(outcome, DecodedFrame) and isinstance(reference, DecodedFrame):
            assert number_of(outcome.image) == number_of(reference.image)
    assert info.wanted is not None
    assert 0.5 * len(found) - 3 <= info.wanted <= 1.5 * len(found) + 3, "an estimate"
    assert bool(info.wanted) == bool(found)


SHORT = ("open gop ts", "hevc open gop mkv", "only keyframes", "variable rate mkv", "avi with b-frames", "uneven, b-frames, open gop")


@pytest.mark.parametrize("name", others_slow(CLIPS, *SHORT))
def test_samples_are_frames_of_the_whole_video(name: str, clip: Clip) -> None:
    file, options = CLIPS[name]
    path = clip(file, frames=FRAMES, **options)
    info = probe(path)
    whole = outcomes(info)
    for each in SAMPLINGS:
        check(path, sampling(*each), info.rate or 30, whole)


def test_groups_of_pictures_without_samples_are_not_decoded(clip: Clip, monkeypatch: pytest.MonkeyPatch) -> None:
    decoded = []
    decode_packet = VideoFile.decode

    def count(self: VideoFile, packet: Any) -> list[Any]:
        frames = list(decode_packet(self, packet))
        decoded.extend(frames)
        return frames

    monkeypatch.setattr(VideoFile, "decode", count)
    info = probe(clip("groups.mp4", frames=FRAMES, gop=10), sampling("", "", "50"))
    assert [outcome.ref.index for outcome in outcomes(info)] == [0, 50, 100, 150]
    assert 4 <= len(decoded) < FRAMES / 4


def test_segments_without_samples_are_left_out(clip: Clip) -> None:
    path = clip("groups.mp4", frames=FRAMES, gop=10)
    part = probe(path, sampling("50", "60", "")).segments
    assert 1 <= len(part) < len(probe(path).segments)
    assert sum(segment.frames for segment in part) == 10


def test_the_announced_number_of_samples_is_exact_in_segments_that_the_interval_does_not_divide() -> None:
    """Rounding up in each segment announced 30 frames here."""
    segments = [Wanted(75 * number, 75, begin_pts=Fraction(0), interval=Fraction(1000)) for number in range(10)]
    counts = [wanted.estimate(2500 * number, 2500 * (number + 1)) for number, wanted in enumerate(segments)]
    assert counts == [3, 2] * 5


def test_damaged_frames_fail_as_in_the_whole_video(clip: Clip, tmp_path: Path) -> None:
    source = clip("d.flv", frames=FRAMES, bframes=2, gop=20)
    failed = 0
    for number in range(20, 40, 3):
        path = damaged(source, tmp_path / "d.flv", [(number / 60, 4)], fill=None)
        # with several threads, FFmpeg may conceal a frame that refers to a damaged one, or report it
        whole, samples = (damage(outcomes(probe(path, wanted), threads=1)) for wanted in (None, sampling("", "", "1")))
        assert samples == whole
        failed += any(whole)
    assert failed > 3


def damage(found: list[DecodedFrame | DecodeFailure]) -> list[bool]:
    """Whether each frame failed."""
    return [failed for outcome in found for failed in ([True] * outcome.count if isinstance(outcome, DecodeFailure) else [False])]
