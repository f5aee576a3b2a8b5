"""Lines and zones: places in the picture of a camera at which tracks are counted, and the checks of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from framefleet.engine.model.files import class_ids
from framefleet.engine.notices import Notice, UsageError

Point: TypeAlias = tuple[float, float]
"""x and y, pixels, origin at the top left."""

MARGIN = 0.1
MAX_SHAPES, MAX_POINTS = 200, 500
MIN_LENGTH, MIN_AREA = 1.0, 1.0
"""Of a line, pixels, and of a zone, pixels²."""

ARROWS = "→↘↓↙←↖↑↗"
"""The directions in a picture, clockwise."""
_SAME_SHAPE = 0.01  # pictures whose aspect ratios differ by less than this share have the same shape


class Reference(StrEnum):
    """The point of a box that stands for the object. The bottom of a box is usually where the object touches the ground."""

    BOTTOM = "bottom"
    CENTRE = "centre"
    TOP = "top"


@dataclass(frozen=True)
class Line:
    """A directed line.

    An object crosses it forward if it comes from the left, seen from ``start`` towards ``end``.

    Attributes
    ----------
    classes
        Labels of the objects that count, () = all.
    """

    name: str
    start: Point
    end: Point
    classes: tuple[str, ...] = ()

    @property
    def points(self) -> tuple[Point, ...]:
        """Its two ends."""
        return self.start, self.end

    @property
    def arrows(self) -> tuple[str, str]:
        """The directions in which objects cross it forward and backward, as characters of ``ARROWS``."""
        (x1, y1), (x2, y2) = self.points
        forward = round(math.atan2(x2 - x1, y1 - y2) / math.tau * len(ARROWS))
        return ARROWS[forward % 8], ARROWS[(forward + 4) % 8]

    def moved_to(self, points: Sequence[Point]) -> Line:
        """The same line between two other points."""
        start, end = points
        return replace(self, start=start, end=end)


@dataclass(frozen=True)
class Zone:
    """A polygon.

    Attributes
    ----------
    points
        Its corners in order, at least 3.
    classes
        Labels of the objects that count, () = all.
    """

    name: str
    points: tuple[Point, ...]
    classes: tuple[str, ...] = ()

    def moved_to(self, points: Sequence[Point]) -> Zone:
        """The same zone with other corners."""
        return replace(self, points=tuple(points))


Shape: TypeAlias = Line | Zone


@dataclass(frozen=True)
class ZoneSet:
    """The lines and zones of a camera.

    Attributes
    ----------
    size
        Width and height of the pictures for which they were drawn, pixels.
    shapes
        In the order in which they are listed.
    reference
        The point of each box that counts.
    margin
        How far beyond a line or edge this point must be until an object counts as beyond it, as a share of the shorter side of its box.
    """

    size: tuple[int, int]
    shapes: tuple[Shape, ...] = ()
    reference: Reference = Reference.BOTTOM
    margin: float = MARGIN

    @property
    def lines(self) -> tuple[Line, ...]:
        """The lines, in order."""
        return tuple(shape for shape in self.shapes if isinstance(shape, Line))

    @property
    def zones(self) -> tuple[Zone, ...]:
        """The zones, in order."""
        return tuple(shape for shape in self.shapes if isinstance(shape, Zone))

    def fits(self, size: tuple[int, int]) -> bool:
        """Whether pictures of this size (width, height) show the same view: they have the same shape."""
        return abs(self.size[0] * size[1] / (self.size[1] * size[0]) - 1) < _SAME_SHAPE

    def scaled_to(self, size: tuple[int, int], where: str = "this video") -> ZoneSet:
        """The same lines and zones for pictures of another size (width, height).

        Parameters
        ----------
        where
            How the error message calls the pictures.

        Raises
        ------
        UsageError
            The pictures have another shape.
        """
        if size == self.size:
            return self
        if not self.fits(size):
            drawn, there = ("×".join(map(str, each)) for each in (self.size, size))
            raise UsageError(Notice("zones.other_shape", drawn=drawn, where=where, there=there))
        return self.resized(size)

    def resized(self, size: tuple[int, int]) -> ZoneSet:
        """The same lines and zones for pictures of another size (width, height), whatever their shape."""
        across, down = size[0] / self.size[0], size[1] / self.size[1]
        shapes = (shape.moved_to([(x * across, y * down) for x, y in shape.points]) for shape in self.shapes)
        return replace(self, size=size, shapes=tuple(shapes))

    def class_ids(self, labels: Sequence[str]) -> dict[str, frozenset[int] | None]:
        """The class ids that count at each line and zone, by its name; None = all.

        Parameters
        ----------
        labels
            The model's.

        Raises
        ------
        UsageError
            The model does not have a label.
        """
        found = {}
        for shape in self.shapes:
            try:
                found[shape.name] = class_ids(shape.classes or None, labels)
            except UsageError as error:
                raise UsageError(Notice("zones.unknown_class", name=shape.name, error=error.notice)) from error
        return found


def check_zones(zones: ZoneSet) -> None:
    """Check that lines and zones can be counted at.

    Parameters
    ----------
    zones : ZoneSet
        For pictures of ``zones.size``, pixels.

    Raises
    ------
    UsageError
        A name is missing or used twice, a point lies outside the picture, a line has no length, or a polygon has fewer than 3 points, no
        area, or crosses itself.
    """
    width, height = zones.size
    if width <= 0 or height <= 0:
        raise UsageError(Notice("zones.no_size", width=width, height=height))
    if not 0 <= zones.margin <= 1:
        raise UsageError(Notice("zones.margin", margin=zones.margin))
    if len(zones.shapes) > MAX_SHAPES:
        raise UsageError(Notice("zones.too_many", number=len(zones.shapes), highest=MAX_SHAPES))
    known: set[str] = set()
    for shape in zones.shapes:
        if not shape.name.strip() or not shape.name.isprintable():
            raise UsageError(Notice("zones.no_name", shape=kind_of(shape)))
        if shape.name.casefold() in known:
            raise UsageError(Notice("zones.name_twice", name=shape.name))
        known.add(shape.name.casefold())
        if problem := problem_of(shape, zones.size):
            raise UsageError(Notice("zones.wrong_points", shape=kind_of(shape), name=shape.name, problem=problem))


def kind_of(shape: Shape) -> Notice:
    """Whether a shape is a line or a zone, in words."""
    return Notice("zones.line" if isinstance(shape, Line) else "zones.zone")


def problem_of(shape: Shape, size: tuple[int, int]) -> Notice | None:
    """Return what is wrong with the points of a shape, as the end of a sentence.

    Parameters
    ----------
    shape : Line or Zone
    size : tuple of int
        Width and height of the pictures, pixels.

    Returns
    -------
    Notice or None
        None if nothing is wrong.
    """
    width, height = size
    for x, y in shape.points:
        if not (math.isfinite(x) and math.isfinite(y)):
            return Notice("zones.not_finite")
        if not (0 <= x <= width and 0 <= y <= height):
            return Notice("zones.outside", x=x, y=y, width=width, height=height)
    if isinstance(shape, Line):
        return Notice("zones.no_length") if math.dist(shape.start, shape.end) < MIN_LENGTH else None
    if len(shape.points) < 3:
        return Notice("zones.few_points", number=len(shape.points))
    if len(shape.points) > MAX_POINTS:
        return Notice("zones.many_points", number=len(shape.points), highest=MAX_POINTS)
    crossing = _crossing_edges(shape.points)
    if crossing is not None:
        one, other = crossing
        return Notice("zones.crosses_itself", one=one + 1, other=other + 1)
    return Notice("zones.no_area") if _area(shape.points) < MIN_AREA else None


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
