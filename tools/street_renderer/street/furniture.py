"""Models of trees, street lamps, traffic lights, benches and other street furniture. They stand on z = 0."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from tools.street_renderer.geometry.mesh import Mesh, blob, both_sides, box, column, join, loft, palette, quads, ring, srgb, tube

IRON, WOOD, BARK = srgb("#2f3a3a"), srgb("#8a5d37"), srgb("#5a4636")
FOLIAGE = {
    "summer": palette("#4f7f37 #5f9142 #6f9b3f #3f7042 #7fa650"),
    "autumn": palette("#c9762a #d99a2f #b5532a #9a8a3a #c2a23c"),
    "spring": palette("#8db255 #a4c063 #e3aebb #7da84f #d998ad"),
}
LAMP_LIGHT = (9.0, 6.3, 3.2)
LAMP = 5
"""The switch of street lamps. Switches 1 to 4 are groups of windows that light up one after the other."""


def tree(rng: Generator, season: str) -> Mesh:
    """A deciduous tree or, rarely, a cypress."""
    colors = FOLIAGE[season]
    height = rng.uniform(5.5, 8.5)
    base = np.array(colors[rng.integers(len(colors))])
    parts = []
    if rng.random() < 0.12:
        dark = np.array(srgb("#35593c"))
        levels = [(0.5, 0.5), (1.2, 0.95), (height * 0.55, 0.85), (height, 0.08)]
        return join(
            [
                tube((0, 0, 0), (0, 0, 0.8), 0.14, BARK, 6),
                loft([ring((0, 0, z), r, r, 9, phase=i * 0.5) for i, (z, r) in enumerate(levels)], dark),
            ]
        )
    bend = rng.normal(0, 0.15, 2)
    fork = height * 0.45
    parts.append(tube((0, 0, 0), (bend[0], bend[1], fork), 0.19, BARK, 7, 0.12))
    spread = rng.uniform(1.3, 2.0)
    for i in range(rng.integers(6, 9)):
        angle = i * 2.4 + rng.uniform(-0.4, 0.4)
        out = spread * (0.75 if i else 0.0) * rng.uniform(0.6, 1.0)
        z = height * rng.uniform(0.55, 0.8) if i else height * 0.8
        size = spread * rng.uniform(0.55, 0.8)
        x, y = bend[0] + out * np.cos(angle), bend[1] + out * np.sin(angle)
        puff = _rough(rng, blob((x, y, z), (size, size, size * 0.85), (0, 0, 0), 4, 8), 0.12)
        height_share = (puff.vertices[puff.faces, 2].mean(1) - height * 0.4) / (height * 0.55)
        puff.albedo[:] = base * (0.62 + 0.5 * np.clip(height_share, 0, 1))[:, None] * rng.uniform(0.88, 1.12, (len(puff.faces), 1))
        parts.append(puff)
        if i < 4:
            parts.append(tube((bend[0], bend[1], fork * 0.9), (x, y, z - size * 0.3), 0.08, BARK, 5, 0.04))
    return join(parts)


def _rough(rng: Generator, part: Mesh, amount: float) -> Mesh:
    middle = part.vertices.mean(0)
    return replace(part, vertices=middle + (part.vertices - middle) * rng.uniform(1 - amount, 1 + amount, (len(part.vertices), 1)))


def shrub(rng: Generator, season: str) -> Mesh:
    """A low bush of random shape."""
    color = np.array(FOLIAGE[season][rng.integers(5)])
    parts = []
    for _ in range(3):
        x, y = rng.uniform(-0.35, 0.35, 2)
        part = _rough(rng, blob((x, y, 0.35), (0.45, 0.45, 0.42), color, 3, 7), 0.15)
        part.albedo[:] *= rng.uniform(0.75, 1.05, (len(part.faces), 1))
        parts.append(part)
    return join(parts)


def lamp(height: float = 7.2, reach: float = 1.9) -> tuple[Mesh, NDArray[np.float64]]:
    """A street lamp with an arm along +x, and the position of its light (3,)."""
    head = box((reach - 0.42, -0.11, height - 0.02), (reach + 0.12, 0.11, height + 0.1), IRON, 0.3, (0.9, 0.8))
    # the shade is low glass, which also glows to the sides
    glow = box((reach - 0.4, -0.1, height - 0.11), (reach + 0.1, 0.1, height - 0.02), srgb("#e8e4da"))
    glow.emission[:], glow.lamp[:] = LAMP_LIGHT, LAMP
    parts = [
        tube((0, 0, 0), (0, 0, 0.9), 0.12, IRON, 8, 0.1),
        tube((0, 0, 0.9), (0, 0, height - 0.5), 0.075, IRON, 7, 0.055),
        tube((0, 0, height - 0.55), (reach - 0.4, 0, height + 0.04), 0.045, IRON, 6),
        head,
        glow,
    ]
    return join(parts), np.array([reach - 0.15, 0, height - 0.1])


def classic_lamp(height: float = 3.9) -> tuple[Mesh, NDArray[np.float64]]:
    """A lantern on a post, and the position of its light (3,)."""
    glass = column([(height - 0.55, 0.1, 0.1), (height - 0.12, 0.19, 0.19)], srgb("#e8e4da"), 6)
    glass.emission[:] = tuple(0.5 * c for c in LAMP_LIGHT)
    glass.lamp[:] = LAMP
    roof = column([(height - 0.12, 0.23, 0.23), (height + 0.12, 0.04, 0.04)], IRON, 6)
    return join(
        [tube((0, 0, 0), (0, 0, 0.7), 0.13, IRON, 8, 0.08), tube((0, 0, 0.7), (0, 0, height - 0.55), 0.05, IRON, 6), glass, roof]
    ), np.array([0, 0, height - 0.2])


SIGNALS = {"red": (3.2, 0.16, 0.08), "amber": (3.0, 1.5, 0.1), "green": (0.15, 2.6, 1.1)}


def signal(reach: float = 0.0) -> Mesh:
    """A traffic light without its lit lens. It faces -y, and its arm of length ``reach`` points to -x."""
    parts = [tube((0, 0, 0), (0, 0, 5.4 if reach else 3.1), 0.07, IRON, 7)]
    if reach:
        parts.append(tube((0, 0, 5.3), (-reach, 0, 5.4), 0.05, IRON, 6))
    for x, z in signal_heads(reach):
        parts.append(box((x - 0.17, -0.14, z - 0.5), (x + 0.17, 0.14, z + 0.5), srgb("#1c2020")))
        parts.append(box((x - 0.24, 0.1, z - 0.58), (x + 0.24, 0.13, z + 0.58), srgb("#24292a")))
    return join(parts)


def signal_heads(reach: float) -> list[tuple[float, float]]:
    """Centres (x, z) of a traffic light's heads."""
    return [(0.0, 2.7), (-reach, 5.2)] if reach else [(0.0, 2.7)]


def lens(x: float, z: float, phase: str) -> NDArray[np.float64]:
    """Corners (4, 3) of a lens on the head at (x, z). phase: 'red', 'amber' or 'green'."""
    z += {"red": 0.31, "amber": 0.0, "green": -0.31}[phase]
    return np.array(
        [(x - 0.115, -0.16, z - 0.115), (x + 0.115, -0.16, z - 0.115), (x + 0.115, -0.16, z + 0.115), (x - 0.115, -0.16, z + 0.115)]
    )


def bench() -> Mesh:
    """A bench that faces +y."""
    planks = [box((-0.85, y, 0.43), (0.85, y + 0.11, 0.48), WOOD) for y in (-0.2, -0.06, 0.08)]
    planks += [box((-0.85, -0.3, z), (0.85, -0.26, z + 0.1), WOOD) for z in (0.58, 0.73)]
    return join(
        [
            *planks,
            *(box((x - 0.04, -0.3, 0), (x + 0.04, 0.16, 0.43), IRON) for x in (-0.65, 0.65)),
            *(box((x - 0.04, -0.32, 0.43), (x + 0.04, -0.28, 0.86), IRON) for x in (-0.65, 0.65)),
        ]
    )


def litter_bin() -> Mesh:
    """A litter bin."""
    return join(
        [
            column([(0.08, 0.2, 0.2), (0.85, 0.24, 0.24)], srgb("#2d4a3e"), 8),
            column([(0.85, 0.26, 0.26), (0.95, 0.2, 0.2)], IRON, 8),
        ]
    )


def bollard() -> Mesh:
    """A bollard, 0.8 m high."""
    return join([tube((0, 0, 0), (0, 0, 0.8), 0.07, IRON, 7), tube((0, 0, 0.66), (0, 0, 0.74), 0.078, srgb("#e8e4da"), 7)])


def hydrant() -> Mesh:
    """A red hydrant."""
    red = srgb("#b8322a")
    return join(
        [
            tube((0, 0, 0), (0, 0, 0.6), 0.12, red, 8),
            column([(0.6, 0.15, 0.15), (0.78, 0.05, 0.05)], red, 8),
            tube((-0.2, 0, 0.45), (0.2, 0, 0.45), 0.06, red, 6),
        ]
    )


def planter(rng: Generator) -> Mesh:
    """A flower box."""
    petals = palette("#d9485f #f0b84a #f4f0e6 #b768b5 #e77a3c")
    parts = [
        box((-0.8, -0.3, 0), (0.8, 0.3, 0.5), srgb("#a79f92")),
        box((-0.72, -0.24, 0.45), (0.72, 0.24, 0.62), np.array(FOLIAGE["summer"][0]), 0, (0.96, 0.8)),
    ]
    for _ in range(14):
        x, y = rng.uniform(-0.65, 0.65), rng.uniform(-0.2, 0.2)
        parts.append(blob((x, y, 0.68), (0.08, 0.08, 0.07), petals[rng.integers(5)], 2, 5))
    return join(parts)


def shelter() -> Mesh:
    """A bus shelter, open towards +x, 4 m long in y."""
    glass = srgb("#5d7680")
    parts = [box((-0.75, -2, 2.35), (0.75, 2, 2.45), IRON)]
    parts += [tube((-0.65, y, 0), (-0.65, y, 2.35), 0.04, IRON, 5) for y in (-1.9, 0, 1.9)]
    parts.append(
        both_sides(
            quads(
                [
                    [(-0.65, -1.85, 0.35), (-0.65, -0.05, 0.35), (-0.65, -0.05, 2.2), (-0.65, -1.85, 2.2)],
                    [(-0.65, 0.05, 0.35), (-0.65, 1.85, 0.35), (-0.65, 1.85, 2.2), (-0.65, 0.05, 2.2)],
                ],
                glass,
                gloss=0.9,
            )
        )
    )
    poster = box((-0.6, 1.86, 0.4), (0.6, 1.98, 2.15), srgb("#d9542f"))
    poster.emission[:] = (0.7, 0.35, 0.2)
    poster.lamp[:] = LAMP
    parts.append(poster)
    parts.append(box((-0.6, -1.5, 0.42), (-0.2, 1.5, 0.5), WOOD))
    return join(parts)


def parasol(rng: Generator) -> Mesh:
    """A café table with two chairs under a parasol."""
    color = np.array(srgb(str(rng.choice(["#e9e2d0", "#c8453a", "#d9a441", "#37685a", "#f2efe8"]))))
    height = 2.35
    angle = np.arange(9) * np.pi / 4 + np.pi / 8
    rim = np.stack([1.35 * np.cos(angle), 1.35 * np.sin(angle), np.full(9, height - 0.35)], -1)
    fall = rim - (0, 0, 0.18)
    top = np.array([0, 0, height + 0.15])
    roof = quads([[rim[i], rim[i + 1], top, top] for i in range(8)], color * np.where(np.arange(8) % 2, 1.0, 0.9)[:, None])
    edge = quads([[fall[i], fall[i + 1], rim[i + 1], rim[i]] for i in range(8)], color * 0.8)
    parts = [
        both_sides(roof),
        both_sides(edge),
        tube((0, 0, 0), (0, 0, height), 0.03, WOOD, 5),
        column([(0.7, 0.4, 0.4), (0.74, 0.4, 0.4)], srgb("#d9d2c3"), 8),
    ]
    for s in (-1, 1):
        parts += [
            box((s * 0.7 - 0.2, -0.2, 0.42), (s * 0.7 + 0.2, 0.2, 0.47), WOOD),
            box((s * 0.9 - 0.02, -0.2, 0.47), (s * 0.9 + 0.02, 0.2, 0.88), WOOD),
        ]
        parts += [
            box((s * 0.7 + dx - 0.02, dy - 0.02, 0), (s * 0.7 + dx + 0.02, dy + 0.02, 0.42), IRON)
            for dx in (-0.17, 0.17)
            for dy in (-0.17, 0.17)
        ]
    return join(parts)


def bike_rack() -> Mesh:
    """A bicycle rack of two hoops."""
    parts = []
    for y in (-0.75, 0.75):
        parts += [
            tube((-0.35, y, 0), (-0.35, y, 0.8), 0.03, IRON, 5),
            tube((0.35, y, 0), (0.35, y, 0.8), 0.03, IRON, 5),
            tube((-0.35, y, 0.8), (0.35, y, 0.8), 0.03, IRON, 5),
        ]
    return join(parts)
