"""Fills a scene with actors: simulates the traffic and gives each actor its mesh and its pose over time."""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.random import Generator

from tools.street_renderer.geometry.mesh import Mesh, join
from tools.street_renderer.models import buses, cars, dogs, people, skeleton, trucks, two_wheelers
from tools.street_renderer.street.layout import Layout
from tools.street_renderer.traffic import poses, routes
from tools.street_renderer.traffic.actor import BICYCLE, BUS, CAR, DOG, MOTORCYCLE, PERSON, TRUCK, Actor, TrafficPlan
from tools.street_renderer.traffic.simulation import Mover, Traffic, place_on
from tools.street_renderer.traffic.stationary import add_parked_vehicles, add_standing_people

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

    for kind, count, model in ((BUS, plan.buses, buses.bus), (TRUCK, plan.trucks, trucks.truck), (CAR, plan.cars, cars.car)):
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
