"""What moving things do to the ground they stand on: they take its skylight, and their headlights light it."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from tools.demo.light import Light
from tools.demo.scene import Scene
from tools.demo.weather import throw_beam

F32 = NDArray[np.float32]
GRID = 0.12
"""Cell of the maps, metres."""


class Footprint:
    """Coarse maps of the ground seen from above, float32 (rows, columns)."""

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        lay = scene.layout
        self._low = (-34.0, lay.near)
        self._grid = int(68 / GRID), int((min(lay.far, 80) - lay.near) / GRID)

    def maps(self, places: NDArray[np.float64], light: Light) -> tuple[F32, F32 | None]:
        """Share of skylight lost under things; light of headlights, None by day. places: (actors, 3), as ``Motion`` gives them."""
        width, height = self._grid
        dark = np.zeros((height, width), np.uint8)
        beams = np.zeros((height, width), np.float32) if light.night > 0.05 else None
        for actor, (x, y, turn) in zip(self.scene.actors, places, strict=True):
            length, wide = actor.size
            if length == 0 or not (-36 < x < 36 and self.scene.layout.near - 5 < y < 85):
                continue
            ahead = np.array([-np.sin(turn), np.cos(turn)])
            aside = np.array([ahead[1], -ahead[0]])
            half, w = length / 2 * 0.96, wide / 2 * 0.92
            corners = np.array([(x, y)]) + np.array([a * aside * w + b * ahead * half for a, b in ((-1, -1), (1, -1), (1, 1), (-1, 1))])
            strength = 255 if length > 3 else 190 if length > 1.4 else 150
            cv2.fillConvexPoly(dark, np.round((corners - self._low) / GRID * 16).astype(np.int32), strength, cv2.LINE_AA, 4)
            if beams is not None and actor.beam:
                throw_beam(beams, (x, y), ahead, aside, actor.beam, self._low, GRID)
        return cv2.GaussianBlur(dark, (0, 0), 0.22 / GRID).astype(np.float32) * np.float32(0.85 / 255), beams

    def at(self, coarse: F32, points: F32) -> F32:
        """A map's values (n,) below points (n, 3)."""
        x = np.clip(((points[:, 0] - self._low[0]) / GRID).astype(int), 0, self._grid[0] - 1)
        y = np.clip(((points[:, 1] - self._low[1]) / GRID).astype(int), 0, self._grid[1] - 1)
        values: F32 = coarse[y, x]
        return values

    def in_picture(self, coarse: F32) -> F32:
        """A map as the camera sees it on the ground, (height, width)."""
        camera = self.scene.camera
        to_picture = camera.ground_homography((self._low[0] + GRID / 2, self._low[1] + GRID / 2), GRID)
        to_picture[:2] -= 0.5 * to_picture[2]
        seen = np.asarray(cv2.warpPerspective(coarse, to_picture, (camera.width, camera.height), flags=cv2.INTER_LINEAR), np.float32)
        a, b, c = camera.ground_plane()
        seen[b * (np.arange(camera.height) + 0.5) + a * camera.width / 2 + c <= 1e-4] = 0
        return seen
