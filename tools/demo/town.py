"""All that stands still: houses along the pavements, trees, lamps, signals, furniture, a skyline."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from tools.demo import buildings, furniture
from tools.demo.layout import Layout
from tools.demo.meshes import Mesh, box, join, srgb
from tools.demo.shade import Lamps


@dataclass(frozen=True, eq=False)
class Signal:
    """A traffic light's lenses. corners: (heads, 3, 4, 3), of red, amber, green. cross: which road it is for."""

    corners: NDArray[np.float64]
    normal: NDArray[np.float64]
    cross: bool


@dataclass(frozen=True, eq=False)
class Town:
    """mesh: all of it. footprints: houses as (x0, x1, y0, y1). spots: trees and poles (n, 3: x, y, radius) that darken the ground."""

    mesh: Mesh
    lamps: Lamps
    signals: list[Signal]
    footprints: list[tuple[float, float, float, float]]
    spots: NDArray[np.float64]
    bike_racks: list[tuple[float, float, float]]


def build(rng: Generator, lay: Layout, eye: tuple[float, float, float], ahead: tuple[float, float]) -> Town:
    """Fill the four quadrants; nothing large right in front of the camera at ``eye``, which looks ``ahead`` (x, y)."""
    parts: list[Mesh] = []
    footprints: list[tuple[float, float, float, float]] = []
    _houses(rng, lay, eye, parts, footprints)
    _skyline(rng, lay, parts)
    spots: list[tuple[float, float, float]] = []
    lamp_places: list[NDArray[np.float64]] = []
    racks: list[tuple[float, float, float]] = []

    def blocks_view(x: float, y: float, radius: float) -> bool:
        dx, dy = x - eye[0], y - eye[1]
        depth = dx * ahead[0] + dy * ahead[1]
        aside = abs(dx * ahead[1] - dy * ahead[0])
        return depth < 15 + radius and aside < radius + 0.8 * max(depth, 2) + 1

    _lamps(lay, parts, lamp_places, spots, blocks_view, str(rng.choice(["arm", "classic"], p=[0.65, 0.35])))
    taken = [(x, y) for x, y, _ in spots]
    density = rng.uniform(0.35, 1.0)
    for sx in (-1, 1):
        x = sx * (lay.half + 1.25)
        for y in np.arange(lay.near + 4, lay.far, rng.uniform(7.5, 10)):
            clear = abs(y - lay.yc) > lay.cross_half + lay.pave + 3 and all(abs(y - b) > 2.2 or abs(x - a) > 3 for a, b in taken)
            if clear and rng.random() < density and not blocks_view(x, y, 2.5):
                parts.append(furniture.tree(rng, lay.season).moved(x, float(y), turn=rng.uniform(0, 6.28), scale=rng.uniform(0.75, 1.0)))
                spots.append((x, float(y), 1.6))
        y = 0.0
    for sy in (-1, 1):
        for x in np.arange(lay.half + lay.pave + 8, lay.side, 11):
            for sx in (-1, 1):
                place = (float(sx * x), lay.yc + sy * (lay.cross_half + 1.2))
                if rng.random() < 0.6 * density and not blocks_view(*place, 2.5):
                    parts.append(furniture.tree(rng, lay.season).moved(*place, turn=rng.uniform(0, 6.28), scale=0.85))
                    spots.append((*place, 1.6))
    if lay.park:
        _park(rng, lay, parts, spots, blocks_view)
    _small_things(rng, lay, parts, racks, blocks_view)
    signals = _signals(lay, parts, blocks_view)
    return Town(
        join(parts),
        Lamps(np.array(lamp_places, np.float32).reshape(-1, 3), np.array((19, 12.4, 6.0), np.float32)),
        signals,
        footprints,
        np.array(spots).reshape(-1, 3),
        racks,
    )


def _houses(
    rng: Generator, lay: Layout, eye: tuple[float, float, float], parts: list[Mesh], footprints: list[tuple[float, float, float, float]]
) -> None:
    px, py = lay.half + lay.pave, lay.cross_half + lay.pave
    for sx in (-1, 1):
        for sy in (-1, 1):
            if lay.park == (sx, sy):
                # a row behind the square
                for i in range(-1, int((lay.far - lay.yc) / 15) + 1 if sy > 0 else 4):
                    x0 = px + 32
                    y0 = lay.yc + sy * py + (i * 15 if sy > 0 else -i * 15 - 15)
                    if i < 0 and sy > 0:
                        continue
                    parts.append(_row_house(rng, (sx * x0, y0 + (15 if sx > 0 else 0)), (0, -sx), 15, buildings.style(rng), True, True))
                continue
            y, end = lay.yc + sy * py, lay.far if sy > 0 else min(eye[1], lay.near) - 4
            first = True
            while (end - y) * sy > 1:
                s = buildings.style(rng)
                width = float(np.clip(rng.uniform(9, 17), 6, max(6.0, (end - y) * sy + 4)))
                depth = rng.uniform(10, 13)
                last = (end - y) * sy - width <= 1
                low = y if sy > 0 else y - width
                # the street lies to the right of the direction the front runs in
                corner = (sx * px, low + width) if sx > 0 else (sx * px, low)
                near_end = first if (sx > 0) == (sy > 0) else last
                far_end = last if (sx > 0) == (sy > 0) else first
                parts.append(buildings.house(rng, corner, (0, -sx), width, depth, s, far_end, near_end))
                footprints.append((*sorted((sx * px, sx * (px + depth))), low, low + width))
                if first:
                    _side_row(rng, lay, sx, sy, px + depth, parts, footprints)
                first = False
                y += sy * (width + 0.02)
    # what closes the views: the end of the main road, both ends of the cross road
    for width, corner, along in (
        (2 * px + 16, (-px - 8, lay.far + 1), (1.0, 0.0)),
        (2 * py + 10, (lay.side + 3, lay.yc + py + 5), (0.0, -1.0)),
        (2 * py + 10, (-lay.side - 3, lay.yc - py - 5), (0.0, 1.0)),
    ):
        parts.append(buildings.house(rng, corner, along, width, 12, buildings.style(rng), True, True))


def _row_house(
    rng: Generator, corner: tuple[float, float], along: tuple[float, float], width: float, s: buildings.Style, left: bool, right: bool
) -> Mesh:
    return buildings.house(rng, corner, along, width, 11, s, left, right)


def _side_row(
    rng: Generator, lay: Layout, sx: int, sy: int, start: float, parts: list[Mesh], footprints: list[tuple[float, float, float, float]]
) -> None:
    """Along the cross road, outward from the corner house."""
    y = lay.yc + sy * (lay.cross_half + lay.pave)
    x = start + 0.02
    while x < lay.side:
        width = rng.uniform(10, 17)
        low = x if sx > 0 else -x - width
        corner = (low, y) if sy > 0 else (low + width, y)
        parts.append(buildings.house(rng, corner, (sy, 0), width, 11, buildings.style(rng), False, False))
        footprints.append((low, low + width, *sorted((y, y + sy * 11))))
        x += width + 0.02


def _skyline(rng: Generator, lay: Layout, parts: list[Mesh]) -> None:
    for i in range(40):
        # behind the end of the street, and to both sides beyond the houses
        y = lay.far + rng.uniform(16, 220) if i < 28 else rng.uniform(lay.yc + 20, lay.far)
        x = rng.uniform(-130, 130) if i < 28 else float(rng.choice([-1, 1])) * rng.uniform(76, 120)
        high, w, d = rng.uniform(14, 30) * rng.choice([1, 1, 1.7]), rng.uniform(8, 18), rng.uniform(8, 18)
        color = np.array(srgb(str(rng.choice(["#b9b4ab", "#a7aeb3", "#c7b39d", "#9aa3ad", "#b08d7c"]))))
        parts.append(box((x - w / 2, y, 0), (x + w / 2, y + d, high), color))
        rows, cols = int(high / 3.4), int(w / 3)
        for r in range(1, rows):
            pane = box((x - w / 2 + 0.8, y - 0.06, r * 3.4), (x - w / 2 + 0.8 + (cols * 3 - 1.6), y, r * 3.4 + 1.7), srgb("#5d6b78"), 0.9)
            if rng.random() < 0.4:
                pane.emission[:] = (0.5, 0.36, 0.18)
                pane.lamp[:] = rng.integers(1, 5)
            parts.append(pane)


def _lamps(
    lay: Layout, parts: list[Mesh], places: list[NDArray[np.float64]], spots: list[tuple[float, float, float]], blocks, kind: str
) -> None:  # type: ignore[no-untyped-def]
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


def _park(rng: Generator, lay: Layout, parts: list[Mesh], spots: list[tuple[float, float, float]], blocks) -> None:  # type: ignore[no-untyped-def]
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


def _small_things(rng: Generator, lay: Layout, parts: list[Mesh], racks: list[tuple[float, float, float]], blocks) -> None:  # type: ignore[no-untyped-def]
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
                        parts.append(furniture.bin_().moved(x, y))
                    elif kind == "planter":
                        parts.append(furniture.planter(rng, lay.season).moved(x, y, turn=np.pi / 2))
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


def _signals(lay: Layout, parts: list[Mesh], blocks) -> list[Signal]:  # type: ignore[no-untyped-def]
    made = []
    ahead = lay.cross_half + lay.zebra[1] + 0.6
    aside = lay.half + lay.zebra[1] + 0.6
    # (x, y, turn, cross): turned so that a lens looks at arriving traffic; the near side's and the far side's
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
