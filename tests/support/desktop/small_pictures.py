"""Small pictures of the window's screens: the mean colour of each square of ``CELL`` logical pixels."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from PySide6.QtCore import QBuffer, QByteArray, QIODevice, Qt
from PySide6.QtGui import QImage

from tests.support.window import pixels

CELL = 10
DIFFERS = 24
"""The difference of a channel, 0..255, from which a square looks different."""
STEP = 12
"""Recorded channels are multiples of it, 0..255, so that files are small."""


def small(picture: QImage, scale: float) -> QImage:
    """The picture with one pixel for each square. scale: pixels of the screen for a logical pixel."""
    width, height = (max(round(side / scale / CELL), 1) for side in (picture.width(), picture.height()))
    shrunk = picture.scaled(width, height, Qt.AspectRatioMode.IgnoreAspectRatio, Qt.TransformationMode.SmoothTransformation)
    return shrunk.convertToFormat(QImage.Format.Format_RGB888)


def encoded(pictures: Sequence[QImage]) -> bytes:
    """Pictures of one size beside each other, with rounded colours, as WebP without loss: it stores what they share once."""
    colours = np.concatenate([pixels(picture) for picture in pictures], axis=1).astype(np.uint16)
    rounded = np.minimum((colours + STEP // 2) // STEP * STEP, 255).astype(np.uint8)
    height, width, _ = rounded.shape
    content = QByteArray()
    buffer = QBuffer(content)
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    QImage(rounded.tobytes(), width, height, 3 * width, QImage.Format.Format_RGB888).save(buffer, "WEBP", 100)  # type: ignore[call-overload]
    return bytes(content.data())


def decoded(content: bytes, count: int) -> list[QImage]:
    """The pictures of an encoded row of ``count``."""
    row = QImage.fromData(content)
    width = row.width() // count
    return [row.copy(number * width, 0, width, row.height()) for number in range(count)]


def difference(first: QImage, second: QImage) -> float:
    """The share of squares that look different, 0..1."""
    if first.size() != second.size():
        return 1.0
    return float((abs(pixels(first).astype(np.int16) - pixels(second)).max(axis=2) > DIFFERS).mean())
