"""A pinhole camera over a street: world metres (x right, y ahead, z up) to picture pixels (origin top left)."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import cos, radians, sin, tan

import numpy as np
from numpy.typing import NDArray

NEAR = 0.4
"""Distance of the near plane, metres."""


@dataclass(frozen=True)
class Camera:
    """The position and direction of a camera.

    position: world, metres. yaw: degrees to the right of +y. pitch: degrees below the horizon. view: horizontal angle of
    view, degrees. width, height: picture, pixels.
    """

    position: tuple[float, float, float]
    yaw: float
    pitch: float
    view: float
    width: int
    height: int
    axes: NDArray[np.float64] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        yaw, pitch = radians(self.yaw), radians(self.pitch)
        right = (cos(yaw), -sin(yaw), 0.0)
        ahead = (sin(yaw) * cos(pitch), cos(yaw) * cos(pitch), -sin(pitch))
        object.__setattr__(self, "axes", np.array([right, np.cross(ahead, right), ahead]))

    @property
    def focal(self) -> float:
        """Focal length, pixels."""
        return self.width / 2 / tan(radians(self.view) / 2)

    def resized(self, width: int, height: int) -> Camera:
        """Return a camera with the same view and another picture size."""
        return Camera(self.position, self.yaw, self.pitch, self.view, width, height)

    def to_camera(self, points: NDArray[np.floating]) -> NDArray[np.float64]:
        """Convert world points (…, 3) to camera space: right, down and ahead of the camera, metres."""
        seen: NDArray[np.float64] = (points - np.array(self.position)) @ self.axes.T
        return seen

    def project(self, seen: NDArray[np.float64], jitter: tuple[float, float] = (0.0, 0.0)) -> NDArray[np.float64]:
        """Convert camera-space points (…, 3) to pixels (…, 2). jitter: shift of the pixel grid, pixels."""
        scale = self.focal / seen[..., 2:]
        pixels: NDArray[np.float64] = seen[..., :2] * scale + np.array([self.width / 2 + jitter[0], self.height / 2 + jitter[1]])
        return pixels

    def screen_plane(self, normals: NDArray[np.float64], offsets: NDArray[np.float64], jitter: tuple[float, float]) -> NDArray[np.float64]:
        """Convert planes n · p = d in camera space to (a, b, c) with 1 / depth = a x + b y + c at pixel (x, y)."""
        a, b = normals[..., 0] / self.focal, normals[..., 1] / self.focal
        c = normals[..., 2] - a * (self.width / 2 + jitter[0]) - b * (self.height / 2 + jitter[1])
        return np.stack([a, b, c], -1) / offsets[..., None]

    def ground_plane(self, jitter: tuple[float, float] = (0.0, 0.0)) -> NDArray[np.float64]:
        """Return the plane z = 0 as in ``screen_plane``. 1 / depth is negative above the horizon."""
        normal = self.axes @ np.array([0.0, 0.0, 1.0])
        return self.screen_plane(normal, np.array(-self.position[2]), jitter)

    def rays(self, jitter: tuple[float, float] = (0.0, 0.0)) -> NDArray[np.float32]:
        """World directions of all pixels, float32 (height, width, 3), of depth 1: position + depth · ray is the point seen."""
        x = (np.arange(self.width) + 0.5 - self.width / 2 - jitter[0]) / self.focal
        y = (np.arange(self.height) + 0.5 - self.height / 2 - jitter[1]) / self.focal
        right, down, ahead = self.axes
        rays: NDArray[np.float32] = (x[None, :, None] * right + y[:, None, None] * down + ahead).astype(np.float32)
        return rays

    def ground_homography(self, origin: tuple[float, float], cell: float) -> NDArray[np.float64]:
        """Return the 3×3 matrix that converts pixels of a top-down map of the ground to pixels of the picture.

        origin: (x, y) of the map's pixel 0, metres. cell: metres per pixel of the map.
        """
        rotation = self.axes
        place = rotation @ -np.array(self.position)
        intrinsic = np.array([[self.focal, 0, self.width / 2], [0, self.focal, self.height / 2], [0, 0, 1]])
        world = np.stack([rotation[:, 0], rotation[:, 1], place], 1)
        homography: NDArray[np.float64] = intrinsic @ world @ np.array([[cell, 0, origin[0]], [0, cell, origin[1]], [0, 0, 1]])
        return homography
