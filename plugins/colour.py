"""Colours from luma and chroma, in integers: the CPU and the GPU compute the same bytes.

R = clamp((luma · Y + v_in_r · V + r_0) >> SHIFT), and likewise G and B, with Y, U and V as stored, 0..255.

``engine/detection/colour.py`` says why OpenCV computes these values exactly.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

SHIFT = 9
"""Bits after the binary point of a factor. OpenCV computes with 10, and one is needed to avoid ties."""

MATRICES = {"bt601": (0.299, 0.114), "bt709": (0.2126, 0.0722), "bt2020": (0.2627, 0.0593), "fcc": (0.3, 0.11), "smpte240m": (0.212, 0.087)}
"""The weights of red and blue in the luma: ITU-R BT.601-7, BT.709-6, BT.2020-2, FCC 73.682 (a) (20), SMPTE ST 240."""


class Colour(NamedTuple):
    """Factors of Y in every colour and of U and V in R, G and B; then what is added to R, G and B. In units of 2⁻⁹."""

    luma: int
    v_in_r: int
    u_in_g: int
    v_in_g: int
    u_in_b: int
    r_0: int
    g_0: int
    b_0: int


@cache
def colour_factors(matrix: str, full_range: bool) -> Colour:
    """Compute the factors. matrix: a key of ``MATRICES``. Formulas: ITU-R BT.601-7, 2.5; full range: ITU-T T.871 (JFIF), 7."""
    red, blue = MATRICES[matrix]
    black, luma, chroma = (0, 1.0, 1.0) if full_range else (16, 255 / 219, 255 / 224)
    of_v, of_u = 2 * (1 - red) * chroma, 2 * (1 - blue) * chroma
    green = 1 - red - blue
    y, rv, gu, gv, bu = (round(value * 2**SHIFT) for value in (luma, of_v, -of_u * blue / green, -of_v * red / green, of_u))
    half = 2 ** (SHIFT - 1)
    return Colour(y, rv, gu, gv, bu, *(half - black * y - 128 * of_chroma for of_chroma in (rv, gu + gv, bu)))
