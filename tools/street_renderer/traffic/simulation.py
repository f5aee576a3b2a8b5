"""Traffic simulation in steps of 0.1 s: vehicles that follow each other, traffic lights and pedestrians.

Vehicles accelerate by the Intelligent Driver Model (Treiber, Hennecke, Helbing 2000).
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from tools.street_renderer.street.layout import Layout
from tools.street_renderer.traffic.routes import STEP, Route, WeightedRoute

TICK = 0.1
GREEN, AMBER, ALL_RED = 9.0, 2.0, 2.0
CYCLE = 2 * (GREEN + AMBER + ALL_RED)


def phase(cross: bool, time: float) -> str:
    """The colour of a road's traffic light at a time: 'red', 'amber' or 'green'."""
    t = (time + (CYCLE / 2 if cross else 0)) % CYCLE
    return "green" if t < GREEN else "amber" if t < GREEN + AMBER else "red"


def may_walk(over_main: bool, time: float) -> bool:
    """Whether people may cross a road. They may if the other road stays green for some seconds."""
    t = (time + (CYCLE / 2 if over_main else 0)) % CYCLE
    return 0.3 < t < GREEN - 3.5


@dataclass
class Mover:
    """A vehicle, a cyclist or a pedestrian on a route.

    distance: position along the route, metres. desired_speed: m/s on a free road. kind: 'drive', 'ride' or 'walk'.
    stops_passed: number of the route's stops behind it. travelled: metres since the start.
    """

    route: Route
    distance: float
    speed: float
    desired_speed: float
    length: float
    width: float
    kind: str
    stops_passed: int = 0
    travelled: float = 0.0
    history: list[tuple[float, float, float]] = field(default_factory=list)
    """(distance, travelled, speed) at every tick."""

    def state(self, time: float) -> tuple[float, float, float]:
        """distance, travelled and speed at a time since the record began, interpolated between ticks."""
        t = min(max(time / TICK, 0), len(self.history) - 1.001)
        i = int(t)
        a, b = self.history[i], self.history[i + 1]
        share = t - i
        return a[0] + (b[0] - a[0]) * share, a[1] + (b[1] - a[1]) * share, a[2] + (b[2] - a[2]) * share


class Traffic:
    """Simulates all movers and the traffic lights. Before recording, a mover that reaches the end of its route starts again."""

    def __init__(self, rng: Generator, lay: Layout, offset: float) -> None:
        self.rng, self.lay, self.time = rng, lay, offset
        self.movers: list[Mover] = []

    def add(self, mover: Mover) -> Mover:
        """Add a mover and return it."""
        mover.stops_passed = sum(mover.distance > at for at, _ in mover.route.stops)
        self.movers.append(mover)
        return mover

    def run(self, seconds: float, record: bool) -> None:
        """Simulate some seconds. record: append every mover's state to its history."""
        for _ in range(round(seconds / TICK) + (1 if record else 0)):
            if record:
                for mover in self.movers:
                    mover.history.append((mover.distance, mover.travelled, mover.speed))
            self._step(recording=record)
            self.time += TICK

    def _step(self, recording: bool) -> None:
        wheels = [m for m in self.movers if m.kind != "walk"]
        walkers = [m for m in self.movers if m.kind == "walk"]
        where = np.array([m.route.at(m.distance) for m in self.movers]).reshape(-1, 3)
        sizes = np.array([(m.length, m.width) for m in self.movers]).reshape(-1, 2)
        order = {id(m): i for i, m in enumerate(self.movers)}
        accelerations = [self._drive(m, order[id(m)], where, sizes) for m in wheels]
        for m, a in zip(wheels, accelerations, strict=True):
            speed = max(0.0, m.speed + a * TICK)
            self._advance(m, (m.speed + speed) / 2 * TICK)
            m.speed = speed
        for m in walkers:
            m.speed = self._walk(m, order[id(m)], where)
            self._advance(m, m.speed * TICK)
        if not recording:
            for m in self.movers:
                if m.distance > m.route.length + 4:
                    m.distance, m.stops_passed = -2.0, 0

    def _advance(self, m: Mover, metres: float) -> None:
        m.distance += metres
        m.travelled += metres
        while m.stops_passed < len(m.route.stops) and m.distance > m.route.stops[m.stops_passed][0] + 0.3:
            m.stops_passed += 1

    def _drive(self, m: Mover, me: int, where: NDArray[np.float64], sizes: NDArray[np.float64]) -> float:
        gap, closing = 1e3, 0.0
        front = m.distance + m.length / 2
        i0 = int(max(front / STEP, 0))
        ahead = m.route.points[i0 : i0 + 70]
        if len(ahead) > 1:
            offset = ahead[:, None, :] - where[None, :, :2]
            square = np.einsum("ijk,ijk->ij", offset, offset)
            nearest = square.argmin(0)
            aside = np.sqrt(square[nearest, np.arange(len(where))])
            direction = m.route.at(m.distance)[2]
            along = np.abs(np.cos(where[:, 2] - direction))
            reach = (sizes[:, 0] * along + sizes[:, 1] * (1 - along)) / 2
            half = (sizes[:, 1] * along + sizes[:, 0] * (1 - along)) / 2
            # neither oncoming traffic in its own lane nor anything behind the vehicle is an obstacle
            blocking = (aside < m.width / 2 + half + 0.25) & (nearest > 0) & ~((np.cos(where[:, 2] - direction) < -0.7) & (aside > 1.2))
            blocking[me] = False
            if blocking.any():
                j = np.flatnonzero(blocking)
                gaps = nearest[j] * STEP - reach[j]
                k = int(gaps.argmin())
                gap = float(gaps[k])
                other = self.movers[int(j[k])]
                closing = m.speed - other.speed * float(np.cos(where[j[k], 2] - direction))
        if m.stops_passed < len(m.route.stops):
            at, road = m.route.stops[m.stops_passed]
            color = phase(road == "cross", self.time)
            room = at - front
            if color != "green" and room > -1.0 and (color == "red" or m.speed**2 / 2 / 3.5 < room) and room < gap:
                gap, closing = max(room, 0.05), m.speed
        bend = self._bend(m)
        desired_speed = min(m.desired_speed, bend)
        free = 1 - (m.speed / desired_speed) ** 4
        rest, headway, most, brake = (1.8, 1.1, 1.9, 2.4) if m.kind == "drive" else (0.9, 0.8, 1.2, 2.0)
        desired = rest + max(0.0, m.speed * headway + m.speed * closing / (2 * np.sqrt(most * brake)))
        return float(np.clip(most * (free - (desired / max(gap, 0.1)) ** 2), -7.0, most))

    def _bend(self, m: Mover) -> float:
        """The highest speed in the bends of the next metres, m/s."""
        a, b = m.route.at(m.distance + 1)[2], m.route.at(m.distance + 7)[2]
        turn = abs((b - a + np.pi) % (2 * np.pi) - np.pi)
        return 50.0 if turn < 0.12 else 4.2

    def _walk(self, m: Mover, me: int, where: NDArray[np.float64]) -> float:
        desired_speed = m.desired_speed
        if m.stops_passed < len(m.route.stops):
            at, road = m.route.stops[m.stops_passed]
            if at - m.distance < 0.5 and not may_walk(road == "walk main", self.time):
                return max(0.0, m.speed - 2.5 * TICK) if at - m.distance > 0.1 else 0.0
        x, y, direction = where[me]
        look = np.array([-np.sin(direction), np.cos(direction)])
        delta = where[:, :2] - (x, y)
        depth = delta @ look
        aside = np.abs(delta @ np.array([look[1], -look[0]]))
        close = (depth > 0.05) & (depth < 1.1) & (aside < 0.5) & (np.cos(where[:, 2] - direction) > 0.3)
        close[me] = False
        if close.any():
            desired_speed = min(desired_speed, float(min(self.movers[int(j)].speed for j in np.flatnonzero(close)) * 0.92))
        return m.speed + float(np.clip(desired_speed - m.speed, -3.0 * TICK, 1.5 * TICK))


def place_on(rng: Generator, ways: list[WeightedRoute], movers: list[Mover], length: float, tries: int = 24) -> tuple[Route, float] | None:
    """A random route and a free position on it, or None if all tries hit another mover. length: of the vehicle, metres."""
    shares = np.array([share for _, share in ways])
    spots = np.array([m.route.at(m.distance)[:2] for m in movers]).reshape(-1, 2)
    lengths = np.array([m.length for m in movers])
    for _ in range(tries):
        route = ways[int(rng.choice(len(ways), p=shares / shares.sum()))][0]
        distance = float(rng.uniform(0, route.length * 0.95))
        x, y, _ = route.at(distance)
        if not len(spots) or (np.hypot(spots[:, 0] - x, spots[:, 1] - y) > (length + lengths) / 2 + 2.5).all():
            return route, distance
    return None
