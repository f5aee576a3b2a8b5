"""How walkers, dogs and leads follow their movers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from tools.street_renderer.geometry.mesh import Mesh, quads, srgb
from tools.street_renderer.models import dogs, skeleton
from tools.street_renderer.traffic.actor import chained, matrix
from tools.street_renderer.traffic.simulation import Mover


def at(mover: Mover, time: float) -> tuple[float, float, float]:
    """Where someone is: x, y and direction."""
    return mover.route.at(mover.state(time)[0])


def walker(mover: Mover, time: float, height: float, start: float, carry: bool) -> NDArray[np.float64]:
    """Bones of someone on foot."""
    distance, travelled, speed = mover.state(time)
    gait = start + travelled / skeleton.cycle_length(height) * 2 * np.pi
    stride = float(np.clip(speed / 1.2, 0, 1.15))
    return chained(matrix(*mover.route.at(distance)), skeleton.walking(gait, height, stride, carry))


def dog_place(mover: Mover, time: float, start: float, aside: float) -> tuple[float, float, float]:
    """Beside its owner, a little ahead, straying."""
    distance, travelled, _ = mover.state(time)
    x, y, turn = mover.route.at(distance + 0.5)
    sway = aside + 0.12 * np.sin(travelled * 0.7 + start)
    return x + np.cos(turn) * sway, y + np.sin(turn) * sway, turn + 0.15 * float(np.cos(travelled * 0.7 + start))


def dog(mover: Mover, time: float, height: float, start: float, aside: float) -> NDArray[np.float64]:
    """Bones of a dog on a lead."""
    _, travelled, speed = mover.state(time)
    gait = start * 3 + travelled / dogs.cycle_length(height) * 2 * np.pi
    return chained(matrix(*dog_place(mover, time, start, aside)), dogs.trotting(gait, height, float(np.clip(speed / 1.0, 0, 1))))


def lead_mesh() -> Mesh:
    """A lead, every corner a bone of its own."""
    faces = dogs.lead(np.zeros(3), np.array([0, 1.0, 0]))
    part = quads(faces, srgb("#2b2420"), counts=False)
    return replace(part, bones=np.arange(len(part.vertices), dtype=np.int32))


def lead(mover: Mover, time: float, height: float, dog_height: float, start: float, aside: float) -> NDArray[np.float64]:
    """Each corner of the lead is a bone of its own, moved to where it hangs."""
    distance, _, _ = mover.state(time)
    x, y, turn = mover.route.at(distance)
    side = np.sign(aside) * 0.12 * height
    hand = np.array([x + np.cos(turn) * side, y + np.sin(turn) * side, 0.46 * height])
    a, b, to = dog_place(mover, time, start, aside)
    collar = np.array([a - np.sin(to) * 0.42 * dog_height, b + np.cos(to) * 0.42 * dog_height, 0.95 * dog_height])
    now, rest = dogs.lead(hand, collar).reshape(-1, 3), dogs.lead(np.zeros(3), np.array([0, 1.0, 0])).reshape(-1, 3)
    place = np.zeros((len(now), 3, 4))
    place[:, :, :3] = np.eye(3)
    place[:, :, 3] = now - rest
    return place
