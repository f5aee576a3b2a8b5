"""Colours from luma and chroma, in integers: the CPU and the GPU compute the same bytes.

R = clamp(((Y − black) · luma >> 13) + ((V − 128) · v_in_r >> 13)), B likewise with U, and G with both. Each product is rounded down.
These are the integers of libswscale's converter for x86 (``libswscale/yuv2rgb.c``), which the CPU uses.
"""

from functools import cache
from typing import NamedTuple

SHIFT = 13
"""Bits after the binary point of a factor."""

MATRICES = {"bt601": (0.299, 0.114), "bt709": (0.2126, 0.0722), "bt2020": (0.2627, 0.0593), "fcc": (0.3, 0.11), "smpte240m": (0.212, 0.087)}
"""The weights of red and blue in the luma: ITU-R BT.601-7, BT.709-6, BT.2020-2, FCC 73.682 (a) (20), SMPTE ST 240."""


class Colour(NamedTuple):
    """The value of black in Y, then factors of Y − black and of U − 128 and V − 128, in units of 2⁻¹³."""

    black: int
    luma: int
    v_in_r: int
    u_in_g: int
    v_in_g: int
    u_in_b: int


@cache
def colour_factors(matrix: str, full_range: bool) -> Colour:
    """Compute the factors. matrix: a key of ``MATRICES``. Formulas: ITU-R BT.601-7, 2.5; full range: ITU-T T.871 (JFIF), 7.

    libswscale rounds the factors to 16 bits after the binary point, converts them to full range, rounding towards 0, and rounds them to 13.
    """
    red, blue = MATRICES[matrix]
    of_v, of_u, green = 2 * (1 - red), 2 * (1 - blue), 1 - red - blue
    precise = [round(value * 255 / 224 * 2**16) for value in (of_v, -of_u * blue / green, -of_v * red / green, of_u)]
    if full_range:
        precise = [int(value * 224 / 255) for value in precise]
    luma = 2**16 if full_range else 2**16 * 255 // 219
    y, rv, gu, gv, bu = ((value + 4) >> 3 for value in (luma, *precise))
    return Colour(0 if full_range else 16, y, rv, gu, gv, bu)
