"""Assigns each class a fixed colour. All colours are about equally bright, so that black text is legible on each."""

from __future__ import annotations

import math
from functools import cache
from typing import TypeAlias

Rgb: TypeAlias = tuple[int, int, int]

GOLDEN_ANGLE = 137.50776405003785  # degrees: consecutive ids land far apart on the colour circle
LIGHTNESS, CHROMA, FIRST_HUE = 0.80, 0.145, 150.0


@cache
def class_colour(class_id: int) -> Rgb:
    """Return the colour of a class id, sRGB 0..255: the same in every run and for every model."""
    return oklch(LIGHTNESS - 0.07 * (class_id % 3), CHROMA, (FIRST_HUE + class_id * GOLDEN_ANGLE) % 360)


def oklch(lightness: float, chroma: float, hue: float) -> Rgb:
    """Convert OKLCH (0..1, 0..0.4, degrees) to sRGB, 0..255. Lowers the chroma of colours that sRGB cannot represent.

    Matrices: Björn Ottosson, "A perceptual color space for image processing" (2020).
    """
    while True:
        a, b = chroma * math.cos(math.radians(hue)), chroma * math.sin(math.radians(hue))
        long = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3
        medium = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3
        short = (lightness - 0.0894841775 * a - 1.2914855480 * b) ** 3
        linear = (
            4.0767416621 * long - 3.3077115913 * medium + 0.2309699292 * short,
            -1.2684380046 * long + 2.6097574011 * medium - 0.3413193965 * short,
            -0.0041960863 * long - 0.7034186147 * medium + 1.7076147010 * short,
        )
        if all(-1e-4 <= channel <= 1 + 1e-4 for channel in linear) or chroma <= 0:
            red, green, blue = (round(255 * _encoded(min(max(channel, 0.0), 1.0))) for channel in linear)
            return red, green, blue
        chroma -= 0.005


def _encoded(linear: float) -> float:
    return 12.92 * linear if linear <= 0.0031308 else 1.055 * linear ** (1 / 2.4) - 0.055
