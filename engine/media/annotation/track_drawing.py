"""Draws what belongs to tracks into video frames: trails, lines and zones with their counts, and the heat map."""

from collections.abc import Iterable, Sequence

import cv2
import numpy as np
from numpy.typing import NDArray

from framefleet.engine.media.annotation.colours import DARK_INK, Rgb, class_colour
from framefleet.engine.media.annotation.draw import FRACTION, Annotator, YuvPlanes, yuv
from framefleet.engine.media.annotation.label_position import Rect
from framefleet.engine.media.annotation.shape_position import arrow_points, place_texts
from framefleet.engine.types import Detections
from framefleet.engine.zones.geometry import trails, trails_begin
from framefleet.engine.zones.shapes import Point, Shape

PLACES: Rgb = (245, 215, 110)
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
            self._lines(planes, lines[classes == class_id].reshape(-1, 2, 2), class_colour(class_id), closed=False)

    def draw_places(self, planes: YuvPlanes, shapes: Iterable[tuple[Shape, str]]) -> list[tuple[YuvPlanes, Rect]]:
        """Draw lines and zones, in pixels of the picture. Returns their texts and where to paste them, above the boxes."""
        texts = [(tuple(shape.points), self._annotator.text(text)) for shape, text in shapes]
        arrow = 11.0 * self._width
        for points, _ in texts:
            is_line = len(points) == 2
            self._line(planes, points, DARK_INK, closed=not is_line, extra=2)
            self._line(planes, points, PLACES, closed=not is_line)
            if is_line:
                self._line(planes, arrow_points(points, arrow), PLACES, closed=False)
        sizes = tuple((points, (patch[0].shape[1], patch[0].shape[0])) for points, patch in texts)
        area = (0.0, 0.0, float(self._size[0]), float(self._size[1] - self._annotator.kept_free))
        placed = zip(texts, place_texts(sizes, area, arrow), strict=True)
        return [(patch, place) for (_, patch), place in placed if place is not None]

    def _line(self, planes: YuvPlanes, points: Sequence[Point], colour: Rgb, closed: bool, extra: int = 0) -> None:
        self._lines(planes, np.array([points]), colour, closed, extra)

    def _lines(self, planes: YuvPlanes, points: NDArray[np.float64], colour: Rgb, closed: bool, extra: int = 0) -> None:
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
