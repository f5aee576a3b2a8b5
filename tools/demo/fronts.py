"""The fronts of town houses: real reveals, sills, cornices, balconies."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator

from tools.demo.facade import Facade
from tools.demo.house_style import GLASS, WARM, Style, dim
from tools.demo.meshes import Rgb, srgb
from tools.demo.shopfront import ground_floor


def window(f: Facade, rng: Generator, s: Style, a: float, b: float, low: float, high: float) -> None:
    """Panes behind reveals, with sill, lintel, curtains and shutters as the style has them."""
    deep = 0.16
    f.hole(a, b, low, high, deep, dim(s.wall, 0.8))
    lit = rng.random() < 0.5
    glow: Rgb = (0.0, 0.0, 0.0)
    if lit:
        red, green, blue = (c * rng.uniform(0.3, 0.75) for c in WARM[rng.integers(len(WARM))])
        glow = red, green, blue
    group = int(rng.integers(1, 5))
    tint = rng.uniform(0.7, 1.25)
    glass = dim(GLASS, tint)
    frame = s.trim if s.kind != "modern" else srgb("#33383c")
    f.panel(a, b, low, high, -deep, frame)
    w = 0.07
    middle = (a + b) / 2
    cross = low + (high - low) * 0.68
    panes = [
        (a + w, middle - w / 2, low + w, cross - w / 2),
        (middle + w / 2, b - w, low + w, cross - w / 2),
        (a + w, middle - w / 2, cross + w / 2, high - w),
        (middle + w / 2, b - w, cross + w / 2, high - w),
    ]
    if s.kind == "modern":
        panes = [(a + w, middle - w / 2, low + w, high - w), (middle + w / 2, b - w, low + w, high - w)]
    curtain = rng.random() < 0.3
    for x0, x1, y0, y1 in panes:
        f.panel(x0, x1, y0, y1, -deep + 0.02, glass, glow, group, 1.0)
        if curtain:
            share = 0.3 * (x1 - x0)
            side = (x0, x0 + share) if x0 < middle - 0.2 else (x1 - share, x1)
            f.panel(*side, y0, y1, -deep + 0.03, srgb("#cfc6b4"), dim(glow, 0.5), group, 0.5)
    if s.kind != "modern":
        f.slab(a - 0.1, b + 0.1, low - 0.1, low, 0, 0.12, s.trim)
    if s.kind == "classic":
        f.slab(a - 0.12, b + 0.12, high, high + 0.14, 0, 0.09, s.trim)
    if s.kind == "classic" and rng.random() < 0.12:
        for left in (a - 0.02 - (b - a) * 0.42, b + 0.02):
            f.slab(left, left + (b - a) * 0.42, low, high, 0, 0.05, s.accent)


def front(rng: Generator, s: Style, width: float, shops: bool = True, blind: bool = False) -> tuple[Facade, float]:
    """One front and its height up to the eaves. blind: no openings (a party wall)."""
    f = Facade()
    ground = 4.1 if shops else s.storey
    top = ground + s.storey * (s.floors - 1)
    if blind:
        f.panel(0, width, 0, top, 0, dim(s.wall, 0.92))
        return f, top
    if shops:
        ground_floor(f, rng, s, width, ground)
    bays = max(1, int(width / s.bay))
    step = width / bays
    for floor in range(1 if shops else 0, s.floors):
        low = ground + (floor - 1) * s.storey if shops or floor else 0
        sill = low + (s.storey - s.window[1]) * 0.42
        head = sill + s.window[1]
        balcony_row = s.balconies > 0 and floor < s.floors - 1 and floor > 0
        for i in range(bays):
            left = i * step
            a, b = left + (step - s.window[0]) / 2, left + (step + s.window[0]) / 2
            f.panel(left, a, low, low + s.storey, 0, s.wall)
            f.panel(b, left + step, low, low + s.storey, 0, s.wall)
            f.panel(a, b, low, sill, 0, s.wall)
            f.panel(a, b, head, low + s.storey, 0, s.wall)
            window(f, rng, s, a, b, sill, head)
            if balcony_row and rng.random() < s.balconies:
                x0, x1 = a - 0.25, b + 0.25
                f.slab(x0, x1, sill - 0.32, sill - 0.18, 0, 0.9, s.trim)
                rail = srgb("#2b3033") if s.kind != "modern" else srgb("#9fb4bb")
                f.slab(x0, x1, sill + 0.72, sill + 0.78, 0.84, 0.9, rail)
                if s.kind == "modern":
                    f.panel(x0, x1, sill - 0.18, sill + 0.72, 0.88, rail, gloss=0.9)
                else:
                    for x in np.arange(x0 + 0.03, x1, 0.16):
                        f.panel(x, x + 0.03, sill - 0.18, sill + 0.72, 0.88, rail)
                f.quad([(x0, sill - 0.18, 0), (x0, sill - 0.18, 0.9), (x0, sill + 0.75, 0.9), (x0, sill + 0.75, 0)], rail)
                f.quad([(x1, sill - 0.18, 0.9), (x1, sill - 0.18, 0), (x1, sill + 0.75, 0), (x1, sill + 0.75, 0.9)], rail)
        if s.kind == "classic" and floor:
            f.slab(0, width, low - 0.08, low + 0.06, 0, 0.07, s.trim)
    if s.kind == "classic":
        for x in (0.0, width - 0.4):
            f.slab(x, x + 0.4, ground, top - 0.3, 0, 0.05, s.trim)
    f.slab(-0.0, width, top - 0.34, top, 0, 0.28 if s.kind != "modern" else 0.1, s.trim)
    return f, top
