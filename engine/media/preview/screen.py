"""Scales pictures in the preview process, so that the window only copies their pixels."""

import cv2
import numpy as np
from numpy.typing import NDArray

from framefleet.engine.types import Image

MOST_PIXELS = 1920 * 1080
"""The maximum size of an enlarged picture. The window enlarges it faster than it would copy more pixels."""


def shown_size(picture: tuple[int, int], canvas: tuple[int, int]) -> tuple[int, int]:
    """Return the width and height of a picture fitted into a canvas with its aspect ratio. Enlarges to at most ``MOST_PIXELS``."""
    width, height = picture
    scale = min(canvas[0] / width, canvas[1] / height)
    if scale > 1:
        scale = max(1.0, min(scale, (MOST_PIXELS / (width * height)) ** 0.5))
    return max(1, round(width * scale)), max(1, round(height * scale))


def for_screen(image: Image, canvas: tuple[int, int], memory: memoryview | None = None) -> NDArray[np.uint8]:
    """Scale a picture to its ``shown_size``. Returns uint8 (height, width, 4): blue, green, red, 255.

    image: RGB, or with the four channels that are returned. memory: where to write the picture if it is large enough.
    """
    height, width, channels = image.shape
    size = shown_size((width, height), canvas)
    if abs(size[0] - width) < 2 and abs(size[1] - height) < 2:  # the reader has scaled it and rounded another way
        size = width, height
    place = None
    if memory is not None and 4 * size[0] * size[1] <= len(memory):
        place = np.frombuffer(memory, np.uint8, 4 * size[0] * size[1]).reshape(size[1], size[0], 4)
    ready = channels == 4
    if size != (width, height):
        quick = 2 * size[0] > width  # down to half the size, linear interpolation looks the same and is five times as fast
        how = cv2.INTER_LINEAR if quick else cv2.INTER_AREA
        image = np.asarray(cv2.resize(image, size, dst=place if ready else None, interpolation=how), np.uint8)
    elif ready and place is not None:
        np.copyto(place, image)
    if ready:
        return np.ascontiguousarray(image) if place is None else place
    return np.asarray(cv2.cvtColor(image, cv2.COLOR_RGB2BGRA, dst=place), np.uint8)
