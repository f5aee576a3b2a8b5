"""What is said about a frame, followed step by step, gives what the CPU makes of it."""

from __future__ import annotations

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from engine.detection.preprocess import Fit, fit, plan_fit
from engine.types import Image
from plugins.preprocess import FRAME, MATRICES, NV12, P016, RGB8, Preprocess, colour_coefficients, describe_frame
from tests.support.devices.surfaces import decoded, picture, sample, shown


def inside(placed: Fit) -> tuple[int, int, int, int]:
    return placed.left, placed.top, placed.inner_width, placed.inner_height


def by_cpu(image: Image, width: int, height: int, letterbox: bool, still: bool = False) -> tuple[NDArray[np.float32], Fit]:
    out = np.empty((height, width, 3), np.float32)
    return out, fit(image, out, letterbox, still)


def to_rgb(yuv: NDArray[np.float64], matrix: str, full_range: bool) -> NDArray[np.float64]:
    """R, G, B of Y, U, V, each 0..255, (n, 3)."""
    black, of_y, v_in_r, u_in_g, v_in_g, u_in_b = colour_coefficients(matrix, full_range)
    factors = np.array([[of_y, 0, v_in_r], [of_y, u_in_g, v_in_g], [of_y, u_in_b, 0]])
    return np.asarray((yuv - [black, 128, 128]) @ factors.T)


@pytest.mark.parametrize("matrix", sorted(MATRICES))
@pytest.mark.parametrize("full_range", [False, True])
def test_black_white_and_grey(matrix: str, full_range: bool) -> None:
    black, white = (0, 255) if full_range else (16, 235)
    found = to_rgb(np.array([[y, 128, 128] for y in (black, white, (black + white) / 2)]), matrix, full_range)
    np.testing.assert_allclose(found, [[0] * 3, [255] * 3, [127.5] * 3], atol=1e-9)


@pytest.mark.parametrize(
    ("matrix", "full_range", "expected"),
    [
        # the published factors: ITU-R BT.601 and BT.709 in studio range, JFIF (BT.601, full range)
        ("bt601", False, (16, 1.164, 1.596, -0.392, -0.813, 2.017)),
        ("bt709", False, (16, 1.164, 1.793, -0.213, -0.533, 2.112)),
        ("bt601", True, (0, 1, 1.402, -0.34414, -0.71414, 1.772)),
    ],
)
def test_published_factors(matrix: str, full_range: bool, expected: tuple[float, ...]) -> None:
    np.testing.assert_allclose(colour_coefficients(matrix, full_range), expected, atol=6e-4)


@pytest.mark.parametrize("matrix", sorted(MATRICES))
@pytest.mark.parametrize("full_range", [False, True])
def test_colours_come_back(matrix: str, full_range: bool) -> None:
    red, blue = MATRICES[matrix]
    rgb = np.array([[255, 0, 0], [0, 255, 0], [0, 0, 255], [12, 200, 90]], float)
    luma = rgb @ [red, 1 - red - blue, blue]
    u, v = (rgb[:, 2] - luma) / (2 * (1 - blue)), (rgb[:, 0] - luma) / (2 * (1 - red))
    if not full_range:
        luma, u, v = 16 + luma * 219 / 255, u * 224 / 255, v * 224 / 255
    np.testing.assert_allclose(to_rgb(np.stack([luma, u + 128, v + 128], axis=1), matrix, full_range), rgb, atol=1e-9)


SIZE = st.tuples(st.integers(1, 90), st.integers(1, 90))


@settings(max_examples=80, deadline=None)
@given(SIZE, st.sampled_from([(64, 64), (96, 64), (32, 96)]), st.booleans(), st.booleans(), st.integers(0, 99))
def test_pictures_are_fitted_as_on_the_cpu(
    size: tuple[int, int], network: tuple[int, int], letterbox: bool, still: bool, seed: int
) -> None:
    image = np.random.default_rng(seed).integers(0, 256, (size[1], size[0], 3)).astype(np.uint8)
    expected, placed = by_cpu(image, *network, letterbox, still)
    entry = describe_frame(RGB8, size, size, inside(placed), still=still)
    found = sample(entry, image.reshape(size[1], -1), None, *network)
    assert np.abs(found - expected).max() <= (0.05 if still else 1.0)


@settings(max_examples=50, deadline=None)
@given(SIZE, st.booleans(), st.lists(st.tuples(*[st.floats(-50, 150, width=32)] * 4), min_size=1, max_size=5))
def test_boxes_come_back_as_on_the_cpu(size: tuple[int, int], letterbox: bool, boxes: list[tuple[float, ...]]) -> None:
    placed = plan_fit(*size, 96, 64, letterbox)
    entry = describe_frame(RGB8, size, size, inside(placed))
    scale_x, left, scale_y, top = entry["back"]
    values = np.array(boxes, np.float32)
    limit = entry["shown"][[0, 1, 0, 1]]
    found = np.clip((values - np.array([left, top, left, top])) * np.array([scale_x, scale_y, scale_x, scale_y]), 0, limit)
    np.testing.assert_array_equal(found.astype(np.float32), placed.to_source(values))


@pytest.mark.parametrize("letterbox", [False, True])
@pytest.mark.parametrize("matrix", ["bt601", "bt709"])
@pytest.mark.parametrize("full_range", [False, True])
@pytest.mark.parametrize("ten_bits", [False, True])
@pytest.mark.parametrize("size", [(322, 182), (64, 48)])
def test_frames_look_as_on_the_cpu(letterbox: bool, matrix: str, full_range: bool, ten_bits: bool, size: tuple[int, int]) -> None:
    frame, luma, chroma = decoded(picture(*size, seed=1), ten_bits, matrix, full_range)
    expected, placed = by_cpu(shown(frame), 128, 96, letterbox)
    entry = describe_frame(P016 if ten_bits else NV12, size, size, inside(placed), matrix, full_range)
    difference = np.abs(sample(entry, luma, chroma, 128, 96) - expected)
    if ten_bits:  # here libswscale interpolates chroma, as OpenCV does not with 8 bits
        assert difference.mean() < 3
    else:
        assert difference.max() <= 1


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("flip", [None, 0, 1, -1])
@pytest.mark.parametrize("letterbox", [False, True])
def test_turned_frames(transposed: bool, flip: int | None, letterbox: bool) -> None:
    stored = picture(90, 50, seed=2)
    upright = cv2.transpose(stored) if transposed else stored
    upright = np.asarray(upright if flip is None else cv2.flip(upright, flip), np.uint8)
    expected, placed = by_cpu(upright, 64, 96, letterbox)
    entry = describe_frame(RGB8, (90, 50), upright.shape[1::-1], inside(placed), orientation=(transposed, flip))
    assert np.abs(sample(entry, stored.reshape(50, -1), None, 64, 96) - expected).max() <= 1
    np.testing.assert_array_equal(entry["shown"], upright.shape[1::-1])


def test_oblong_pixels_are_only_stretched() -> None:
    stored = picture(80, 60, seed=3)
    wide = np.asarray(cv2.resize(stored, (160, 60), interpolation=cv2.INTER_LINEAR), np.uint8)
    expected, placed = by_cpu(wide, 96, 96, letterbox=True)
    entry = describe_frame(RGB8, (80, 60), (160, 60), inside(placed))
    difference = np.abs(sample(entry, stored.reshape(60, -1), None, 96, 96) - expected)
    assert difference.mean() < 3  # the CPU resizes twice
    np.testing.assert_array_equal(entry["shown"], [160, 60])


def test_no_frame_is_all_zeros() -> None:
    assert np.zeros(1, FRAME)["luma"] == 0
    assert describe_frame(RGB8, (4, 4), (4, 4), (0, 0, 8, 8))["luma"] == 0  # the address is the caller's


def test_what_the_kernel_cannot_do_is_refused() -> None:
    pytest.importorskip("cuda.core")
    with pytest.raises(ValueError, match="even width"):
        Preprocess({}, 0, 0, 1, 33, 32)  # type: ignore[arg-type]
