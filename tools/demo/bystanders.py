"""Who stays where they are: parked vehicles, people who stand and talk."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from tools.demo import cars, cycles, dogs, figure, people
from tools.demo.actor import BICYCLE, CAR, DOG, MOTORCYCLE, PERSON, Actor, Plan, Pose, chained, matrix
from tools.demo.layout import LANE, Layout
from tools.demo.meshes import Mesh


def park(rng: Generator, lay: Layout, plan: Plan, racks: list[tuple[float, float, float]], made: list[Actor]) -> None:
    """Cars and motorcycles in the parking lanes, bicycles at the racks."""

    def still(kind: int, mesh: Mesh, bones: int, x: float, y: float, turn: float, inner: NDArray[np.float64] | None = None) -> None:
        place = matrix(x, y, turn)[None] if inner is None else chained(matrix(x, y, turn), inner)
        made.append(
            Actor(
                kind,
                mesh,
                bones,
                lambda _: place,
                (float(np.ptp(mesh.vertices[:, 1])), float(np.ptp(mesh.vertices[:, 0]))),
                lit=False,
                still=True,
            )
        )

    if lay.parking:
        for s in (-1, 1):
            x = s * (lay.lanes * LANE + lay.bike + lay.parking / 2)
            for y0, y1 in ((lay.near, lay.yc - lay.stop(False) - 1), (lay.yc + lay.stop(False) + 1, min(lay.far, lay.yc + 75))):
                for y in np.arange(y0 + 3, y1 - 3, 5.6):
                    chance = rng.random()
                    if chance < plan.parked:
                        still(
                            CAR,
                            cars.car(rng),
                            1,
                            x + rng.normal(0, 0.06),
                            y + rng.normal(0, 0.15),
                            (0 if s > 0 else np.pi) + rng.normal(0, 0.015),
                        )
                    elif chance < plan.parked + 0.1:
                        for i in range(int(rng.integers(1, 3))):
                            still(
                                MOTORCYCLE,
                                cycles.motorcycle(rng),
                                cycles.BONES,
                                x + rng.normal(0, 0.1),
                                y - 1.0 + 1.9 * i,
                                (np.pi / 2 + rng.normal(0, 0.15)) * -s,
                                cycles.rolling("motorcycle", 0),
                            )
    for x, y, _ in racks:
        for aside in (-0.75, 0.75):
            if rng.random() < 0.92:
                still(
                    BICYCLE,
                    cycles.bicycle(rng),
                    cycles.BONES,
                    x,
                    y + aside + 0.12,
                    np.pi / 2 * float(rng.choice([-1, 1])) + rng.normal(0, 0.05),
                    cycles.rolling("bicycle", rng.uniform(0, 2)),
                )


def idlers(rng: Generator, lay: Layout, plan: Plan, made: list[Actor]) -> None:
    """People who stand and talk, some with a dog beside them."""
    for _ in range(round(plan.walkers * 0.12)):
        sx, sy = int(rng.choice([-1, 1])), int(rng.choice([-1, 1]))
        x = sx * (lay.half + rng.uniform(1.8, lay.pave - 0.6))
        y = lay.yc + sy * (lay.cross_half + lay.pave + rng.uniform(0.5, 22))
        turn = rng.uniform(0, 2 * np.pi)
        for i in range(int(rng.integers(1, 4))):
            a = turn + i * 2.1
            body, height = people.person(rng)
            made.append(
                _idler(
                    PERSON,
                    body,
                    figure.BONES,
                    matrix(x + 0.62 * np.sin(a), y - 0.62 * np.cos(a), a),
                    _standing(height),
                    rng,
                )
            )
        if rng.random() < 0.3:
            pup, size = dogs.dog(rng)
            made.append(
                _idler(
                    DOG,
                    pup,
                    dogs.BONES,
                    matrix(x + 1.2 * np.cos(turn), y + 1.2 * np.sin(turn), turn + 1),
                    _wagging(size),
                    rng,
                )
            )


def _standing(height: float) -> Pose:
    return lambda _: figure.walking(0.4, height, 0.04)


def _wagging(height: float) -> Pose:
    return lambda time: dogs.trotting(time * 6, height, 0.06)


def _idler(kind: int, mesh: Mesh, bones: int, place: NDArray[np.float64], pose: Pose, rng: Generator) -> Actor:
    start, swing = rng.uniform(0, 6), rng.uniform(0.05, 0.2)

    def moved(time: float) -> NDArray[np.float64]:
        turn = swing * np.sin(0.7 * time + start)
        return chained(place, chained(matrix(0, 0, turn), pose(time)))

    return Actor(kind, mesh, bones, moved, (0.5, 0.5))
