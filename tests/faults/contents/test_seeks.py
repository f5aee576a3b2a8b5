"""Exact seeks: the picture at a time is the one that a decode of the whole file shows then."""

from __future__ import annotations

from bisect import bisect_right
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import pytest

from framefleet.engine.media.cpu_decoding import decode
from framefleet.engine.media.preview.reader import VideoReader
from framefleet.engine.media.probe import probe
from framefleet.engine.media.types import DecodedFrame, Sampling
from framefleet.engine.settings.kinds import Moment
from tests.support.faults.counts import others_slow, short_and_long
from tests.support.faults.seeds import seeded
from tests.support.media import joined, make_video, number_of

FRAMES = 240
UNEVEN = [number * 33 + number % 7 * 3 + number // 50 * 900 for number in range(FRAMES)]
X265 = {"preset": "ultrafast", "x265-params": "log-level=none:open-gop=1:bframes=4:keyint=25:min-keyint=25:scenecut=0"}
VP9 = {"deadline": "realtime", "cpu-used": "8"}
WRAP = 2**33 / 90000  # seconds after which the clock of an MPEG-TS begins again at 0

CLIPS: dict[str, tuple[str, dict[str, Any]]] = {
    "constant rate": ("a.mp4", {"gop": 25}),
    "b-frames": ("b.mp4", {"bframes": 3, "gop": 25}),
    "open gop, mp4": ("c.mp4", {"bframes": 3, "open_gop": True, "gop": 25}),
    "open gop, mkv": ("d.mkv", {"bframes": 3, "open_gop": True, "gop": 25}),
    "open gop, ts": ("e.ts", {"bframes": 3, "open_gop": True, "gop": 25, "audio": True}),
    "hevc, open gop": ("f.mp4", {"codec": "libx265", "options": X265}),
    "vp9": ("g.webm", {"codec": "libvpx-vp9", "gop": 40, "options": VP9}),
    "variable rate, mkv": ("h.mkv", {"bframes": 2, "pts": UNEVEN, "time_base": Fraction(1, 1000)}),
    "variable rate, mp4": ("i.mp4", {"bframes": 2, "pts": [500 + time for time in UNEVEN], "time_base": Fraction(1, 1000)}),
    "edit list": ("j.mp4", {"bframes": 3, "gop": 25, "pts": range(-40, FRAMES - 40), "muxer": {"avoid_negative_ts": "disabled"}}),
    "ts whose clock wraps": ("k.ts", {"bframes": 2, "gop": 25, "muxer": {"output_ts_offset": f"{WRAP - 4:.3f}"}}),
    "avi": ("l.avi", {"codec": "mpeg4", "gop": 25}),
    "avi with b-frames": ("m.avi", {"codec": "mpeg4", "options": {"bf": "2"}}),
}
SHORT = ("open gop, ts", "hevc, open gop", "vp9", "variable rate, mkv", "edit list", "avi with b-frames")


def make(folder: Path, name: str) -> Path:
    file, options = CLIPS[name]
    return make_video(folder / file, FRAMES, (96, 64), **options)


def whole(path: Path) -> tuple[list[float], list[int]]:
    """Times and numbers of all frames, in order."""
    info = probe(path)
    outcomes = [outcome for segment in info.segments for outcome in decode(info, segment)]
    frames = [outcome for outcome in outcomes if isinstance(outcome, DecodedFrame)]
    broken = 0 if info.seekable else 1  # the decoder marks the last frame before a restart of the clock as damaged
    assert len(frames) >= len(outcomes) - broken
    return [frame.ref.pts for frame in frames], [number_of(frame.image) for frame in frames]


def check_seeks(path: Path, count: int, first: int = 0) -> None:
    """Seek ``count`` times in the preview's reader. first: the number in the first picture."""
    chance = seeded()
    times, numbers = whole(path)
    assert set(numbers) <= set(range(first, first + FRAMES + 40))
    assert numbers == sorted(set(numbers))
    assert len(set(times)) == len(times)
    with VideoReader(path) as reader:
        for _ in range(count):
            place = chance.randrange(len(times))
            after = times[place + 1] if place + 1 < len(times) else times[place] + 0.02
            target = chance.choice([times[place], times[place] + chance.random() * 0.98 * (after - times[place])])
            reader.seek(target)
            frame = next(reader)
            expected = bisect_right(times, target + 1e-6) - 1
            assert (number_of(frame.image), frame.ref.pts) == (numbers[expected], times[expected]), f"seek to {target}"


@short_and_long(8, 500, "count")
@pytest.mark.parametrize("name", others_slow(CLIPS, *SHORT))
def test_seeks_are_exact(name: str, count: int, tmp_path: Path) -> None:
    path = make(tmp_path, name)
    check_seeks(path, count, first=40 if name == "edit list" else 0)
    if name == "ts whose clock wraps":
        with av.open(str(path)) as container:
            assert container.start_time is not None
            assert container.start_time < 0 < container.start_time + (container.duration or 0), "FFmpeg counts from the wrap on"


@short_and_long(8, 500, "count")
def test_seeks_are_exact_where_the_clock_begins_again(count: int, tmp_path: Path) -> None:
    check_seeks(joined(tmp_path / "a.ts", 120, 130, size=(96, 64), gop=25), count)


@short_and_long(8, 500, "count")
@pytest.mark.parametrize("name", others_slow(CLIPS, "open gop, mp4", "ts whose clock wraps"))
def test_single_frames_of_a_run_are_exact(name: str, count: int, tmp_path: Path) -> None:
    chance = seeded()
    path = make(tmp_path, name)
    times, numbers = whole(path)
    for _ in range(max(4, count // 10)):
        place = chance.randrange(len(times))
        info = probe(path, Sampling(Moment(frames=place), Moment(frames=place + 1)))
        (frame,) = (frame for segment in info.segments for frame in decode(info, segment))
        assert isinstance(frame, DecodedFrame)
        assert (frame.ref.index, frame.ref.pts, number_of(frame.image)) == (place, times[place], numbers[place])
