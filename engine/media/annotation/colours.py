"""One stable colour per class, all of the same perceived brightness, so that no class shouts and black text reads on each."""

from __future__ import annotations

import math
from functools import cache
from typing import TypeAlias

Rgb: TypeAlias = tuple[int, int, int]

GOLDEN_ANGLE = 137.50776405003785  # degrees: consecutive ids land far apart on the colour circle
LIGHTNESS, CHROMA, FIRST_HUE = 0.80, 0.145, 150.0


@cache
def class_colour(class_id: int) -> Rgb:
    """sRGB 0..255 of a class id: the same in every run, for every model."""
    return oklch(LIGHTNESS - 0.07 * (class_id % 3), CHROMA, (FIRST_HUE + class_id * GOLDEN_ANGLE) % 360)


def oklch(lightness: float, chroma: float, hue: float) -> Rgb:
    """OKLCH (0..1, 0..0.4, degrees) as sRGB; chroma is lowered until the colour exists.

    Source of the matrices: Björn Ottosson, "A perceptual color space for image processing" (2020).
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


def contrast(first: Rgb, second: Rgb) -> float:
    """Contrast ratio 1..21 (WCAG 2.1, success criterion 1.4.3)."""
    lighter, darker = sorted((_luminance(first), _luminance(second)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def _luminance(colour: Rgb) -> float:
    red, green, blue = ((c / 255 / 12.92) if c / 255 <= 0.04045 else ((c / 255 + 0.055) / 1.055) ** 2.4 for c in colour)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _encoded(linear: float) -> float:
    return 12.92 * linear if linear <= 0.0031308 else 1.055 * linear ** (1 / 2.4) - 0.055
