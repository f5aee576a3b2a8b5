"""Post-processing of frames: glow, rain, vignette, tone mapping and grain."""

from __future__ import annotations

from collections.abc import Callable

import cv2
import numpy as np
from numpy.typing import NDArray

from tools.street_renderer.lighting.light import Light

F32 = NDArray[np.float32]


class CameraEffects:
    """Post-processes frames of one size. rain: 0 none … 1 heavy. noise: standard deviation of the grain as a share of full scale."""

    def __init__(self, width: int, height: int, rain: float, noise: float) -> None:
        self.width, self.height, self.rain, self.noise = width, height, rain, noise
        y, x = np.mgrid[0:height, 0:width].astype(np.float32)
        square = ((x / width - 0.5) ** 2 + (y / height - 0.5) ** 2) * 2
        self.vignette = (1 - 0.2 * square**1.2)[..., None].astype(np.float32)
        if noise:
            self.grain = np.random.default_rng(7).normal(0, 1, (height + 64, width + 64)).astype(np.float32)

    def finish(self, picture: F32, light: Light, number: int, tone: Callable[[F32, float], NDArray[np.uint8]]) -> NDArray[np.uint8]:
        """Add glow, rain and vignette, apply ``tone``, and add grain.

        picture: radiance, float32 (height, width, 3). number: seed of rain and grain.
        """
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
