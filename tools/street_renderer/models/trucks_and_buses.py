"""Meshes of trucks and buses, placed like ``cars``."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator

from tools.street_renderer.geometry.mesh import Mesh, box, dim, join, loft, palette, quads, ring, srgb
from tools.street_renderer.models.vehicle_parts import (
    ALWAYS,
    GLASS,
    NIGHT,
    PAINTS,
    STEEL,
    TRIM,
    band,
    front_panel,
    glazing,
    lamps,
    outline,
    wheels,
)

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


def bus(rng: Generator) -> Mesh:
    """A random single- or double-decker city bus, 10.8–12.2 m long."""
    body, stripe = LIVERIES[rng.integers(len(LIVERIES))]
    double = rng.random() < 0.25
    length, half, roof = rng.uniform(10.8, 12.2), 1.26, 4.25 if double else rng.uniform(3.0, 3.15)
    e = length / 2

    def section(y: float, shrink: float, drop: float) -> list[tuple[float, float, float]]:
        h = half * shrink
        side = [(h * 0.97, 0.32), (h, 0.5), (h, roof - 0.28 - drop), (h * 0.94, roof - 0.08 - drop), (h * 0.8, roof - drop)]
        return outline(side, y)

    parts = [loft([section(-e, 0.94, 0.07), section(-e + 0.18, 1, 0), section(e - 0.25, 1, 0), section(e, 0.92, 0.09)], body, gloss=0.45)]
    parts += glazing(half, (-e + 0.6, e - 0.75), (1.32, 2.42), 7, 0.13)
    if double:
        parts += glazing(half, (-e + 0.4, e - 0.3), (2.95, 3.75), 8, 0.12)
        parts.append(front_panel(half * 0.84, e + 0.012, (2.95, 3.75), 1, GLASS, (0.5, 0.45, 0.3)))
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
    parts.append(front_panel(half * 0.86, e + 0.012, (1.05, 2.4), 1, GLASS, (0.18, 0.16, 0.12)))
    parts.append(front_panel(half * 0.7, e + 0.014, (2.5, 2.82), 1, srgb("#16181a"), (2.4, 1.3, 0.2), ALWAYS, 0.5))
    parts.append(front_panel(half * 0.8, -e - 0.012, (1.5, 2.3), -1, GLASS))
    parts.append(front_panel(half * 0.45, -e - 0.012, (2.42, 2.64), -1, srgb("#16181a"), (1.6, 0.85, 0.12), ALWAYS, 0.5))
    parts.append(front_panel(half * 0.8, -e - 0.012, (0.45, 0.72), -1, TRIM))
    parts += lamps(e + 0.01, -e - 0.01, half * 0.92, 0.78, (0.36, 0.2))
    parts += wheels([-e + 3.1, e - 2.6], half, 0.48)
    tops = [(-e + 1.0, -e + 3.4), (0.3, 2.6)] if not double else [(-e + 0.4, -e + 1.4)]
    parts += [box((-0.8, a, roof - 0.03), (0.8, b, roof + 0.24), srgb("#c9ccca"), 0.1, (0.85, 0.92)) for a, b in tops]
    parts += [box((s * (half + 0.16) - 0.07, e - 0.1, 1.9), (s * (half + 0.16) + 0.07, e + 0.12, 2.35), TRIM) for s in (-1, 1)]
    return join(parts)


BOXES = palette("#f3f3f0 #f3f3f0 #e3e0d6 #d9622b #2c5d8a #3c7a52 #b92f2f #e8c547")


def truck(rng: Generator) -> Mesh:
    """A random box truck, tipper, tanker or curtain-sided truck with a separate cab, 6.6–9 m long."""
    kind = rng.choice(["box", "tipper", "tanker", "curtain"], p=[0.5, 0.2, 0.15, 0.15])
    paint = PAINTS[rng.integers(len(PAINTS))] if rng.random() < 0.6 else srgb("#f0f1ef")
    length, half = rng.uniform(6.6, 9.0), 1.2
    e = length / 2
    cab, nose = e - 1.9, e
    parts = []

    def section(y: float, shrink: float, top: float) -> list[tuple[float, float, float]]:
        h = half * shrink
        side = [(h * 0.96, 0.5), (h, 0.75), (h, 1.55), (h * 0.94, top - 0.15), (h * 0.82, top)]
        return outline(side, y)

    top = rng.uniform(2.55, 2.85)
    shape = ((cab, 0.97, top), (nose - 0.75, 0.98, top), (nose - 0.22, 0.97, top - 0.16), (nose - 0.02, 0.95, 1.7), (nose, 0.93, 1.6))
    parts.append(loft([section(*each) for each in shape], paint, gloss=0.5))
    low = np.array([(half * 0.84, nose + 0.005, 1.58), (-half * 0.84, nose + 0.005, 1.58)])
    high = np.array([(half * 0.76, nose - 0.2, top - 0.28), (-half * 0.76, nose - 0.2, top - 0.28)])
    parts.append(band(low, high, [(0.0, 1.0)], (0.04, 1.0), 0.03, GLASS, 1.0))
    for side in (-1, 1):
        x = side * (half + 0.0)
        pane = [(x, nose - 1.35, 1.52), (x, nose - 0.35, 1.52), (x * 0.94, nose - 0.5, top - 0.32), (x * 0.94, nose - 1.35, top - 0.32)]
        parts.append(quads([pane if side > 0 else pane[::-1]], GLASS, gloss=1.0))
        parts.append(box((side * (half + 0.14) - 0.05, nose - 0.3, 1.5), (side * (half + 0.14) + 0.05, nose - 0.15, 2.1), TRIM))
    parts.append(front_panel(half * 0.6, nose + 0.012, (0.85, 1.4), 1, TRIM))
    parts.append(box((-half * 0.98, nose - 0.2, 0.4), (half * 0.98, nose + 0.06, 0.72), TRIM))
    parts.append(box((-half * 0.7, -e + 0.1, 0.55), (half * 0.7, cab + 0.3, 0.85), TRIM))
    parts += lamps(nose + 0.06, -e, half * 0.98, 0.62, (0.3, 0.16))
    parts += wheels([-e + 1.3, -e + 2.35, nose - 1.0] if length > 7.8 else [-e + 1.5, nose - 1.0], half, 0.46)
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
        dark = dim(color, 0.55)
        if kind == "curtain":
            for y in np.arange(-e + 0.5, back - 0.2, 0.62):
                parts += [box((s * half * 1.03 - 0.014, y, 0.95), (s * half * 1.03 + 0.014, y + 0.06, roof - 0.1), dark) for s in (-1, 1)]
        parts += [
            front_panel(0.03, -e - 0.012, (0.95, roof - 0.06), -1, dark, gloss=0),
            front_panel(half * 1.02, -e - 0.011, (roof - 0.1, roof - 0.02), -1, dark, gloss=0),
        ]
        parts.append(
            box((-half * 0.9, back - 0.1, roof - 0.75), (half * 0.9, back + 0.25, roof - 0.25), srgb("#d9dcda"))
            if rng.random() < 0.4
            else box((-0.5, back, 1.0), (0.5, back + 0.1, 1.9), TRIM)
        )
    elif kind == "tipper":
        steel = srgb("#d08a1e") if rng.random() < 0.5 else srgb("#7d8a91")
        bed = [
            [(-half * wide, rear, z), (half * wide, rear, z), (half * wide, front, z), (-half * wide, front, z)]
            for wide, rear, front, z in ((0.85, -e + 0.15, back - 0.1, 0.95), (1.04, -e - 0.1, back, 2.15))
        ]
        parts.append(loft(bed, steel, gloss=0.1))
        parts.append(box((-half * 0.95, -e + 0.0, 2.12), (half * 0.95, back - 0.1, 2.5), srgb("#7a6248"), 0, (0.35, 0.55)))
        parts += [
            box((s * half * 0.98 - 0.05, y, 1.0), (s * half * 0.98 + 0.05, y + 0.1, 2.15), dim(steel, 0.7))
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
