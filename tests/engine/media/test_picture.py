"""Pictures are upright, have square pixels and the right colours."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import av
import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

from framefleet.engine.media.cpu_decoding import decode
from framefleet.engine.media.probe import probe
from framefleet.engine.types import Image
from tests.engine.media.conftest import Clip

RED, GREEN, BLUE, YELLOW = (200, 40, 40), (40, 180, 60), (40, 60, 200), (210, 200, 50)


def quarters(_number: int, size: tuple[int, int]) -> NDArray[np.uint8]:
    """Red, green / blue, yellow."""
    width, height = size
    image = np.empty((height, width, 3), np.uint8)
    image[: height // 2, : width // 2], image[: height // 2, width // 2 :] = RED, GREEN
    image[height // 2 :, : width // 2], image[height // 2 :, width // 2 :] = BLUE, YELLOW
    return image


def first(clip: Clip, name: str = "a.mp4", **options: Any) -> Image:
    info = probe(clip(name, **{"frames": 3, "picture": quarters, "options": {"crf": "1", "preset": "ultrafast"}, **options}))
    image = next(iter(decode(info, info.segments[0]))).image  # type: ignore[union-attr]
    assert image.shape == (info.height, info.width, 3)
    assert image.dtype == np.uint8
    assert image.flags.c_contiguous
    return image


def corners(image: Image) -> list[tuple[int, ...]]:
    height, width = image.shape[:2]
    return [tuple(int(value) for value in image[y * height // 4, x * width // 4]) for y in (1, 3) for x in (1, 3)]


def close(found: list[tuple[int, ...]], expected: list[tuple[int, ...]], tolerance: int = 6) -> None:
    assert np.abs(np.array(found) - np.array(expected)).max() <= tolerance, (found, expected)


def test_the_clip_is_upright_and_has_the_right_colours(clip: Clip) -> None:
    close(corners(first(clip)), [RED, GREEN, BLUE, YELLOW])


@pytest.mark.parametrize("mirrored", [False, True])
@pytest.mark.parametrize("degrees", [0, 90, 180, 270])
def test_rotation_and_mirroring(degrees: int, mirrored: bool, clip: Clip) -> None:
    expected = np.rot90(quarters(0, (96, 64)), degrees // 90)
    if mirrored:
        expected = expected[:, ::-1]
    image = first(clip, rotation=degrees, hflip=mirrored)
    assert image.shape == expected.shape
    close(corners(image), corners(expected))


def test_a_picture_upside_down_and_mirrored_is_only_mirrored_vertically(clip: Clip) -> None:
    """A matrix without any rotation angle."""
    close(corners(first(clip, rotation=180, hflip=True)), [BLUE, YELLOW, RED, GREEN])


@pytest.mark.parametrize("degrees", [90, 180, 270])
def test_opencv_turns_the_same_way(degrees: int, clip: Clip) -> None:
    path = clip("a.mp4", frames=3, picture=quarters, rotation=degrees)
    info = probe(path)
    image = next(iter(decode(info, info.segments[0]))).image  # type: ignore[union-attr]
    assert np.array_equal(image, cv2.VideoCapture(str(path)).read()[1][..., ::-1])


@pytest.mark.parametrize(("aspect", "shape"), [(Fraction(4, 3), (64, 128)), (Fraction(3, 4), (85, 96)), (Fraction(1, 1000), (64, 96))])
def test_pixels_become_square(aspect: Fraction, shape: tuple[int, int], clip: Clip) -> None:
    image = first(clip, aspect=aspect)
    assert image.shape[:2] == shape
    close(corners(image), [RED, GREEN, BLUE, YELLOW])


BT709, UNSPECIFIED, BT601, BT2020, LIMITED, FULL = 1, 2, 6, 9, 1, 2


@pytest.mark.parametrize("colorspace", [BT709, BT601, BT2020])
@pytest.mark.parametrize("color_range", [LIMITED, FULL])
def test_matrix_and_range_are_those_of_the_stream(colorspace: int, color_range: int, clip: Clip) -> None:
    close(corners(first(clip, colorspace=colorspace, color_range=color_range)), [RED, GREEN, BLUE, YELLOW])


@pytest.mark.parametrize(("size", "matrix"), [((1280, 64), BT709), ((96, 720), BT709), ((96, 64), BT601)])
def test_untagged_video_of_hd_size_is_bt709(size: tuple[int, int], matrix: int, clip: Clip) -> None:
    options = {"size": size, "frames": 3, "picture": quarters, "colorspace": matrix, "tagged": False}
    with av.open(str(clip("a.mp4", options={"crf": "1", "preset": "ultrafast"}, **options))) as container:
        assert next(container.decode(video=0)).colorspace == UNSPECIFIED
    close(corners(first(clip, **options)), [RED, GREEN, BLUE, YELLOW])


@pytest.mark.parametrize(
    ("name", "codec", "pix_fmt"),
    [
        ("a.mp4", "libx264", "yuv422p"),
        ("a.mp4", "libx264", "yuv444p"),
        ("a.mkv", "libx264", "yuv420p10le"),
        ("a.mkv", "libx265", "yuv422p10le"),
        ("a.mov", "prores_ks", "yuv444p10le"),
        ("a.avi", "mjpeg", "yuvj420p"),
        ("a.mkv", "ffv1", "bgr0"),
        ("a.mkv", "ffv1", "yuv420p16le"),
        ("a.mov", "png", "rgba"),
        ("a.mov", "png", "rgb48be"),
        ("a.mkv", "ffv1", "gbrp10le"),
    ],
)
def test_pixel_formats(name: str, codec: str, pix_fmt: str, clip: Clip) -> None:
    options = {"x265-params": "log-level=none:crf=1"} if codec == "libx265" else {"crf": "1"} if codec == "libx264" else {}
    close(corners(first(clip, name, codec=codec, pix_fmt=pix_fmt, options=options)), [RED, GREEN, BLUE, YELLOW], 10)


@pytest.mark.parametrize("pix_fmt", ["gray", "gray16le"])
def test_gray(pix_fmt: str, clip: Clip) -> None:
    image = first(clip, "a.mkv", codec="ffv1", pix_fmt=pix_fmt, options={})
    assert np.array_equal(image[..., 0], image[..., 1])
    assert np.array_equal(image[..., 0], image[..., 2])
    assert corners(image)[3] > corners(image)[0]


def test_palettes(clip: Clip) -> None:
    close(corners(first(clip, "a.gif", codec="gif", pix_fmt="rgb8", rate=25, options={})), [RED, GREEN, BLUE, YELLOW], 60)


@pytest.mark.parametrize("size", [(98, 66), (50, 34), (126, 70)])
def test_odd_line_lengths(size: tuple[int, int], clip: Clip) -> None:
    close(corners(first(clip, size=size)), [RED, GREEN, BLUE, YELLOW])


@pytest.mark.parametrize("size", [(97, 65), (33, 31)])
def test_odd_sizes(size: tuple[int, int], clip: Clip) -> None:
    image = first(clip, size=size, pix_fmt="yuv444p")
    assert image.shape == (size[1], size[0], 3)
    close(corners(image), [RED, GREEN, BLUE, YELLOW], 10)


def test_a_crop_on_all_sides(clip: Clip) -> None:
    crop = {"crf": "1", "preset": "ultrafast", "x264-params": "crop-rect=32,16,16,8"}
    image, expected = first(clip, size=(160, 96), options=crop), quarters(0, (160, 96))[16:-8, 32:-16]
    assert image.shape == expected.shape
    assert np.abs(image[::7, ::5].astype(int) - expected[::7, ::5]).max() <= 6
