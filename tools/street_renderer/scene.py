"""A scene made from a seed: street, town, camera, light, weather and everything that moves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from tools.street_renderer.geometry.camera import Camera
from tools.street_renderer.geometry.posed_meshes import PosedMeshes
from tools.street_renderer.ground.ground_map import Ground
from tools.street_renderer.lighting import light
from tools.street_renderer.lighting.light import Light
from tools.street_renderer.street import layout, town
from tools.street_renderer.street.layout import Layout
from tools.street_renderer.traffic.actor import Actor, TrafficPlan
from tools.street_renderer.traffic.populate import populate

DrawLight = Callable[[Generator, float], Light]


@dataclass(frozen=True, eq=False)
class Scene:
    """A street with its traffic. seconds: recorded time. offset: the traffic lights' clock at the start, seconds. rain: 0 … 1.

    noise: standard deviation of the picture's grain as a share of full scale.
    """

    layout: Layout
    ground: Ground
    town: town.Town
    camera: Camera
    light: Light
    actors: list[Actor]
    meshes: PosedMeshes
    seconds: float
    offset: float
    rain: float
    noise: float


def draw_plan(rng: Generator, rainy: bool) -> TrafficPlan:
    """Draw random numbers of actors, from a quiet street to a crowded one. Every class is frequent enough for training."""
    busy = rng.uniform(0.45, 1.3)
    return TrafficPlan(
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
    """A random raised camera beside or over the near arm of the junction, looking across it."""
    side = int(rng.choice([-1, 1]))
    x = side * rng.uniform(-0.2 * lay.half, lay.half + min(2.0, lay.pave - 2.2))
    z = rng.uniform(4.6, 9.5)
    target_x = rng.uniform(-0.55, 0.35) * lay.half * side
    yaw = float(np.degrees(np.arctan2(target_x - x, lay.yc + rng.uniform(-2, 12)))) + rng.normal(0, 3)
    pitch = float(np.clip(np.degrees(np.arctan2(z - 1, lay.yc + rng.uniform(0, 8))) + rng.normal(0, 1.5), 6, 22))
    return Camera((float(x), float(rng.uniform(-2, 3)), float(z)), yaw, pitch, float(rng.uniform(43, 64)), width, height)


def draw(seed: int, width: int, height: int, seconds: float, cell: float = 0.06, lights: DrawLight = light.draw) -> Scene:
    """The scene of a seed. The picture's size does not change the scene. lights: draws the light."""
    rng = np.random.default_rng(seed)
    lay = layout.draw(rng)
    camera = draw_camera(rng, lay, width, height)
    lit = lights(rng, camera.yaw + float(rng.choice([-1, 1])) * rng.uniform(8, 172))
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
    plan: TrafficPlan,
    seconds: float,
    offset: float,
    cell: float,
    rain: float,
    noise: float,
) -> Scene:
    """Build all parts of a scene. cell: metres per pixel of the ground's map."""
    yaw = np.radians(camera.yaw)
    # the map's resolution must not change what else is drawn from the seed
    streets = Ground(rng.spawn(1)[0], lay, cell)
    built = town.build(rng, lay, camera.position, (float(np.sin(yaw)), float(np.cos(yaw))))
    actors = populate(rng, lay, plan, built.bike_racks, seconds, offset)
    return Scene(
        lay,
        streets,
        built,
        camera,
        lit,
        actors,
        PosedMeshes([a.mesh for a in actors], [a.bones for a in actors]),
        seconds,
        offset,
        rain,
        noise,
    )
