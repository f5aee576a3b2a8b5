"""Effects of moving objects on the ground below them: contact shadows and headlight beams."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from tools.street_renderer.lighting.light import Light
from tools.street_renderer.scene import Scene

F32 = NDArray[np.float32]
GRID = 0.12
"""Size of a map cell, metres."""


def _headlight_pattern() -> F32:
    """The light of a pair of headlights on the road: 16 m ahead by 8 m wide, 0.1 m cells, row 0 at the lamps."""
    ahead, aside = np.meshgrid((np.arange(160) + 0.5) * 0.1, (np.arange(80) - 39.5) * 0.1, indexing="ij")
    total = np.zeros_like(ahead)
    for lamp in (-0.62, 0.62):
        angle = (aside - lamp) / (ahead + 0.6)
        total += np.exp(-((angle / 0.3) ** 2)) * np.exp(-(((ahead - 5.0) / 5.0) ** 2)) / (1 + (ahead / 9) ** 2)
    edge = np.clip(ahead / 1.2, 0, 1) * np.clip((16 - ahead) / 4, 0, 1) * np.clip((4 - np.abs(aside)) / 1.5, 0, 1)
    glow: NDArray[np.float32] = (total * edge).astype(np.float32)
    return glow


_BEAM = _headlight_pattern()


def _add_beam(
    beams: F32, place: tuple[float, float], ahead: NDArray[np.float64], aside: NDArray[np.float64], lamps: tuple[float, float],
    low: tuple[float, float], cell: float
) -> None:  # fmt: skip
    """Add one vehicle's beam to a map of the ground. lamps: as ``Actor.beam``. low, cell: the map's origin and cell size, metres."""
    front = np.array(place) + ahead * lamps[1]
    scale = 0.1 / cell
    # pattern pixel (column: aside, row: ahead) to map pixel
    origin = (front - aside * 4.0 - np.array(low)) / cell
    affine = np.array([[aside[0] * scale, ahead[0] * scale, origin[0]], [aside[1] * scale, ahead[1] * scale, origin[1]]])
    corners = affine[:, :2] @ np.array([(0, 80, 80, 0), (0, 0, 160, 160)]) + affine[:, 2:]
    x0, y0 = np.maximum(np.floor(corners.min(1)).astype(int), 0)
    x1, y1 = np.minimum(np.ceil(corners.max(1)).astype(int), (beams.shape[1], beams.shape[0]))
    if x1 <= x0 or y1 <= y0:
        return
    affine[:, 2] -= (x0, y0)
    beams[y0:y1, x0:x1] += cv2.warpAffine(_BEAM, affine, (int(x1 - x0), int(y1 - y0)), flags=cv2.INTER_LINEAR)


class GroundEffects:
    """Computes coarse maps of the ground seen from above, float32 (rows, columns)."""

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        lay = scene.layout
        self._low = (-34.0, lay.near)
        self._grid = int(68 / GRID), int((min(lay.far, 80) - lay.near) / GRID)

    def maps(self, places: NDArray[np.float64], light: Light) -> tuple[F32, F32 | None]:
        """The share of skylight lost under the actors, and their headlight beams (None by day). places: x, y, direction (actors, 3)."""
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
                _add_beam(beams, (x, y), ahead, aside, actor.beam, self._low, GRID)
        return cv2.GaussianBlur(dark, (0, 0), 0.22 / GRID).astype(np.float32) * np.float32(0.85 / 255), beams

    def at(self, coarse: F32, points: F32) -> F32:
        """A map's values (n,) below world points (n, 3)."""
        x = np.clip(((points[:, 0] - self._low[0]) / GRID).astype(int), 0, self._grid[0] - 1)
        y = np.clip(((points[:, 1] - self._low[1]) / GRID).astype(int), 0, self._grid[1] - 1)
        values: F32 = coarse[y, x]
        return values

    def in_picture(self, coarse: F32) -> F32:
        """A map projected onto the ground in the picture, (height, width)."""
        camera = self.scene.camera
        to_picture = camera.ground_homography((self._low[0] + GRID / 2, self._low[1] + GRID / 2), GRID)
        to_picture[:2] -= 0.5 * to_picture[2]
        seen = np.asarray(cv2.warpPerspective(coarse, to_picture, (camera.width, camera.height), flags=cv2.INTER_LINEAR), np.float32)
        a, b, c = camera.ground_plane()
        seen[b * (np.arange(camera.height) + 0.5) + a * camera.width / 2 + c <= 1e-4] = 0
        return seen
