"""Parts of cars, buses and trucks: hulls, cabins, windows, wheels, lamps. Vehicles face +y."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tools.street_renderer.geometry.mesh import Mesh, Rgb, loft, palette, quads, ring, srgb

GLASS, TYRE, TRIM, STEEL = srgb("#1d2a35"), srgb("#17181b"), srgb("#24272b"), srgb("#9aa1a8")
HEADLIGHT, TAILLIGHT, AMBER = (6.0, 5.4, 4.2), (3.4, 0.12, 0.06), (3.2, 1.5, 0.15)
ALWAYS, NIGHT = 0, 1
"""Switches of a vehicle's lights: always on, on when it is dark."""
PAINTS = palette(
    "#eef0f0 #eef0f0 #d4d8da #8d959b #3a4046 #202428 #202428 #b3262b #8e1f2a "
    "#1f4e8c #2f7fb8 #17616b #2d6a4a #7c8f5a #d9a520 #e06a2b #c9b79a #6d3b2e #5b4a78"
)


def outline(side: Sequence[tuple[float, float]], y: float) -> list[tuple[float, float, float]]:
    """A cross-section at y from the points (x, z) of its right side, mirrored to the left."""
    return [(x, y, z) for x, z in side] + [(-x, y, z) for x, z in reversed(side)]


def wheels(places: Sequence[float], half: float, radius: float) -> list[Mesh]:
    """A left and a right wheel with arches at each y of a body of this half width."""
    parts = []
    for y in places:
        for side in (-1, 1):
            x = side * half
            parts.append(loft([ring((x + side * dx, y, radius), radius, radius, 12, 0) for dx in (-0.2, 0.015)], TYRE))
            face = ring((x + side * 0.03, y, radius), radius * 0.62, radius * 0.62, 8, 0)
            parts.append(loft([face - (side * 0.03, 0, 0), face], STEEL, gloss=0.4))
            arch = ring((x + side * 0.008, y, radius * 1.02), radius * 1.2, radius * 1.2, 12, 0)
            parts.append(loft([arch - (side * 0.05, 0, 0), arch - (side * 0.004, 0, 0)], TRIM))
    return parts


def hull(stations: Sequence[tuple[float, ...]], paint: Rgb) -> Mesh:
    """A car's body without its cabin. stations: cross-sections (y, half width, floor, sill, shoulder, deck height) along y."""
    rings = []
    for y, half, floor, sill, shoulder, deck in stations:
        side = [(half * 0.9, floor), (half, sill), (half, shoulder - 0.06), (half * 0.93, shoulder + 0.02), (half * 0.72, deck)]
        rings.append(outline(side, y))
    return loft(rings, paint, gloss=0.55)


def band(
    lower: NDArray[np.float64],
    upper: NDArray[np.float64],
    cuts: Sequence[tuple[float, float]],
    rise: tuple[float, float],
    out: float,
    color: Rgb,
    gloss: float,
) -> Mesh:
    """Create panels on the quad between two edges (2, 3), raised by ``out`` metres.

    cuts: the range of each panel along the edges, 0 … 1. rise: the range from the lower to the upper edge, 0 … 1.
    """
    normal = np.cross(lower[1] - lower[0], upper[0] - lower[0])
    normal = normal / np.linalg.norm(normal) * out

    def at(u: float, v: float) -> NDArray[np.float64]:
        low, high = lower[0] + (lower[1] - lower[0]) * u, upper[0] + (upper[1] - upper[0]) * u
        corner: NDArray[np.float64] = low + (high - low) * v + normal
        return corner

    return quads([[at(a, rise[0]), at(b, rise[0]), at(b, rise[1]), at(a, rise[1])] for a, b in cuts], color, gloss=gloss)


def cabin(
    base: tuple[float, float, float, float], top: tuple[float, float, float], height: tuple[float, float], paint: Rgb, doors: int
) -> list[Mesh]:
    """A car's cabin with windows. base: rear y, front y, rear and front half width. top: rear y, front y, half width.

    height: z of shoulder and roof. doors: number of windows on each side.
    """
    (r, f, hr, hf), (tr, tf, ht), (low, high) = base, top, height
    b = np.array([(-hr, r, low), (hr, r, low), (hf, f, low), (-hf, f, low)])
    t = np.array([(-ht, tr, high), (ht, tr, high), (ht, tf, high), (-ht, tf, high)])
    mid = (t[0] + t[2]) / 2
    crown = mid + (t - mid) * (0.82, 0.88, 1) + (0, 0, 0.055)
    parts = [loft([b, t, crown], paint, gloss=0.55)]
    sides = [(0.07, 0.93)]
    for i, j, cuts in ((0, 1, sides), (2, 3, sides)):
        parts.append(band(b[[i, j]], t[[i, j]], cuts, (0.08, 0.93), 0.012, GLASS, 1.0))
    edges = np.linspace(0.1, 0.9, doors + 1)
    panes = [(a + 0.022, c - 0.022) for a, c in itertools.pairwise(edges)]
    for i, j in ((1, 2), (3, 0)):
        parts.append(band(b[[i, j]], t[[i, j]], panes, (0.12, 0.9), 0.012, GLASS, 1.0))
    return parts


def lamps(front: float, rear: float, half: float, z: float, size: tuple[float, float] = (0.34, 0.15)) -> list[Mesh]:
    """Two headlights at y = front and two tail lights at y = rear, at height z of a body of this half width."""
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


def plate(y: float, z: float, nose: int) -> Mesh:
    """A number plate on the front (nose = 1) or the rear (-1)."""
    xs = np.array([-0.26, 0.26, 0.26, -0.26]) * -nose
    return quads(np.stack([xs, np.full(4, y), np.array([-0.06, -0.06, 0.06, 0.06]) + z], -1), srgb("#e9e9e2"))


def glazing(half: float, y: tuple[float, float], z: tuple[float, float], panes: int, gap: float) -> list[Mesh]:
    """Rows of windows on both sides, from y[0] to y[1] and z[0] to z[1]."""
    edges = np.linspace(y[0], y[1], panes + 1)
    faces = []
    for side in (-1, 1):
        x = side * (half + 0.012)
        for a, b in zip(edges[:-1] + gap / 2, edges[1:] - gap / 2, strict=True):
            if side < 0:
                a, b = b, a
            faces.append([(x, a, z[0]), (x, b, z[0]), (x, b, z[1]), (x, a, z[1])])
    return [quads(faces, GLASS, (0.62, 0.5, 0.29), NIGHT, 1.0)]


def front_panel(
    half: float,
    y: float,
    z: tuple[float, float],
    nose: int,
    color: Rgb,
    emission: tuple[float, ...] = (0, 0, 0),
    lamp: int = NIGHT,
    gloss: float = 1.0,
) -> Mesh:
    """An upright panel across the front (nose = 1) or the rear (-1)."""
    xs = np.array([-half, half, half, -half]) * -nose
    return quads([np.stack([xs, np.full(4, y), np.array([z[0], z[0], z[1], z[1]])], -1)], color, emission, lamp, gloss)
