"""Actors, their classes and their numbers, and the matrices that place them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tools.street_renderer.geometry.mesh import Mesh

NAMES = ("person", "bicycle", "car", "motorcycle", "bus", "truck", "dog")
PERSON, BICYCLE, CAR, MOTORCYCLE, BUS, TRUCK, DOG = range(7)
Pose = Callable[[float], NDArray[np.float64]]


@dataclass(eq=False)
class Actor:
    """One object that may be in the truth.

    kind: class number, -1 for an object without a box. bones: number of bones. pose: bone matrices (bones, 3, 4) in the world
    at a time. size: length and width, metres. beam: half distance and y of its headlights, or None. lit: whether its lights
    are on in the dark. still: whether it never moves.
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
class TrafficPlan:
    """How many actors of each kind a scene has. parked, umbrellas: shares, 0 … 1."""

    cars: int
    buses: int
    trucks: int
    motorcycles: int
    cyclists: int
    walkers: int
    dogs: int
    parked: float
    umbrellas: float = 0.0


def matrix(x: float, y: float, turn: float) -> NDArray[np.float64]:
    """The matrix (3, 4) that turns by ``turn`` radians anticlockwise and moves to (x, y)."""
    c, s = np.cos(turn), np.sin(turn)
    return np.array([[c, -s, 0, x], [s, c, 0, y], [0, 0, 1, 0]])


def chained(outer: NDArray[np.float64], inner: NDArray[np.float64]) -> NDArray[np.float64]:
    """The matrix ``outer`` (3, 4) applied after each of ``inner`` (n, 3, 4)."""
    made = np.empty_like(inner)
    made[:, :, :3] = outer[:, :3] @ inner[:, :, :3]
    made[:, :, 3] = inner[:, :, 3] @ outer[:, :3].T + outer[:, 3]
    return made
