"""What is painted on the roads."""

from __future__ import annotations

from collections.abc import Sequence

import cv2
import numpy as np
from numpy.typing import NDArray

from tools.demo.canvas import Canvas, ordered, tile
from tools.demo.layout import LANE

WHITE, YELLOW = (228, 226, 218), (226, 172, 60)


def markings(c: Canvas, road: NDArray[np.uint8]) -> None:
    """Lines, arrows, crossings, bicycle and bus lanes, worn; ``road`` is 255 where roads are."""
    rng, lay = c.rng, c.lay
    white, yellow, red = (np.zeros((c.height, c.width), np.uint8) for _ in range(3))
    near, far = lay.near - 5, lay.far + 5
    gap = lay.stop(False)
    runs = ((near, lay.yc - gap), (lay.yc + gap, far))
    edge = lay.lanes * LANE
    for y0, y1 in runs:
        center = yellow if lay.season != "spring" else white
        for x in (-0.12, 0.12):
            c.rect(center, x - 0.06, x + 0.06, y0, y1, 255)
        for i in range(1, lay.lanes):
            for side in (-1, 1):
                for y in np.arange(y0, y1, 6.0):
                    c.rect(white, side * i * LANE - 0.06, side * i * LANE + 0.06, y, min(y + 2.6, y1), 255)
        for side in (-1, 1):
            if lay.bike:
                c.rect(red, *ordered(side * (edge + 0.1), side * (edge + lay.bike - 0.05)), y0, y1, 255)
                for x in (edge, edge + lay.bike):
                    c.rect(white, side * x - 0.06, side * x + 0.06, y0, y1, 255)
            if lay.parking:
                inner = edge + lay.bike
                c.rect(white, side * inner - 0.05, side * inner + 0.05, y0, y1, 255)
                for y in np.arange(y0, y1, 5.6):
                    c.rect(white, *ordered(side * inner, side * lay.half), y - 0.05, y + 0.05, 255)
    if lay.bike:
        inner = lay.cross_half + lay.zebra[0] - 0.3
        for side in (-1, 1):
            c.rect(red, *ordered(side * (edge + 0.1), side * (edge + lay.bike - 0.05)), lay.yc - inner, lay.yc + inner, 110)
            for y in np.arange(lay.yc - inner + 0.2, lay.yc + inner - 0.6, 1.2):
                for x in (edge, edge + lay.bike):
                    c.rect(white, side * x - 0.1, side * x + 0.1, y, y + 0.6, 255)
    cgap = lay.stop(True)
    for sx in (-1, 1):
        x0, x1 = sorted((sx * cgap, sx * (lay.side + 6)))
        c.rect(yellow if lay.season != "spring" else white, x0, x1, lay.yc - 0.06, lay.yc + 0.06, 255)
        for i in range(1, lay.cross_lanes):
            for side in (-1, 1):
                for x in np.arange(x0, x1, 6.0):
                    c.rect(white, x, min(x + 2.6, x1), lay.yc + side * i * LANE - 0.06, lay.yc + side * i * LANE + 0.06, 255)
    z0, z1 = lay.zebra
    for s in (-1, 1):
        for x in np.arange(-lay.half + 0.25, lay.half - 0.2, 0.95):
            c.rect(white, x, x + 0.5, *ordered(lay.yc + s * (lay.cross_half + z0), lay.yc + s * (lay.cross_half + z1)), 255)
        for y in np.arange(lay.yc - lay.cross_half + 0.25, lay.yc + lay.cross_half - 0.2, 0.95):
            c.rect(white, *ordered(s * (lay.half + z0), s * (lay.half + z1)), y, y + 0.5, 255)
        # stop lines lie before the crossing on the side where traffic arrives
        c.rect(white, *ordered(-s * 0.15, -s * (edge + lay.bike)), *ordered(lay.yc + s * gap, lay.yc + s * (gap - 0.45)), 255)
        c.rect(white, *ordered(s * cgap, s * (cgap - 0.45)), *ordered(lay.yc + s * 0.15, lay.yc + s * lay.cross_half), 255)
    for i in range(lay.lanes):
        for s in (-1, 1):
            _arrow(c, white, -s * (i + 0.5) * LANE, lay.yc + s * (gap + 6.0), s, i == lay.lanes - 1)
    worn = np.clip(0.86 + 0.22 * c.wear + tile(rng.normal(0, 0.07, (256, 256)).astype(np.float32), c.width, c.height), 0.25, 0.97)
    if lay.bus_lane:
        bus = np.zeros_like(white)
        for s in (-1, 1):
            for y0, y1 in runs:
                c.rect(bus, *ordered(s * (edge - LANE + 0.15), s * (edge - 0.1)), y0, y1, 255)
        c.blend((bus * 0.5 * worn).astype(np.uint8), np.array((150, 62, 48), np.float32))
    bike_color = ((156, 70, 54), (64, 122, 84), (58, 98, 134))[rng.integers(3)]
    for mask, color, strength in ((red, bike_color, 0.75), (yellow, YELLOW, 1.0), (white, WHITE, 1.0)):
        c.blend((cv2.min(mask, road) * worn * strength).astype(np.uint8), np.array(color, np.float32))
    for _ in range(16):
        x, y = rng.uniform(-edge, edge), rng.uniform(0, 70)
        c.disc(c.map, x, y, 0.34, (62, 62, 64))
        c.disc(c.map, x, y, 0.28, (84, 82, 80))


def _arrow(c: Canvas, mask: NDArray[np.uint8], x: float, y: float, toward: int, right: bool) -> None:
    """Ahead, or ahead and right; traffic on this side moves to -toward."""

    def put(points: Sequence[tuple[float, float]]) -> None:
        c.fill(mask, [(x - toward * a, y - toward * b) for a, b in points], 255)

    put([(-0.08, -1.6), (0.08, -1.6), (0.08, 0.8), (-0.08, 0.8)])
    put([(-0.35, 0.7), (0.35, 0.7), (0, 1.7)])
    if right:
        put([(0.0, -0.7), (0.0, -0.45), (0.5, 0.0), (0.5, -0.25)])
        put([(0.45, -0.45), (0.95, 0.1), (0.42, 0.3)])
