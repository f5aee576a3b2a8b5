"""Checks lines and zones: a polygon must not cross itself, and every point lies in the picture."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from framefleet.engine.errors import UsageError
from framefleet.engine.zones.shapes import Line, Point, Shape, ZoneSet

MOST_SHAPES, MOST_POINTS = 200, 500
SHORTEST, SMALLEST = 1.0, 1.0
"""Least length of a line, pixels, and least area of a zone, pixels²."""


def check_zones(zones: ZoneSet) -> None:
    """Check that lines and zones can be counted at.

    Raises:
        UsageError: a name is missing or used twice, a point lies outside the picture, a line has no length, or a polygon has fewer than
            3 points, no area, or crosses itself.
    """
    width, height = zones.size
    if width <= 0 or height <= 0:
        raise UsageError(f"the pictures are {width}×{height} pixels: both numbers must be above 0")
    if not 0 <= zones.margin <= 1:
        raise UsageError(f"the margin is {zones.margin}: it is a share of a box's shorter side, from 0 to 1")
    if len(zones.shapes) > MOST_SHAPES:
        raise UsageError(f"{len(zones.shapes)} lines and zones: at most {MOST_SHAPES} are possible")
    known: set[str] = set()
    for shape in zones.shapes:
        if not shape.name.strip() or not shape.name.isprintable():
            raise UsageError(f"a {words(shape)} has no name, or one that cannot be printed: name it")
        if shape.name.casefold() in known:
            raise UsageError(f"two lines or zones have the name '{shape.name}': rename one")
        known.add(shape.name.casefold())
        if problem := problem_of(shape, zones.size):
            raise UsageError(f"{words(shape)} '{shape.name}' {problem}")


def words(shape: Shape) -> str:
    """What a shape is, in words."""
    return "line" if isinstance(shape, Line) else "zone"


def problem_of(shape: Shape, size: tuple[int, int]) -> str:
    """Return what is wrong with the points of a shape in pictures of this size (width, height), "" if nothing is."""
    for x, y in shape.points:
        if not (math.isfinite(x) and math.isfinite(y)):
            return "has a point that is not a number"
        if not (0 <= x <= size[0] and 0 <= y <= size[1]):
            return f"has the point {x:g}, {y:g} outside the picture of {size[0]}×{size[1]} pixels: move it inside"
    if isinstance(shape, Line):
        return "begins where it ends: a line needs two different points" if math.dist(shape.start, shape.end) < SHORTEST else ""
    if len(shape.points) < 3:
        return f"has {len(shape.points)} points: a zone needs at least 3"
    if len(shape.points) > MOST_POINTS:
        return f"has {len(shape.points)} points: at most {MOST_POINTS} are possible"
    crossing = _crossing_edges(shape.points)
    if crossing is not None:
        one, other = crossing
        return f"crosses or touches itself: the edge behind point {one + 1} meets the edge behind point {other + 1}; move a point"
    if _area(shape.points) < SMALLEST:
        return "has no area: move a point"
    return ""


def _crossing_edges(points: Sequence[Point]) -> tuple[int, int] | None:
    """The first two edges of a polygon that meet elsewhere than in the corner between neighbours; None if no edges do."""
    starts = np.array(points)
    ends = np.roll(starts, -1, 0)
    if (same := np.flatnonzero((starts == ends).all(1))).size:
        return int(same[0]), int((same[0] + 1) % len(points))
    count = len(points)
    one, other = np.triu_indices(count, 1)
    beside = (other - one == 1) | (other - one == count - 1)
    meets = np.where(beside, _folded(starts, ends, one, other), _cross(starts[one], ends[one], starts[other], ends[other]))
    found = np.flatnonzero(meets)
    return (int(one[found[0]]), int(other[found[0]])) if found.size else None


def _folded(starts: NDArray[np.float64], ends: NDArray[np.float64], one: NDArray[np.intp], other: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Whether neighbouring edges lie on each other: the polygon turns back at their corner."""
    first, second = ends[one] - starts[one], ends[other] - starts[other]
    return np.asarray((_turn(first, second) == 0) & ((first * second).sum(1) < 0))


def _cross(a: NDArray[np.float64], b: NDArray[np.float64], c: NDArray[np.float64], d: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Whether the segments from a to b and from c to d have a common point. All float64 (n, 2)."""
    sides = [np.sign(_turn(b - a, point - a)) for point in (c, d)] + [np.sign(_turn(d - c, point - c)) for point in (a, b)]
    proper = (sides[0] * sides[1] < 0) & (sides[2] * sides[3] < 0)
    touches = np.zeros(len(a), bool)
    for side, point, (start, end) in zip(sides, (c, d, a, b), ((a, b), (a, b), (c, d), (c, d)), strict=True):
        within = ((np.minimum(start, end) <= point) & (point <= np.maximum(start, end))).all(1)
        touches |= (side == 0) & within
    return np.asarray(proper | touches)


def _turn(first: NDArray[np.float64], second: NDArray[np.float64]) -> NDArray[np.float64]:
    """The cross products of vectors, float64 (n, 2)."""
    turn: NDArray[np.float64] = first[:, 0] * second[:, 1] - first[:, 1] * second[:, 0]
    return turn


def _area(points: Sequence[Point]) -> float:
    corners = np.array(points)
    return abs(float(_turn(corners, np.roll(corners, -1, 0)).sum())) / 2
