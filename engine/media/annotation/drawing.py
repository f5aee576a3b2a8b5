"""Draws detections, trails, zones, a heat map and a chart of counts on the planes of a frame."""

import cmath
import math
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, lru_cache
from typing import TypeAlias

import cv2
import numpy as np
from numpy.typing import NDArray

from framefleet.engine.media.annotation import layout
from framefleet.engine.media.picture import Plane
from framefleet.engine.types import Detections
from framefleet.engine.zones.geometry import trails, trails_begin
from framefleet.engine.zones.shapes import ARROWS, Point, Shape

# Draws boxes and labels into video frames, with the same colours and label positions as the window.
#
# Draws into the luma plane and the two half-size chroma planes. Converting to RGB and back would take longer than the drawing and
# blur the picture.

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

    def text(self, text: str, ground: layout.Rgb = layout.DARK_INK) -> YuvPlanes:
        """Return a label with any text, for ``paste``. ground: its colour."""
        return self._texts(_legible(text), ground)

    def name_of(self, class_id: int) -> str:
        """The label of a class in the characters that can be drawn."""
        return self._labels[class_id] if class_id < len(self._labels) else f"class {class_id}"

    def draw(
        self, planes: YuvPlanes, detections: Detections, source: tuple[int, int], ids: bool = False, reserved: Sequence[layout.Rect] = ()
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
        places = layout.LabelPlaces(bounds, self.height)
        for rect in reserved:
            places.reserve(rect)
        tracks = detections.tracks.tolist() if ids and detections.tracks is not None else [-1] * len(boxes)
        percents = (detections.scores.astype(np.float64) * 100 + 0.5).astype(np.int64)
        if detections.verified is not None:
            percents[detections.verified] = layout.VERIFIED
        for box, class_id, percent, track in zip(boxes, detections.class_ids.tolist(), percents.tolist(), tracks, strict=True):
            rect = (box[0] - self.line / 2, box[1] - self.line / 2, box[2] - box[0] + self.line, box[3] - box[1] + self.line)
            for shown in (percent, layout.BARE):  # a label that would overlap a stronger one loses its percentage, or is left out
                patch = self._patch(class_id, shown, track)
                place = places.place(rect, patch[0].shape[1])
                if place is not None:
                    paste(planes, patch, place)
                    break

    def _draw_box(self, planes: YuvPlanes, box: Sequence[float], class_id: int) -> None:
        colours = yuv(layout.class_colour(class_id))
        for thickness, values in ((self.line + 2, (yuv(layout.DARK_INK)[0], None, None)), (self.line, colours)):
            for plane, value, part in zip(planes, values, (1, 2, 2), strict=True):
                if value is not None:
                    width = max(1, thickness // part)
                    shift = 0 if width % 2 else 1 << FRACTION - 1  # OpenCV's whole numbers are the centres of pixels
                    corners = [round(corner / part * (1 << FRACTION)) - shift for corner in box]
                    cv2.rectangle(plane, corners[:2], corners[2:], value, width, cv2.LINE_AA, FRACTION)

    def _draw_label(self, class_id: int, percent: int, track: int) -> YuvPlanes:
        """Draw a label: its text on the class's colour. percent: ``VERIFIED`` = a person verified it, ``BARE`` = none. track: -1 = none."""
        name = f"{track} {self.name_of(class_id)}" if track >= 0 else self.name_of(class_id)
        return self._draw_text(name + {layout.VERIFIED: " ✓", layout.BARE: ""}.get(percent, f" {percent}%"), layout.class_colour(class_id))

    def _draw_text(self, text: str, ground: layout.Rgb) -> YuvPlanes:
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
        for below, above, part in zip(yuv(ground), yuv(layout.ink_on(ground)), (1, 2, 2), strict=True):
            cover = cv2.resize(large, (width // part, height // part), interpolation=cv2.INTER_AREA) / 255.0
            planes.append(np.asarray(np.round(below + (above - below) * cover), np.uint8))
        return planes[0], planes[1], planes[2]


def paste(planes: YuvPlanes, patch: YuvPlanes, place: layout.Rect) -> None:
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
def yuv(colour: layout.Rgb) -> tuple[float, float, float]:
    """Convert sRGB, 0..255, to luma and chroma: BT.709, limited range (ITU-R BT.709-6, 3.2 to 3.5)."""
    red, green, blue = (channel / 255 for channel in colour)
    luma = 0.2126 * red + 0.7152 * green + 0.0722 * blue
    return 16 + 219 * luma, 128 + 224 * (blue - luma) / 1.8556, 128 + 224 * (red - luma) / 1.5748


PLACES: layout.Rgb = (245, 215, 110)
_PARTS = (1, 2, 2)  # the chroma planes have half the size
_HEAT = np.array([(24, 60, 160), (40, 180, 200), (240, 220, 80), (230, 60, 40)], float)


class TrackDrawing:
    """Draws on pictures of one size. annotator: draws texts. size: width and height, pixels."""

    def __init__(self, annotator: Annotator, size: tuple[int, int]) -> None:
        self._annotator, self._size = annotator, size
        self._width = annotator.line
        self._recent: list[tuple[float, NDArray[np.int64], NDArray[np.float64]]] = []  # time, tracks and boxes of the last frames

    def draw_trails(self, planes: YuvPlanes, found: Detections, source: tuple[int, int], seconds: float) -> None:
        """Draw the recent paths of tracked objects. Call it for each frame in order. source: size of the pictures of the boxes, pixels."""
        if found.tracks is None:
            return
        found = found.select(found.tracks >= 0)
        assert found.tracks is not None
        tracks, boxes = found.tracks.astype(np.int64), found.boxes * np.tile(np.divide(self._size, source), 2)
        self._recent = [each for each in self._recent if each[0] >= trails_begin(seconds)]
        self._recent.append((seconds, tracks, boxes))
        times = np.repeat([time for time, *_ in self._recent], [len(each) for _, each, _ in self._recent])
        lines, owners = trails(
            np.concatenate([each for _, each, _ in self._recent]), times, np.concatenate([each for *_, each in self._recent]), tracks
        )
        class_of = dict(zip(tracks.tolist(), found.class_ids.tolist(), strict=True))
        classes = np.array([class_of[track] for track in owners.tolist()], np.int64)
        for class_id in np.unique(classes).tolist():
            self._lines(planes, lines[classes == class_id].reshape(-1, 2, 2), layout.class_colour(class_id), closed=False)

    def draw_places(self, planes: YuvPlanes, shapes: Iterable[tuple[Shape, str]]) -> list[tuple[YuvPlanes, layout.Rect]]:
        """Draw lines and zones, in pixels of the picture. Returns their texts and where to paste them, above the boxes."""
        texts = [(tuple(shape.points), self._annotator.text(text)) for shape, text in shapes]
        arrow = 11.0 * self._width
        for points, _ in texts:
            is_line = len(points) == 2
            self._line(planes, points, layout.DARK_INK, closed=not is_line, extra=2)
            self._line(planes, points, PLACES, closed=not is_line)
            if is_line:
                self._line(planes, layout.arrow_points(points, arrow), PLACES, closed=False)
        sizes = tuple((points, (patch[0].shape[1], patch[0].shape[0])) for points, patch in texts)
        area = (0.0, 0.0, float(self._size[0]), float(self._size[1] - self._annotator.kept_free))
        placed = zip(texts, layout.place_texts(sizes, area, arrow), strict=True)
        return [(patch, place) for (_, patch), place in placed if place is not None]

    def _line(self, planes: YuvPlanes, points: Sequence[Point], colour: layout.Rgb, closed: bool, extra: int = 0) -> None:
        self._lines(planes, np.array([points]), colour, closed, extra)

    def _lines(self, planes: YuvPlanes, points: NDArray[np.float64], colour: layout.Rgb, closed: bool, extra: int = 0) -> None:
        """Draw lines of equally many points, (lines, points, 2)."""
        for plane, value, part in zip(planes, yuv(colour), _PARTS, strict=True):
            lines = np.rint(points / part * (1 << FRACTION)).astype(np.int32)
            cv2.polylines(plane, list(lines), closed, value, max(1, (self._width + extra) // part), cv2.LINE_AA, FRACTION)


class HeatDrawing:
    """Blends a heat map into pictures of one size. shares: how strong each cell is, 0..1. size: width and height, pixels."""

    def __init__(self, shares: NDArray[np.float32], size: tuple[int, int]) -> None:
        places = np.clip(shares, 0, 1) * (len(_HEAT) - 1)
        low = np.minimum(places.astype(int), len(_HEAT) - 2)
        part = (places - low)[..., None]
        colours = _HEAT[low] * (1 - part) + _HEAT[low + 1] * part
        channels = np.array([[yuv((int(red), int(green), int(blue))) for red, green, blue in row] for row in colours], np.float32)
        cover = np.where(shares > 0.02, 0.15 + 0.6 * shares, 0).astype(np.float32)
        self._layers = []
        for number, half in enumerate(_PARTS):
            there = size[0] // half, size[1] // half
            alpha = cv2.resize(cover, there, interpolation=cv2.INTER_LINEAR)
            self._layers.append((cv2.resize(channels[..., number], there, interpolation=cv2.INTER_LINEAR) * alpha, 1 - alpha))

    def draw(self, planes: YuvPlanes) -> None:
        """Blend the heat map into a picture in place."""
        for plane, (colour, rest) in zip(planes, self._layers, strict=True):
            plane[...] = (plane * rest + colour).astype(np.uint8)


Counts: TypeAlias = Mapping[int, NDArray[np.float64]]
OTHERS: layout.Rgb = (150, 154, 163)
_COVER = 0.75  # of the picture behind the chart
_COMING = 0.5  # how strong bars behind the mark are, so that the chart also shows the progress
_WHITE, _BLACK, _NEUTRAL = 235, 16, 128


class CountChart:
    """A strip at the lower edge of the pictures of a video. It is drawn once; from frame to frame only the mark and the time change.

    annotator: draws texts. size: width and height of the pictures, pixels. counts: by class id, the most frequent class first: mean number
    of objects in equal parts of the time, float64 (n,), the same n for all. span: first and last time, seconds.

    Attributes: height: of the strip, pixels.
    """

    def __init__(self, annotator: Annotator, size: tuple[int, int], counts: Counts, span: tuple[float, float]) -> None:
        self._annotator, self._size, self._span = annotator, size, span
        self._line = annotator.line
        head = annotator.height
        self.height = min(4 * head, size[1] // 4) // 2 * 2
        plot = self.height - head
        every = np.array([*counts.values()] if counts else [[0.0]])
        most = max(float(every.sum(0).max()), 1.0)
        legend, shown = self._legend(counts, most)
        bars = np.cumsum(np.vstack((every[:shown], every[shown:].sum(0))), 0) * (plot / most)
        bars = bars[:, np.arange(size[0]) * bars.shape[1] // size[0]]
        colours = [yuv(colour) for colour in (*map(layout.class_colour, [*counts][:shown]), OTHERS, layout.DARK_INK)]
        # of each pixel, the first bar that is higher than its row; the last colour is that of the ground
        numbers = np.full((self.height, size[0]), len(bars))
        numbers[head:] = (bars[:, None] <= np.arange(plot, 0, -1)[:, None] - 0.5).sum(0)
        layers = []
        for strength in (1.0, _COMING):
            values = np.array(colours) * strength + np.array(colours[-1]) * (1 - strength)
            layers.append([np.rint(values[numbers[::part, ::part], plane]).astype(np.uint8) for plane, part in enumerate((1, 2, 2))])
        mask = np.where(numbers < len(bars), 255, 0).astype(np.uint8)
        masks = mask, mask[::2, ::2].copy(), mask[::2, ::2].copy()
        for left, patch in legend:
            for layer in layers:
                paste((layer[0], layer[1], layer[2]), patch, (left, 0, patch[0].shape[1], head))
            covered = np.full_like(patch[0], 255)
            paste(masks, (covered, covered[::2, ::2], covered[::2, ::2]), (left, 0, *covered.shape[::-1]))
        self._parts = [*zip(*layers, masks, (1, 2, 2), strict=True)]

    def draw(self, planes: YuvPlanes, seconds: float) -> None:
        """Draw the chart into a picture in place. seconds: the time of the picture."""
        begin, end = self._span
        share = (seconds - begin) / (end - begin) if end > begin else 0.0
        mark = int(min(max(share, 0.0), 1.0) * (self._size[0] - self._line)) // 2 * 2
        for plane, (bright, dim, mask, part) in zip(planes, self._parts, strict=True):
            strip, at = plane[-len(mask) :], mark // part
            for columns, layer in ((slice(0, at), bright), (slice(at, None), dim)):
                if strip[:, columns].size:
                    cv2.addWeighted(strip[:, columns], 1 - _COVER, layer[:, columns], _COVER, 0, dst=strip[:, columns])
                    cv2.copyTo(layer[:, columns], mask[:, columns], strip[:, columns])
            rows = strip[self._annotator.height // part :]
            if part == 1:
                rows[:, max(at - 1, 0) : at + self._line + 1] = _BLACK
            rows[:, at : at + max(self._line // part, 1)] = _WHITE if part == 1 else _NEUTRAL
        patch = self._annotator.text(self._time(seconds))
        width = patch[0].shape[1]
        paste(planes, patch, (self._size[0] - width, self._size[1] - self.height, width, self._annotator.height))

    def _legend(self, counts: Counts, most: float) -> tuple[list[tuple[int, YuvPlanes]], int]:
        """The texts of the upper row with their left edges, and how many classes it names: the others share one name."""
        names = [(self._annotator.name_of(class_id), layout.class_colour(class_id)) for class_id in counts]
        title = self._annotator.text(f"Objects, at most {most:.0f}")
        others = self._annotator.text("others", OTHERS)
        found, left = [(0, title)], title[0].shape[1]
        free = self._size[0] - self._annotator.text(self._time(self._span[1]))[0].shape[1]
        for number, (name, colour) in enumerate(names):
            patch = self._annotator.text(name, colour)
            reserved = others[0].shape[1] if number + 1 < len(names) else 0
            if left + patch[0].shape[1] + reserved > free:
                return [*found, (left, others)], number
            found.append((left, patch))
            left += patch[0].shape[1] + 2 * self._line // 2 * 2
        return found, len(names)

    def _time(self, seconds: float) -> str:
        return f"{_clock(seconds)} / {_clock(self._span[1])}"


def _clock(seconds: float) -> str:
    minutes, second = divmod(int(max(seconds, 0.0) + 1e-6), 60)
    hours, minute = divmod(minutes, 60)
    return f"{hours}:{minute:02}:{second:02}" if hours else f"{minute}:{second:02}"
