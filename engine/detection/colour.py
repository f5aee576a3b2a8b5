"""Converts luma and chroma to RGB on the CPU. The results are defined by the integers of ``plugins/colour.py``."""

from __future__ import annotations

from functools import cache

import cv2
import numpy as np
from numpy.typing import NDArray

from engine.types import Image
from plugins.colour import SHIFT, colour_factors

Plane = NDArray[np.uint8]


def to_rgb(luma: Plane, u: Plane, v: Plane, matrix: str, full_range: bool) -> Image:
    """Convert three planes of one size, uint8 (height, width), to a picture. matrix: see ``colour_factors``."""
    return np.asarray(cv2.transform(cv2.merge((luma, u, v)), _transform(matrix, full_range)), np.uint8)


@cache
def _transform(matrix: str, full_range: bool) -> NDArray[np.float32]:
    """Return the matrix for ``cv2.transform``, float32 (3, 4).

    OpenCV computes the sums in FP32, or in integers with factors of 10 bits after the binary point, and rounds them to the nearest
    integer. Both are exact for these factors, in any order of the additions. Half a unit is added so that no sum lies in the middle between
    two integers: then every way of rounding gives the same as the defined shift.
    """
    y, v_in_r, u_in_g, v_in_g, u_in_b, *added = colour_factors(matrix, full_range)
    last = [each + 0.5 - 2 ** (SHIFT - 1) for each in added]
    rows = [[y, 0, v_in_r, last[0]], [y, u_in_g, v_in_g, last[1]], [y, u_in_b, 0, last[2]]]
    return np.array(rows, np.float32) / np.float32(2**SHIFT)
