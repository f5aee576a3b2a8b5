"""Who is boxed, how many of each there are, and where a pose puts them."""

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
class TrafficPlan:
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
