"""What the ground is made of: asphalt with wear and patches, paving stones, grass, kerbs."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from tools.demo.canvas import Canvas, ordered, tile
from tools.demo.layout import LANE
from tools.demo.markings import markings

ASPHALT, KERB, GUTTER, GRASS = (88, 88, 92), (186, 182, 172), (70, 70, 72), (104, 132, 70)
PAVING = ((174, 166, 152), (160, 158, 154), (186, 164, 142), (150, 148, 142))


def paint(c: Canvas) -> None:
    """Everything, back to front."""
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
    """Stones in rows, each of its own shade."""
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
    """Grain, wheel tracks, patches, cracks: float32 (height, width, 3)."""
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
