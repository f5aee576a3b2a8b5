"""Converts luma and chroma to RGB on the CPU. The results are defined by the integers of ``plugins/colour.py``."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from engine.types import Image
from plugins.colour import SHIFT, colour_factors

Plane = NDArray[np.uint8]


def to_rgb(luma: Plane, u: Plane, v: Plane, matrix: str, full_range: bool) -> Image:
    """Convert three planes of one size, uint8 (height, width), to a picture. matrix: see ``colour_factors``.

    OpenCV computes weighted sums in FP32 and rounds to the nearest integer. The sums are exact in FP32, whatever their order. Half a unit
    is added so that no sum lies in the middle between two integers: then rounding gives the same as the defined shift.
    """
    factors = colour_factors(matrix, full_range)
    unit = 2.0**-SHIFT
    y, rv, gu, gv, bu = (factor * unit for factor in factors[:5])
    r_0, g_0, b_0 = ((added + 0.5) * unit - 0.5 for added in factors[5:])
    red, blue = cv2.addWeighted(luma, y, v, rv, r_0), cv2.addWeighted(luma, y, u, bu, b_0)
    of_chroma = cv2.addWeighted(u, gu, v, gv, g_0, dtype=cv2.CV_32F)
    green = cv2.addWeighted(luma, y, of_chroma, 1, 0, dtype=cv2.CV_8U)
    return np.asarray(cv2.merge((red, green, blue)), np.uint8)
