"""One scene out of one seed: street, town, camera, light, weather and all who move in it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from tools.demo import cars, cycles, dogs, layout, light, people, routes, town
from tools.demo.camera import Camera
from tools.demo.cast import Cast
from tools.demo.ground import Ground
from tools.demo.layout import LANE, Layout
from tools.demo.light import Light
from tools.demo.meshes import Mesh
from tools.demo.traffic import Mover, Traffic, place_on

NAMES = ("person", "bicycle", "car", "motorcycle", "bus", "truck", "dog")
PERSON, BICYCLE, CAR, MOTORCYCLE, BUS, TRUCK, DOG = range(7)

Pose = Callable[[float], NDArray[np.float64]]


@dataclass(eq=False)
class Actor:
    """What is boxed. kind: class number. pose: bone matrices (bones, 3, 4) in the world at a time. beam: the places of
    its headlights' throw, (half width, front) or None. size: length and width, metres. lit: whether its lights are on in
    the dark. still: whether it never moves.
    """

    kind: int
    mesh: Mesh
    bones: int
    pose: Pose
    size: tuple[float, float]
    beam: tuple[float, float] | None = None
    lit: bool = True
    still: bool = False


@dataclass(frozen=True)
class Plan:
    """How busy a scene is: how many of each start on it."""

    cars: int
    buses: int
    trucks: int
    motorcycles: int
    cyclists: int
    walkers: int
    dogs: int
    parked: float
    umbrellas: float = 0.0


@dataclass(frozen=True, eq=False)
class Scene:
    """A street in motion. seconds: how long the record lasts. offset: the signals' clock at its start."""

    layout: Layout
    ground: Ground
    town: town.Town
    camera: Camera
    light: Light
    actors: list[Actor]
    cast: Cast
    seconds: float
    offset: float
    rain: float
    noise: float


def matrix(x: float, y: float, turn: float) -> NDArray[np.float64]:
    """Turned anticlockwise by ``turn`` and put at (x, y)."""
    c, s = np.cos(turn), np.sin(turn)
    return np.array([[c, -s, 0, x], [s, c, 0, y], [0, 0, 1, 0]])


def chained(outer: NDArray[np.float64], inner: NDArray[np.float64]) -> NDArray[np.float64]:
    """One matrix (3, 4) after each of several (n, 3, 4)."""
    made = np.empty_like(inner)
    made[:, :, :3] = outer[:, :3] @ inner[:, :, :3]
    made[:, :, 3] = inner[:, :, 3] @ outer[:, :3].T + outer[:, 3]
    return made


def draw_plan(rng: Generator, rainy: bool) -> Plan:
    """Random traffic, from a quiet street to a crowded one; every class turns up often enough to be learned."""
    busy = rng.uniform(0.45, 1.3)
    return Plan(
        cars=round(busy * rng.uniform(5, 13)),
        buses=int(rng.choice([0, 1, 2, 3], p=[0.12, 0.38, 0.35, 0.15])),
        trucks=int(rng.choice([0, 1, 2, 3], p=[0.12, 0.38, 0.35, 0.15])),
        motorcycles=int(rng.integers(2, 6)),
        cyclists=int(rng.integers(3, 8)),
        walkers=round(busy * rng.uniform(14, 34)),
        dogs=int(rng.integers(3, 9)),
        parked=rng.uniform(0.2, 0.85),
        umbrellas=rng.uniform(0.2, 0.7) if rainy else 0.0,
    )


def draw_camera(rng: Generator, lay: Layout, width: int, height: int) -> Camera:
    """A raised place beside or over the near arm of the junction, looking across it."""
    side = int(rng.choice([-1, 1]))
    x = side * rng.uniform(-0.2 * lay.half, lay.half + min(2.0, lay.pave - 2.2))
    z = rng.uniform(4.6, 9.5)
    target_x = rng.uniform(-0.55, 0.35) * lay.half * side
    yaw = float(np.degrees(np.arctan2(target_x - x, lay.yc + rng.uniform(-2, 12)))) + rng.normal(0, 3)
    pitch = float(np.clip(np.degrees(np.arctan2(z - 1, lay.yc + rng.uniform(0, 8))) + rng.normal(0, 1.5), 6, 22))
    return Camera((float(x), float(rng.uniform(-2, 3)), float(z)), yaw, pitch, float(rng.uniform(43, 64)), width, height)


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
                lambda t: chained(matrix(*_at(mover, t)), cycles.rolling(name, mover.state(t)[1])),
                (mover.length, 0.6),
                (0.0, mover.length / 2) if kind == MOTORCYCLE else None,
            )
        )
        body, height = people.person(rng, name)
        made.append(
            Actor(
                PERSON,
                body,
                people.BONES,
                lambda t: chained(matrix(*_at(mover, t)), cycles.rider_pose(name, mover.state(t)[1], height)),
                (0.6, 0.5),
            )
        )

    for kind, count, model in ((BUS, plan.buses, cars.bus), (TRUCK, plan.trucks, cars.truck), (CAR, plan.cars, cars.car)):
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
                        lambda t, m=mover: matrix(*_at(m, t))[None],
                        (mover.length, mover.width),
                        (0.65 if kind == CAR else 0.95, mover.length / 2),
                    )
                )  # type: ignore[misc]
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
            Actor(PERSON, body, people.BONES, lambda t, m=mover, h=height, s=start, c=sheltered: _walker(m, t, h, s, c), (0.6, 0.5))
        )  # type: ignore[misc]
        if with_dog:
            owners += 1
            pup, size = dogs.dog(rng)
            aside = float(rng.choice([-1, 1])) * rng.uniform(0.7, 1.1)
            made.append(Actor(DOG, pup, dogs.BONES, lambda t, m=mover, h=size, s=start, a=aside: _dog(m, t, h, s, a), (0.9, 0.3)))  # type: ignore[misc]
            lead = _lead_mesh()
            made.append(
                Actor(
                    -1,
                    lead,
                    lead.bones.max() + 1,
                    lambda t, m=mover, h=height, d=size, s=start, a=aside: _lead(m, t, h, d, s, a),
                    (0.0, 0.0),
                )
            )  # type: ignore[misc]
    traffic.run(warm, record=False)
    traffic.run(seconds, record=True)
    _park(rng, lay, plan, racks, made)
    _idlers(rng, lay, plan, made)
    return made


def people_with_umbrella(rng: Generator, body: Mesh, height: float) -> Mesh:
    """The same person, one hand up with an umbrella in it."""
    from tools.demo.meshes import join

    return join([body, people.umbrella(rng, height)])


def _at(mover: Mover, time: float) -> tuple[float, float, float]:
    return mover.route.at(mover.state(time)[0])


def _walker(mover: Mover, time: float, height: float, start: float, carry: bool) -> NDArray[np.float64]:
    distance, travelled, speed = mover.state(time)
    gait = start + travelled / people.walking_legs_reach(height) * 2 * np.pi
    stride = float(np.clip(speed / 1.2, 0, 1.15))
    return chained(matrix(*mover.route.at(distance)), people.walking(gait, height, stride, carry))


def _dog_place(mover: Mover, time: float, start: float, aside: float) -> tuple[float, float, float]:
    distance, travelled, _ = mover.state(time)
    x, y, turn = mover.route.at(distance + 0.5)
    sway = aside + 0.12 * np.sin(travelled * 0.7 + start)
    return x + np.cos(turn) * sway, y + np.sin(turn) * sway, turn + 0.15 * float(np.cos(travelled * 0.7 + start))


def _dog(mover: Mover, time: float, height: float, start: float, aside: float) -> NDArray[np.float64]:
    _, travelled, speed = mover.state(time)
    gait = start * 3 + travelled / dogs.cycle_length(height) * 2 * np.pi
    return chained(matrix(*_dog_place(mover, time, start, aside)), dogs.trotting(gait, height, float(np.clip(speed / 1.0, 0, 1))))


def _lead_mesh() -> Mesh:
    from tools.demo.meshes import quads, srgb

    faces = dogs.lead(np.zeros(3), np.array([0, 1.0, 0]))
    part = quads(faces, srgb("#2b2420"), counts=False)
    return replace(part, bones=np.arange(len(part.vertices), dtype=np.int32))


def _lead(mover: Mover, time: float, height: float, dog_height: float, start: float, aside: float) -> NDArray[np.float64]:
    """Each corner of the lead is a bone of its own, moved to where it hangs."""
    distance, _, _ = mover.state(time)
    x, y, turn = mover.route.at(distance)
    side = np.sign(aside) * 0.12 * height
    hand = np.array([x + np.cos(turn) * side, y + np.sin(turn) * side, 0.46 * height])
    a, b, to = _dog_place(mover, time, start, aside)
    collar = np.array([a - np.sin(to) * 0.42 * dog_height, b + np.cos(to) * 0.42 * dog_height, 0.95 * dog_height])
    now, rest = dogs.lead(hand, collar).reshape(-1, 3), dogs.lead(np.zeros(3), np.array([0, 1.0, 0])).reshape(-1, 3)
    place = np.zeros((len(now), 3, 4))
    place[:, :, :3] = np.eye(3)
    place[:, :, 3] = now - rest
    return place


def _park(rng: Generator, lay: Layout, plan: Plan, racks: list[tuple[float, float, float]], made: list[Actor]) -> None:
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
        for i in (-0.75, 0.75):
            if rng.random() < 0.92:
                still(
                    BICYCLE,
                    cycles.bicycle(rng),
                    cycles.BONES,
                    x,
                    y + i + 0.12,
                    np.pi / 2 * float(rng.choice([-1, 1])) + rng.normal(0, 0.05),
                    cycles.rolling("bicycle", rng.uniform(0, 2)),
                )


def _idlers(rng: Generator, lay: Layout, plan: Plan, made: list[Actor]) -> None:
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
                    people.BONES,
                    matrix(x + 0.62 * np.sin(a), y - 0.62 * np.cos(a), a),
                    lambda _, h=height: people.walking(0.4, h, 0.04),
                    rng,
                )
            )  # type: ignore[misc]
        if rng.random() < 0.3:
            pup, size = dogs.dog(rng)
            made.append(
                _idler(
                    DOG,
                    pup,
                    dogs.BONES,
                    matrix(x + 1.2 * np.cos(turn), y + 1.2 * np.sin(turn), turn + 1),
                    lambda t, h=size: dogs.trotting(t * 6, h, 0.06),
                    rng,
                )
            )  # type: ignore[misc]


def _idler(kind: int, mesh: Mesh, bones: int, place: NDArray[np.float64], pose: Pose, rng: Generator) -> Actor:
    start, swing = rng.uniform(0, 6), rng.uniform(0.05, 0.2)

    def moved(time: float) -> NDArray[np.float64]:
        turn = swing * np.sin(0.7 * time + start)
        return chained(place, chained(matrix(0, 0, turn), pose(time)))

    return Actor(kind, mesh, bones, moved, (0.5, 0.5))


def draw(seed: int, width: int, height: int, seconds: float, cell: float = 0.06) -> Scene:
    """The scene of a seed; the same seed gives the same scene, whatever the size of the picture."""
    rng = np.random.default_rng(seed)
    lay = layout.draw(rng)
    camera = draw_camera(rng, lay, width, height)
    lit = light.draw(rng, camera.yaw + float(rng.choice([-1, 1])) * rng.uniform(8, 172))
    raining = lit.wet > 0.4 and rng.random() < 0.65
    return assemble(
        rng,
        lay,
        camera,
        lit,
        draw_plan(rng, raining),
        seconds,
        rng.uniform(0, 26),
        cell,
        rng.uniform(0.3, 1.0) if raining else 0.0,
        rng.uniform(0, 0.014) * (1 + 0.6 * lit.night),
    )


def assemble(
    rng: Generator,
    lay: Layout,
    camera: Camera,
    lit: Light,
    plan: Plan,
    seconds: float,
    offset: float,
    cell: float,
    rain: float,
    noise: float,
) -> Scene:
    """Build all parts of a scene; cell: metres per pixel of the ground's map."""
    yaw = np.radians(camera.yaw)
    # the map's resolution must not change what else is drawn from the seed
    streets = Ground(rng.spawn(1)[0], lay, cell)
    built = town.build(rng, lay, camera.position, (float(np.sin(yaw)), float(np.cos(yaw))))
    actors = populate(rng, lay, plan, built.bike_racks, seconds, offset)
    return Scene(
        lay, streets, built, camera, lit, actors, Cast([a.mesh for a in actors], [a.bones for a in actors]), seconds, offset, rain, noise
    )
