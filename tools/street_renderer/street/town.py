"""The town, which is everything static: houses, trees, lamps, traffic lights, street furniture and a skyline."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from tools.street_renderer.geometry.mesh import Mesh, join
from tools.street_renderer.lighting.shading import Lamps
from tools.street_renderer.street import furniture, house_rows, placement
from tools.street_renderer.street.layout import Layout


@dataclass(frozen=True, eq=False)
class Town:
    """The town's mesh, and the positions of objects that other parts need.

    footprints: ground areas of houses (x0, x1, y0, y1). spots: trees and poles (n, 3: x, y, radius) that darken the ground.
    bike_racks: (x, y, side of the road).
    """

    mesh: Mesh
    lamps: Lamps
    signals: list[placement.Signal]
    footprints: list[tuple[float, float, float, float]]
    spots: NDArray[np.float64]
    bike_racks: list[tuple[float, float, float]]


def build(rng: Generator, lay: Layout, eye: tuple[float, float, float], ahead: tuple[float, float]) -> Town:
    """A random town. Nothing large stands right in front of the camera at ``eye``, which looks ``ahead`` (x, y)."""
    parts: list[Mesh] = []
    footprints: list[tuple[float, float, float, float]] = []
    house_rows.houses(rng, lay, eye, parts, footprints)
    house_rows.skyline(rng, lay, parts)
    spots: list[tuple[float, float, float]] = []
    lamp_places: list[NDArray[np.float64]] = []
    racks: list[tuple[float, float, float]] = []

    def blocks_view(x: float, y: float, radius: float) -> bool:
        dx, dy = x - eye[0], y - eye[1]
        depth = dx * ahead[0] + dy * ahead[1]
        aside = abs(dx * ahead[1] - dy * ahead[0])
        return depth < 15 + radius and aside < radius + 0.8 * max(depth, 2) + 1

    placement.place_lamps(lay, parts, lamp_places, spots, blocks_view, str(rng.choice(["arm", "classic"], p=[0.65, 0.35])))
    taken = [(x, y) for x, y, _ in spots]
    density = rng.uniform(0.35, 1.0)
    for sx in (-1, 1):
        x = sx * (lay.half + 1.25)
        for y in np.arange(lay.near + 4, lay.far, rng.uniform(7.5, 10)):
            clear = abs(y - lay.yc) > lay.cross_half + lay.pave + 3 and all(abs(y - b) > 2.2 or abs(x - a) > 3 for a, b in taken)
            if clear and rng.random() < density and not blocks_view(x, y, 2.5):
                parts.append(furniture.tree(rng, lay.season).moved(x, float(y), turn=rng.uniform(0, 6.28), scale=rng.uniform(0.75, 1.0)))
                spots.append((x, float(y), 1.6))
    for sy in (-1, 1):
        for x in np.arange(lay.half + lay.pave + 8, lay.side, 11):
            for sx in (-1, 1):
                place = (float(sx * x), lay.yc + sy * (lay.cross_half + 1.2))
                if rng.random() < 0.6 * density and not blocks_view(*place, 2.5):
                    parts.append(furniture.tree(rng, lay.season).moved(*place, turn=rng.uniform(0, 6.28), scale=0.85))
                    spots.append((*place, 1.6))
    if lay.park:
        placement.furnish_square(rng, lay, parts, spots, blocks_view)
    placement.place_furniture(rng, lay, parts, racks, blocks_view)
    signals = placement.place_signals(lay, parts, blocks_view)
    return Town(
        join(parts),
        Lamps(np.array(lamp_places, np.float32).reshape(-1, 3), np.array((19, 12.4, 6.0), np.float32)),
        signals,
        footprints,
        np.array(spots).reshape(-1, 3),
        racks,
    )
