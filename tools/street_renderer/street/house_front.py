"""Fronts of town houses: ground floors with shops, awnings and doors; walls with windows, sills, cornices and balconies."""

from __future__ import annotations

import itertools

import numpy as np
from numpy.random import Generator

from tools.street_renderer.geometry.mesh import Rgb, dim, srgb
from tools.street_renderer.street.facade import Facade
from tools.street_renderer.street.house_style import ACCENTS, GLASS, WARM, Style


def awning(f: Facade, rng: Generator, a: float, b: float, top: float, color: Rgb) -> None:
    """Add a striped awning over a shop window from a to b at height ``top``."""
    out, drop, stripes = 1.25, 0.6, max(3, int((b - a) / 0.45))
    edges = np.linspace(a, b, stripes + 1)
    pale = srgb("#f1ece0") if rng.random() < 0.6 else color
    for i, (x0, x1) in enumerate(itertools.pairwise(edges)):
        tint = color if i % 2 == 0 else pale
        f.quad([(x0, top - drop, out), (x1, top - drop, out), (x1, top, 0.02), (x0, top, 0.02)], tint)
        f.quad([(x1, top - drop, out), (x0, top - drop, out), (x0, top, 0.02), (x1, top, 0.02)], dim(tint, 0.6))
        f.panel(x0, x1, top - drop - 0.2, top - drop, out, tint)
        f.quad([(x1, top - drop - 0.2, out), (x0, top - drop - 0.2, out), (x0, top - drop, out), (x1, top - drop, out)], dim(tint, 0.6))
    f.quad([(a, top - drop, out), (a, top, 0.02), (a, top - drop, 0.02), (a, top - drop, 0.02)], dim(color, 0.8))
    f.quad([(b, top - drop, out), (b, top - drop, 0.02), (b, top, 0.02), (b, top, 0.02)], dim(color, 0.8))


def shop_window(f: Facade, rng: Generator, a: float, b: float, top: float, glow: Rgb) -> None:
    """Add glass in three bands, brighter towards the top, and the goods behind it."""
    group = int(rng.integers(1, 3))
    edges = (0.5, 0.5 + (top - 0.5) * 0.4, 0.5 + (top - 0.5) * 0.75, top)
    for low, high, share in zip(edges[:-1], edges[1:], (0.5, 0.8, 1.15), strict=True):
        f.panel(a, b, low, high, -0.27, dim(GLASS, 1.2), (glow[0] * share, glow[1] * share, glow[2] * share), group, 1.0)
    x = a + rng.uniform(0.05, 0.3)
    while x < b - 0.3:
        wide = rng.uniform(0.15, 0.45)
        color = ACCENTS[rng.integers(len(ACCENTS))]
        red, green, blue = (0.35 * c + 0.12 * g for c, g in zip(color, glow, strict=True))
        f.panel(x, min(x + wide, b - 0.05), 0.5, rng.uniform(0.75, 1.5), -0.262, dim(color, 0.5), (red, green, blue), group, 0.5)
        x += wide + rng.uniform(0.08, 0.5)


def ground_floor(f: Facade, rng: Generator, s: Style, width: float, high: float) -> None:
    """Add shops and a front door side by side. high: height of the ground floor."""
    units = max(1, round(width / rng.uniform(4.5, 6.5)))
    edges = np.linspace(0, width, units + 1)
    door_at = int(rng.integers(units))
    for i, (left, right) in enumerate(itertools.pairwise(edges)):
        a, b = left + 0.35, right - 0.35
        top = high - 0.75
        base = s.trim if s.kind != "brick" else dim(s.wall, 0.9)
        f.panel(left, a, 0, high, 0, base)
        f.panel(b, right, 0, high, 0, base)
        f.panel(a, b, top, high, 0, base)
        if s.ground == "shop" and not (i == door_at and units > 2):
            color = ACCENTS[rng.integers(len(ACCENTS))]
            power = rng.uniform(0.45, 0.85)
            glow = dim(WARM[rng.integers(len(WARM))], power)
            f.hole(a, b, 0, top, 0.3, dim(color, 0.7))
            f.panel(a, b, 0, top, -0.3, color)
            door = a + 0.12 if rng.random() < 0.5 else b - 1.12
            f.panel(door, door + 1.0, 0.08, 2.35, -0.27, dim(GLASS, 0.8), dim(glow, 0.7), 1, 1.0)
            spans = [(a + 0.12, door - 0.12), (door + 1.12, b - 0.12)]
            for x0, x1 in spans:
                if x1 - x0 > 0.5:
                    shop_window(f, rng, x0, x1, top - 0.12, glow)
            f.slab(a - 0.1, b + 0.1, top + 0.05, top + 0.6, 0, 0.1, color)
            letters = rng.uniform(0.35, 0.7) * (b - a)
            x = (a + b) / 2 - letters / 2
            ink = srgb("#f6efdd") if sum(color) < 0.9 else srgb("#2b2a28")
            while x < (a + b) / 2 + letters / 2:
                step = rng.uniform(0.12, 0.3)
                f.panel(x, x + step - 0.06, top + 0.2, top + 0.44, 0.112, ink, dim(ink, 0.8), 1)
                x += step if rng.random() > 0.15 else step + 0.2
            if rng.random() < 0.55:
                awning(f, rng, a - 0.05, b + 0.05, top + 0.02, color)
        else:
            middle = (a + b) / 2
            f.panel(a, middle - 0.7, 0, top, 0, base)
            f.panel(middle + 0.7, b, 0, top, 0, base)
            f.panel(middle - 0.7, middle + 0.7, 2.6, top, 0, base)
            f.hole(middle - 0.7, middle + 0.7, 0, 2.6, 0.3, dim(base, 0.7))
            f.panel(middle - 0.7, middle + 0.7, 0, 2.6, -0.3, s.accent)
            f.panel(middle - 0.5, middle + 0.5, 2.1, 2.5, -0.28, GLASS, WARM[0], 2, 1.0)
            for x in (middle - 0.55, middle + 0.07):
                f.panel(x, x + 0.48, 0.3, 1.9, -0.28, dim(s.accent, 0.75))
    f.slab(0, width, high - 0.12, high, 0, 0.16, s.trim)


def window(f: Facade, rng: Generator, s: Style, a: float, b: float, low: float, high: float) -> None:
    """Add a window from a to b and low to high, with the sill, lintel, curtains and shutters of its style."""
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
    ranges = [(low + w, cross - w / 2), (cross + w / 2, high - w)] if s.kind != "modern" else [(low + w, high - w)]
    panes = [(*x, *z) for z in ranges for x in ((a + w, middle - w / 2), (middle + w / 2, b - w))]
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
    """One wall and the height of its eaves. shops: whether the ground floor has shops. blind: no openings (a party wall)."""
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
    f.slab(0, width, top - 0.34, top, 0, 0.28 if s.kind != "modern" else 0.1, s.trim)
    return f, top
