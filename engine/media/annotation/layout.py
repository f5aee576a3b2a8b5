"""The colours of classes, and where labels of boxes, lines and zones stand. Loads no media library: the window draws the same."""

import math
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from framefleet.engine.zones.shapes import Point

# Assigns each class a fixed colour and a pattern of its box's line.
#
# Eighty colours were searched (distances are those of CIE 1976, in CIELAB). The first twenty differ by at least 20 for normal eyes and for
# red-blind, green-blind and blue-blind ones, as simulated by Machado et al. (2009); all eighty by at least 16 for normal eyes and 6 for the
# others. Each has a contrast of at least 3:1 with the window's background. Classes 80 numbers apart share a colour.

Rgb: TypeAlias = tuple[int, int, int]
Ids = TypeVar("Ids", int, NDArray[np.int32])

_HEX = (
    "21ff66544cdaffa301c70044f9fd0056bbb0ffccf99e4703fb98ffdf6e1a0c84609139a993c697c576ff8987b9ddffe4b3a65d7058777b0cffa1ffa5"
    "969678e10f1e2d87e1ffd200ffc3b400d278f00fe1ff2d4b00c3fff05a3cd2b43c00a51eff1ec3b43c2d2df0ff7869b4ffe169693cf0d20f874b78ff"
    "96f0e187ff87875a4ba55affff87d23c7896ffffc3b4f01e96691ea51ee1ff698796b4e15a963ce1ff5ad2963cb41ec3c378a5b4d2e1695ac378d25a"
    "ffb487ff78ffd2698778a596f0f0ffc3ff78b4875aff5ac3c34b5a78f0c35a6969c3d23ce1d2a5b478d2b46969d2b4c3e100ffc35aa596b44bb4c3b4"
)
PALETTE: tuple[Rgb, ...] = tuple(zip(*[iter(bytes.fromhex(_HEX))] * 3, strict=True))
"""The first eight differ most, because the first classes of a model are usually the most frequent ones. Neighbours differ clearly."""
PATTERNS = 4
"""The number of line patterns: with no gap, or with one, two or three gaps in each side."""
DARK_INK: Rgb = (11, 18, 32)
LIGHT_INK: Rgb = (255, 255, 255)


def class_colour(class_id: int) -> Rgb:
    """Return the colour of a class id, sRGB 0..255: the same in every run and for every model."""
    return PALETTE[class_id % len(PALETTE)]


def class_pattern(class_ids: Ids) -> Ids:
    """Return the number of gaps in each side of a class's boxes, or of several classes'. With its colour, this tells 320 classes apart."""
    return (class_ids + class_ids // len(PALETTE)) % PATTERNS


def ink_on(colour: Rgb) -> Rgb:
    """Return the colour of text on this colour: dark or white, whichever is easier to read."""
    luminance = sum(weight * _linear(channel) for weight, channel in zip((0.2126, 0.7152, 0.0722), colour, strict=True))
    return DARK_INK if luminance > 0.18 else LIGHT_INK


def _linear(channel: int) -> float:
    """Decode a channel of sRGB, 0..255, to 0..1."""
    share = channel / 255
    return share / 12.92 if share <= 0.04045 else float(((share + 0.055) / 1.055) ** 2.4)


Rect: TypeAlias = tuple[float, float, float, float]
"""x, y, width, height"""

VERIFIED = -1
"""In place of the percentage of an object that a person verified: the model was certain of something else, perhaps."""

BARE = -2
"""In place of the percentage of an object whose label has no room for it."""


_TOUCH = 0.01  # pixels


class LabelPlaces:
    """The labels of one picture, placed so that they do not overlap. bounds: the area for labels. height: of each label."""

    def __init__(self, bounds: Rect, height: float) -> None:
        self._bounds, self._height = bounds, height
        self._bands: dict[int, list[tuple[float, float, float]]] = {}  # by y // height; a label is also in the two bands beside its own

    def place(self, box: Rect, width: float, inside: bool = True) -> Rect | None:
        """Return the rectangle of a box's label: above the box, inside its top edge, or below it, but always within the bounds.

        Returns the first of these positions that overlaps no label placed before, None if all overlap one. inside: whether it may be there.
        """
        left, upper, across, down = self._bounds
        x = min(max(box[0], left), max(left + across - width, left))
        lower = upper + down - self._height
        above, below = box[1] - self._height, box[1] + box[3]
        tries = (above, box[1], below) if inside else (above, below)
        for y in [y for y in tries if upper <= y <= lower] or [min(max(box[1], upper), lower)][: int(inside)]:
            if self._is_free(x, y, x + width):
                self._take(x, y, x + width)
                return x, y, width, self._height
        return None

    def place_all(
        self, boxes: NDArray[np.float64], widths: NDArray[np.float64], inside: NDArray[np.bool_], reserved: NDArray[np.float64]
    ) -> list[tuple[int, Rect] | None]:
        """Find a place for a label of each box, the first box first, as ``place`` does.

        Parameters
        ----------
        boxes : (n, 4) array of float64
            x, y, width, height.
        widths : (n, k) array of float64
            The width of each of a box's texts, the preferred one first.
        inside : (n,) array of bool
            Whether the label may be inside its box.
        reserved : (m, 4) array of float64
            Rectangles that no label may cover.

        Returns
        -------
        list of (int, Rect) or None
            The number of the text that has room and its rectangle, for each box.
        """
        left, upper, across, down = self._bounds
        height, lower = self._height, upper + down - self._height
        x = np.minimum(np.maximum(boxes[:, :1], left), np.maximum(left + across - widths, left))
        y = boxes[:, 1:2] + np.array((-height, 0.0, 0.0))
        y[:, 2] += boxes[:, 3]
        possible = (upper <= y) & (y <= lower)
        possible[:, 1] &= inside
        moved = inside & ~possible.any(1)
        y[moved, 1] = np.minimum(np.maximum(boxes[moved, 1], upper), lower)
        possible[moved, 1] = True
        ends = reserved[:, :2] + np.maximum(reserved[:, 2:], (0, height))  # as ``reserve`` does
        # a label may touch a rectangle, also after rounding: without this, none would stand on its own low box
        (begin_x, begin_y), (end_x, end_y) = (reserved[:, :2] + _TOUCH).T, (ends - _TOUCH).T
        beside = _overlaps(begin_x, end_x, x, x + widths)[..., None]
        level = _overlaps(begin_y, end_y, y, y + height)[:, :, None]
        free = possible[:, None] & (np.bitwise_or.reduce(beside & level, 0) == 0)
        places: list[tuple[int, Rect] | None] = [None] * len(boxes)
        numbers, texts, positions = np.nonzero(free)
        rows = numbers, texts, x[numbers, texts], y[numbers, positions], widths[numbers, texts]
        for box, text, start, top, wide in zip(*(each.tolist() for each in rows), strict=True):
            if places[box] is None and self._is_free(start, top, start + wide):
                self._take(start, top, start + wide)
                places[box] = text, (start, top, wide, height)
        return places

    def _take(self, x: float, y: float, right: float) -> None:
        band = int(y // self._height)
        for number in (band - 1, band, band + 1):
            self._bands.setdefault(number, []).append((x, y, right))

    def reserve(self, place: Rect) -> None:
        """Place no label over this rectangle."""
        x, y, width, height = place
        for number in range(max(math.ceil(height / self._height), 1)):
            top = min(y + number * self._height, y + max(height - self._height, 0.0))
            self._take(x, top, x + width)

    def _is_free(self, x: float, y: float, right: float) -> bool:
        height = self._height
        for other, top, end in self._bands.get(int(y // height), ()):
            if other < right and x < end and -height < top - y < height:
                return False
        return True


def _overlaps(
    starts: NDArray[np.float64], ends: NDArray[np.float64], begin: NDArray[np.float64], end: NDArray[np.float64]
) -> NDArray[np.uint64]:
    """Return a bit for each of the intervals from ``starts`` to ``ends`` that overlaps each one from ``begin`` to ``end`` (…): (words, …).

    Those that start before an end are the first of all sorted by their start, so tables have the bits for each number of first ones.
    """
    count = len(starts)
    numbers = np.arange(count + 1, dtype=np.uint32)
    begun, ended = (np.full(-(-count // 64) * 64, count, np.uint32) for _ in range(2))
    orders = np.argsort(starts), np.argsort(ends)
    for rank, order in zip((begun, ended), orders, strict=True):
        rank[order] = numbers[:-1]
    tables = begun < numbers[:, None], ended >= numbers[:, None]
    words = [np.ascontiguousarray(np.packbits(table, 1).view(np.uint64).T) for table in tables]
    first = np.searchsorted(starts[orders[0]], end), np.searchsorted(ends[orders[1]], begin, "right")
    return np.asarray(words[0][:, first[0]] & words[1][:, first[1]])


Text: TypeAlias = tuple[tuple[Point, ...], tuple[float, float]]
"""The points of a line (two) or a zone, and the width and height of its text."""


def arrow_points(line: Sequence[Point], length: float) -> list[Point]:
    """An arrow from the middle of a line, in the direction of objects that cross it forward."""
    middle, along = (complex(*line[0]) + complex(*line[1])) / 2, _direction(line)
    ahead = along * 1j
    tip = middle + ahead * length
    wings = [tip + (side * along - ahead) * 0.36 * length for side in (0.75, -0.75)]
    return [(each.real, each.imag) for each in (middle, tip, wings[0], tip, wings[1])]


@lru_cache(maxsize=64)
def place_texts(texts: tuple[Text, ...], area: Rect, arrow: float) -> tuple[Rect | None, ...]:
    """Find a place for the text of each line, beside one of its ends, and of each zone, inside it.

    A text covers no arrow and no other text, and stays in ``area``. Without room, its place is None. arrow: the length of arrows.
    """
    taken = [_around(arrow_points(points, arrow)) for points, _ in texts if len(points) == 2]
    placed: list[Rect | None] = []
    for points, (width, height) in texts:
        centres = _beside(points, width, height, arrow / 3) if len(points) == 2 else _within(points)
        wished = [(each.real - width / 2, each.imag - height / 2, width, height) for each in centres]
        moved = [_moved(each, area) for each in wished]
        tries = [each for each in wished if each in moved] + moved
        found = next((each for each in tries if not any(_overlap(each, other) for other in taken)), None)
        taken += [found] if found is not None else []
        placed.append(found)
    return tuple(placed)


def _direction(line: Sequence[Point]) -> complex:
    """A vector of length 1 from the start to the end of a line."""
    way = complex(*line[1]) - complex(*line[0])
    return way / max(abs(way), 1e-9)


def _beside(points: Sequence[Point], width: float, height: float, gap: float) -> Iterator[complex]:
    """Where the middle of a line's text may be: behind its end or start, then at the side of them."""
    along = _direction(points)
    ahead = along * 1j
    length, breadth = (width / 2 * abs(way.real) + height / 2 * abs(way.imag) for way in (along, ahead))
    ends = [(complex(*points[1]), along), (complex(*points[0]), -along)]
    yield from (end + out * (length + gap) for end, out in ends)
    for side in (-ahead, ahead):
        yield from (end - out * length + side * (breadth + gap) for end, out in ends)


def _within(points: Sequence[Point]) -> Iterator[complex]:
    """Where the middle of a zone's text may be: in the middle of its corners, then between it and them, ever farther out."""
    corners = [complex(*point) for point in points]
    middle = sum(corners) / len(corners)
    yield middle
    edges = [(one + other) / 2 for one, other in zip(corners, [*corners[1:], corners[0]], strict=True)]
    for share in (0.3, 0.6, 0.9):
        yield from (middle + (point - middle) * share for point in (*edges, *corners))


def _around(points: Sequence[Point]) -> Rect:
    """The smallest rectangle with all these points."""
    (left, right), (top, bottom) = ((min(values), max(values)) for values in zip(*points, strict=True))
    return left, top, right - left, bottom - top


def _moved(place: Rect, area: Rect) -> Rect:
    """The same rectangle at the nearest place inside the area."""
    x = max(min(place[0], area[0] + area[2] - place[2]), area[0])
    y = max(min(place[1], area[1] + area[3] - place[3]), area[1])
    return x, y, *place[2:]


def _overlap(one: Rect, other: Rect) -> bool:
    return one[0] < other[0] + other[2] and other[0] < one[0] + one[2] and one[1] < other[1] + other[3] and other[1] < one[1] + one[3]
