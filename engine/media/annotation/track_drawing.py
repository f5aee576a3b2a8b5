"""Draws what belongs to tracks into video frames: trails, lines and zones with their counts, and the heat map."""

from collections.abc import Iterable, Sequence

import cv2
import numpy as np
from numpy.typing import NDArray

from engine.media.annotation.colours import DARK_INK, Rgb, class_colour
from engine.media.annotation.draw import FRACTION, Annotator, Planes, paste, yuv
from engine.types import Detections
from engine.zones.shapes import Line, Point, Shape
from engine.zones.trails import first_time, trails

PLACES: Rgb = (245, 215, 110)
_PARTS = (1, 2, 2)  # the chroma planes have half the size
_HEAT = np.array([(24, 60, 160), (40, 180, 200), (240, 220, 80), (230, 60, 40)], float)


class TrackDrawing:
    """Draws on pictures of one size. annotator: draws texts. size: width and height, pixels."""

    def __init__(self, annotator: Annotator, size: tuple[int, int]) -> None:
        self._annotator, self._size = annotator, size
        self._width = max(1, round(2 * max(min(size), 0.5 * max(size)) / 720))
        self._recent: list[tuple[float, NDArray[np.int64], NDArray[np.float64]]] = []  # time, tracks and boxes of the last frames

    def draw_trails(self, planes: Planes, found: Detections, source: tuple[int, int], seconds: float) -> None:
        """Draw the recent paths of tracked objects. Call it for each frame in order. source: size of the pictures of the boxes, pixels."""
        if found.tracks is None:
            return
        found = found.select(found.tracks >= 0)
        assert found.tracks is not None
        tracks, boxes = found.tracks.astype(np.int64), found.boxes * np.tile(np.divide(self._size, source), 2)
        self._recent = [each for each in self._recent if each[0] >= first_time(seconds)]
        self._recent.append((seconds, tracks, boxes))
        times = np.repeat([time for time, *_ in self._recent], [len(each) for _, each, _ in self._recent])
        lines, owners = trails(
            np.concatenate([each for _, each, _ in self._recent]), times, np.concatenate([each for *_, each in self._recent]), tracks
        )
        class_of = dict(zip(tracks.tolist(), found.class_ids.tolist(), strict=True))
        classes = np.array([class_of[track] for track in owners.tolist()], np.int64)
        for class_id in np.unique(classes).tolist():
            self._lines(planes, lines[classes == class_id].reshape(-1, 2, 2), class_colour(class_id), closed=False)

    def draw_places(self, planes: Planes, shapes: Iterable[tuple[Shape, str]]) -> None:
        """Draw lines and zones, in pixels of the picture, each with a text."""
        for shape, text in shapes:
            points = list(shape.points)
            self._line(planes, points, DARK_INK, closed=not isinstance(shape, Line), extra=2)
            self._line(planes, points, PLACES, closed=not isinstance(shape, Line))
            if isinstance(shape, Line):
                arrow = arrow_points(shape.start, shape.end, 11.0 * self._width)
                self._line(planes, arrow, PLACES, closed=False)
            patch = self._annotator.text(text)
            height, width = patch[0].shape
            x, y = (sum(values) / len(points) for values in zip(*points, strict=True))
            x = min(max(x - width / 2, 0), self._size[0] - width)
            y = min(max(y - height / 2, 0), self._size[1] - self._annotator.kept_free - height)
            paste(planes, patch, (max(x, 0), max(y, 0), width, height))

    def _line(self, planes: Planes, points: Sequence[Point], colour: Rgb, closed: bool, extra: int = 0) -> None:
        self._lines(planes, np.array([points]), colour, closed, extra)

    def _lines(self, planes: Planes, points: NDArray[np.float64], colour: Rgb, closed: bool, extra: int = 0) -> None:
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

    def draw(self, planes: Planes) -> None:
        """Blend the heat map into a picture in place."""
        for plane, (colour, rest) in zip(planes, self._layers, strict=True):
            plane[...] = (plane * rest + colour).astype(np.uint8)


def arrow_points(start: Point, end: Point, length: float) -> list[Point]:
    """An arrow from the middle of a line, in the direction of objects that cross it forward."""
    (x1, y1), (x2, y2) = start, end
    size = max(float(np.hypot(x2 - x1, y2 - y1)), 1.0)
    across, down = (x2 - x1) / size, (y2 - y1) / size
    middle = (x1 + x2) / 2, (y1 + y2) / 2
    tip = middle[0] - down * length, middle[1] + across * length
    back = 0.36 * length
    wings = [(tip[0] + down * back + side * across * back, tip[1] - across * back + side * down * back) for side in (0.75, -0.75)]
    return [middle, tip, wings[0], tip, wings[1]]
