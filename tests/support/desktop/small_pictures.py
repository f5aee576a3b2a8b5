"""Small pictures of the window's screens: the mean colour of each square of ``CELL`` logical pixels."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QBuffer, QByteArray, QIODevice, Qt
from PySide6.QtGui import QImage

from tests.support.window import pixels

CELL = 10
DIFFERS = 24
"""The difference of a channel, 0..255, from which a square looks different."""
STEP = 8
"""Recorded channels are multiples of it, 0..255, so that files have half the size."""


def small(picture: QImage, scale: float) -> QImage:
    """The picture with one pixel for each square. scale: pixels of the screen for a logical pixel."""
    width, height = (max(round(side / scale / CELL), 1) for side in (picture.width(), picture.height()))
    shrunk = picture.scaled(width, height, Qt.AspectRatioMode.IgnoreAspectRatio, Qt.TransformationMode.SmoothTransformation)
    return shrunk.convertToFormat(QImage.Format.Format_RGB888)


def encoded(picture: QImage) -> bytes:
    """The picture with rounded colours as PNG."""
    colours = np.minimum((pixels(picture).astype(np.uint16) + STEP // 2) // STEP * STEP, 255).astype(np.uint8)
    height, width, _ = colours.shape
    content = QByteArray()
    buffer = QBuffer(content)
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    rounded = QImage(colours.tobytes(), width, height, 3 * width, QImage.Format.Format_RGB888)
    rounded.save(buffer, "PNG", 0)  # type: ignore[call-overload]
    return bytes(content.data())


def difference(first: QImage, second: QImage) -> float:
    """The share of squares that look different, 0..1."""
    if first.size() != second.size():
        return 1.0
    return float((abs(pixels(first).astype(np.int16) - pixels(second)).max(axis=2) > DIFFERS).mean())
