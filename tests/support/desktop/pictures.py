"""Pictures of the window's screens in full resolution, and the places at which two of them differ."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QPoint, QRect
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QWidget

from tests.support.window import pixels

REGION = 16
"""The side of a region, pixels: a digit fits into it, and each button covers several."""
DIFFERS = 40
"""The difference of a channel, 0..255, from which a pixel looks different: libraries round the edges of letters differently."""
MAX_DIFFERENT = 4
"""The number of pixels of a region that may look different."""
STEP = 8
"""Recorded channels are multiples of it, 0..255, so that files are small."""
CELL = 10
"""Of a video, the mean colour of each square of so many pixels is compared: decoders round differently."""

VIDEO = "Video"
"""The accessible name of a widget that shows a video. Telemetry, times and folders are set: nothing else changes from run to run."""


def picture_of(widget: QWidget) -> QImage:
    """A picture of a widget, of its videos only the mean colours."""
    found = pixels(widget.grab().toImage())
    for child in (widget, *widget.findChildren(QWidget)):
        if child.accessibleName() == VIDEO and child.isVisible():
            area = QRect(child.mapTo(widget, QPoint()), child.size()).intersected(widget.rect())
            part = found[area.top() : area.bottom() + 1, area.left() : area.right() + 1]
            part[:] = _cells(part)
    rounded = np.minimum((found.astype(np.uint16) + STEP // 2) // STEP * STEP, 255).astype(np.uint8)
    height, width, _ = rounded.shape
    return QImage(rounded.tobytes(), width, height, 3 * width, QImage.Format.Format_RGB888).copy()


def _cells(part: NDArray[np.uint8]) -> NDArray[np.float64]:
    """The mean colour of each square, in each of its pixels."""
    height, width, _ = part.shape
    rows, columns = np.arange(0, height, CELL), np.arange(0, width, CELL)
    sums = np.add.reduceat(np.add.reduceat(part.astype(np.float64), rows, 0), columns, 1)
    counts = np.outer(np.diff([*rows, height]), np.diff([*columns, width]))[..., None]
    return np.repeat(np.repeat(sums / counts, CELL, 0)[:height], CELL, 1)[:, :width]


def encoded(picture: QImage) -> bytes:
    """A picture as WebP without loss."""
    content = QByteArray()
    buffer = QBuffer(content)
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    picture.save(buffer, "WEBP", 100)  # type: ignore[call-overload]
    return bytes(content.data())


def differences(first: QImage, second: QImage) -> list[QRect]:
    """The regions that look different, without those that overlap another one; the whole picture if the sizes differ."""
    if first.size() != second.size():
        return [second.rect()]
    different = (abs(pixels(first).astype(np.int16) - pixels(second)).max(axis=2) > DIFFERS).astype(np.int32)
    sums = np.pad(different, REGION // 2).cumsum(0).cumsum(1)
    counts = sums[REGION - 1 :, REGION - 1 :].copy()
    counts[1:] -= sums[:-REGION, REGION - 1 :]
    counts[:, 1:] -= sums[REGION - 1 :, :-REGION]
    counts[1:, 1:] += sums[:-REGION, :-REGION]
    found: list[QRect] = []
    for y, x in np.argwhere(counts > MAX_DIFFERENT):
        region = QRect(int(x) - REGION // 2, int(y) - REGION // 2, REGION, REGION).intersected(first.rect())
        if not any(other.intersects(region) for other in found):
            found.append(region)
    return found
