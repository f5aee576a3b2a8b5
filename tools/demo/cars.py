"""Cars, buses and trucks. Models stand on z = 0, nose towards +y, centred on their length; one bone."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from tools.demo.meshes import Mesh, Rgb, box, join, loft, mesh, quads, ring, srgb

GLASS, TYRE, TRIM, STEEL = srgb("#1d2a35"), srgb("#17181b"), srgb("#24272b"), srgb("#9aa1a8")
HEADLIGHT, TAILLIGHT, AMBER = (6.0, 5.4, 4.2), (3.4, 0.12, 0.06), (3.2, 1.5, 0.15)
ALWAYS, NIGHT = 0, 1
"""Switches of a vehicle's lights: always on, on when it is dark."""

PAINTS = [
    srgb(code)
    for code in [
        "#eef0f0",
        "#eef0f0",
        "#d4d8da",
        "#8d959b",
        "#3a4046",
        "#202428",
        "#202428",
        "#b3262b",
        "#8e1f2a",
        "#1f4e8c",
        "#2f7fb8",
        "#17616b",
        "#2d6a4a",
        "#7c8f5a",
        "#d9a520",
        "#e06a2b",
        "#c9b79a",
        "#6d3b2e",
        "#5b4a78",
    ]
]
LIVERIES = [
    (srgb(a), srgb(b))
    for a, b in (
        ("#c8252c", "#f2efe8"),
        ("#f0b323", "#20303a"),
        ("#1f6f8b", "#f2efe8"),
        ("#2f7d4f", "#f4e9c9"),
        ("#f4f1ea", "#d8412f"),
        ("#27408b", "#f0b323"),
    )
]
BOXES = [srgb(code) for code in ["#f3f3f0", "#f3f3f0", "#e3e0d6", "#d9622b", "#2c5d8a", "#3c7a52", "#b92f2f", "#e8c547"]]


def _wheels(places: Sequence[tuple[float, float]], half: float, radius: float) -> list[Mesh]:
    parts = []
    for y, inset in places:
        for side in (-1, 1):
            x = side * (half - inset)
            parts.append(
                loft(
                    [ring((x - side * 0.2, y, radius), radius, radius, 12, 0), ring((x + side * 0.015, y, radius), radius, radius, 12, 0)],
                    TYRE,
                )
            )
            face = ring((x + side * 0.03, y, radius), radius * 0.62, radius * 0.62, 8, 0)
            parts.append(loft([face - (side * 0.03, 0, 0), face], STEEL, gloss=0.4))
            arch = ring((x + side * 0.008, y, radius * 1.02), radius * 1.2, radius * 1.2, 12, 0)
            parts.append(loft([arch - (side * 0.05, 0, 0), arch - (side * 0.004, 0, 0)], TRIM))
    return parts


def _hull(stations: Sequence[tuple[float, ...]], paint: Rgb) -> Mesh:
    """Stations along y: (y, half width, floor, sill, shoulder, deck height)."""
    rings = []
    for y, half, floor, sill, shoulder, deck in stations:
        side = [(half * 0.9, floor), (half, sill), (half, shoulder - 0.06), (half * 0.93, shoulder + 0.02), (half * 0.72, deck)]
        rings.append([(x, y, z) for x, z in side] + [(-x, y, z) for x, z in reversed(side)])
    return loft(rings, paint, gloss=0.55)


def _band(
    lower: NDArray[np.float64],
    upper: NDArray[np.float64],
    cuts: Sequence[tuple[float, float]],
    rise: tuple[float, float],
    out: float,
    color: Rgb,
    gloss: float,
) -> Mesh:
    """Panels on the quad between two edges (2, 3): from cuts[i][0] to cuts[i][1] along, rise[0] to rise[1] up, ``out`` metres proud."""
    normal = np.cross(lower[1] - lower[0], upper[0] - lower[0])
    normal = normal / np.linalg.norm(normal) * out

    def at(u: float, v: float) -> NDArray[np.float64]:
        low, high = lower[0] + (lower[1] - lower[0]) * u, upper[0] + (upper[1] - upper[0]) * u
        return low + (high - low) * v + normal

    return quads([[at(a, rise[0]), at(b, rise[0]), at(b, rise[1]), at(a, rise[1])] for a, b in cuts], color, gloss=gloss)


def _cabin(
    base: tuple[float, float, float, float], top: tuple[float, float, float], height: tuple[float, float], paint: Rgb, doors: int
) -> list[Mesh]:
    """A greenhouse. base: rear y, front y, rear and front half width. top: rear y, front y, half width. height: shoulder, roof."""
    (r, f, hr, hf), (tr, tf, ht), (low, high) = base, top, height
    b = np.array([(-hr, r, low), (hr, r, low), (hf, f, low), (-hf, f, low)])
    t = np.array([(-ht, tr, high), (ht, tr, high), (ht, tf, high), (-ht, tf, high)])
    mid = (t[0] + t[2]) / 2
    roof = np.concatenate(
        [
            t * (1, 1, 1),
        ]
    )
    crown = mid + (t - mid) * (0.82, 0.88, 1) + (0, 0, 0.055)
    parts = [loft([b, roof, crown], paint, gloss=0.55)]
    sides = [(0.07, 0.93)]
    for i, j, cuts in ((0, 1, sides), (2, 3, sides)):
        parts.append(_band(b[[i, j]], t[[i, j]], cuts, (0.08, 0.93), 0.012, GLASS, 1.0))
    edges = np.linspace(0.1, 0.9, doors + 1)
    panes = [(a + 0.022, c - 0.022) for a, c in itertools.pairwise(edges)]
    for i, j in ((1, 2), (3, 0)):
        parts.append(_band(b[[i, j]], t[[i, j]], panes, (0.12, 0.9), 0.012, GLASS, 1.0))
    return parts


def _lamps(front: float, rear: float, half: float, z: float, size: tuple[float, float] = (0.34, 0.15)) -> list[Mesh]:
    parts = []
    w, h = size
    for side in (-1, 1):
        x = side * (half - w / 2 - 0.05)
        xs = np.array([-w / 2, w / 2, w / 2, -w / 2]) + x
        zs = np.array([-h / 2, -h / 2, h / 2, h / 2]) + z
        face = np.stack([xs, np.full(4, rear - 0.012), zs], -1)
        parts.append(quads(face, srgb("#a3191c"), TAILLIGHT, NIGHT, 0.6))
        face = np.stack([xs[::-1], np.full(4, front + 0.012), zs], -1)
        parts.append(quads(face, srgb("#dfe6ea"), HEADLIGHT, NIGHT, 0.9))
    return parts


def _plate(y: float, z: float, nose: int) -> Mesh:
    xs = np.array([-0.26, 0.26, 0.26, -0.26]) * -nose
    return quads(np.stack([xs, np.full(4, y), np.array([-0.06, -0.06, 0.06, 0.06]) + z], -1), srgb("#e9e9e2"))


def car(rng: Generator) -> Mesh:
    """A saloon, hatchback, estate, off-roader, people carrier or taxi, about 3.7–5 m."""
    kind = rng.choice(["saloon", "hatch", "estate", "suv", "mpv", "taxi"], p=[0.26, 0.26, 0.13, 0.17, 0.1, 0.08])
    paint = PAINTS[rng.integers(len(PAINTS))]
    if kind == "taxi":
        paint = srgb("#efb21e") if rng.random() < 0.7 else srgb("#efe8d4")
    length = {"saloon": 4.6, "hatch": 3.95, "estate": 4.7, "suv": 4.6, "mpv": 4.5, "taxi": 4.6}[kind] * rng.uniform(0.95, 1.06)
    half = rng.uniform(0.86, 0.93)
    tall = kind in ("suv", "mpv")
    lift = {"suv": 0.12, "mpv": 0.06}.get(kind, 0.0)
    roof = {"suv": 1.68, "mpv": 1.66}.get(kind, 1.44) * rng.uniform(0.98, 1.03)
    shoulder = 0.86 + lift + (0.08 if tall else 0)
    floor, radius = 0.2 + lift, 0.32 + (0.05 if kind == "suv" else 0)
    e = length / 2
    hood = shoulder + 0.03
    boot = {"saloon": hood + 0.03, "taxi": hood + 0.03}.get(kind, shoulder + 0.02)
    stations = [
        (-e, half * 0.84, floor + 0.12, 0.5 + lift, shoulder - 0.12, boot - 0.13),
        (-e + 0.12, half * 0.94, floor, 0.48 + lift, shoulder - 0.03, boot - 0.02),
        (-e + 0.7, half, floor, 0.46 + lift, shoulder, boot),
        (0.1, half, floor, 0.46 + lift, shoulder, shoulder + 0.02),
        (e - 1.2, half, floor, 0.46 + lift, shoulder - 0.02, hood - 0.01),
        (e - 0.45, half * 0.96, floor, 0.47 + lift, shoulder - 0.1, hood - 0.1),
        (e - 0.1, half * 0.86, floor + 0.02, 0.48 + lift, shoulder - 0.2, hood - 0.2),
        (e, half * 0.76, floor + 0.12, 0.5 + lift, shoulder - 0.27, hood - 0.27),
    ]
    parts = [_hull(stations, paint)]
    rear = {"saloon": -e + 0.62, "taxi": -e + 0.62, "hatch": -e + 0.12, "estate": -e + 0.1, "suv": -e + 0.12, "mpv": -e + 0.1}[kind]
    rear_top = rear + {"saloon": 0.75, "taxi": 0.75, "hatch": 0.55, "estate": 0.4, "suv": 0.4, "mpv": 0.3}[kind]
    front = e - (1.2 if kind != "mpv" else 0.85)
    front_top = front - (0.85 if kind != "mpv" else 1.0)
    doors = 3 if kind in ("estate", "suv", "mpv") else 2
    parts += _cabin((rear, front, half * 0.9, half * 0.9), (rear_top, front_top, half * 0.7), (shoulder - 0.03, roof), paint, doors)
    axle = length * 0.29
    parts += _wheels([(-axle - 0.04, 0.0), (axle + 0.06, 0.0)], half, radius)
    parts += _lamps(e - 0.03, -e + 0.0, half * 0.86, shoulder - 0.24 if not tall else shoulder - 0.26, (0.34, 0.13))
    parts.append(box((-half * 0.62, e - 0.1, floor + 0.02), (half * 0.62, e + 0.02, 0.47 + lift), TRIM))
    parts.append(box((-half * 0.72, -e - 0.03, floor + 0.06), (half * 0.72, -e + 0.1, 0.46 + lift), TRIM))
    parts += [_plate(e + 0.03, 0.42 + lift, 1), _plate(-e - 0.04, 0.4 + lift, -1)]
    for side in (-1, 1):
        parts.append(
            box(
                (side * half - 0.02 * side - 0.1, front - 0.42, shoulder - 0.01),
                (side * half + 0.1 * side + 0.02, front - 0.26, shoulder + 0.13),
                paint,
                0.4,
            )
        )
        for y in (0.32, -0.62) if doors == 2 else (0.45, -0.5):
            xs = side * (half + 0.006)
            parts.append(
                quads(
                    [
                        [
                            (xs, y - side * 0.012, 0.4 + lift),
                            (xs, y + side * 0.012, 0.4 + lift),
                            (xs, y + side * 0.012, shoulder - 0.06),
                            (xs, y - side * 0.012, shoulder - 0.06),
                        ]
                    ],
                    tuple(c * 0.35 for c in paint),
                )
            )
    if kind == "taxi":
        sign = box((-0.28, -0.25, roof + 0.04), (0.28, -0.05, roof + 0.2), srgb("#fff4c8"), 0.3)
        sign.emission[:] = (1.6, 1.25, 0.5)
        sign.lamp[:] = NIGHT
        parts.append(sign)
    elif tall and rng.random() < 0.5:
        parts += [
            box((s * half * 0.62 - 0.03, rear_top + 0.1, roof + 0.03), (s * half * 0.62 + 0.03, front_top - 0.1, roof + 0.1), STEEL)
            for s in (-1, 1)
        ]
    elif rng.random() < 0.06:
        parts.append(box((-0.4, -1.0, roof + 0.05), (0.4, 0.6, roof + 0.4), srgb("#2b2f33"), 0.3, (0.85, 0.9)))
    return join(parts)


def _glazing(half: float, y: tuple[float, float], z: tuple[float, float], panes: int, gap: float, color: Rgb = GLASS) -> list[Mesh]:
    edges = np.linspace(y[0], y[1], panes + 1)
    faces = []
    for side in (-1, 1):
        x = side * (half + 0.012)
        for a, b in zip(edges[:-1] + gap / 2, edges[1:] - gap / 2, strict=True):
            if side < 0:
                a, b = b, a
            faces.append([(x, a, z[0]), (x, b, z[0]), (x, b, z[1]), (x, a, z[1])])
    return [quads(faces, color, (0.62, 0.5, 0.29), NIGHT, 1.0)]


def _front(
    half: float,
    y: float,
    z: tuple[float, float],
    nose: int,
    color: Rgb,
    emission: tuple[float, ...] = (0, 0, 0),
    lamp: int = NIGHT,
    gloss: float = 1.0,
) -> Mesh:
    xs = np.array([-half, half, half, -half]) * -nose
    return quads([np.stack([xs, np.full(4, y), np.array([z[0], z[0], z[1], z[1]])], -1)], color, emission, lamp, gloss)


def bus(rng: Generator) -> Mesh:
    """A single- or double-decker city bus, 11–12 m."""
    body, stripe = LIVERIES[rng.integers(len(LIVERIES))]
    double = rng.random() < 0.25
    length, half, roof = rng.uniform(10.8, 12.2), 1.26, 4.25 if double else rng.uniform(3.0, 3.15)
    e = length / 2

    def outline(y: float, shrink: float, drop: float) -> list[tuple[float, float, float]]:
        h = half * shrink
        side = [(h * 0.97, 0.32), (h, 0.5), (h, roof - 0.28 - drop), (h * 0.94, roof - 0.08 - drop), (h * 0.8, roof - drop)]
        return [(x, y, z) for x, z in side] + [(-x, y, z) for x, z in reversed(side)]

    parts = [loft([outline(-e, 0.94, 0.07), outline(-e + 0.18, 1, 0), outline(e - 0.25, 1, 0), outline(e, 0.92, 0.09)], body, gloss=0.45)]
    parts += _glazing(half, (-e + 0.6, e - 0.75), (1.32, 2.42), 7, 0.13)
    if double:
        parts += _glazing(half, (-e + 0.4, e - 0.3), (2.95, 3.75), 8, 0.12)
        parts.append(_front(half * 0.84, e + 0.012, (2.95, 3.75), 1, GLASS, (0.5, 0.45, 0.3)))
    for side in (-1, 1):
        x0, x1 = sorted((side * half, side * (half + 0.01)))
        parts.append(box((x0, -e + 0.25, 0.5), (x1, e - 0.4, 0.86), stripe, 0.4))
    for y in (e - 1.9, -0.4):
        x = half + 0.02
        parts.append(
            quads([[(x, y, 0.4), (x, y + 1.15, 0.4), (x, y + 1.15, 2.45), (x, y, 2.45)]], srgb("#20262b"), (0.5, 0.4, 0.24), NIGHT, 0.9)
        )
        parts.append(
            quads([[(x + 0.01, y + 0.55, 0.4), (x + 0.01, y + 0.6, 0.4), (x + 0.01, y + 0.6, 2.45), (x + 0.01, y + 0.55, 2.45)]], body)
        )
    parts.append(_front(half * 0.86, e + 0.012, (1.05, 2.4), 1, GLASS, (0.18, 0.16, 0.12)))
    parts.append(_front(half * 0.7, e + 0.014, (2.5, 2.82), 1, srgb("#16181a"), (2.4, 1.3, 0.2), ALWAYS, 0.5))
    parts.append(_front(half * 0.8, -e - 0.012, (1.5, 2.3), -1, GLASS))
    parts.append(_front(half * 0.45, -e - 0.012, (2.42, 2.64), -1, srgb("#16181a"), (1.6, 0.85, 0.12), ALWAYS, 0.5))
    parts.append(_front(half * 0.8, -e - 0.012, (0.45, 0.72), -1, TRIM))
    parts += _lamps(e + 0.01, -e - 0.01, half * 0.92, 0.78, (0.36, 0.2))
    parts += _wheels([(-e + 3.1, 0.0), (e - 2.6, 0.0)], half, 0.48)
    tops = [(-e + 1.0, -e + 3.4), (0.3, 2.6)] if not double else [(-e + 0.4, -e + 1.4)]
    parts += [box((-0.8, a, roof - 0.03), (0.8, b, roof + 0.24), srgb("#c9ccca"), 0.1, (0.85, 0.92)) for a, b in tops]
    parts += [box((s * (half + 0.16) - 0.07, e - 0.1, 1.9), (s * (half + 0.16) + 0.07, e + 0.12, 2.35), TRIM) for s in (-1, 1)]
    return join(parts)


def truck(rng: Generator) -> Mesh:
    """A box truck, tipper, tanker or flatbed with a separate cab, 6.5–9 m."""
    kind = rng.choice(["box", "tipper", "tanker", "curtain"], p=[0.5, 0.2, 0.15, 0.15])
    paint = PAINTS[rng.integers(len(PAINTS))] if rng.random() < 0.6 else srgb("#f0f1ef")
    length, half = rng.uniform(6.6, 9.0), 1.2
    e = length / 2
    cab, nose = e - 1.9, e
    parts = []

    def outline(y: float, shrink: float, top: float) -> list[tuple[float, float, float]]:
        h = half * shrink
        side = [(h * 0.96, 0.5), (h, 0.75), (h, 1.55), (h * 0.94, top - 0.15), (h * 0.82, top)]
        return [(x, y, z) for x, z in side] + [(-x, y, z) for x, z in reversed(side)]

    top = rng.uniform(2.55, 2.85)
    parts.append(
        loft(
            [
                outline(cab, 0.97, top),
                outline(nose - 0.75, 0.98, top),
                outline(nose - 0.22, 0.97, top - 0.16),
                outline(nose - 0.02, 0.95, 1.7),
                outline(nose, 0.93, 1.6),
            ],
            paint,
            gloss=0.5,
        )
    )
    low, high = (
        np.array([(half * 0.84, nose + 0.005, 1.58), (-half * 0.84, nose + 0.005, 1.58)]),
        np.array([(half * 0.76, nose - 0.2, top - 0.28), (-half * 0.76, nose - 0.2, top - 0.28)]),
    )
    parts.append(_band(low, high, [(0.0, 1.0)], (0.04, 1.0), 0.03, GLASS, 1.0))
    for side in (-1, 1):
        x = side * (half + 0.0)
        pane = [(x, nose - 1.35, 1.52), (x, nose - 0.35, 1.52), (x * 0.94, nose - 0.5, top - 0.32), (x * 0.94, nose - 1.35, top - 0.32)]
        parts.append(quads([pane if side > 0 else pane[::-1]], GLASS, gloss=1.0))
        parts.append(box((side * (half + 0.14) - 0.05, nose - 0.3, 1.5), (side * (half + 0.14) + 0.05, nose - 0.15, 2.1), TRIM))
    parts.append(_front(half * 0.6, nose + 0.012, (0.85, 1.4), 1, TRIM))
    parts.append(box((-half * 0.98, nose - 0.2, 0.4), (half * 0.98, nose + 0.06, 0.72), TRIM))
    parts.append(box((-half * 0.7, -e + 0.1, 0.55), (half * 0.7, cab + 0.3, 0.85), TRIM))
    parts += _lamps(nose + 0.06, -e, half * 0.98, 0.62, (0.3, 0.16))
    parts += _wheels(
        [(-e + 1.3, 0.0), (-e + 2.35, 0.0), (nose - 1.0, 0.0)] if length > 7.8 else [(-e + 1.5, 0.0), (nose - 1.0, 0.0)], half, 0.46
    )
    back = cab - 0.12
    color = BOXES[rng.integers(len(BOXES))]
    if kind in ("box", "curtain"):
        roof = rng.uniform(3.0, 3.6)
        parts.append(box((-half * 1.03, -e, 0.88), (half * 1.03, back, roof), color, 0.15))
        if rng.random() < 0.7:
            accent = BOXES[rng.integers(len(BOXES))]
            parts += [
                box((s * half * 1.03 - 0.012, -e + 0.2, 1.2), (s * half * 1.03 + 0.012, back - 0.2, rng.uniform(1.5, 2.4)), accent, 0.15)
                for s in (-1, 1)
            ]
        dark = tuple(c * 0.55 for c in color)
        if kind == "curtain":
            for y in np.arange(-e + 0.5, back - 0.2, 0.62):
                parts += [box((s * half * 1.03 - 0.014, y, 0.95), (s * half * 1.03 + 0.014, y + 0.06, roof - 0.1), dark) for s in (-1, 1)]
        parts += [
            _front(0.03, -e - 0.012, (0.95, roof - 0.06), -1, dark, gloss=0),
            _front(half * 1.02, -e - 0.011, (roof - 0.1, roof - 0.02), -1, dark, gloss=0),
        ]
        parts.append(
            box((-half * 0.9, back - 0.1, roof - 0.75), (half * 0.9, back + 0.25, roof - 0.25), srgb("#d9dcda"))
            if rng.random() < 0.4
            else box((-0.5, back, 1.0), (0.5, back + 0.1, 1.9), TRIM)
        )
    elif kind == "tipper":
        steel = srgb("#d08a1e") if rng.random() < 0.5 else srgb("#7d8a91")
        low_ring = [
            (-half * 0.85, -e + 0.15, 0.95),
            (half * 0.85, -e + 0.15, 0.95),
            (half * 0.85, back - 0.1, 0.95),
            (-half * 0.85, back - 0.1, 0.95),
        ]
        high_ring = [(-half * 1.04, -e - 0.1, 2.15), (half * 1.04, -e - 0.1, 2.15), (half * 1.04, back, 2.15), (-half * 1.04, back, 2.15)]
        parts.append(loft([low_ring, high_ring], steel, gloss=0.1))
        parts.append(box((-half * 0.95, -e + 0.0, 2.12), (half * 0.95, back - 0.1, 2.5), srgb("#7a6248"), 0, (0.35, 0.55)))
        parts += [
            box((s * half * 0.98 - 0.05, y, 1.0), (s * half * 0.98 + 0.05, y + 0.1, 2.15), tuple(c * 0.7 for c in steel))
            for s in (-1, 1)
            for y in np.linspace(-e + 0.4, back - 0.5, 5)
        ]
    else:
        rings = [ring((0, y, 1.95), r, r * 0.92, 12, 1) for y, r in ((-e, 0.85), (-e + 0.15, 1.08), (back - 0.15, 1.08), (back, 0.85))]
        parts.append(loft(rings, srgb("#d7dbdd"), gloss=0.5))
        parts += [
            loft([ring((0, y, 1.95), 1.1, 0.94 * 1.01, 12, 1), ring((0, y + 0.22, 1.95), 1.1, 0.94 * 1.01, 12, 1)], color, gloss=0.3)
            for y in (-e + 0.9, back - 1.2)
        ]
        parts.append(box((-0.35, -e + 0.4, 2.9), (0.35, back - 0.4, 3.02), STEEL))
    return join(parts)


__all__ = ["ALWAYS", "NIGHT", "bus", "car", "mesh", "truck"]
