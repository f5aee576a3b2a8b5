"""What happens between the street and the picture: headlight beams, glow, rain, grain, the lens."""

from __future__ import annotations

from collections.abc import Callable

import cv2
import numpy as np
from numpy.typing import NDArray

from tools.demo.light import Light

F32 = NDArray[np.float32]


def _cookie() -> F32:
    """A pair of headlights' light on the road: 16 m ahead by 8 m wide, 0.1 m cells; row 0 lies at the lamps."""
    ahead, aside = np.meshgrid((np.arange(160) + 0.5) * 0.1, (np.arange(80) - 39.5) * 0.1, indexing="ij")
    total = np.zeros_like(ahead)
    for lamp in (-0.62, 0.62):
        angle = (aside - lamp) / (ahead + 0.6)
        total += np.exp(-((angle / 0.3) ** 2)) * np.exp(-(((ahead - 5.0) / 5.0) ** 2)) / (1 + (ahead / 9) ** 2)
    edge = np.clip(ahead / 1.2, 0, 1) * np.clip((16 - ahead) / 4, 0, 1) * np.clip((4 - np.abs(aside)) / 1.5, 0, 1)
    glow: NDArray[np.float32] = (total * edge).astype(np.float32)
    return glow


_COOKIE = _cookie()


def throw_beam(
    beams: F32, place: tuple[float, float], ahead: NDArray[np.float64], aside: NDArray[np.float64], lamps: tuple[float, float],
    low: tuple[float, float], cell: float
) -> None:  # fmt: skip
    """Add one vehicle's beam to a map of the ground."""
    front = np.array(place) + ahead * lamps[1]
    scale = 0.1 / cell
    # cookie pixel (column: aside, row: ahead) to map pixel
    origin = (front - aside * 4.0 - np.array(low)) / cell
    affine = np.array([[aside[0] * scale, ahead[0] * scale, origin[0]], [aside[1] * scale, ahead[1] * scale, origin[1]]])
    corners = affine[:, :2] @ np.array([(0, 80, 80, 0), (0, 0, 160, 160)]) + affine[:, 2:]
    x0, y0 = np.maximum(np.floor(corners.min(1)).astype(int), 0)
    x1, y1 = np.minimum(np.ceil(corners.max(1)).astype(int), (beams.shape[1], beams.shape[0]))
    if x1 <= x0 or y1 <= y0:
        return
    affine[:, 2] -= (x0, y0)
    beams[y0:y1, x0:x1] += cv2.warpAffine(_COOKIE, affine, (int(x1 - x0), int(y1 - y0)), flags=cv2.INTER_LINEAR)


class Weather:
    """Finishes frames of one size. rain: 0 none … 1 pouring. noise: standard deviation of the grain, share of full scale."""

    def __init__(self, width: int, height: int, rain: float, noise: float) -> None:
        self.width, self.height, self.rain, self.noise = width, height, rain, noise
        y, x = np.mgrid[0:height, 0:width].astype(np.float32)
        square = ((x / width - 0.5) ** 2 + (y / height - 0.5) ** 2) * 2
        self.vignette = (1 - 0.2 * square**1.2)[..., None].astype(np.float32)
        if noise:
            self.grain = np.random.default_rng(7).normal(0, 1, (height + 64, width + 64)).astype(np.float32)

    def finish(self, picture: F32, light: Light, number: int, tone: Callable[[F32, float], NDArray[np.uint8]]) -> NDArray[np.uint8]:
        """Glow of bright things, rain, tone mapping and grain; ``number`` seeds what is random."""
        rng = np.random.default_rng((977, number))
        small = cv2.resize(picture, (self.width // 4, self.height // 4), interpolation=cv2.INTER_AREA)
        bright = np.clip(small - 1.1 / light.exposure, 0, 6)
        unit = self.height / 720
        glow = cv2.GaussianBlur(bright, (0, 0), 2.2 * unit) * 0.16 + cv2.GaussianBlur(bright, (0, 0), 9 * unit) * 0.12
        picture += cv2.resize(glow, (self.width, self.height), interpolation=cv2.INTER_LINEAR)
        if self.rain:
            self._streaks(picture, rng, light)
        picture *= self.vignette
        out = tone(picture, light.exposure)
        if self.noise:
            x, y = rng.integers(0, 64, 2)
            grain = self.grain[y : y + self.height, x : x + self.width]
            color = rng.integers(0, 64, 2)
            tint = self.grain[color[0] : color[0] + self.height, color[1] : color[1] + self.width]
            mixed = np.stack([grain + 0.35 * tint, grain, grain - 0.35 * tint], -1) * np.float32(255 * self.noise)
            out = np.clip(out + mixed, 0, 255).astype(np.uint8)
        return out

    def _streaks(self, picture: F32, rng: np.random.Generator, light: Light) -> None:
        count = int(self.rain * 420)
        layer = np.zeros((self.height, self.width), np.uint8)
        unit = self.height / 720
        depth = rng.uniform(0.25, 1.0, count) ** 1.5
        x, y = rng.uniform(-20, self.width + 20, count), rng.uniform(-60, self.height, count)
        length = (26 + 60 * depth) * unit
        slant = 0.07 + rng.normal(0, 0.012, count)
        for i in range(count):
            start = (int(x[i] * 16), int(y[i] * 16))
            end = (int((x[i] + slant[i] * length[i]) * 16), int((y[i] + length[i]) * 16))
            cv2.line(layer, start, end, int(40 + 70 * depth[i]), max(1, round(1.6 * depth[i] * unit)), cv2.LINE_AA, 4)
        soft = cv2.GaussianBlur(layer, (0, 0), 0.6 * max(unit, 0.5))
        picture += soft[..., None].astype(np.float32) * ((light.sky + 0.4 * light.horizon) * np.float32(0.35 / 255))
