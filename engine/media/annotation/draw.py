"""Draws boxes and labels into video frames, with the same colours and label positions as the window.

Draws into the luma plane and the two half-size chroma planes. Converting to RGB and back would take longer than the drawing and
blur the picture.
"""

import cmath
import math
import re
import unicodedata
from collections.abc import Sequence
from functools import cache, lru_cache
from typing import TypeAlias

import cv2
import numpy as np

from framefleet.engine.media.annotation.colours import DARK_INK, Rgb, class_colour, ink_on
from framefleet.engine.media.annotation.label_position import BARE, VERIFIED, LabelPlaces, Rect
from framefleet.engine.media.yuv import Plane
from framefleet.engine.types import Detections
from framefleet.engine.zones.shapes import ARROWS

YuvPlanes: TypeAlias = tuple[Plane, Plane, Plane]
"""Luma, and two chroma planes of half the size, each uint8 (height, width)."""

FRACTION = 3  # fractional bits of the coordinates given to OpenCV, so that boxes move smoothly
FINE = 4  # labels are drawn larger by this factor and scaled down, so that they are smooth at any size
FONT = cv2.FONT_HERSHEY_DUPLEX
CAPITAL = 21  # height of that font's capitals at scale 1, pixels


class Annotator:
    """Draws on pictures of one size. size: width and height, pixels. labels: one per class id.

    Attributes: line, height: width of lines and height of texts, pixels. kept_free: at the lower edge, where no text is placed, pixels.
    """

    def __init__(self, size: tuple[int, int], labels: Sequence[str]) -> None:
        self._size = size
        self._labels = [_legible(label) or f"class {number}" for number, label in enumerate(labels)]
        unit = max(min(size), 0.5 * max(size)) / 720
        self.line = max(1, round(2 * unit))
        self._text = max(7.0, 8.5 * unit)  # height of capitals, pixels
        self.height = _even(self._text * 1.85)
        self.kept_free = 0
        self._patch = lru_cache(maxsize=4096)(self._draw_label)
        self._texts = lru_cache(maxsize=512)(self._draw_text)

    def text(self, text: str, ground: Rgb = DARK_INK) -> YuvPlanes:
        """Return a label with any text, for ``paste``. ground: its colour."""
        return self._texts(_legible(text), ground)

    def name_of(self, class_id: int) -> str:
        """The label of a class in the characters that can be drawn."""
        return self._labels[class_id] if class_id < len(self._labels) else f"class {class_id}"

    def draw(
        self, planes: YuvPlanes, detections: Detections, source: tuple[int, int], ids: bool = False, reserved: Sequence[Rect] = ()
    ) -> None:
        """Draw detections on a picture in place.

        source: width and height of the picture that the boxes refer to, pixels. ids: with the numbers of their tracks. reserved: where
        no label may be.
        """
        scale = np.array([self._size[0] / source[0], self._size[1] / source[1]] * 2)
        boxes = np.clip(detections.boxes * scale, 0, (*self._size, *self._size)).tolist()
        for box, class_id in zip(reversed(boxes), reversed(detections.class_ids.tolist()), strict=True):  # strongest last, on top
            self._draw_box(planes, box, class_id)
        bounds = (0.0, 0.0, float(self._size[0]), float(self._size[1] - self.kept_free))
        places = LabelPlaces(bounds, self.height)
        for rect in reserved:
            places.reserve(rect)
        tracks = detections.tracks.tolist() if ids and detections.tracks is not None else [-1] * len(boxes)
        percents = (detections.scores.astype(np.float64) * 100 + 0.5).astype(np.int64)
        if detections.verified is not None:
            percents[detections.verified] = VERIFIED
        for box, class_id, percent, track in zip(boxes, detections.class_ids.tolist(), percents.tolist(), tracks, strict=True):
            rect = (box[0] - self.line / 2, box[1] - self.line / 2, box[2] - box[0] + self.line, box[3] - box[1] + self.line)
            for shown in (percent, BARE):  # a label that would overlap a stronger one loses its percentage, or is left out
                patch = self._patch(class_id, shown, track)
                place = places.place(rect, patch[0].shape[1])
                if place is not None:
                    paste(planes, patch, place)
                    break

    def _draw_box(self, planes: YuvPlanes, box: Sequence[float], class_id: int) -> None:
        colours = yuv(class_colour(class_id))
        for thickness, values in ((self.line + 2, (yuv(DARK_INK)[0], None, None)), (self.line, colours)):
            for plane, value, part in zip(planes, values, (1, 2, 2), strict=True):
                if value is not None:
                    width = max(1, thickness // part)
                    shift = 0 if width % 2 else 1 << FRACTION - 1  # OpenCV's whole numbers are the centres of pixels
                    corners = [round(corner / part * (1 << FRACTION)) - shift for corner in box]
                    cv2.rectangle(plane, corners[:2], corners[2:], value, width, cv2.LINE_AA, FRACTION)

    def _draw_label(self, class_id: int, percent: int, track: int) -> YuvPlanes:
        """Draw a label: its text on the class's colour. percent: ``VERIFIED`` = a person verified it, ``BARE`` = none. track: -1 = none."""
        name = f"{track} {self.name_of(class_id)}" if track >= 0 else self.name_of(class_id)
        return self._draw_text(name + {VERIFIED: " ✓", BARE: ""}.get(percent, f" {percent}%"), class_colour(class_id))

    def _draw_text(self, text: str, ground: Rgb) -> YuvPlanes:
        scale = FINE * self._text / CAPITAL
        stroke = max(1, round(FINE * self._text / 8))
        pieces = [piece for piece in _SIGN.split(text) if piece]
        lengths = [round(FINE * self._text) if piece in _SIGNS else cv2.getTextSize(piece, FONT, scale, stroke)[0][0] for piece in pieces]
        length = sum(lengths)
        margin = 0.45 * self._text
        width = _even(length / FINE + 2 * margin)
        height = self.height
        large = np.zeros((height * FINE, width * FINE), np.uint8)
        x, base = round((width * FINE - length) / 2), round((height + self._text) * FINE / 2)
        for piece, across in zip(pieces, lengths, strict=True):
            if piece in _SIGNS:
                points = np.rint(np.array(_SIGNS[piece]) * across * 0.8 + (x + across * 0.1, base - across * 0.9)).astype(np.int32)
                cv2.polylines(large, [points], False, 255, stroke, cv2.LINE_AA)
            else:
                cv2.putText(large, piece, (x, base), FONT, scale, 255, stroke, cv2.LINE_AA)
            x += across
        planes = []
        for below, above, part in zip(yuv(ground), yuv(ink_on(ground)), (1, 2, 2), strict=True):
            cover = cv2.resize(large, (width // part, height // part), interpolation=cv2.INTER_AREA) / 255.0
            planes.append(np.asarray(np.round(below + (above - below) * cover), np.uint8))
        return planes[0], planes[1], planes[2]


def paste(planes: YuvPlanes, patch: YuvPlanes, place: Rect) -> None:
    """Copy a label into a picture, cropped at the picture's edges."""
    x, y = int(place[0]) // 2 * 2, int(place[1]) // 2 * 2
    for plane, part, piece in zip(planes, (1, 2, 2), patch, strict=True):
        target = plane[y // part :, x // part :][: piece.shape[0], : piece.shape[1]]
        target[...] = piece[: target.shape[0], : target.shape[1]]


def _even(length: float) -> int:
    return 2 * max(1, round(length / 2))


def _legible(label: str) -> str:
    """Return the characters of a text that can be drawn: ASCII, with accents removed, and signs."""
    return "".join(each for each in unicodedata.normalize("NFKD", label) if each.isascii() or each in _SIGNS).strip()


def _arrow(number: int) -> list[tuple[float, float]]:
    """The points of one of ``ARROWS`` in a square of size 1."""
    turn = cmath.rect(0.5, number * math.tau / len(ARROWS))
    return [(point.real + 0.5, point.imag + 0.5) for point in (turn * part for part in (-1, 1, 0.3 - 0.6j, 1, 0.3 + 0.6j))]


_SIGNS = {"✓": [(0.0, 0.5), (0.35, 0.9), (1.0, 0.1)]} | {sign: _arrow(number) for number, sign in enumerate(ARROWS)}
"""The lines of signs that OpenCV's fonts lack, in a square of size 1."""
_SIGN = re.compile(f"([{''.join(_SIGNS)}])")


@cache
def yuv(colour: Rgb) -> tuple[float, float, float]:
    """Convert sRGB, 0..255, to luma and chroma: BT.709, limited range (ITU-R BT.709-6, 3.2 to 3.5)."""
    red, green, blue = (channel / 255 for channel in colour)
    luma = 0.2126 * red + 0.7152 * green + 0.0722 * blue
    return 16 + 219 * luma, 128 + 224 * (blue - luma) / 1.8556, 128 + 224 * (red - luma) / 1.5748
