"""Who drives, rides and walks through a scene."""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from tools.demo import buses, cars, cycles, dogs, figure, gaits, people, routes, trucks
from tools.demo.actor import BICYCLE, BUS, CAR, DOG, MOTORCYCLE, PERSON, TRUCK, Actor, Plan, chained, matrix
from tools.demo.bystanders import idlers, park
from tools.demo.layout import Layout
from tools.demo.meshes import Mesh, join
from tools.demo.traffic import Mover, Traffic, place_on


def populate(
    rng: Generator, lay: Layout, plan: Plan, racks: list[tuple[float, float, float]], seconds: float, offset: float, warm: float = 16.0
) -> list[Actor]:
    """Actors with their ways through the scene, recorded for ``seconds``."""
    traffic = Traffic(rng, lay, offset - warm)
    made: list[Actor] = []
    drives, rides = routes.drives(lay), routes.rides(lay)

    def vehicle(mesh: Mesh, wish: float, ways: list[tuple[routes.Route, str, float]], how: str, body: float) -> Mover | None:
        length = float(np.ptp(mesh.vertices[:, 1]))
        found = place_on(rng, ways, traffic.movers, length)
        if not found:
            return None
        mover = Mover(found[0], found[1], wish * 0.6, wish, length, body, how, len(made))
        mover.passed = sum(found[1] > at for at, _ in found[0].stops)
        traffic.movers.append(mover)
        return mover

    def machine(kind: int, mover: Mover, mesh: Mesh, name: str) -> None:
        made.append(
            Actor(
                kind,
                mesh,
                cycles.BONES,
                lambda t: chained(matrix(*gaits.at(mover, t)), cycles.rolling(name, mover.state(t)[1])),
                (mover.length, 0.6),
                (0.0, mover.length / 2) if kind == MOTORCYCLE else None,
            )
        )
        body, height = people.person(rng, name)
        made.append(
            Actor(
                PERSON,
                body,
                figure.BONES,
                lambda t: chained(matrix(*gaits.at(mover, t)), cycles.rider_pose(name, mover.state(t)[1], height)),
                (0.6, 0.5),
            )
        )

    for kind, count, model in ((BUS, plan.buses, buses.bus), (TRUCK, plan.trucks, trucks.truck), (CAR, plan.cars, cars.car)):
        for _ in range(count):
            mesh = model(rng)
            ways = [way for way in drives if way[2] > 0.5] if kind != CAR else drives
            mover = vehicle(mesh, rng.uniform(8.5, 12) if kind == CAR else rng.uniform(7.5, 10), ways, "drive", 2.6 if kind != CAR else 1.9)
            if mover:
                made.append(
                    Actor(
                        kind,
                        mesh,
                        1,
                        partial(_driven, mover),
                        (mover.length, mover.width),
                        (0.65 if kind == CAR else 0.95, mover.length / 2),
                    )
                )
    for _ in range(plan.motorcycles):
        mesh = cycles.motorcycle(rng)
        mover = vehicle(mesh, rng.uniform(9, 13), drives, "drive", 0.8)
        if mover:
            machine(MOTORCYCLE, mover, mesh, "motorcycle")
    for _ in range(plan.cyclists):
        mesh = cycles.bicycle(rng)
        mover = vehicle(mesh, rng.uniform(3.8, 6.0), rides, "ride", 0.6)
        if mover:
            machine(BICYCLE, mover, mesh, "bicycle")
    owners = 0
    for _ in range(plan.walkers):
        body, height = people.person(rng)
        way = routes.walk(rng, lay)
        mover = Mover(way, float(rng.uniform(0, way.length * 0.95)), 1.2, float(rng.uniform(1.1, 1.65)), 0.5, 0.6, "walk", len(made))
        mover.passed = sum(mover.distance > at for at, _ in way.stops)
        traffic.movers.append(mover)
        with_dog, sheltered = owners < plan.dogs, rng.random() < plan.umbrellas
        if sheltered:
            body = people_with_umbrella(rng, body, height)
        start = rng.uniform(0, 2 * np.pi)
        made.append(
            Actor(PERSON, body, figure.BONES, partial(gaits.walker, mover, height=height, start=start, carry=sheltered), (0.6, 0.5))
        )
        if with_dog:
            owners += 1
            pup, size = dogs.dog(rng)
            aside = float(rng.choice([-1, 1])) * rng.uniform(0.7, 1.1)
            made.append(Actor(DOG, pup, dogs.BONES, partial(gaits.dog, mover, height=size, start=start, aside=aside), (0.9, 0.3)))
            lead = gaits.lead_mesh()
            made.append(
                Actor(
                    -1,
                    lead,
                    lead.bones.max() + 1,
                    partial(gaits.lead, mover, height=height, dog_height=size, start=start, aside=aside),
                    (0.0, 0.0),
                )
            )
    traffic.run(warm, record=False)
    traffic.run(seconds, record=True)
    park(rng, lay, plan, racks, made)
    idlers(rng, lay, plan, made)
    return made


def people_with_umbrella(rng: Generator, body: Mesh, height: float) -> Mesh:
    """The same person, one hand up with an umbrella in it."""
    return join([body, people.umbrella(rng, height)])


def _driven(mover: Mover, time: float) -> NDArray[np.float64]:
    return matrix(*gaits.at(mover, time))[None]
