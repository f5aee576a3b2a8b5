"""The integer factors of colours: they are the published ones, and black, white and grey come out exactly."""

from __future__ import annotations

import numpy as np
import pytest

from plugins.colour import MATRICES, SHIFT, colour_factors


@pytest.mark.parametrize(
    ("matrix", "full_range", "expected"),
    [
        # ITU-R BT.601 and BT.709 in studio range, JFIF (BT.601, full range)
        ("bt601", False, (1.164, 1.596, -0.392, -0.813, 2.017)),
        ("bt709", False, (1.164, 1.793, -0.213, -0.533, 2.112)),
        ("bt601", True, (1, 1.402, -0.34414, -0.71414, 1.772)),
    ],
)
def test_published_factors(matrix: str, full_range: bool, expected: tuple[float, ...]) -> None:
    found = np.array(colour_factors(matrix, full_range)[:5]) / 2**SHIFT
    np.testing.assert_allclose(found, expected, atol=0.6 / 2**SHIFT + 6e-4)


@pytest.mark.parametrize("matrix", sorted(MATRICES))
@pytest.mark.parametrize("full_range", [False, True])
def test_black_white_and_grey(matrix: str, full_range: bool) -> None:
    factors = colour_factors(matrix, full_range)
    black, white = (0, 255) if full_range else (16, 235)
    of_chroma = (factors.v_in_r, factors.u_in_g + factors.v_in_g, factors.u_in_b)
    for luma, expected in ((black, 0), (white, 255), ((black + white + 1) // 2, 128)):
        sums = [factors.luma * luma + 128 * factor + added for factor, added in zip(of_chroma, factors[5:], strict=True)]
        assert [each >> SHIFT for each in sums] == [expected] * 3


@pytest.mark.parametrize("matrix", sorted(MATRICES))
@pytest.mark.parametrize("full_range", [False, True])
def test_colours_come_back(matrix: str, full_range: bool) -> None:
    red, blue = MATRICES[matrix]
    rgb = np.array([[255, 0, 0], [0, 255, 0], [0, 0, 255], [12, 200, 90]], float)
    luma = rgb @ [red, 1 - red - blue, blue]
    u, v = (rgb[:, 2] - luma) / (2 * (1 - blue)), (rgb[:, 0] - luma) / (2 * (1 - red))
    if not full_range:
        luma, u, v = 16 + luma * 219 / 255, u * 224 / 255, v * 224 / 255
    y, rv, gu, gv, bu, *added = colour_factors(matrix, full_range)
    sums = np.stack([y * luma + rv * (v + 128), y * luma + gu * (u + 128) + gv * (v + 128), y * luma + bu * (u + 128)], axis=1)
    np.testing.assert_allclose((sums + added) / 2**SHIFT - 0.5, rgb, atol=0.4)
