"""City buses, placed like ``cars``."""

from __future__ import annotations

from numpy.random import Generator

from tools.street_renderer.geometry.mesh import Mesh, box, join, loft, quads, srgb
from tools.street_renderer.models.vehicle_parts import ALWAYS, GLASS, NIGHT, TRIM, front_panel, glazing, lamps, outline, wheels

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
