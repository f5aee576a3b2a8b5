"""Fills a scene with actors: simulates the traffic, adds actors that stay in place, and gives each its mesh and its pose over time."""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from tools.street_renderer.geometry.mesh import Mesh, join
from tools.street_renderer.models import cars, dogs, people, skeleton, trucks_and_buses, two_wheelers
from tools.street_renderer.street.layout import LANE, Layout
from tools.street_renderer.traffic import poses, routes
from tools.street_renderer.traffic.actor import BICYCLE, BUS, CAR, DOG, MOTORCYCLE, PERSON, TRUCK, Actor, Pose, TrafficPlan, chained, matrix
from tools.street_renderer.traffic.simulation import Mover, Traffic, place_on


def add_parked_vehicles(
    rng: Generator, lay: Layout, plan: TrafficPlan, racks: list[tuple[float, float, float]], actors: list[Actor]
) -> None:
    """Add cars and motorcycles in the parking lanes and bicycles at the racks (x, y, side) to ``actors``."""

    def park(kind: int, mesh: Mesh, x: float, y: float, turn: float, bones: NDArray[np.float64]) -> None:
        place = chained(matrix(x, y, turn), bones)
        size = float(np.ptp(mesh.vertices[:, 1])), float(np.ptp(mesh.vertices[:, 0]))
        actors.append(Actor(kind, mesh, len(bones), lambda _: place, size, lit=False, still=True))

    if lay.parking:
        for s in (-1, 1):
            x = s * (lay.lanes * LANE + lay.bike + lay.parking / 2)
            for y0, y1 in ((lay.near, lay.yc - lay.stop(False) - 1), (lay.yc + lay.stop(False) + 1, min(lay.far, lay.yc + 75))):
                for y in np.arange(y0 + 3, y1 - 3, 5.6):
                    chance = rng.random()
                    if chance < plan.parked:
                        car, dx, dy = cars.car(rng), rng.normal(0, 0.06), rng.normal(0, 0.15)
                        park(CAR, car, x + dx, y + dy, (0 if s > 0 else np.pi) + rng.normal(0, 0.015), matrix(0, 0, 0)[None])
                    elif chance < plan.parked + 0.1:
                        for i in range(int(rng.integers(1, 3))):
                            mesh, dx = two_wheelers.motorcycle(rng), rng.normal(0, 0.1)
                            turn = (np.pi / 2 + rng.normal(0, 0.15)) * -s
                            park(MOTORCYCLE, mesh, x + dx, y - 1.0 + 1.9 * i, turn, two_wheelers.rolling("motorcycle", 0))
    for x, y, _ in racks:
        for aside in (-0.75, 0.75):
            if rng.random() < 0.92:
                mesh = two_wheelers.bicycle(rng)
                turn = np.pi / 2 * float(rng.choice([-1, 1])) + rng.normal(0, 0.05)
                park(BICYCLE, mesh, x, y + aside + 0.12, turn, two_wheelers.rolling("bicycle", rng.uniform(0, 2)))


def add_standing_people(rng: Generator, lay: Layout, plan: TrafficPlan, actors: list[Actor]) -> None:
    """Add groups of people who stand and talk, some with a dog, to ``actors``."""
    for _ in range(round(plan.walkers * 0.12)):
        sx, sy = int(rng.choice([-1, 1])), int(rng.choice([-1, 1]))
        x = sx * (lay.half + rng.uniform(1.8, lay.pave - 0.6))
        y = lay.yc + sy * (lay.cross_half + lay.pave + rng.uniform(0.5, 22))
        turn = rng.uniform(0, 2 * np.pi)
        for i in range(int(rng.integers(1, 4))):
            a = turn + i * 2.1
            body, height = people.person(rng)
            place = matrix(x + 0.62 * np.sin(a), y - 0.62 * np.cos(a), a)
            actors.append(_standing(rng, PERSON, body, skeleton.BONES, place, partial(_person_pose, height=height)))
        if rng.random() < 0.3:
            dog, height = dogs.dog(rng)
            place = matrix(x + 1.2 * np.cos(turn), y + 1.2 * np.sin(turn), turn + 1)
            actors.append(_standing(rng, DOG, dog, dogs.BONES, place, partial(_dog_pose, height=height)))


def _person_pose(_: float, height: float) -> NDArray[np.float64]:
    return skeleton.walking(0.4, height, 0.04)


def _dog_pose(time: float, height: float) -> NDArray[np.float64]:
    return dogs.trotting(time * 6, height, 0.06)


def _standing(rng: Generator, kind: int, mesh: Mesh, bones: int, place: NDArray[np.float64], pose: Pose) -> Actor:
    """An actor at ``place`` that slowly turns to and fro."""
    start, swing = rng.uniform(0, 6), rng.uniform(0.05, 0.2)

    def moved(time: float) -> NDArray[np.float64]:
        return chained(place, chained(matrix(0, 0, swing * np.sin(0.7 * time + start)), pose(time)))

    return Actor(kind, mesh, bones, moved, (0.5, 0.5))


WARM_UP = 16.0
"""Simulated time before the record begins, seconds: traffic spreads over the streets and queues form."""


def populate(
    rng: Generator, lay: Layout, plan: TrafficPlan, racks: list[tuple[float, float, float]], seconds: float, offset: float
) -> list[Actor]:
    """All actors of a scene, with their motion recorded for ``seconds``. offset: the traffic lights' clock at the start."""
    traffic = Traffic(rng, lay, offset - WARM_UP)
    actors: list[Actor] = []
    drives, rides = routes.drives(lay), routes.rides(lay)

    def start(mesh: Mesh, speed: float, ways: list[routes.WeightedRoute], kind: str, width: float) -> Mover | None:
        length = float(np.ptp(mesh.vertices[:, 1]))
        found = place_on(rng, ways, traffic.movers, length)
        return traffic.add(Mover(*found, speed * 0.6, speed, length, width, kind)) if found else None

    def add_with_rider(kind: int, mover: Mover, mesh: Mesh, name: str) -> None:
        beam = (0.0, mover.length / 2) if kind == MOTORCYCLE else None
        actors.append(Actor(kind, mesh, two_wheelers.BONES, partial(poses.two_wheeler, mover, name=name), (mover.length, 0.6), beam))
        body, height = people.person(rng, name)
        actors.append(Actor(PERSON, body, skeleton.BONES, partial(poses.rider, mover, name=name, height=height), (0.6, 0.5)))

    for kind, count, model in (
        (BUS, plan.buses, trucks_and_buses.bus),
        (TRUCK, plan.trucks, trucks_and_buses.truck),
        (CAR, plan.cars, cars.car),
    ):
        for _ in range(count):
            mesh = model(rng)
            if kind == CAR:
                mover = start(mesh, rng.uniform(8.5, 12), drives, "drive", 1.9)
            else:
                mover = start(mesh, rng.uniform(7.5, 10), [way for way in drives if way[1] > 0.5], "drive", 2.6)
            if mover:
                beam = (0.65 if kind == CAR else 0.95, mover.length / 2)
                actors.append(Actor(kind, mesh, 1, partial(poses.vehicle, mover), (mover.length, mover.width), beam))
    for _ in range(plan.motorcycles):
        mesh = two_wheelers.motorcycle(rng)
        if mover := start(mesh, rng.uniform(9, 13), drives, "drive", 0.8):
            add_with_rider(MOTORCYCLE, mover, mesh, "motorcycle")
    for _ in range(plan.cyclists):
        mesh = two_wheelers.bicycle(rng)
        if mover := start(mesh, rng.uniform(3.8, 6.0), rides, "ride", 0.6):
            add_with_rider(BICYCLE, mover, mesh, "bicycle")
    for number in range(plan.walkers):
        body, height = people.person(rng)
        way = routes.walk(rng, lay)
        mover = traffic.add(Mover(way, float(rng.uniform(0, way.length * 0.95)), 1.2, float(rng.uniform(1.1, 1.65)), 0.5, 0.6, "walk"))
        umbrella = rng.random() < plan.umbrellas
        if umbrella:
            body = join([body, people.umbrella(rng, height)])
        phase = rng.uniform(0, 2 * np.pi)
        pose = partial(poses.walker, mover, height=height, start=phase, carry=umbrella)
        actors.append(Actor(PERSON, body, skeleton.BONES, pose, (0.6, 0.5)))
        if number < plan.dogs:
            dog, size = dogs.dog(rng)
            aside = float(rng.choice([-1, 1])) * rng.uniform(0.7, 1.1)
            actors.append(Actor(DOG, dog, dogs.BONES, partial(poses.dog, mover, height=size, start=phase, aside=aside), (0.9, 0.3)))
            lead = poses.lead_mesh()
            lead_pose = partial(poses.lead, mover, height=height, dog_height=size, start=phase, aside=aside)
            actors.append(Actor(-1, lead, len(lead.vertices), lead_pose, (0.0, 0.0)))
    traffic.run(WARM_UP, record=False)
    traffic.run(seconds, record=True)
    add_parked_vehicles(rng, lay, plan, racks, actors)
    add_standing_people(rng, lay, plan, actors)
    return actors
