"""Poses of vehicles, riders, walkers, dogs and leads at a time of the recorded traffic, as bone matrices."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from tools.street_renderer.geometry.mesh import Mesh, quads, srgb
from tools.street_renderer.models import dogs, skeleton, two_wheelers
from tools.street_renderer.traffic.actor import chained, matrix
from tools.street_renderer.traffic.simulation import Mover


def _place(mover: Mover, time: float) -> NDArray[np.float64]:
    """The world matrix (3, 4) of a mover at a time."""
    return matrix(*mover.route.at(mover.state(time)[0]))


def vehicle(mover: Mover, time: float) -> NDArray[np.float64]:
    """The bone matrix (1, 3, 4) of a car, bus or truck."""
    return _place(mover, time)[None]


def two_wheeler(mover: Mover, time: float, name: str) -> NDArray[np.float64]:
    """Bone matrices of a bicycle or motorcycle. name: 'bicycle' or 'motorcycle'."""
    return chained(_place(mover, time), two_wheelers.rolling(name, mover.state(time)[1]))


def rider(mover: Mover, time: float, name: str, height: float) -> NDArray[np.float64]:
    """Bone matrices of a rider of this height."""
    return chained(_place(mover, time), two_wheelers.rider_pose(name, mover.state(time)[1], height))


def walker(mover: Mover, time: float, height: float, start: float, carry: bool) -> NDArray[np.float64]:
    """Bone matrices of a person on foot. start: phase of the gait at the start, radians. carry: holds an umbrella."""
    distance, travelled, speed = mover.state(time)
    gait = start + travelled / skeleton.cycle_length(height) * 2 * np.pi
    stride = float(np.clip(speed / 1.2, 0, 1.15))
    return chained(matrix(*mover.route.at(distance)), skeleton.walking(gait, height, stride, carry))


def dog_place(mover: Mover, time: float, start: float, aside: float) -> tuple[float, float, float]:
    """x, y and direction of a dog: ``aside`` metres beside its owner, a little ahead, swaying."""
    distance, travelled, _ = mover.state(time)
    x, y, turn = mover.route.at(distance + 0.5)
    sway = aside + 0.12 * np.sin(travelled * 0.7 + start)
    return x + np.cos(turn) * sway, y + np.sin(turn) * sway, turn + 0.15 * float(np.cos(travelled * 0.7 + start))


def dog(mover: Mover, time: float, height: float, start: float, aside: float) -> NDArray[np.float64]:
    """Bone matrices of a dog on a lead."""
    _, travelled, speed = mover.state(time)
    gait = start * 3 + travelled / dogs.cycle_length(height) * 2 * np.pi
    return chained(matrix(*dog_place(mover, time, start, aside)), dogs.trotting(gait, height, float(np.clip(speed / 1.0, 0, 1))))


def lead_mesh() -> Mesh:
    """A lead, with one bone per corner."""
    faces = dogs.lead(np.zeros(3), np.array([0, 1.0, 0]))
    part = quads(faces, srgb("#2b2420"), counts=False)
    return replace(part, bones=np.arange(len(part.vertices), dtype=np.int32))


def lead(mover: Mover, time: float, height: float, dog_height: float, start: float, aside: float) -> NDArray[np.float64]:
    """Bone matrices of a lead between the hand of a person and the collar of a dog."""
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
