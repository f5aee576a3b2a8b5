"""Everything that moves, as one array of faces."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tools.demo.camera import NEAR, Camera
from tools.demo.meshes import Mesh, join


@dataclass(frozen=True, eq=False)
class Surface:
    """Faces in the world at one moment: corners (m, 4, 3), unit normals (m, 3), centers (m, 3)."""

    corners: NDArray[np.float64]
    normals: NDArray[np.float64]
    centers: NDArray[np.float64]


def surface(corners: NDArray[np.float64]) -> Surface:
    """Normals and centres of faces."""
    # the diagonals' product is right for quads and for triangles that repeat a corner
    normals = np.cross(corners[:, 2] - corners[:, 0], corners[:, 3] - corners[:, 1])
    normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-12)
    return Surface(corners, normals, corners.mean(1))


def seen_from(camera: Camera, faces: Surface, jitter: tuple[float, float]) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]:
    """Faces turned to the camera and in front of it: their index, corners in pixels (n, 4, 2), planes (n, 3).

    What crosses the near plane is clipped, and may come back as several pieces.
    """
    offsets = np.einsum("ij,ij->i", faces.normals, faces.corners[:, 0] - np.array(camera.position))
    index = np.flatnonzero(offsets < -1e-6)
    corners = camera.to_camera(faces.corners[index])
    depth = corners[..., 2]
    whole, crossing = (depth > NEAR).all(1), (depth > NEAR).any(1) & (depth <= NEAR).any(1)
    pieces = [(i, piece) for i in np.flatnonzero(crossing) for piece in _clip(corners[i])]
    index = np.concatenate([index[whole], index[[i for i, _ in pieces]]]) if pieces else index[whole]
    corners = np.concatenate([corners[whole], np.array([piece for _, piece in pieces])]) if pieces else corners[whole]
    planes = camera.screen_plane(faces.normals[index] @ camera.axes.T, offsets[index], jitter)
    return index, camera.project(corners, jitter), planes


def _clip(corners: NDArray[np.float64]) -> list[NDArray[np.float64]]:
    """One face cut at the near plane, as quads."""
    kept: list[NDArray[np.float64]] = []
    for a, b in zip(corners, np.roll(corners, -1, 0), strict=True):
        if a[2] > NEAR:
            kept.append(a)
        if (a[2] > NEAR) != (b[2] > NEAR):
            share = (NEAR * 1.0001 - a[2]) / (b[2] - a[2])
            kept.append(a + share * (b - a))
    return [np.array([kept[0], kept[i], kept[min(i + 1, len(kept) - 1)], kept[min(i + 2, len(kept) - 1)]]) for i in range(1, len(kept) - 1, 2)]


class Cast:
    """Meshes joined for speed; the pose of a moment is one 3×4 matrix per bone, of all actors one after the other."""

    def __init__(self, meshes: Sequence[Mesh], bones: Sequence[int]) -> None:
        starts = np.cumsum([0, *bones])
        self.mesh = join(meshes) if meshes else None
        self.owner = np.concatenate([np.full(len(m.faces), i) for i, m in enumerate(meshes)]) if meshes else np.zeros(0, int)
        self._vertex_owner = np.concatenate([np.full(len(m.vertices), i) for i, m in enumerate(meshes)]) if meshes else np.zeros(0, int)
        self._bone = self.mesh.bones + starts[self._vertex_owner] if self.mesh else np.zeros(0, int)
        self.size = len(meshes)
        boxed = np.zeros(len(self._bone), bool)
        if self.mesh:
            boxed[np.unique(self.mesh.faces[self.mesh.counts])] = True
        self._boxed = np.flatnonzero(boxed)

    def vertices(self, matrices: NDArray[np.float64]) -> NDArray[np.float64]:
        """World positions (n, 3) under bone matrices (bones, 3, 4)."""
        assert self.mesh is not None
        m = matrices[self._bone]
        return np.einsum("nij,nj->ni", m[:, :, :3], self.mesh.vertices) + m[:, :, 3]

    def surface(self, vertices: NDArray[np.float64]) -> Surface:
        """The faces over these vertices."""
        assert self.mesh is not None
        return surface(vertices[self.mesh.faces])

    def boxes(self, vertices: NDArray[np.float64], camera: Camera) -> NDArray[np.float64]:
        """x1 y1 x2 y2 (actors, 4) around all that counts of each actor, unclipped; NaN where it reaches behind the camera."""
        seen = camera.to_camera(vertices[self._boxed])
        owner = self._vertex_owner[self._boxed]
        behind = np.zeros(self.size, bool)
        np.logical_or.at(behind, owner, seen[:, 2] <= NEAR)
        seen[:, 2] = np.maximum(seen[:, 2], NEAR)
        flat = camera.project(seen)
        low, high = np.full((self.size, 2), np.inf), np.full((self.size, 2), -np.inf)
        np.minimum.at(low, owner, flat)
        np.maximum.at(high, owner, flat)
        found = np.concatenate([low, high], 1)
        found[behind] = np.nan
        return found
