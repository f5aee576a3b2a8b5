"""The ground as a painted map seen from above: asphalt, paving, kerbs, markings, wear, puddles."""

from __future__ import annotations

from collections.abc import Sequence

import cv2
import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from tools.demo.layout import LANE, Layout

Rgb8 = tuple[int, int, int]
ASPHALT, KERB, GUTTER, WHITE, YELLOW, GRASS = (88, 88, 92), (186, 182, 172), (70, 70, 72), (228, 226, 218), (226, 172, 60), (104, 132, 70)
PAVING: tuple[Rgb8, ...] = ((174, 166, 152), (160, 158, 154), (186, 164, 142), (150, 148, 142))
LINEAR = (((np.arange(256) / 255 + 0.055) / 1.055) ** 2.4).astype(np.float32)
LEVELS = 5


class Ground:
    """albedo of the ground around a junction; outside it, pale paving."""

    def __init__(self, rng: Generator, lay: Layout, cell: float) -> None:
        self.rng, self.lay, self.cell = rng, lay, cell
        self.low = (-lay.side - 4, lay.near)
        self.width, self.height = (int(n / cell) for n in (2 * lay.side + 8, lay.far + 6 - lay.near))
        self.map = np.empty((self.height, self.width, 3), np.uint8)
        self.wear = _cloud(rng, self.width, self.height, cell)
        self.paint()
        self.levels = [self.map]
        for _ in range(LEVELS - 1):
            self.levels.append(cv2.pyrDown(self.levels[-1]))
        self.puddles = cv2.resize(
            np.clip((_cloud(rng, self.width // 4, self.height // 4, cell * 4) - 0.05) * 2.2, 0, 1), (self.width // 2, self.height // 2)
        )

    # -- drawing in metres
    def _px(self, points: Sequence[Sequence[float]]) -> NDArray[np.int32]:
        return np.round((np.asarray(points, float) - self.low) / self.cell * 16 - 8).astype(np.int32)

    def _fill(self, canvas: NDArray[np.uint8], points: Sequence[Sequence[float]], color: Sequence[int] | int) -> None:
        cv2.fillPoly(canvas, [self._px(points)], color, cv2.LINE_AA, 4)

    def _rect(self, canvas: NDArray[np.uint8], x0: float, x1: float, y0: float, y1: float, color: Sequence[int] | int) -> None:
        self._fill(canvas, [(x0, y0), (x1, y0), (x1, y1), (x0, y1)], color)

    def _disc(self, canvas: NDArray[np.uint8], x: float, y: float, radius: float, color: Sequence[int] | int) -> None:
        center = self._px([(x, y)])[0]
        cv2.circle(canvas, (int(center[0]), int(center[1])), int(radius / self.cell * 16), color, -1, cv2.LINE_AA, 4)

    def road_mask(self, grow: float = 0.0) -> NDArray[np.uint8]:
        """255 where the roads are, widened by ``grow`` metres."""
        lay, mask = self.lay, np.zeros((self.height, self.width), np.uint8)
        h, c, r = lay.half + grow, lay.cross_half + grow, max(lay.radius - grow, 0.05)
        self._rect(mask, -h, h, lay.near - 9, lay.far + 9, 255)
        self._rect(mask, -lay.side - 9, lay.side + 9, lay.yc - c, lay.yc + c, 255)
        for sx in (-1, 1):
            for sy in (-1, 1):
                self._rect(mask, *sorted((sx * h, sx * (h + r))), *sorted((lay.yc + sy * c, lay.yc + sy * (c + r))), 255)
                self._disc(mask, sx * (h + r), lay.yc + sy * (c + r), r, 0)
        return mask

    def paint(self) -> None:
        """Everything, back to front."""
        rng, lay = self.rng, self.lay
        self._paving()
        if lay.park:
            sx, sy = lay.park
            x0, y0 = lay.half + lay.pave, lay.cross_half + lay.pave
            self._rect(self.map, *sorted((sx * x0, sx * (lay.side + 9))), *sorted((lay.yc + sy * y0, lay.yc + sy * (y0 + 90))), GRASS)
            grain = _tile(rng.normal(0, 9, (256, 256)).astype(np.float32), self.width, self.height)
            green = (self.map[..., 1].astype(np.int16) - self.map[..., 2] > 40)[..., None]
            self.map[:] = np.where(
                green, np.clip(self.map + grain[..., None] * (0.8, 1.0, 0.5) + self.wear[..., None] * 14, 0, 255).astype(np.uint8), self.map
            )
            self._rect(
                self.map, *sorted((sx * x0, sx * (x0 + 40))), *sorted((lay.yc + sy * (y0 + 6), lay.yc + sy * (y0 + 8.4))), (196, 178, 146)
            )
        for grow, color in ((0.32, KERB), (0.02, (128, 124, 116))):
            self._blend(self.road_mask(grow), np.array(color, np.float32))
        road = self.road_mask(0.0)
        self._blend(road, self._asphalt())
        gutter = cv2.subtract(road, self.road_mask(-0.28))
        self._blend((gutter * 0.45).astype(np.uint8), np.array(GUTTER, np.float32))
        self._markings(road)

    def _blend(self, mask: NDArray[np.uint8], color: NDArray[np.floating]) -> None:
        where = cv2.boundingRect(mask)
        x, y, w, h = where
        part, m = self.map[y : y + h, x : x + w], mask[y : y + h, x : x + w, None].astype(np.float32) / 255
        source = color[y : y + h, x : x + w] if color.ndim == 3 else color
        part[:] = np.clip(part + (source - part) * m, 0, 255).astype(np.uint8)

    def _paving(self) -> None:
        rng = self.rng
        base = np.array(PAVING[rng.integers(len(PAVING))], np.float32)
        long, short = rng.choice([0.6, 0.8, 0.5]), 0.4
        rows, cols = int(self.height * self.cell / short) + 1, int(self.width * self.cell / long) + 1
        tone = rng.normal(0, 7, (rows, cols)).astype(np.float32)
        yy = ((np.arange(self.height) * self.cell) / short).astype(int)
        shift = (np.arange(rows) % 2) * 0.5
        xx = ((np.arange(self.width) * self.cell)[None, :] / long + shift[:, None]).astype(int) % cols
        per_row = np.take_along_axis(tone, xx, 1)
        frac = ((np.arange(self.width) * self.cell)[None, :] / long + shift[:, None]) % 1
        per_row -= 26 * (frac < self.cell / long)
        plane = per_row[yy] + 10 * self.wear
        plane[((np.arange(self.height) * self.cell) % short) < self.cell] -= 22
        self.map[:] = np.clip(base + plane[..., None], 0, 255).astype(np.uint8)

    def _asphalt(self) -> NDArray[np.float32]:
        rng, lay = self.rng, self.lay
        grain = _tile(rng.normal(0, 5.5, (512, 512)).astype(np.float32), self.width, self.height)
        plane = grain + 13 * self.wear
        x = self.low[0] + (np.arange(self.width) + 0.5) * self.cell
        y = self.low[1] + (np.arange(self.height) + 0.5) * self.cell
        across = np.abs(y - lay.yc) < lay.cross_half + 3
        track = np.zeros((self.height, self.width), np.float32)
        lane_main = np.abs((np.abs(x) % LANE) - LANE / 2)
        lane_cross = np.abs((np.abs(y - lay.yc) % LANE) - LANE / 2)
        track += (
            np.where(
                np.abs(x) < lay.lanes * LANE, np.exp(-(((lane_main - 0.85) / 0.3) ** 2)) * 6 - np.exp(-((lane_main / 0.35) ** 2)) * 5, 0
            )[None, :]
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
                np.clip(((np.array(p) - self.low) / self.cell).astype(int), 0, (self.width, self.height))
                for p in ((px, py), (px + w, py + h))
            )
            made[y0:y1, x0:x1] *= rng.uniform(0.8, 0.93)
            cv2.rectangle(made, (int(x0), int(y0)), (int(x1), int(y1)), (48, 48, 50), max(1, int(0.05 / self.cell)), cv2.LINE_AA)
        for _ in range(int(rng.integers(4, 10))):
            start = np.array([rng.uniform(-lay.half, lay.half), rng.uniform(0, 60)])
            steps = np.cumsum(np.concatenate([[start], rng.normal(0, 0.35, (14, 2)) + rng.normal(0, 0.3, 2)]), 0)
            cv2.polylines(made, [self._px(steps)], False, (54, 54, 56), max(1, int(0.03 / self.cell)), cv2.LINE_AA, 4)
        return made

    def _markings(self, road: NDArray[np.uint8]) -> None:
        rng, lay = self.rng, self.lay
        white, yellow, red = (np.zeros((self.height, self.width), np.uint8) for _ in range(3))
        near, far = lay.near - 5, lay.far + 5
        gap = lay.stop(False)
        runs = ((near, lay.yc - gap), (lay.yc + gap, far))
        edge = lay.lanes * LANE
        for y0, y1 in runs:
            center = yellow if lay.season != "spring" else white
            for x in (-0.12, 0.12):
                self._rect(center, x - 0.06, x + 0.06, y0, y1, 255)
            for i in range(1, lay.lanes):
                for side in (-1, 1):
                    for y in np.arange(y0, y1, 6.0):
                        self._rect(white, side * i * LANE - 0.06, side * i * LANE + 0.06, y, min(y + 2.6, y1), 255)
            for side in (-1, 1):
                if lay.bike:
                    self._rect(red, *sorted((side * (edge + 0.1), side * (edge + lay.bike - 0.05))), y0, y1, 255)
                    for x in (edge, edge + lay.bike):
                        self._rect(white, side * x - 0.06, side * x + 0.06, y0, y1, 255)
                if lay.parking:
                    inner = edge + lay.bike
                    self._rect(white, side * inner - 0.05, side * inner + 0.05, y0, y1, 255)
                    for y in np.arange(y0, y1, 5.6):
                        self._rect(white, *sorted((side * inner, side * lay.half)), y - 0.05, y + 0.05, 255)
        if lay.bike:
            inner = lay.cross_half + lay.zebra[0] - 0.3
            for side in (-1, 1):
                self._rect(red, *sorted((side * (edge + 0.1), side * (edge + lay.bike - 0.05))), lay.yc - inner, lay.yc + inner, 110)
                for y in np.arange(lay.yc - inner + 0.2, lay.yc + inner - 0.6, 1.2):
                    for x in (edge, edge + lay.bike):
                        self._rect(white, side * x - 0.1, side * x + 0.1, y, y + 0.6, 255)
        cgap = lay.stop(True)
        for sx in (-1, 1):
            x0, x1 = sorted((sx * cgap, sx * (lay.side + 6)))
            self._rect(yellow if lay.season != "spring" else white, x0, x1, lay.yc - 0.06, lay.yc + 0.06, 255)
            for i in range(1, lay.cross_lanes):
                for side in (-1, 1):
                    for x in np.arange(x0, x1, 6.0):
                        self._rect(white, x, min(x + 2.6, x1), lay.yc + side * i * LANE - 0.06, lay.yc + side * i * LANE + 0.06, 255)
        z0, z1 = lay.zebra
        for s in (-1, 1):
            for x in np.arange(-lay.half + 0.25, lay.half - 0.2, 0.95):
                self._rect(white, x, x + 0.5, *sorted((lay.yc + s * (lay.cross_half + z0), lay.yc + s * (lay.cross_half + z1))), 255)
            for y in np.arange(lay.yc - lay.cross_half + 0.25, lay.yc + lay.cross_half - 0.2, 0.95):
                self._rect(white, *sorted((s * (lay.half + z0), s * (lay.half + z1))), y, y + 0.5, 255)
            # stop lines lie before the crossing on the side where traffic arrives
            self._rect(white, *sorted((-s * 0.15, -s * (edge + lay.bike))), *sorted((lay.yc + s * gap, lay.yc + s * (gap - 0.45))), 255)
            self._rect(white, *sorted((s * cgap, s * (cgap - 0.45))), *sorted((lay.yc + s * 0.15, lay.yc + s * lay.cross_half)), 255)
        for i in range(lay.lanes):
            for s in (-1, 1):
                self._arrow(white, -s * (i + 0.5) * LANE, lay.yc + s * (gap + 6.0), s, i == lay.lanes - 1)
        worn = np.clip(
            0.86 + 0.22 * self.wear + _tile(rng.normal(0, 0.07, (256, 256)).astype(np.float32), self.width, self.height), 0.25, 0.97
        )
        if lay.bus_lane:
            bus = np.zeros_like(white)
            for s in (-1, 1):
                for y0, y1 in runs:
                    self._rect(bus, *sorted((s * (edge - LANE + 0.15), s * (edge - 0.1))), y0, y1, 255)
            self._blend((bus * 0.5 * worn).astype(np.uint8), np.array((150, 62, 48), np.float32))
        bike_color = ((156, 70, 54), (64, 122, 84), (58, 98, 134))[rng.integers(3)]
        for mask, color, strength in ((red, bike_color, 0.75), (yellow, YELLOW, 1.0), (white, WHITE, 1.0)):
            self._blend((cv2.min(mask, road) * worn * strength).astype(np.uint8), np.array(color, np.float32))
        for _ in range(16):
            x, y = rng.uniform(-edge, edge), rng.uniform(0, 70)
            self._disc(self.map, x, y, 0.34, (62, 62, 64))
            self._disc(self.map, x, y, 0.28, (84, 82, 80))

    def _arrow(self, mask: NDArray[np.uint8], x: float, y: float, toward: int, right: bool) -> None:
        """Ahead, or ahead and right; traffic on this side moves to -toward."""

        def put(points: Sequence[tuple[float, float]]) -> None:
            self._fill(mask, [(x - toward * a, y - toward * b) for a, b in points], 255)

        put([(-0.08, -1.6), (0.08, -1.6), (0.08, 0.8), (-0.08, 0.8)])
        put([(-0.35, 0.7), (0.35, 0.7), (0, 1.7)])
        if right:
            put([(0.0, -0.7), (0.0, -0.45), (0.5, 0.0), (0.5, -0.25)])
            put([(0.45, -0.45), (0.95, 0.1), (0.42, 0.3)])

    # -- sampling
    def sample(self, x: NDArray[np.float32], y: NDArray[np.float32], footprint: NDArray[np.float32]) -> NDArray[np.float32]:
        """Linear albedo (n, 3) at ground points; footprint: metres a pixel covers there."""
        level = np.clip(np.log2(np.maximum(footprint / self.cell, 1e-3)) + 0.3, 0, LEVELS - 1).astype(np.int32)
        found = np.empty((len(x), 3), np.uint8)
        u, v = (x - self.low[0]) / self.cell, (y - self.low[1]) / self.cell
        for i, layer in enumerate(self.levels):
            here = np.flatnonzero(level == i)
            if len(here):
                found[here] = self._look(layer, u[here] / 2**i - 0.5, v[here] / 2**i - 0.5)
        return LINEAR[found]

    def puddle(self, x: NDArray[np.float32], y: NDArray[np.float32]) -> NDArray[np.float32]:
        """How much water stands, 0 … 1 (n,)."""
        u, v = (x - self.low[0]) / (2 * self.cell), (y - self.low[1]) / (2 * self.cell)
        return self._look(self.puddles, u, v)

    @staticmethod
    def _look(layer: NDArray[np.generic], u: NDArray[np.float32], v: NDArray[np.float32]) -> NDArray[np.generic]:
        # remap takes pictures of at most 32767 pixels a side: fold the list of points into one
        n, side = len(u), 4096
        rows = -(-n // side)
        grid = np.zeros((2, rows * side), np.float32)
        grid[0, :n], grid[1, :n] = u, v
        a, b = grid.reshape(2, rows, side)
        out = cv2.remap(layer, a, b, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
        return out.reshape(rows * side, *out.shape[2:])[:n]


def _tile(noise: NDArray[np.float32], width: int, height: int) -> NDArray[np.float32]:
    reps = (-(-height // noise.shape[0]), -(-width // noise.shape[1]))
    return np.tile(noise, reps)[:height, :width]


def _cloud(rng: Generator, width: int, height: int, cell: float) -> NDArray[np.float32]:
    """Smooth noise of several sizes (8 m … 0.5 m), about ±1."""
    total = np.zeros((height, width), np.float32)
    for size, weight in ((9.0, 0.55), (3.0, 0.3), (0.9, 0.2)):
        rows, cols = int(height * cell / size) + 3, int(width * cell / size) + 3
        total += weight * cv2.resize(rng.normal(0, 1, (rows, cols)).astype(np.float32), (width, height), interpolation=cv2.INTER_CUBIC)
    return total
