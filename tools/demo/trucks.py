"""Trucks, standing as ``cars`` do."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator

from tools.demo.bodywork import GLASS, PAINTS, STEEL, TRIM, band, front_panel, lamps, wheels
from tools.demo.house_style import dim
from tools.demo.meshes import Mesh, box, join, loft, quads, ring, srgb

BOXES = [srgb(code) for code in ["#f3f3f0", "#f3f3f0", "#e3e0d6", "#d9622b", "#2c5d8a", "#3c7a52", "#b92f2f", "#e8c547"]]


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
    parts += wheels(
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
