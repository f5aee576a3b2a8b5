from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from framefleet.engine.detection.preprocess import fit, plan_fit
from framefleet.engine.model.onnx.network import Reading


@pytest.mark.parametrize(
    ("reading", "size", "expected"),
    [
        # YOLOX: 432 · (416 / 768) is a little below 234 in floating point, 773 · (416 / 773) a little below 416
        (Reading.YOLOX, (768, 432), (0, 0, 416, 233)),
        (Reading.YOLOX, (773, 512), (0, 0, 415, 275)),
        (Reading.YOLOX, (100, 200), (0, 0, 208, 416)),
        # ultralytics rounds, and centres
        (Reading.YOLOV8, (768, 432), (0, 91, 416, 234)),
        (Reading.YOLOV8, (500, 333), (0, 69, 416, 277)),
    ],
)
def test_letterboxes_of_other_detectors(reading: Reading, size: tuple[int, int], expected: tuple[int, int, int, int]) -> None:
    placement = reading.preprocessing.placement
    placed = plan_fit(*size, 416, 416, letterbox=True, placement=placement)
    assert (placed.left, placed.top, placed.inner_width, placed.inner_height) == expected
    assert placed.scale == 416 / max(size)
    corner = np.array([[placed.left, placed.top, placed.left + 208, placed.top + 104]], np.float32)
    np.testing.assert_allclose(placed.to_source(corner), [[0, 0, 208 / placed.scale, 104 / placed.scale]], rtol=1e-6)
    out = np.empty((416, 416, 3), np.float32)
    fit(np.zeros((*size[::-1], 3), np.uint8), out, letterbox=True, placement=placement)
    assert (out[-1, -1] == 114).all()


def test_stretching_fills_the_network() -> None:
    image = np.zeros((30, 60, 3), np.uint8)
    image[:, 30:] = (10, 20, 30)
    out = np.full((20, 20, 3), 99, np.float32)
    placed = fit(image, out, letterbox=False)
    assert (out[:, :9] == 0).all()
    assert (out[:, 11:] == (10, 20, 30)).all()
    assert placed.to_source(np.array([[10, 5, 20, 20]], np.float32)).tolist() == [[30, 7.5, 60, 30]]


@pytest.mark.parametrize(("shape", "inner"), [((30, 60), np.s_[5:15, :]), ((60, 30), np.s_[:, 5:15])])
def test_letterbox_keeps_the_aspect_ratio_centred_in_grey(shape: tuple[int, int], inner: tuple[slice, slice]) -> None:
    out = np.zeros((20, 20, 3), np.float32)
    placed = fit(np.full((*shape, 3), 200, np.uint8), out, letterbox=True)
    assert (out[inner] == 200).all()
    assert (out == 127.5).sum() == out.size // 2
    corners = np.array([[inner[1].start or 0, inner[0].start or 0, inner[1].stop or 20, inner[0].stop or 20]], np.float32)
    assert placed.to_source(corners).tolist() == [[0, 0, shape[1], shape[0]]]


@pytest.mark.parametrize(
    ("size", "inner"),
    [((100, 67), (0, 69, 416, 278)), ((67, 100), (69, 0, 278, 416)), ((300, 1), (0, 207, 416, 1)), ((1, 300), (207, 0, 1, 416))],
)
def test_letterbox_rounds_down_as_darknet_does(size: tuple[int, int], inner: tuple[int, ...]) -> None:
    """416 · 67 / 100 = 278.72. AlexeyAB/darknet, ``src/image.c``, ``letterbox_image``: integer division of sizes and of margins."""
    placed = plan_fit(*size, 416, 416, letterbox=True)
    assert (placed.left, placed.top, placed.inner_width, placed.inner_height) == inner


def test_a_reused_buffer_contains_nothing_of_the_last_picture() -> None:
    out = np.full((20, 20, 3), 255, np.float32)
    fit(np.zeros((10, 40, 3), np.uint8), out, letterbox=True)
    assert set(np.unique(out)) == {0, 127.5}


def test_a_picture_of_the_network_s_size_is_copied_unchanged() -> None:
    image = np.random.default_rng(0).integers(0, 256, (24, 32, 3), np.uint8)
    out = np.zeros(image.shape, np.float32)
    fit(image, out, letterbox=False)
    assert (out == image).all()
    assert not np.shares_memory(out, image)


def test_views_into_other_pictures_work() -> None:
    image = np.random.default_rng(0).integers(0, 256, (48, 64, 3), np.uint8)
    image.flags.writeable = False
    straight, mirrored = np.zeros((12, 16, 3), np.float32), np.zeros((12, 16, 3), np.float32)
    fit(np.ascontiguousarray(image[:, ::-1]), straight, letterbox=False)
    fit(image[:, ::-1], mirrored, letterbox=False)
    assert (straight == mirrored).all()


def test_boxes_end_at_the_picture() -> None:
    placed = plan_fit(100, 50, 200, 200, letterbox=True)
    assert placed.to_source(np.array([[-10, 0, 300, 300]], np.float32)).tolist() == [[0, 0, 100, 50]]


@given(st.integers(1, 5000), st.integers(1, 5000), st.integers(1, 1300), st.integers(1, 1300), st.booleans())
def test_any_picture_fits_any_network(width: int, height: int, network_width: int, network_height: int, letterbox: bool) -> None:
    placed = plan_fit(width, height, network_width, network_height, letterbox)
    assert placed.inner_width >= 1
    assert placed.inner_height >= 1
    assert 0 <= placed.left <= network_width - placed.inner_width
    assert 0 <= placed.top <= network_height - placed.inner_height
    assert placed.inner_width == network_width or placed.inner_height == network_height
    whole = [[placed.left, placed.top, placed.left + placed.inner_width, placed.top + placed.inner_height]]
    np.testing.assert_allclose(placed.to_source(np.array(whole, np.float32)), [[0, 0, width, height]], rtol=1e-5)


@pytest.mark.parametrize(
    "image", [np.zeros((4, 4), np.uint8), np.zeros((4, 4, 4), np.uint8), np.zeros((0, 4, 3), np.uint8), np.zeros((4, 4, 3))]
)
def test_arrays_of_another_shape_or_dtype_are_rejected(image: np.ndarray) -> None:
    with pytest.raises(ValueError, match="a picture is uint8"):
        fit(image, np.zeros((8, 8, 3), np.float32), letterbox=False)


@pytest.mark.parametrize(("width", "height"), [(29, 13), (53, 40), (6, 5)])
def test_still_pictures_keep_their_corner_pixels(width: int, height: int) -> None:
    """Darknet's formula, pixel by pixel: AlexeyAB/darknet, ``src/image.c``, ``resize_image``. Of wide pictures, few columns are used."""
    image = np.random.default_rng(1).integers(0, 256, (height, width, 3), dtype=np.uint8)
    out = np.zeros((8, 10, 3), np.float32)
    placed = fit(image, out, letterbox=False, still=True)
    assert (placed.width, placed.height) == (width, height)
    for row, column in np.ndindex(8, 10):
        y, x = row * (height - 1) / 7, column * (width - 1) / 9
        top, left = int(y), int(x)
        bottom, right, dy, dx = min(top + 1, height - 1), min(left + 1, width - 1), y - top, x - left
        upper = image[top, left] * (1 - dx) + image[top, right] * dx
        lower = image[bottom, left] * (1 - dx) + image[bottom, right] * dx
        assert np.abs(upper * (1 - dy) + lower * dy - out[row, column]).max() <= 0.001
    single = np.full((1, 1, 3), 7, np.uint8)
    fit(single, out, letterbox=False, still=True)
    assert (out == 7).all()
