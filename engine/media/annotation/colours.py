"""Assigns each class a fixed colour and a pattern of its box's line.

Twenty colours were searched so that each pair differs by at least 20 (CIE 1976, in CIELAB) for normal eyes and for red-blind,
green-blind and blue-blind ones, as simulated by Machado et al. (2009). Each has a contrast of at least 3:1 with the window's background.
Classes that share a colour differ in the pattern.
"""

from __future__ import annotations

from typing import TypeAlias

Rgb: TypeAlias = tuple[int, int, int]

PALETTE: tuple[Rgb, ...] = (
    (33, 255, 102),
    (84, 76, 218),
    (255, 163, 1),
    (199, 0, 68),
    (249, 253, 0),
    (86, 187, 176),
    (255, 204, 249),
    (158, 71, 3),
    (251, 152, 255),
    (223, 110, 26),
    (12, 132, 96),
    (145, 57, 169),
    (147, 198, 151),
    (197, 118, 255),
    (137, 135, 185),
    (221, 255, 228),
    (179, 166, 93),
    (112, 88, 119),
    (123, 12, 255),
    (161, 255, 165),
)
"""The first eight differ most, because the first classes of a model are usually the most frequent ones. Neighbours differ clearly."""
PATTERNS = 4
"""The number of line patterns: with no gap, or with one, two or three gaps in each side."""
DARK_INK: Rgb = (11, 18, 32)
LIGHT_INK: Rgb = (255, 255, 255)


def class_colour(class_id: int) -> Rgb:
    """Return the colour of a class id, sRGB 0..255: the same in every run and for every model."""
    return PALETTE[class_id % len(PALETTE)]


def class_pattern(class_id: int) -> int:
    """Return the number of gaps in each side of a class's boxes. With its colour, this tells 80 classes apart."""
    return (class_id + class_id // len(PALETTE)) % PATTERNS


def ink_on(colour: Rgb) -> Rgb:
    """Return the colour of text on this colour: dark or white, whichever is easier to read."""
    luminance = sum(weight * _linear(channel) for weight, channel in zip((0.2126, 0.7152, 0.0722), colour, strict=True))
    return DARK_INK if luminance > 0.18 else LIGHT_INK


def _linear(channel: int) -> float:
    """Decode a channel of sRGB, 0..255, to 0..1."""
    share = channel / 255
    return share / 12.92 if share <= 0.04045 else float(((share + 0.055) / 1.055) ** 2.4)
