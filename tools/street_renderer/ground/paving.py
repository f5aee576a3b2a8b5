"""Paints the surfaces of the ground: asphalt with wear and patches, road markings, paving stones, grass and kerbs."""

from __future__ import annotations

from collections.abc import Sequence

import cv2
import numpy as np
from numpy.typing import NDArray

from tools.street_renderer.ground.canvas import Canvas, ordered, tile
from tools.street_renderer.street.layout import LANE

WHITE, YELLOW = (228, 226, 218), (226, 172, 60)


def markings(c: Canvas, road: NDArray[np.uint8]) -> None:
    """Paint worn lines, arrows, crossings, bicycle and bus lanes, and manholes. road: mask, 255 where roads are."""
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
    """Draw an arrow ahead, or ahead and right. toward: the sign of the y direction that traffic comes from."""

    def put(points: Sequence[tuple[float, float]]) -> None:
        c.fill(mask, [(x - toward * a, y - toward * b) for a, b in points], 255)

    put([(-0.08, -1.6), (0.08, -1.6), (0.08, 0.8), (-0.08, 0.8)])
    put([(-0.35, 0.7), (0.35, 0.7), (0, 1.7)])
    if right:
        put([(0.0, -0.7), (0.0, -0.45), (0.5, 0.0), (0.5, -0.25)])
        put([(0.45, -0.45), (0.95, 0.1), (0.42, 0.3)])


ASPHALT, KERB, GUTTER, GRASS = (88, 88, 92), (186, 182, 172), (70, 70, 72), (104, 132, 70)
PAVING = ((174, 166, 152), (160, 158, 154), (186, 164, 142), (150, 148, 142))


def paint(c: Canvas) -> None:
    """Paint the whole map."""
    rng, lay = c.rng, c.lay
    _paving(c)
    if lay.park:
        sx, sy = lay.park
        x0, y0 = lay.half + lay.pave, lay.cross_half + lay.pave
        c.rect(c.map, *ordered(sx * x0, sx * (lay.side + 9)), *ordered(lay.yc + sy * y0, lay.yc + sy * (y0 + 90)), GRASS)
        grain = tile(rng.normal(0, 9, (256, 256)).astype(np.float32), c.width, c.height)
        green = (c.map[..., 1].astype(np.int16) - c.map[..., 2] > 40)[..., None]
        c.map[:] = np.where(
            green, np.clip(c.map + grain[..., None] * (0.8, 1.0, 0.5) + c.wear[..., None] * 14, 0, 255).astype(np.uint8), c.map
        )
        c.rect(c.map, *ordered(sx * x0, sx * (x0 + 40)), *ordered(lay.yc + sy * (y0 + 6), lay.yc + sy * (y0 + 8.4)), (196, 178, 146))
    for grow, color in ((0.32, KERB), (0.02, (128, 124, 116))):
        c.blend(c.road_mask(grow), np.array(color, np.float32))
    road = c.road_mask(0.0)
    c.blend(road, _asphalt(c))
    gutter = cv2.subtract(road, c.road_mask(-0.28))
    c.blend((gutter * 0.45).astype(np.uint8), np.array(GUTTER, np.float32))
    markings(c, road)


def _paving(c: Canvas) -> None:
    """Paint paving stones in rows, each in its own shade."""
    rng = c.rng
    base = np.array(PAVING[rng.integers(len(PAVING))], np.float32)
    long, short = rng.choice([0.6, 0.8, 0.5]), 0.4
    rows, cols = int(c.height * c.cell / short) + 1, int(c.width * c.cell / long) + 1
    tone = rng.normal(0, 7, (rows, cols)).astype(np.float32)
    yy = ((np.arange(c.height) * c.cell) / short).astype(int)
    shift = (np.arange(rows) % 2) * 0.5
    xx = ((np.arange(c.width) * c.cell)[None, :] / long + shift[:, None]).astype(int) % cols
    per_row = np.take_along_axis(tone, xx, 1)
    frac = ((np.arange(c.width) * c.cell)[None, :] / long + shift[:, None]) % 1
    per_row -= 26 * (frac < c.cell / long)
    plane = per_row[yy] + 10 * c.wear
    plane[((np.arange(c.height) * c.cell) % short) < c.cell] -= 22
    c.map[:] = np.clip(base + plane[..., None], 0, 255).astype(np.uint8)


def _asphalt(c: Canvas) -> NDArray[np.float32]:
    """Asphalt with grain, wheel tracks, patches and cracks, float32 (height, width, 3)."""
    rng, lay = c.rng, c.lay
    grain = tile(rng.normal(0, 5.5, (512, 512)).astype(np.float32), c.width, c.height)
    plane = grain + 13 * c.wear
    x = c.low[0] + (np.arange(c.width) + 0.5) * c.cell
    y = c.low[1] + (np.arange(c.height) + 0.5) * c.cell
    across = np.abs(y - lay.yc) < lay.cross_half + 3
    track = np.zeros((c.height, c.width), np.float32)
    lane_main = np.abs((np.abs(x) % LANE) - LANE / 2)
    lane_cross = np.abs((np.abs(y - lay.yc) % LANE) - LANE / 2)
    track += (
        np.where(np.abs(x) < lay.lanes * LANE, np.exp(-(((lane_main - 0.85) / 0.3) ** 2)) * 6 - np.exp(-((lane_main / 0.35) ** 2)) * 5, 0)[
            None, :
        ]
        * np.where(across, 0.35, 1)[:, None]
    )
    track += (
        np.where(np.abs(y - lay.yc) < lay.cross_half, np.exp(-(((lane_cross - 0.85) / 0.3) ** 2)) * 5, 0)[:, None]
        * (np.abs(x) > lay.half)[None, :]
    )
    plane += track
    tint = rng.uniform(0.86, 1.14)
    made = np.array(ASPHALT, np.float32) * tint + plane[..., None]
    for _ in range(int(rng.integers(6, 16))):
        px, py = rng.uniform(-lay.half, lay.half), rng.uniform(lay.near, lay.far)
        w, h = rng.uniform(0.6, 2.2), rng.uniform(0.8, 6)
        (x0, y0), (x1, y1) = (
            np.clip(((np.array(p) - c.low) / c.cell).astype(int), 0, (c.width, c.height)) for p in ((px, py), (px + w, py + h))
        )
        made[y0:y1, x0:x1] *= rng.uniform(0.8, 0.93)
        cv2.rectangle(made, (int(x0), int(y0)), (int(x1), int(y1)), (48, 48, 50), max(1, int(0.05 / c.cell)), cv2.LINE_AA)
    for _ in range(int(rng.integers(4, 10))):
        start = np.array([rng.uniform(-lay.half, lay.half), rng.uniform(0, 60)])
        steps = np.cumsum(np.concatenate([[start], rng.normal(0, 0.35, (14, 2)) + rng.normal(0, 0.3, 2)]), 0)
        cv2.polylines(made, [c.px(steps)], False, (54, 54, 56), max(1, int(0.03 / c.cell)), cv2.LINE_AA, 4)
    return made
