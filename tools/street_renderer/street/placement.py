"""Placement of lamps, traffic lights, trees and street furniture on the pavements and in the square."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from tools.street_renderer.geometry.mesh import Mesh
from tools.street_renderer.street import furniture
from tools.street_renderer.street.layout import Layout

Blocks = Callable[[float, float, float], bool]
"""Whether an object at (x, y) with a radius would block the camera's view."""


@dataclass(frozen=True, eq=False)
class Signal:
    """The lenses of a traffic light. corners: (heads, 3, 4, 3) of red, amber, green. cross: whether it is for the cross road."""

    corners: NDArray[np.float64]
    normal: NDArray[np.float64]
    cross: bool


def place_lamps(
    lay: Layout, parts: list[Mesh], places: list[NDArray[np.float64]], spots: list[tuple[float, float, float]], blocks: Blocks, kind: str
) -> None:
    """Add street lamps along both roads. places: receives the positions of their lights. kind: 'arm' or 'classic'."""
    make = furniture.lamp if kind == "arm" else furniture.classic_lamp
    step = 25.0 if kind == "arm" else 16.0
    edge = lay.cross_half + 1.6
    rows = [
        (sx * (lay.half + 0.7), y, np.pi if sx > 0 else 0.0)
        for sx in (-1, 1)
        for s in (-1, 1)
        for y in np.arange(lay.yc + s * (edge + 4.2), lay.far if s > 0 else lay.near, s * step)
    ]
    rows += [
        (x, lay.yc + sy * (lay.cross_half + 0.7), -np.pi / 2 if sy > 0 else np.pi / 2)
        for sy in (-1, 1)
        for s in (-1, 1)
        for x in np.arange(s * (lay.half + 14), s * lay.side, s * step)
    ]
    for x, y, turn in rows:
        post, light = make()
        c, s = np.cos(turn), np.sin(turn)
        places.append(np.array([x + c * light[0], y + s * light[0], light[2]]))
        if not blocks(x, y, 0.3):
            parts.append(post.moved(float(x), float(y), turn=float(turn)))
            spots.append((float(x), float(y), 0.25))


def furnish_square(rng: Generator, lay: Layout, parts: list[Mesh], spots: list[tuple[float, float, float]], blocks: Blocks) -> None:
    """Add trees, shrubs and benches in the square."""
    assert lay.park
    sx, sy = lay.park
    x0, y0 = lay.half + lay.pave, lay.cross_half + lay.pave
    for _ in range(30):
        x, y = sx * (x0 + rng.uniform(2, 30)), lay.yc + sy * (y0 + rng.uniform(1, 55))
        if abs(abs(y - lay.yc) - y0 - 7.2) < 3 or blocks(x, y, 2.5) or any((x - a) ** 2 + (y - b) ** 2 < 12 for a, b, _ in spots):
            continue
        parts.append(furniture.tree(rng, lay.season).moved(x, y, turn=rng.uniform(0, 6.28), scale=rng.uniform(0.7, 1.1)))
        spots.append((x, y, 1.8))
    for _ in range(16):
        x, y = sx * (x0 + rng.uniform(1, 20)), lay.yc + sy * (y0 + rng.uniform(0.5, 50))
        if abs(abs(y - lay.yc) - y0 - 7.2) > 2:
            parts.append(furniture.shrub(rng, lay.season).moved(x, y))
    turn = np.pi if sy > 0 else 0.0
    parts.extend(furniture.bench().moved(sx * (x0 + 3 + 6 * i), lay.yc + sy * (y0 + 9.2), turn=turn) for i in range(4))


def place_furniture(rng: Generator, lay: Layout, parts: list[Mesh], racks: list[tuple[float, float, float]], blocks: Blocks) -> None:
    """Add benches, bins, racks, parasols and a bus shelter along the pavements. racks: receives the bicycle racks."""
    edge = lay.cross_half + lay.pave + 2
    stop_side = int(rng.choice([-1, 1]))
    for sx in (-1, 1):
        for sy in (-1, 1):
            y = lay.yc + sy * (edge + rng.uniform(1, 3))
            while lay.near < y < lay.far - 10:
                kind = rng.choice(
                    ["bench", "bin", "planter", "hydrant", "bollard", "rack", "parasol", "none"],
                    p=[0.13, 0.14, 0.13, 0.06, 0.1, 0.12, 0.12, 0.2],
                )
                x = sx * (lay.half + 0.75)
                if kind == "parasol":
                    x = sx * (lay.half + lay.pave - 1.6)
                if not blocks(x, y, 1.0):
                    if kind == "bench":
                        parts.append(furniture.bench().moved(x, y, turn=np.pi / 2 if sx > 0 else -np.pi / 2))
                    elif kind == "bin":
                        parts.append(furniture.litter_bin().moved(x, y))
                    elif kind == "planter":
                        parts.append(furniture.planter(rng).moved(x, y, turn=np.pi / 2))
                    elif kind == "hydrant":
                        parts.append(furniture.hydrant().moved(x, y))
                    elif kind == "bollard":
                        parts += [furniture.bollard().moved(sx * (lay.half + 0.5), y + i * 1.5) for i in range(4)]
                    elif kind == "rack":
                        parts.append(furniture.bike_rack().moved(x, y))
                        racks.append((x, y, sx))
                    elif kind == "parasol" and lay.pave > 4.6:
                        parts += [furniture.parasol(rng).moved(x, y + i * 3.1, turn=np.pi / 2) for i in range(int(rng.integers(1, 4)))]
                        y += sy * 4
                y += sy * rng.uniform(4.5, 9)
    y = lay.yc + stop_side * (edge + 9)
    if lay.near + 3 < y and not blocks(stop_side * (lay.half + 1.6), y, 2):
        parts.append(furniture.shelter().moved(stop_side * (lay.half + 1.7), y, turn=np.pi if stop_side > 0 else 0.0))


def place_signals(lay: Layout, parts: list[Mesh], blocks: Blocks) -> list[Signal]:
    """Add traffic lights at the junction, and return their lenses."""
    made = []
    ahead = lay.cross_half + lay.zebra[1] + 0.6
    aside = lay.half + lay.zebra[1] + 0.6
    # (x, y, turn, cross): the lens faces arriving traffic, once before and once behind the junction
    places = [
        (lay.half + 0.6, lay.yc - ahead, 0.0, False), (lay.half + 0.6, lay.yc + ahead, 0.0, False),
        (-lay.half - 0.6, lay.yc + ahead, np.pi, False), (-lay.half - 0.6, lay.yc - ahead, np.pi, False),
        (aside, lay.yc + lay.cross_half + 0.6, np.pi / 2, True), (-aside, lay.yc + lay.cross_half + 0.6, np.pi / 2, True),
        (-aside, lay.yc - lay.cross_half - 0.6, -np.pi / 2, True), (aside, lay.yc - lay.cross_half - 0.6, -np.pi / 2, True),
    ]  # fmt: skip
    for i, (x, y, turn, cross) in enumerate(places):
        reach = 3.0 if i % 2 and lay.lanes == 2 and not cross else 0.0
        if blocks(x, y, 0.3):
            continue
        parts.append(furniture.signal(reach).moved(x, y, turn=turn))
        c, s = np.cos(turn), np.sin(turn)
        rotation = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])
        heads = [[furniture.lens(hx, hz, phase) for phase in ("red", "amber", "green")] for hx, hz in furniture.signal_heads(reach)]
        made.append(Signal(np.array(heads) @ rotation.T + (x, y, 0), rotation @ (0, -1, 0), cross))
    return made
