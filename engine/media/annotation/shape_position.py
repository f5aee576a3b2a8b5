"""Where the arrows and texts of lines and zones stand, in the window and in annotated videos."""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import TypeAlias

from framefleet.engine.media.annotation.label_position import Rect
from framefleet.engine.zones.shapes import Point

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
