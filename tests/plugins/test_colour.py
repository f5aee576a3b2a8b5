"""The integer factors of colours: they are the published ones, and black, white and grey come out exactly."""

from __future__ import annotations

import numpy as np
import pytest

from framefleet.plugins.colour import MATRICES, SHIFT, colour_factors


@pytest.mark.parametrize(
    ("matrix", "full_range", "expected"),
    [
        # ITU-R BT.601 and BT.709 in studio range, JFIF (BT.601, full range)
        ("bt601", False, (16, 1.164, 1.596, -0.392, -0.813, 2.017)),
        ("bt709", False, (16, 1.164, 1.793, -0.213, -0.533, 2.112)),
        ("bt601", True, (0, 1, 1.402, -0.34414, -0.71414, 1.772)),
    ],
)
def test_published_factors(matrix: str, full_range: bool, expected: tuple[float, ...]) -> None:
    black, *factors = colour_factors(matrix, full_range)
    np.testing.assert_allclose([black, *(factor / 2**SHIFT for factor in factors)], expected, atol=6e-4)


@pytest.mark.parametrize("matrix", sorted(MATRICES))
@pytest.mark.parametrize("full_range", [False, True])
def test_black_white_and_grey(matrix: str, full_range: bool) -> None:
    """Chroma of 128 adds nothing."""
    black, luma, *_ = colour_factors(matrix, full_range)
    white = 255 if full_range else 235
    assert [(value - black) * luma >> SHIFT for value in (black, white)] == [0, 255]
    assert (128 - black) * luma >> SHIFT == (128 if full_range else 130)


@pytest.mark.parametrize("matrix", sorted(MATRICES))
@pytest.mark.parametrize("full_range", [False, True])
def test_colours_come_back(matrix: str, full_range: bool) -> None:
    red, blue = MATRICES[matrix]
    rgb = np.array([[255, 0, 0], [0, 255, 0], [0, 0, 255], [12, 200, 90]], float)
    luma = rgb @ [red, 1 - red - blue, blue]
    u, v = (rgb[:, 2] - luma) / (2 * (1 - blue)), (rgb[:, 0] - luma) / (2 * (1 - red))
    if not full_range:
        luma, u, v = 16 + luma * 219 / 255, u * 224 / 255, v * 224 / 255
    black, y, rv, gu, gv, bu = colour_factors(matrix, full_range)
    grey = y * (luma - black)
    np.testing.assert_allclose(np.stack([grey + rv * v, grey + gu * u + gv * v, grey + bu * u], axis=1) / 2**SHIFT, rgb, atol=0.1)
