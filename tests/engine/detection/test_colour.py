"""The CPU's conversion of luma and chroma equals its definition in integers, for every colour."""

from __future__ import annotations

import numpy as np
import pytest

from engine.detection.colour import to_rgb
from plugins.colour import MATRICES, SHIFT, colour_factors

U, V = np.meshgrid(np.arange(256, dtype=np.uint8), np.arange(256, dtype=np.uint8))


def check(matrix: str, full_range: bool) -> None:
    factors = colour_factors(matrix, full_range)
    u, v = U.astype(np.int32), V.astype(np.int32)
    of_chroma = np.stack(
        [factors.v_in_r * v + factors.r_0, factors.u_in_g * u + factors.v_in_g * v + factors.g_0, factors.u_in_b * u + factors.b_0], axis=-1
    )
    for luma in range(256):
        expected = np.clip((of_chroma + factors.luma * luma) >> SHIFT, 0, 255).astype(np.uint8)
        np.testing.assert_array_equal(to_rgb(np.full_like(U, luma), U, V, matrix, full_range), expected)


@pytest.mark.parametrize(("matrix", "full_range"), [("bt709", False), ("bt2020", True)])
def test_every_colour(matrix: str, full_range: bool) -> None:
    check(matrix, full_range)


@pytest.mark.slow
@pytest.mark.parametrize("matrix", sorted(MATRICES))
@pytest.mark.parametrize("full_range", [False, True])
def test_every_colour_of_every_matrix(matrix: str, full_range: bool) -> None:
    check(matrix, full_range)


def test_the_length_of_rows_does_not_matter() -> None:
    random = np.random.default_rng(0)
    for width in range(1, 70):
        y, u, v = random.integers(0, 256, (3, 2, width), dtype=np.uint8)
        found = to_rgb(y, u, v, "bt709", False)
        alone = [to_rgb(y[:, [x]], u[:, [x]], v[:, [x]], "bt709", False) for x in range(width)]
        np.testing.assert_array_equal(found, np.concatenate(alone, axis=1))
