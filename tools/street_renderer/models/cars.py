"""Cars. They stand on z = 0, face +y and are centred on the origin; each has one bone."""

from __future__ import annotations

from numpy.random import Generator

from tools.street_renderer.geometry.mesh import Mesh, box, dim, join, quads, srgb
from tools.street_renderer.models.vehicle_parts import NIGHT, PAINTS, STEEL, TRIM, cabin, hull, lamps, plate, wheels


def car(rng: Generator) -> Mesh:
    """A random saloon, hatchback, estate, off-roader, people carrier or taxi, about 3.7–5 m long."""
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
    parts = [hull(stations, paint)]
    rear = {"saloon": -e + 0.62, "taxi": -e + 0.62, "hatch": -e + 0.12, "estate": -e + 0.1, "suv": -e + 0.12, "mpv": -e + 0.1}[kind]
    rear_top = rear + {"saloon": 0.75, "taxi": 0.75, "hatch": 0.55, "estate": 0.4, "suv": 0.4, "mpv": 0.3}[kind]
    front = e - (1.2 if kind != "mpv" else 0.85)
    front_top = front - (0.85 if kind != "mpv" else 1.0)
    doors = 3 if kind in ("estate", "suv", "mpv") else 2
    parts += cabin((rear, front, half * 0.9, half * 0.9), (rear_top, front_top, half * 0.7), (shoulder - 0.03, roof), paint, doors)
    axle = length * 0.29
    parts += wheels([-axle - 0.04, axle + 0.06], half, radius)
    parts += lamps(e - 0.03, -e + 0.0, half * 0.86, shoulder - 0.24 if not tall else shoulder - 0.26, (0.34, 0.13))
    parts.append(box((-half * 0.62, e - 0.1, floor + 0.02), (half * 0.62, e + 0.02, 0.47 + lift), TRIM))
    parts.append(box((-half * 0.72, -e - 0.03, floor + 0.06), (half * 0.72, -e + 0.1, 0.46 + lift), TRIM))
    parts += [plate(e + 0.03, 0.42 + lift, 1), plate(-e - 0.04, 0.4 + lift, -1)]
    for side in (-1, 1):
        low = (side * half - 0.02 * side - 0.1, front - 0.42, shoulder - 0.01)
        parts.append(box(low, (side * half + 0.1 * side + 0.02, front - 0.26, shoulder + 0.13), paint, 0.4))
        for y in (0.32, -0.62) if doors == 2 else (0.45, -0.5):
            xs = side * (half + 0.006)
            y0, y1, z0, z1 = y - side * 0.012, y + side * 0.012, 0.4 + lift, shoulder - 0.06
            parts.append(quads([[(xs, y0, z0), (xs, y1, z0), (xs, y1, z1), (xs, y0, z1)]], dim(paint, 0.35)))
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
