"""What a wet street mirrors: the scene from below the ground, upside down and smeared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import cv2
import numpy as np
from numpy.typing import NDArray

from tools.demo.cast import draw_over
from tools.demo.light import Light
from tools.demo.moment import Lighting, Moment
from tools.demo.scene import Scene
from tools.demo.stage import Stage
from tools.demo.sunmap import SunMap

F32 = NDArray[np.float32]


class Mirror:
    """The ground as a mirror, at half the picture's resolution."""

    def __init__(self, scene: Scene, shadows: SunMap, lights: Sequence[Light]) -> None:
        c = scene.camera
        below = replace(c, position=(c.position[0], c.position[1], -c.position[2]), pitch=-c.pitch)
        self.camera, self.size = below.resized(c.width // 2, c.height // 2), (c.width, c.height)
        under = Stage(scene.town, scene.ground, self.camera, 2, floor=False)
        self._near, self._jitter = under.near[0], under.jitters[0]
        self._pictures = [under.picture(light, shadows).fixed for light in lights]

    def picture(
        self, lighting: Lighting, moment: Moment, matrices: NDArray[np.float64], light: Light, between: tuple[int, float], moving: F32
    ) -> F32:
        """Radiance (height, width, 3). between: which of the still pictures, and how far on towards the next."""
        i, share = between
        still = (
            self._pictures[i]
            if len(self._pictures) == 1
            else self._pictures[i] + (self._pictures[i + 1] - self._pictures[i]) * np.float32(share)
        )
        seen = still.copy().reshape(-1, 3)
        pixels, face, near, _ = draw_over(moment.placed(matrices), self.camera, self._jitter, self._near)
        seen[pixels] = lighting.color(moment, pixels, face, near, self.camera, self._jitter, light, moving)
        flipped = np.ascontiguousarray(seen.reshape(self.camera.height, self.camera.width, 3)[::-1])
        # ripples stretch what is mirrored towards the viewer
        smeared = cv2.GaussianBlur(flipped, (0, 0), sigmaX=self.camera.height / 260, sigmaY=self.camera.height / 32)
        return np.asarray(cv2.resize(smeared, self.size, interpolation=cv2.INTER_LINEAR), np.float32)
