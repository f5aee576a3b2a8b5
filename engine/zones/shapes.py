"""Lines and zones: places in the picture of a camera at which tracks are counted."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TypeAlias

from framefleet.engine.errors import UsageError
from framefleet.engine.model.labels import class_ids

Point: TypeAlias = tuple[float, float]
"""x and y, pixels, origin at the top left."""

MARGIN = 0.1
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
    """A directed line. An object crosses it forward if it comes from the left, seen from ``start`` towards ``end``.

    classes: labels of the objects that count, () = all.
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
    """A polygon. points: its corners in order, at least 3. classes: labels of the objects that count, () = all."""

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

    size: width and height of the pictures for which they were drawn, pixels. shapes: in the order in which they are listed.
    reference: the point of each box that counts. margin: how far beyond a line or edge this point must be until an object counts as
    beyond it, as a share of the shorter side of its box.
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
        """The same lines and zones for pictures of another size (width, height). where: for the error message.

        Raises:
            UsageError: the pictures have another shape.
        """
        if size == self.size:
            return self
        if not self.fits(size):
            drawn, there = ("×".join(map(str, each)) for each in (self.size, size))
            raise UsageError(
                f"the lines and zones were drawn for pictures of {drawn} pixels, and {where} has {there}, which is another shape:"
                " draw them for this camera"
            )
        return self.resized(size)

    def resized(self, size: tuple[int, int]) -> ZoneSet:
        """The same lines and zones for pictures of another size (width, height), whatever their shape."""
        across, down = size[0] / self.size[0], size[1] / self.size[1]
        shapes = (shape.moved_to([(x * across, y * down) for x, y in shape.points]) for shape in self.shapes)
        return replace(self, size=size, shapes=tuple(shapes))

    def class_ids(self, labels: Sequence[str]) -> dict[str, frozenset[int] | None]:
        """The class ids that count at each line and zone, by its name; None = all. labels: the model's.

        Raises:
            UsageError: the model does not have a label.
        """
        found = {}
        for shape in self.shapes:
            try:
                found[shape.name] = class_ids(shape.classes or None, labels)
            except UsageError as error:
                raise UsageError(f"'{shape.name}' counts a class that the model does not have: {error}") from error
        return found
