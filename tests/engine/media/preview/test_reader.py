"""The preview's reader seeks exactly to the frame that is shown at a time."""

from __future__ import annotations

import random
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from framefleet.engine.media.cpu_decoding import decode
from framefleet.engine.media.preview.reader import MAX_PIXELS, Stills, VideoReader, for_screen, shown_size
from framefleet.engine.media.probe import probe
from framefleet.engine.media.types import DecodedFrame
from framefleet.engine.notices import SourceError
from tests.engine.media.conftest import Clip
from tests.support.faults.counts import others_slow
from tests.support.media import joined, make_video, number_of, rewrap, truncated, write_pictures

sides = st.integers(16, 4000)


@given(sides, sides, sides, sides)
def test_a_picture_fills_its_canvas_up_to_a_maximum_size(width: int, height: int, wide: int, high: int) -> None:
    shown = shown_size((width, height), (wide, high))
    assert shown[0] <= max(wide, 1) + 1
    assert shown[1] <= max(high, 1) + 1
    assert shown[0] * shown[1] <= max(MAX_PIXELS, width * height) * 1.01
    if wide * high < MAX_PIXELS:
        assert abs(shown[0] - wide) <= 1 or abs(shown[1] - high) <= 1


@pytest.mark.parametrize("size", [(40, 20), (100, 50), (10, 10), (17, 900)])
def test_colours_come_in_the_screen_s_order(size: tuple[int, int]) -> None:
    image = np.zeros((20, 40, 3), np.uint8)
    image[...] = (10, 120, 250)
    shown = for_screen(image, size)
    assert (shown.shape[1], shown.shape[0]) == shown_size((40, 20), size)
    assert (shown == (250, 120, 10, 255)).all()
    assert shown.flags.c_contiguous


@pytest.mark.parametrize("size", [(40, 20), (100, 50), (10, 10)])
@pytest.mark.parametrize("shared", [False, True])
def test_a_picture_that_is_ready_for_the_screen_is_only_scaled(size: tuple[int, int], shared: bool) -> None:
    image = np.zeros((20, 40, 4), np.uint8)
    image[...] = (250, 120, 10, 255)
    memory = memoryview(bytearray(4 * 100 * 50)) if shared else None
    shown = for_screen(image, size, memory)
    assert (shown.shape[1], shown.shape[0]) == shown_size((40, 20), size)
    assert (shown == (250, 120, 10, 255)).all()
    assert memory is None or memory[:4].tobytes() == bytes((250, 120, 10, 255))


def test_pixels_of_padded_rows_are_made_contiguous() -> None:
    padded = np.zeros((20, 48, 4), np.uint8)[:, :40]
    assert for_screen(padded, (40, 20)).flags.c_contiguous


VARIABLE = [number * 33 + number % 7 * 3 + number // 50 * 900 for number in range(150)]
CLIPS: dict[str, dict[str, Any]] = {
    "a.mp4": {"bframes": 3, "open_gop": True, "gop": 25},
    "a.mkv": {"bframes": 3, "open_gop": True, "gop": 25, "audio": True},
    "a.ts": {"bframes": 3, "open_gop": True, "gop": 25, "audio": True},
    "a.flv": {"bframes": 3},
    "a.avi": {"bframes": 2},
    "a.h264": {"bframes": 2},
    "a.webm": {"codec": "libvpx-vp9", "gop": 40, "options": {"deadline": "realtime", "cpu-used": "8"}},
    "v.mp4": {"bframes": 2, "pts": [500 + time for time in VARIABLE], "time_base": Fraction(1, 1000)},
    "one.mp4": {"gop": 9999},
}


@pytest.mark.parametrize("name", others_slow(CLIPS, "a.mkv", "a.ts", "a.h264", "v.mp4"))
def test_seeking_lands_on_the_frame_shown_then(name: str, clip: Clip) -> None:
    with VideoReader(clip(name, frames=150, **CLIPS[name])) as reader:
        times = [frame.ref.pts for frame in reader]
        assert len(times) == reader.info.frames == 150
        rng = random.Random(name)
        wanted = [rng.uniform(times[0] - 0.2, times[-1] + 0.4) for _ in range(12)] + times[::17] + [-5.0, 1e6]
        for time in wanted:
            reader.seek(time)
            expected = max((number for number in range(150) if times[number] <= time), default=0)
            first = next(reader)
            assert (first.ref.pts, number_of(first.image)) == (times[expected], expected), time
            assert [number_of(frame.image) for frame, _ in zip(reader, range(3), strict=False)] == list(range(150))[
                expected + 1 : expected + 4
            ]
            reader.seek_before(times[expected])
            assert number_of(next(reader).image) == max(expected - 1, 0)


def test_the_frame_before_one_after_damage_is_the_last_one_before_the_damage(tmp_path: Path) -> None:
    whole = make_video(tmp_path / "whole.mkv", 60, (96, 64), gop=12)
    with VideoReader(
        rewrap(whole, tmp_path / "damaged.mkv", lambda number, data, _: b"\0" * len(data) if 24 <= number < 36 else data)
    ) as reader:
        times = {number_of(frame.image): frame.ref.pts for frame in reader}
        after = min(number for number in times if number >= 24)
        reader.seek_before(times[after])
        assert number_of(next(reader).image) == 23
        assert next(reader).ref.pts == times[after]


def test_a_still_is_never_later_than_asked(tmp_path: Path) -> None:
    path = make_video(tmp_path / "a.mpg", 60, (96, 64), codec="mpeg2video", gop=12)
    with VideoReader(path) as reader, Stills() as stills:
        for frame in list(reader)[::7]:
            still = stills.picture(path, (96, 64), frame.ref.pts)
            assert still is not None
            assert still.ref.pts <= frame.ref.pts


def test_an_exact_still_is_the_frame_at_its_time(tmp_path: Path) -> None:
    path = make_video(tmp_path / "a.mp4", 60, (96, 64), gop=12)
    with VideoReader(path) as reader, Stills() as stills:
        for frame in list(reader)[::7]:
            exact = stills.picture(path, (96, 64), frame.ref.pts, exact=True)
            assert exact is not None
            assert exact.ref.pts == frame.ref.pts
            assert number_of(exact.image) == number_of(frame.image)


def test_seeking_after_the_restart_of_a_broadcast_s_clock(tmp_path: Path) -> None:
    with VideoReader(joined(tmp_path / "a.ts", 60, 90, size=(96, 64))) as reader:
        times = {number_of(frame.image): frame.ref.pts for frame in reader}
        for number in (140, 10, 100):
            reader.seek(times[number])
            assert number_of(next(reader).image) == number


def test_pictures_are_scaled_down_to_fit_and_never_up(clip: Clip) -> None:
    path = clip("a.mp4", frames=5, size=(320, 240), rotation=90)
    for max_size, shape in (((120, 120), (120, 90, 4)), ((60, 900), (80, 60, 4)), ((4000, 4000), (320, 240, 4)), (None, (320, 240, 4))):
        with VideoReader(path, max_size=max_size) as reader:
            assert next(reader).image.shape == shape


def test_its_pictures_have_the_colours_of_decoded_frames_in_the_order_of_the_screen(clip: Clip) -> None:
    path = clip("a.mp4", frames=3, size=(320, 240), picture=lambda _, size: np.full((size[1], size[0], 3), (200, 90, 30), np.uint8))
    info = probe(path)
    decoded = next(iter(decode(info, info.segments[0])))
    assert isinstance(decoded, DecodedFrame)
    for max_size in (None, (160, 120)):
        with VideoReader(path, max_size) as reader:
            pixel = next(reader).image[20, 20].tolist()
        assert pixel == pytest.approx([*decoded.image[20, 20, ::-1].tolist(), 255], abs=2)


def test_a_folder_of_pictures_is_played_by_position(tmp_path: Path) -> None:
    write_pictures(tmp_path, 7)
    with VideoReader(tmp_path, max_size=(32, 32)) as reader:
        assert [number_of(frame.image) for frame in reader] == list(range(7))
        for position, expected in ((4, 4), (-1, 0), (99, 6)):
            reader.seek(position)
            frame = next(reader)
            assert (frame.ref.pts, frame.ref.name, frame.image.shape) == (float(expected), f"{expected}.png", (24, 32, 3))


def test_the_readable_frames_of_damaged_videos_are_played(clip: Clip, tmp_path: Path) -> None:
    path = truncated(clip("a.mkv", frames=150, bframes=2), tmp_path / "a.mkv", 0.6)
    with VideoReader(path) as reader:
        numbers = [number_of(frame.image) for frame in reader]
        assert 60 < len(numbers) < 110
        assert numbers == sorted(numbers)
        reader.seek(1.0)
        assert number_of(next(reader).image) == 30


def test_close_can_be_repeated_and_ends_the_iteration(clip: Clip) -> None:
    reader = VideoReader(clip("a.mp4", frames=60))
    next(reader)
    reader.close()
    reader.close()
    assert next(reader, None) is None


def test_what_cannot_be_probed_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="does not exist"):
        VideoReader(tmp_path / "gone.mp4")
