"""Shadows of the sun: a depth map of the scene seen from the sun."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from tools.street_renderer.geometry import rasterizer
from tools.street_renderer.geometry.camera import Camera

REACH = np.float32(500)
"""Added to heights along the sun's direction so that they are positive, metres."""


class ShadowMap:
    """A parallel projection along the sun's direction over a rectangle of ground.

    sun: unit vector towards the sun. low, high: corners (x, y) of the rectangle. cell: metres per pixel. tallest: metres.
    """

    def __init__(self, sun: NDArray[np.float32], low: tuple[float, float], high: tuple[float, float], cell: float, tallest: float) -> None:
        self.sun, self.cell = sun.astype(np.float64), cell
        side = np.cross((0.0, 0.0, 1.0), self.sun)
        side /= np.linalg.norm(side)
        self.axes = np.stack([side, np.cross(self.sun, side)])
        points = np.array([(x, y, z) for x in (low[0], high[0]) for y in (low[1], high[1]) for z in (0, tallest)]) @ self.axes.T
        self.origin = points.min(0)
        self.width, self.height = (np.ceil((points.max(0) - self.origin) / cell)).astype(int)
        self.fixed = np.zeros(self.width * self.height, np.float32)

    def fragments(
        self, corners: NDArray[np.float64], normals: NDArray[np.float64]
    ) -> tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.float32]]:
        """Return the pixels of the map that faces (m, 4, 3) with normals (m, 3) cover, in the format of ``rasterizer.fragments``."""
        toward = normals @ self.sun
        keep = np.flatnonzero(toward > 1e-3)
        flat = (corners[keep] @ self.axes.T - self.origin) / self.cell
        # the map's v axis points up as the sun sees it; exchanging two corners makes the outline anticlockwise for y down
        flat = flat[:, ::-1]
        local = np.stack([normals[keep] @ self.axes[0], normals[keep] @ self.axes[1]], -1)
        offset = np.einsum("ij,ij->i", normals[keep], corners[keep, 0])
        a, b = -local[:, 0] * self.cell / toward[keep], -local[:, 1] * self.cell / toward[keep]
        c = (offset - local @ self.origin) / toward[keep] + float(REACH)
        face, pixel, near = rasterizer.fragments(flat, np.stack([a, b, c], -1), self.width, self.height)
        return keep[face].astype(np.int32), pixel, near

    def set_fixed(self, corners: NDArray[np.float64], normals: NDArray[np.float64]) -> None:
        """Draw the static faces, which cast shadows in every frame."""
        np.maximum.at(self.fixed, *self.fragments(corners, normals)[1:])

    def place(self, points: NDArray[np.floating]) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.float32]]:
        """Convert world points (n, 3) to column, row (pixels of the map) and nearness."""
        flat = points @ self.axes.T.astype(np.float32) - self.origin.astype(np.float32)
        flat *= np.float32(1 / self.cell)
        return flat[:, 0], flat[:, 1], points @ self.sun.astype(np.float32) + REACH

    def reaches(
        self, column: NDArray[np.float32], row: NDArray[np.float32], near: NDArray[np.float32], shift: tuple[float, float] = (0, 0),
        bias: float = 0.12,
        moving: NDArray[np.float32] | None = None,
    ) -> NDArray[np.bool_]:  # fmt: skip
        """Whether the sun reaches each point. shift: offset of the lookup, pixels. moving: nearness of the actors, flat."""
        x = np.clip((column + np.float32(shift[0])).astype(np.int32), 0, self.width - 1)
        y = np.clip((row + np.float32(shift[1])).astype(np.int32), 0, self.height - 1)
        index = y * np.int32(self.width) + x
        high = self.fixed[index] if moving is None else np.maximum(self.fixed[index], moving[index])
        reached: NDArray[np.bool_] = near + np.float32(bias) > high
        return reached

    def gap(self, column: NDArray[np.float32], row: NDArray[np.float32], near: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the distance (n,) from each point to the static face that is nearest to the sun on the same ray, metres."""
        x = np.clip(column.astype(np.int32), 0, self.width - 1)
        y = np.clip(row.astype(np.int32), 0, self.height - 1)
        gap: NDArray[np.float32] = np.maximum(self.fixed[y * np.int32(self.width) + x] - near, 0)
        return gap

    def ground_view(self, mask: NDArray[np.uint8], camera: Camera) -> NDArray[np.uint8]:
        """Project a mask on this map onto the ground in the picture (height, width)."""
        # a ground point (x, y, 0) has map coordinates (axes · (x, y) - origin) / cell
        to_map = np.eye(3)
        to_map[:2, :2] = self.axes[:, :2] / self.cell
        to_map[:2, 2] = -self.origin / self.cell - 0.5
        to_picture = camera.ground_homography((0, 0), 1) @ np.linalg.inv(to_map)
        to_picture[:2] -= 0.5 * to_picture[2]
        seen = np.asarray(cv2.warpPerspective(mask, to_picture, (camera.width, camera.height), flags=cv2.INTER_LINEAR), np.uint8)
        horizon = camera.ground_plane()
        rows = horizon[1] * (np.arange(camera.height) + 0.5) + horizon[0] * camera.width / 2 + horizon[2]
        seen[rows <= 1e-4] = 0
        return seen
