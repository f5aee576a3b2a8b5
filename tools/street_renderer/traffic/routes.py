"""Routes of vehicles and people across the junction."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from tools.street_renderer.street.layout import LANE, Layout

STEP = 0.5
"""Distance between the points of a route, metres."""


@dataclass(frozen=True, eq=False)
class Route:
    """A path with its stops.

    points: (n, 2) every STEP metres. stops: (distance along, traffic light: 'main', 'cross', 'walk main' or 'walk cross').
    """

    points: NDArray[np.float64]
    stops: tuple[tuple[float, str], ...]

    @property
    def length(self) -> float:
        """Length of the route, metres."""
        return (len(self.points) - 1) * STEP

    def at(self, distance: float) -> tuple[float, float, float]:
        """x, y and direction (radians anticlockwise from +y) at a distance. The route continues straight beyond both ends."""
        last = len(self.points) - 2
        i = int(min(max(distance / STEP, 0), last))
        a, b = self.points[i], self.points[i + 1]
        share = distance / STEP - i
        x, y = a + (b - a) * share
        # the direction changes gradually between neighbouring pieces
        i0 = int(min(max((distance - 0.8) / STEP, 0), last))
        i1 = int(min(max((distance + 0.8) / STEP, 0), last))
        d = self.points[i1 + 1] - self.points[i0]
        return float(x), float(y), float(np.arctan2(-d[0], d[1]))


def resample(corners: NDArray[np.float64]) -> NDArray[np.float64]:
    """A polyline (n, 2) as points every STEP metres."""
    lengths = np.concatenate([[0], np.cumsum(np.linalg.norm(np.diff(corners, axis=0), axis=1))])
    distances = np.arange(0, lengths[-1], STEP)
    return np.stack([np.interp(distances, lengths, corners[:, i]) for i in (0, 1)], -1)


WeightedRoute = tuple[Route, float]
"""A route and its share of the traffic."""


def _arc(start: NDArray[np.float64], corner: NDArray[np.float64], end: NDArray[np.float64]) -> NDArray[np.float64]:
    t = np.linspace(0, 1, 16)[:, None]
    return (1 - t) ** 2 * start + 2 * t * (1 - t) * corner + t**2 * end


def drives(lay: Layout) -> list[WeightedRoute]:
    """Routes for motor vehicles: straight ahead in each lane, and right turns from the outer lanes."""
    made: list[WeightedRoute] = []
    begin, end, side = lay.near - 22, lay.far + 12, lay.side + 14
    for s in (1, -1):
        # s = 1 drives towards +y on the right-hand side, x > 0
        for lane in range(lay.lanes):
            x = s * (lane + 0.5) * LANE
            y0, y1 = (begin, end) if s > 0 else (end, begin)
            stop = abs(lay.yc - s * lay.stop(False) - y0) - 0.8
            made.append((Route(resample(np.array([(x, y0), (x, y1)])), ((stop, "main"),)), 1.0))
            if lane == lay.lanes - 1:
                out = lay.yc - s * 0.5 * LANE if lay.cross_lanes == 1 else lay.yc - s * 1.5 * LANE
                turn = lay.half + lay.radius + 2.0
                a, c, b = np.array([x, out - s * (turn - abs(x) + 1.5)]), np.array([x, out]), np.array([s * turn, out])
                path = np.concatenate([[(x, y0)], _arc(a, c, b), [(s * side, out)]])
                made.append((Route(resample(path), ((stop, "main"),)), 0.25))
        for lane in range(lay.cross_lanes):
            y = lay.yc - s * (lane + 0.5) * LANE
            x0, x1 = -s * side, s * side
            stop = side - lay.stop(True) - 0.8
            made.append((Route(resample(np.array([(x0, y), (x1, y)])), ((stop, "cross"),)), 1.0))
            if lane == lay.cross_lanes - 1:
                out = -s * (lay.lanes - 0.5) * LANE
                y_end = begin if s > 0 else end
                turn = lay.cross_half + lay.radius + 2.0
                a = np.array([out - s * (lay.lanes * 0.3 + lay.radius + 2.5), y])
                c, b = np.array([out, y]), np.array([out, lay.yc - s * turn])
                path = np.concatenate([[(x0, y)], _arc(a, c, b), [(out, y_end)]])
                made.append((Route(resample(path), ((stop, "cross"),)), 0.3))
    return made


def rides(lay: Layout) -> list[WeightedRoute]:
    """Routes for cyclists: on the bicycle lane, or at the right edge of the outer lane."""
    made = []
    x_side = lay.lanes * LANE + (lay.bike / 2 if lay.bike else -0.55)
    for s in (1, -1):
        y0, y1 = (lay.near - 22, lay.far + 12) if s > 0 else (lay.far + 12, lay.near - 22)
        stop = abs(lay.yc - s * lay.stop(False) - y0) - 0.4
        made.append((Route(resample(np.array([(s * x_side, y0), (s * x_side, y1)])), ((stop, "main"),)), 1.0))
        y = lay.yc - s * (lay.cross_half - 0.8)
        end = lay.side + 14
        made.append((Route(resample(np.array([(-s * end, y), (s * end, y)])), ((end - lay.stop(True) - 0.4, "cross"),)), 0.6))
    return made


def walk(rng: Generator, lay: Layout) -> Route:
    """Draw a random route on foot along pavements, with 0 to 2 crossings."""
    d1 = rng.uniform(1.9, lay.pave - 0.5) if lay.pave > 3 else lay.pave / 2
    # people cross within the stripes
    low, high = lay.zebra
    z_main, z_cross = rng.uniform(low + 0.4, high - 0.4, 2)
    sx, sy = int(rng.choice([-1, 1])), int(rng.choice([-1, 1]))
    out_d = rng.uniform(1.9, lay.pave - 0.5)
    reach = lay.yc + rng.uniform(28, 62)

    def exit_point(kind: str) -> tuple[float, float]:
        if kind == "main":
            return sx * (lay.half + d1), reach if sy > 0 else lay.near - 8
        return sx * (lay.side + 6), lay.yc + sy * (lay.cross_half + out_d)

    first = str(rng.choice(["main", "side"], p=[0.65, 0.35]))
    points, stops = [exit_point(first)], []
    crossings = int(rng.choice([0, 1, 2], p=[0.2, 0.6, 0.2]))
    turn = bool(rng.random() < 0.5)
    for i in range(crossings):
        over_main = turn ^ bool(i % 2)
        if over_main:
            y = lay.yc + sy * (lay.cross_half + z_main)
            points += [(sx * (lay.half + d1), y), (sx * (lay.half + 0.45), y)]
            stops.append((len(points) - 1, "walk main"))
            sx = -sx
            points.append((sx * (lay.half + d1), y))
        else:
            x = sx * (lay.half + z_cross)
            points += [(x, lay.yc + sy * (lay.cross_half + out_d)), (x, lay.yc + sy * (lay.cross_half + 0.45))]
            stops.append((len(points) - 1, "walk cross"))
            sy = -sy
            points.append((x, lay.yc + sy * (lay.cross_half + out_d)))
    if crossings == 0:
        points.append((sx * (lay.half + d1), lay.yc + sy * (lay.cross_half + out_d)))
    last = ("side" if first == "main" else "main") if crossings == 0 else str(rng.choice(["main", "side"], p=[0.65, 0.35]))
    if last == "main":
        points.append((sx * (lay.half + d1), lay.yc + sy * (lay.cross_half + lay.pave)))
    else:
        points.append((sx * (lay.half + lay.pave), lay.yc + sy * (lay.cross_half + out_d)))
    points.append(exit_point(last))
    corners = np.array(points)
    lengths = np.concatenate([[0], np.cumsum(np.linalg.norm(np.diff(corners, axis=0), axis=1))])
    return Route(_rounded(resample(corners)), tuple((float(lengths[i]), name) for i, name in stops))


def _rounded(points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Points with corners smoothed over about 1.5 m."""
    padded = np.concatenate([np.repeat(points[:1], 2, 0), points, np.repeat(points[-1:], 2, 0)])
    kernel = np.array([1, 2, 3, 2, 1]) / 9
    return np.stack([np.convolve(padded[:, i], kernel, "valid") for i in (0, 1)], -1)
