"""Frames are taken as planes where NVDEC gives the same ones, and as pictures elsewhere."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from av.video.frame import VideoFrame
from av.video.reformatter import ColorRange, Colorspace

from framefleet.engine.detection.frame_format import PixelFormat, Planes
from framefleet.engine.media.cpu_decoding import decode, decode_planes
from framefleet.engine.media.picture import Converter
from framefleet.engine.media.planes import PlaneReader, picture_of
from framefleet.engine.media.probe import probe
from tests.engine.media.conftest import Clip
from tests.support.devices.surfaces import picture


def frame_of(pix_fmt: str, width: int = 96, height: int = 64) -> VideoFrame:
    frame = VideoFrame.from_ndarray(picture(width, height, seed=1), format="rgb24").reformat(
        format=pix_fmt, dst_colorspace=Colorspace.ITU709, dst_color_range=ColorRange.MPEG
    )
    frame.colorspace, frame.color_range = Colorspace.ITU709, ColorRange.MPEG
    return frame


@pytest.mark.parametrize("pix_fmt", ["yuv420p", "yuv420p10le", "yuv420p12le"])
@pytest.mark.parametrize("size", [(96, 64), (98, 66)])
def test_planes_give_the_same_picture(pix_fmt: str, size: tuple[int, int]) -> None:
    frame = frame_of(pix_fmt, *size)
    planes = PlaneReader(Converter(None), oblong_only=False)(frame)
    assert isinstance(planes, Planes)
    assert (planes.format.format, planes.format.depth) == (PixelFormat.I420, 8)
    assert planes.u.shape == planes.v.shape == (size[1] // 2, size[0] // 2)
    np.testing.assert_array_equal(picture_of(planes), Converter(None)(frame))


@pytest.mark.parametrize("pix_fmt", ["yuv422p", "yuv444p", "rgb24", "gray", "yuv420p16le"])
def test_other_formats_become_pictures(pix_fmt: str) -> None:
    image = PlaneReader(Converter(None), oblong_only=False)(frame_of(pix_fmt))
    assert isinstance(image, np.ndarray)
    assert image.shape == (64, 96, 3)


def test_a_stream_may_change_its_size_and_its_colours() -> None:
    read = PlaneReader(Converter(Fraction(2)), oblong_only=False)
    formats = []
    for size, colours in (((96, 64), Colorspace.ITU709), ((64, 32), Colorspace.ITU709), ((64, 32), Colorspace.ITU601)):
        frame = frame_of("yuv420p", *size)
        frame.colorspace = colours
        planes = read(frame)
        assert isinstance(planes, Planes)
        layout = planes.format
        formats.append((layout.stored_width, layout.stored_height, layout.width, layout.height, layout.matrix))
    assert formats == [(96, 64, 192, 64, "bt709"), (64, 32, 128, 32, "bt709"), (64, 32, 128, 32, "bt601")]


@pytest.mark.parametrize(
    ("options", "planes", "oblong"),
    [
        ({}, True, False),
        ({"rotation": 90}, True, False),
        ({"aspect": Fraction(4, 3)}, True, True),
        ({"transfer": 16, "colorspace": 9}, False, False),
        ({"pix_fmt": "yuv444p"}, False, False),
    ],
)
def test_decoding_for_inference(options: dict[str, Any], planes: bool, oblong: bool, clip: Clip) -> None:
    """HDR video is mapped as pictures. Pictures with oblong pixels would be resized twice."""
    info = probe(clip("a.mkv", frames=14, **options))
    (segment, *_) = info.segments
    pictures = list(decode(info, segment))
    for oblong_only, expected in ((False, planes), (True, oblong)):
        found = list(decode_planes(info, segment, oblong_only=oblong_only))
        assert [item.ref.pts for item in found] == [item.ref.pts for item in pictures]
        assert {isinstance(item.image, Planes) for item in found} == {expected}
        if isinstance(found[0].image, Planes):
            assert (found[0].image.format.width, found[0].image.format.height) == (info.width, info.height)


def test_frames_outlive_their_file(clip: Clip) -> None:
    """The decoder reuses its memory only when nothing refers to a frame any more."""
    info = probe(clip("a.mkv", frames=60))
    kept = [item for segment in info.segments for item in decode_planes(info, segment)]
    assert all(isinstance(item.image, Planes) for item in kept)
    again = [item for segment in info.segments for item in decode_planes(info, segment)]
    for first, second in zip(kept, again, strict=True):
        np.testing.assert_array_equal(first.image.luma, second.image.luma)  # type: ignore[union-attr]
    assert len({item.image.luma[:8].tobytes() for item in kept}) > 1  # type: ignore[union-attr]
