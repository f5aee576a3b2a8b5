"""Scales a picture to its size in the window, so that the window only copies it."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from engine.types import Image

MOST_PIXELS = 1920 * 1080
"""Pictures are not enlarged beyond this number of pixels: copying them would take longer than the window's own scaling."""


def shown_size(picture: tuple[int, int], canvas: tuple[int, int]) -> tuple[int, int]:
    """Width and height at which a picture fits a canvas without distortion. It is not enlarged beyond ``MOST_PIXELS``."""
    width, height = picture
    scale = min(canvas[0] / width, canvas[1] / height)
    if scale > 1:
        scale = max(1.0, min(scale, (MOST_PIXELS / (width * height)) ** 0.5))
    return max(1, round(width * scale)), max(1, round(height * scale))


def for_screen(image: Image, canvas: tuple[int, int], memory: memoryview | None = None) -> NDArray[np.uint8]:
    """The picture at its ``shown_size``, uint8 (height, width, 4): blue, green, red, 255.

    memory: to write the picture to, if it is large enough.
    """
    height, width, _ = image.shape
    size = shown_size((width, height), canvas)
    if size != (width, height):
        quick = 2 * size[0] > width  # down to half the size, linear interpolation looks the same and is five times as fast
        image = np.asarray(cv2.resize(image, size, interpolation=cv2.INTER_LINEAR if quick else cv2.INTER_AREA), np.uint8)
    place = None
    if memory is not None and 4 * size[0] * size[1] <= len(memory):
        place = np.frombuffer(memory, np.uint8, 4 * size[0] * size[1]).reshape(size[1], size[0], 4)
    return np.asarray(cv2.cvtColor(image, cv2.COLOR_RGB2BGRA, dst=place), np.uint8)
