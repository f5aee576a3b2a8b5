"""Reflections on a wet street: the scene seen by a camera mirrored below the ground, flipped and blurred."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import cv2
import numpy as np
from numpy.typing import NDArray

from tools.street_renderer.geometry.posed_meshes import draw_over
from tools.street_renderer.lighting.light import Light
from tools.street_renderer.lighting.shadow_map import ShadowMap
from tools.street_renderer.render.actor_lighting import ActorLighting, LitFaces
from tools.street_renderer.render.background import Background
from tools.street_renderer.scene import Scene

F32 = NDArray[np.float32]


class WetReflection:
    """Reflections of one scene, rendered at half the picture's resolution."""

    def __init__(self, scene: Scene, shadows: ShadowMap, lights: Sequence[Light]) -> None:
        c = scene.camera
        below = replace(c, position=(c.position[0], c.position[1], -c.position[2]), pitch=-c.pitch)
        self.camera, self.size = below.resized(c.width // 2, c.height // 2), (c.width, c.height)
        under = Background(scene.town, scene.ground, self.camera, 2, floor=False)
        self._near, self._jitter = under.near[0], under.jitters[0]
        self._pictures = [under.light_with(light, shadows).fixed for light in lights]

    def picture(
        self,
        lighting: ActorLighting,
        lit_faces: LitFaces,
        matrices: NDArray[np.float64],
        light: Light,
        between: tuple[int, float],
        moving: F32,
    ) -> F32:
        """Reflected radiance (height, width, 3). between: the number of a lit background, and the share of the next one."""
        i, share = between
        still = (
            self._pictures[i]
            if len(self._pictures) == 1
            else self._pictures[i] + (self._pictures[i + 1] - self._pictures[i]) * np.float32(share)
        )
        seen = still.copy().reshape(-1, 3)
        pixels, face, near, _ = draw_over(lit_faces.placed(matrices), self.camera, self._jitter, self._near)
        seen[pixels] = lighting.color(lit_faces, pixels, face, near, self.camera, self._jitter, light, moving)
        flipped = np.ascontiguousarray(seen.reshape(self.camera.height, self.camera.width, 3)[::-1])
        # ripples stretch a reflection towards the viewer
        smeared = cv2.GaussianBlur(flipped, (0, 0), sigmaX=self.camera.height / 260, sigmaY=self.camera.height / 32)
        return np.asarray(cv2.resize(smeared, self.size, interpolation=cv2.INTER_LINEAR), np.float32)
