"""Assigns each class a fixed colour and a pattern of its box's line.

Eighty colours were searched (distances are those of CIE 1976, in CIELAB). The first twenty differ by at least 20 for normal eyes and for
red-blind, green-blind and blue-blind ones, as simulated by Machado et al. (2009); all eighty by at least 16 for normal eyes and 6 for the
others. Each has a contrast of at least 3:1 with the window's background. Classes 80 numbers apart share a colour.
"""

from typing import TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

Rgb: TypeAlias = tuple[int, int, int]
Ids = TypeVar("Ids", int, NDArray[np.int32])

_HEX = (
    "21ff66544cdaffa301c70044f9fd0056bbb0ffccf99e4703fb98ffdf6e1a0c84609139a993c697c576ff8987b9ddffe4b3a65d7058777b0cffa1ffa5"
    "969678e10f1e2d87e1ffd200ffc3b400d278f00fe1ff2d4b00c3fff05a3cd2b43c00a51eff1ec3b43c2d2df0ff7869b4ffe169693cf0d20f874b78ff"
    "96f0e187ff87875a4ba55affff87d23c7896ffffc3b4f01e96691ea51ee1ff698796b4e15a963ce1ff5ad2963cb41ec3c378a5b4d2e1695ac378d25a"
    "ffb487ff78ffd2698778a596f0f0ffc3ff78b4875aff5ac3c34b5a78f0c35a6969c3d23ce1d2a5b478d2b46969d2b4c3e100ffc35aa596b44bb4c3b4"
)
PALETTE: tuple[Rgb, ...] = tuple(zip(*[iter(bytes.fromhex(_HEX))] * 3, strict=True))
"""The first eight differ most, because the first classes of a model are usually the most frequent ones. Neighbours differ clearly."""
PATTERNS = 4
"""The number of line patterns: with no gap, or with one, two or three gaps in each side."""
DARK_INK: Rgb = (11, 18, 32)
LIGHT_INK: Rgb = (255, 255, 255)


def class_colour(class_id: int) -> Rgb:
    """Return the colour of a class id, sRGB 0..255: the same in every run and for every model."""
    return PALETTE[class_id % len(PALETTE)]


def class_pattern(class_ids: Ids) -> Ids:
    """Return the number of gaps in each side of a class's boxes, or of several classes'. With its colour, this tells 320 classes apart."""
    return (class_ids + class_ids // len(PALETTE)) % PATTERNS


def ink_on(colour: Rgb) -> Rgb:
    """Return the colour of text on this colour: dark or white, whichever is easier to read."""
    luminance = sum(weight * _linear(channel) for weight, channel in zip((0.2126, 0.7152, 0.0722), colour, strict=True))
    return DARK_INK if luminance > 0.18 else LIGHT_INK


def _linear(channel: int) -> float:
    """Decode a channel of sRGB, 0..255, to 0..1."""
    share = channel / 255
    return share / 12.92 if share <= 0.04045 else float(((share + 0.055) / 1.055) ** 2.4)
