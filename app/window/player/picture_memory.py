"""Shared memory into which the preview process writes pictures, and from which the window draws them without a copy."""

import weakref

from PySide6.QtGui import QImage

from framefleet.engine.media.preview.messages import Picture, Place
from framefleet.engine.processes.shared_memory import create_shared_memory

PLACES = 6
"""The current picture, and those requested or waiting behind it."""
UNIT = 1 << 20
"""The sizes of places are multiples of this, bytes, so that a window that grows slowly does not need new memory each time."""


class PictureMemory:
    """Places for pictures of at most this size, width and height in pixels. A place is free when its QImage is gone."""

    def __init__(self, size: tuple[int, int]) -> None:
        self._nbytes = -(-4 * size[0] * size[1] // UNIT) * UNIT
        self._memory = create_shared_memory(PLACES * self._nbytes)
        self._free = [Place(self._memory.name, number * self._nbytes, self._nbytes) for number in range(PLACES)] if self._memory else []

    def holds(self, size: tuple[int, int]) -> bool:
        """Whether pictures of this size fit."""
        return 4 * size[0] * size[1] <= self._nbytes

    def take(self) -> Place | None:
        """Reserve a free place, None if there is none."""
        return self._free.pop(0) if self._free else None

    def give_back(self, place: Place) -> None:
        """Free a place that no picture uses."""
        self._free.append(place)

    def image(self, picture: Picture) -> QImage:
        """A QImage of the picture in a place. The place is free again when that is gone."""
        assert self._memory is not None
        assert self._memory.buf is not None
        assert picture.place is not None
        with self._memory.buf[picture.place.offset :] as pixels:
            image = image_over(pixels, picture)
        weakref.finalize(image, self.give_back, picture.place)  # keeps the memory as long as the image
        return image

    def unlink(self) -> None:
        """Remove the memory's name. The memory goes with the last image."""
        if self._memory is not None:
            self._memory.unlink()


def image_over(pixels: memoryview, picture: Picture) -> QImage:
    """A QImage that uses these pixels; it does not keep them."""
    return QImage(pixels, picture.width, picture.height, 4 * picture.width, QImage.Format.Format_RGB32)
