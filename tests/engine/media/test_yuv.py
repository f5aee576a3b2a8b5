"""Colours on the CPU equal their definition in integers, for every triple of luma and chroma, by libswscale and by tables."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from av.video.frame import VideoFrame

from framefleet.engine.media import yuv
from framefleet.engine.media.yuv import by_tables, planes_to_rgb, reduced, to_rgb
from framefleet.plugins.colour import MATRICES
from tests.support.devices.surfaces import Pictured, random_frame, rgb_by_definition

U, V = np.meshgrid(np.arange(256, dtype=np.uint8), np.arange(256, dtype=np.uint8))
COLOURS = list(product(sorted(MATRICES), (False, True)))


def check_every_colour(matrix: str, full_range: bool, step: int) -> None:
    """Frames with four values of luma and all pairs of chroma. step: between the first values of luma of two frames."""
    for first in range(0, 256, step):
        luma = np.empty((512, 512), np.uint8)
        for number, place in enumerate(product((0, 1), (0, 1))):
            luma[place[0] :: 2, place[1] :: 2] = first + number
        frame = Pictured([luma, U, V], 8, (False, None), matrix, full_range)
        expected = rgb_by_definition(frame.planes())
        np.testing.assert_array_equal(planes_to_rgb(luma, U, V, matrix, full_range), expected)
        if first % 64 == 0:
            np.testing.assert_array_equal(by_tables(luma, U, V, matrix, full_range), expected)


@pytest.mark.parametrize(("matrix", "full_range"), COLOURS)
def test_colours(matrix: str, full_range: bool) -> None:
    check_every_colour(matrix, full_range, 84)


@pytest.mark.slow
@pytest.mark.parametrize(("matrix", "full_range"), COLOURS)
def test_every_colour(matrix: str, full_range: bool) -> None:
    check_every_colour(matrix, full_range, 4)


def test_libswscale_is_exact_here() -> None:
    """On processors other than x86 it may not be, and tables take its place."""
    assert yuv._swscale_is_exact()


def check_sizes() -> None:
    for number, (width, height) in enumerate(product((*range(1, 40), 98, 101, 854), (1, 2, 3, 47, 48))):
        planes = random_frame(width, height, number, 8, (False, None), "bt709", False).planes()
        found = planes_to_rgb(planes.luma, planes.u, planes.v, "bt709", False)
        np.testing.assert_array_equal(found, rgb_by_definition(planes), f"{width}×{height}")


def test_any_size() -> None:
    check_sizes()


def test_any_size_without_libswscale(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(yuv, "_swscale_is_exact", lambda: False)
    monkeypatch.setattr(yuv, "_by_swscale", None)
    check_sizes()


@pytest.mark.parametrize("pix_fmt", ["yuv420p", "yuvj420p", "yuv420p10le", "yuv420p12le"])
@pytest.mark.parametrize("size", [(96, 64), (97, 63)])
def test_frames_of_a_decoder(pix_fmt: str, size: tuple[int, int]) -> None:
    """The frame's own tags do not matter."""
    depth = yuv.DEPTHS[pix_fmt]
    given = random_frame(*size, 3, depth, (False, None), "bt2020", pix_fmt == "yuvj420p")
    frame = VideoFrame(*size, pix_fmt)
    for plane, samples in zip(yuv.samples_of(frame), given.samples, strict=True):
        plane[...] = samples
    np.testing.assert_array_equal(to_rgb(frame, "bt2020", given.full_range), rgb_by_definition(given.planes()))


@pytest.mark.parametrize("depth", [10, 12])
def test_every_sample_is_rounded(depth: int) -> None:
    samples = np.arange(1 << depth, dtype=np.uint16)[None]
    step = 1 << (depth - 8)
    expected = np.minimum((samples + step // 2) // step, 255)
    np.testing.assert_array_equal(reduced(samples, depth), expected)
    np.testing.assert_array_equal(reduced(np.repeat(samples, 3, axis=1)[:, 1::3], depth), expected)
