"""The CPU's input from luma and chroma equals its definition: sizes, up and down, odd ones, turned frames, letterbox."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from framefleet.engine.detection.frame_format import FrameFormat, PixelFormat, Planes
from framefleet.engine.detection.preprocess import fit
from framefleet.engine.media.picture import fit_host_image
from tests.support.devices.surfaces import by_definition, resized

ORIENTATIONS = [(transposed, flip) for transposed in (False, True) for flip in (None, 0, 1, -1)]
SIDE = st.integers(1, 150)


def planes(width: int, height: int, orientation: tuple[bool, int | None] = (False, None), seed: int = 0, **details: Any) -> Planes:
    """A frame of random samples."""
    shown = (height, width) if orientation[0] else (width, height)
    colour = {"matrix": "bt709", "full_range": False, **details}
    layout = FrameFormat(PixelFormat.I420, 8, width, height, *shown, orientation, **colour)
    return Planes.of(layout, np.random.default_rng(seed).integers(0, 256, layout.nbytes, dtype=np.uint8))


@settings(max_examples=60, deadline=None)
@given(SIDE, SIDE, SIDE, SIDE, st.integers(0, 99))
def test_opencv_resizes_as_defined(width: int, height: int, new_width: int, new_height: int, seed: int) -> None:
    """OpenCV takes other ways for halves and for the same size, and has its own code for each kind of processor."""
    image = np.random.default_rng(seed).integers(0, 256, (2 * height, 2 * width, 3), dtype=np.uint8)
    frame = planes(2 * width, 2 * height, seed=seed)
    for size in ((new_width, new_height), (width, height), (2 * width, height), (2 * width, 2 * height)):
        out = np.empty((size[1], size[0], 3), np.float32)
        fit(image, out, letterbox=False)
        np.testing.assert_array_equal(out, np.stack([resized(image[..., i], *size) for i in range(3)], axis=-1))
        fit_host_image(frame, out, letterbox=False)
        np.testing.assert_array_equal(out, by_definition(frame, *size))


@pytest.mark.parametrize("size", [(1920, 1080), (1919, 1079), (832, 832), (416, 416), (417, 833), (64, 48), (3, 2000), (1, 1)])
@pytest.mark.parametrize("network", [416, 608])
def test_common_sizes(size: tuple[int, int], network: int) -> None:
    frame = planes(*size)
    out = np.empty((network, network, 3), np.float32)
    fit_host_image(frame, out, letterbox=False)
    np.testing.assert_array_equal(out, by_definition(frame, network, network))


@pytest.mark.parametrize("orientation", ORIENTATIONS)
@pytest.mark.parametrize("letterbox", [False, True])
def test_turned_frames(orientation: tuple[bool, int | None], letterbox: bool) -> None:
    frame = planes(90, 50, orientation, full_range=True, matrix="bt2020")
    out = np.full((96, 64, 3), -1, np.float32)
    placed = fit_host_image(frame, out, letterbox)
    inner = out[placed.top : placed.top + placed.inner_height, placed.left : placed.left + placed.inner_width]
    np.testing.assert_array_equal(inner, by_definition(frame, placed.inner_width, placed.inner_height))
    assert (out == 127.5).sum() == out.size - inner.size


def test_rows_may_be_padded() -> None:
    frame = planes(90, 50)
    padded = [np.pad(plane, ((0, 0), (0, 6)))[:, : plane.shape[1]] for plane in (frame.luma, frame.u, frame.v)]
    outs = [np.empty((32, 48, 3), np.float32) for _ in range(2)]
    for out, each in zip(outs, (frame, Planes(frame.format, *padded)), strict=True):
        fit_host_image(each, out, letterbox=False)
    np.testing.assert_array_equal(*outs)
    copy = Planes(frame.format, *padded).copy_to(np.zeros(frame.nbytes, np.uint8))
    for plane, expected in zip((copy.luma, copy.u, copy.v), (frame.luma, frame.u, frame.v), strict=True):
        np.testing.assert_array_equal(plane, expected)
