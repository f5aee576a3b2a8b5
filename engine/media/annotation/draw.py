"""Draws boxes and labels into video frames, with the same colours and label positions as the window.

Draws into the luma plane and the two half-size chroma planes. Converting to RGB and back would take longer than the drawing and
blur the picture.
"""

import unicodedata
from collections.abc import Sequence
from functools import cache, lru_cache
from typing import TypeAlias

import cv2
import numpy as np

from engine.media.annotation.colours import DARK_INK, Rgb, class_colour, ink_on
from engine.media.annotation.label_position import VERIFIED, LabelPlaces, Rect
from engine.media.picture import Plane
from engine.types import Detections

Planes: TypeAlias = tuple[Plane, Plane, Plane]

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

    def text(self, text: str, ground: Rgb = DARK_INK) -> Planes:
        """Return a label with any text, for ``paste``. ground: its colour."""
        return self._texts(_legible(text), ground)

    def name_of(self, class_id: int) -> str:
        """The label of a class in the characters that can be drawn."""
        return self._labels[class_id] if class_id < len(self._labels) else f"class {class_id}"

    def draw(self, planes: Planes, detections: Detections, source: tuple[int, int], ids: bool = False) -> None:
        """Draw detections on a picture in place.

        source: width and height of the picture that the boxes refer to, pixels. ids: with the numbers of their tracks.
        """
        scale = np.array([self._size[0] / source[0], self._size[1] / source[1]] * 2)
        boxes = np.clip(detections.boxes * scale, 0, (*self._size, *self._size)).tolist()
        for box, class_id in zip(reversed(boxes), reversed(detections.class_ids.tolist()), strict=True):  # strongest last, on top
            self._draw_box(planes, box, class_id)
        bounds = (0.0, 0.0, float(self._size[0]), float(self._size[1] - self.kept_free))
        places = LabelPlaces(bounds, self.height)
        tracks = detections.tracks.tolist() if ids and detections.tracks is not None else [-1] * len(boxes)
        percents = (detections.scores.astype(np.float64) * 100 + 0.5).astype(np.int64)
        if detections.verified is not None:
            percents[detections.verified] = VERIFIED
        for box, class_id, percent, track in zip(boxes, detections.class_ids.tolist(), percents.tolist(), tracks, strict=True):
            patch = self._patch(class_id, percent, track)
            rect = (box[0] - self.line / 2, box[1] - self.line / 2, box[2] - box[0] + self.line, box[3] - box[1] + self.line)
            place = places.place(rect, patch[0].shape[1])
            if place is not None:  # a label that would overlap a stronger one is left out
                paste(planes, patch, place)

    def _draw_box(self, planes: Planes, box: Sequence[float], class_id: int) -> None:
        colours = yuv(class_colour(class_id))
        for thickness, values in ((self.line + 2, (yuv(DARK_INK)[0], None, None)), (self.line, colours)):
            for plane, value, part in zip(planes, values, (1, 2, 2), strict=True):
                if value is not None:
                    width = max(1, thickness // part)
                    shift = 0 if width % 2 else 1 << FRACTION - 1  # OpenCV's whole numbers are the centres of pixels
                    corners = [round(corner / part * (1 << FRACTION)) - shift for corner in box]
                    cv2.rectangle(plane, corners[:2], corners[2:], value, width, cv2.LINE_AA, FRACTION)

    def _draw_label(self, class_id: int, percent: int, track: int) -> Planes:
        """Draw a label: its text on the class's colour. percent: ``VERIFIED`` = a person verified it. track: -1 = none."""
        name = f"{self.name_of(class_id)} {track}" if track >= 0 else self.name_of(class_id)
        return self._draw_text(f"{name} verified" if percent == VERIFIED else f"{name} {percent}%", class_colour(class_id))

    def _draw_text(self, text: str, ground: Rgb) -> Planes:
        scale = FINE * self._text / CAPITAL
        stroke = max(1, round(FINE * self._text / 8))
        (length, _), _ = cv2.getTextSize(text, FONT, scale, stroke)
        margin = 0.45 * self._text
        width = _even(length / FINE + 2 * margin)
        height = self.height
        large = np.zeros((height * FINE, width * FINE), np.uint8)
        origin = (round((width * FINE - length) / 2), round((height + self._text) * FINE / 2))
        cv2.putText(large, text, origin, FONT, scale, 255, stroke, cv2.LINE_AA)
        planes = []
        for below, above, part in zip(yuv(ground), yuv(ink_on(ground)), (1, 2, 2), strict=True):
            cover = cv2.resize(large, (width // part, height // part), interpolation=cv2.INTER_AREA) / 255.0
            planes.append(np.asarray(np.round(below + (above - below) * cover), np.uint8))
        return planes[0], planes[1], planes[2]


def paste(planes: Planes, patch: Planes, place: Rect) -> None:
    """Copy a label into a picture, cropped at the picture's edges."""
    x, y = int(place[0]) // 2 * 2, int(place[1]) // 2 * 2
    for plane, part, piece in zip(planes, (1, 2, 2), patch, strict=True):
        target = plane[y // part :, x // part :][: piece.shape[0], : piece.shape[1]]
        target[...] = piece[: target.shape[0], : target.shape[1]]


def _even(length: float) -> int:
    return 2 * max(1, round(length / 2))


def _legible(label: str) -> str:
    """Return the characters of a text that OpenCV's fonts can draw: ASCII, with accents removed."""
    return unicodedata.normalize("NFKD", label).encode("ascii", "ignore").decode().strip()


@cache
def yuv(colour: Rgb) -> tuple[float, float, float]:
    """Convert sRGB, 0..255, to luma and chroma: BT.709, limited range (ITU-R BT.709-6, 3.2 to 3.5)."""
    red, green, blue = (channel / 255 for channel in colour)
    luma = 0.2126 * red + 0.7152 * green + 0.0722 * blue
    return 16 + 219 * luma, 128 + 224 * (blue - luma) / 1.8556, 128 + 224 * (red - luma) / 1.5748
