"""Distances of many points from a line or a zone, with a sign that tells the side."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from framefleet.engine.zones.shapes import Line, Point, Reference, Shape

Array = NDArray[np.float64]

_HEIGHT = {Reference.TOP: 0.0, Reference.CENTRE: 0.5, Reference.BOTTOM: 1.0}
_BLOCK = 1 << 16  # points at once, so that arrays stay in the processor's cache


def reference_points(boxes: Array, reference: Reference) -> Array:
    """The points that stand for boxes x1 y1 x2 y2, (n, 4): x and y, float64 (n, 2), on the vertical middle line of each box."""
    share = _HEIGHT[reference]
    return np.stack(((boxes[:, 0] + boxes[:, 2]) / 2, boxes[:, 1] * (1 - share) + boxes[:, 3] * share), 1)


def distances(points: Array, shape: Shape) -> Array:
    """The distance of each point (n, 2) from a shape, pixels, float64 (n,).

    It is above 0 inside a zone, and on the side of a line that objects reach by crossing it forward. It refers to the endless line.
    """
    if isinstance(shape, Line):
        (x, y), (across, down) = shape.start, _direction(shape)
        return across * (points[:, 1] - y) - down * (points[:, 0] - x)
    blocks = [_from_polygon(points[first : first + _BLOCK], shape.points) for first in range(0, len(points), _BLOCK)]
    return np.concatenate(blocks) if blocks else np.zeros(0)


def along(points: Array, line: Line) -> Array:
    """Where the points' projections lie on a line, 0 at its start and 1 at its end, float64 (n,)."""
    (across, down), (x, y) = _direction(line), line.start
    length = float(np.hypot(line.end[0] - x, line.end[1] - y))
    return ((points[:, 0] - x) * across + (points[:, 1] - y) * down) / length


def passing(before: Array, after: Array, distance: Array, later: Array, shape: Shape) -> Array:
    """Where paths pass a shape's line or edge: 0 at ``before`` and 1 at ``after``, float64 (n,).

    before, after: points on different sides, (n, 2), and their distances, (n,). If a path passes several edges, the last one counts.
    """
    straight: Array = distance / (distance - later)
    if isinstance(shape, Line):
        return straight
    found = np.full(len(before), -np.inf)
    path = after - before
    for (x1, y1), (x2, y2) in zip(shape.points, (*shape.points[1:], shape.points[0]), strict=True):
        across, down = x2 - x1, y2 - y1
        turn = path[:, 0] * down - path[:, 1] * across
        x, y = x1 - before[:, 0], y1 - before[:, 1]
        with np.errstate(divide="ignore", invalid="ignore"):
            share, place = (x * down - y * across) / turn, (x * path[:, 1] - y * path[:, 0]) / turn
        found = np.where((share >= 0) & (share <= 1) & (place >= 0) & (place <= 1), np.maximum(found, share), found)
    return np.where(np.isfinite(found), found, straight)


def _direction(line: Line) -> tuple[float, float]:
    """The vector of length 1 from a line's start to its end."""
    across, down = line.end[0] - line.start[0], line.end[1] - line.start[1]
    length = float(np.hypot(across, down))
    return across / length, down / length


def _from_polygon(points: Array, corners: Sequence[Point]) -> Array:
    x, y = points.T
    nearest = np.full(len(points), np.inf)
    inside = np.zeros(len(points), bool)
    for (x1, y1), (x2, y2) in zip(corners, (*corners[1:], corners[0]), strict=True):
        across, down = x2 - x1, y2 - y1
        share = np.clip(((x - x1) * across + (y - y1) * down) / (across * across + down * down), 0, 1)
        nearest = np.minimum(nearest, (x - x1 - share * across) ** 2 + (y - y1 - share * down) ** 2)
        if down:  # a ray to the right crosses the edge
            inside ^= ((y1 > y) != (y2 > y)) & (x < x1 + (y - y1) * across / down)
    distance: Array = np.where(inside, 1, -1) * np.sqrt(nearest)
    return distance
