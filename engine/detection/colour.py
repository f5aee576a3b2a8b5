"""Converts luma and chroma to RGB on the CPU. The results are defined by the integers of ``plugins/colour.py``."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from engine.types import Image
from plugins.colour import SHIFT, colour_factors

Plane = NDArray[np.uint8]


_STRIP = 24576
"""Pixels converted at once: the intermediate values stay in the caches, and below the size at which an allocation costs page faults."""


def to_rgb(luma: Plane, u: Plane, v: Plane, matrix: str, full_range: bool) -> Image:
    """Convert three planes of one size, uint8 (height, width), to a picture. matrix: see ``colour_factors``.

    OpenCV computes weighted sums in FP32 and rounds to the nearest integer. The sums are exact in FP32, whatever their order. Half a unit
    is added so that no sum lies in the middle between two integers: then rounding gives the same as the defined shift.
    """
    factors = colour_factors(matrix, full_range)
    unit = 2.0**-SHIFT
    of_y, v_in_r, u_in_g, v_in_g, u_in_b = (factor * unit for factor in factors[:5])
    r_0, g_0, b_0 = ((added + 0.5) * unit - 0.5 for added in factors[5:])
    image: Image = np.empty((*luma.shape, 3), np.uint8)
    rows = max(1, _STRIP // luma.shape[1])
    for start in range(0, len(luma), rows):
        strip = slice(start, start + rows)
        y, cb, cr = luma[strip], u[strip], v[strip]
        of_chroma = cv2.addWeighted(cb, u_in_g, cr, v_in_g, g_0, dtype=cv2.CV_32F)
        red, blue = cv2.addWeighted(y, of_y, cr, v_in_r, r_0), cv2.addWeighted(y, of_y, cb, u_in_b, b_0)
        cv2.merge((red, cv2.addWeighted(y, of_y, of_chroma, 1, 0, dtype=cv2.CV_8U), blue), dst=image[strip])
    return image
