"""Joins meshes with bones into one array of faces, and draws them over a depth buffer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tools.street_renderer.geometry import rasterizer
from tools.street_renderer.geometry.camera import NEAR, Camera
from tools.street_renderer.geometry.mesh import Mesh, join


@dataclass(frozen=True, eq=False)
class Surface:
    """Faces in world coordinates: corners (m, 4, 3), unit normals (m, 3), centers (m, 3)."""

    corners: NDArray[np.float64]
    normals: NDArray[np.float64]
    centers: NDArray[np.float64]


def surface(corners: NDArray[np.float64]) -> Surface:
    """Faces from their corners (m, 4, 3)."""
    # the diagonals' product is right for quads and for triangles that repeat a corner
    (ux, uy, uz), (vx, vy, vz) = (corners[:, 2] - corners[:, 0]).T, (corners[:, 3] - corners[:, 1]).T
    normals = np.stack([uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx], -1)
    normals /= np.maximum(np.sqrt(np.einsum("ij,ij->i", normals, normals)), 1e-12)[:, None]
    return Surface(corners, normals, (corners[:, 0] + corners[:, 1] + corners[:, 2] + corners[:, 3]) / 4)


def seen_from(
    camera: Camera, faces: Surface, jitter: tuple[float, float]
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]:
    """Return the faces turned to the camera and in front of it: index (n,), corners in pixels (n, 4, 2), planes (n, 3).

    A face that crosses the near plane is clipped and may become several pieces.
    """
    offsets = np.einsum("ij,ij->i", faces.normals, faces.corners[:, 0] - np.array(camera.position))
    index = np.flatnonzero(offsets < -1e-6)
    corners = camera.to_camera(faces.corners[index])
    ahead = [corners[:, i, 2] > NEAR for i in range(4)]
    whole = ahead[0] & ahead[1] & ahead[2] & ahead[3]
    crossing = (ahead[0] | ahead[1] | ahead[2] | ahead[3]) & ~whole
    pieces = [(i, piece) for i in np.flatnonzero(crossing) for piece in _clip(corners[i])]
    index = np.concatenate([index[whole], index[[i for i, _ in pieces]]]) if pieces else index[whole]
    corners = np.concatenate([corners[whole], np.array([piece for _, piece in pieces])]) if pieces else corners[whole]
    planes = camera.screen_plane(faces.normals[index] @ camera.axes.T, offsets[index], jitter)
    return index, camera.project(corners, jitter), planes


def _clip(corners: NDArray[np.float64]) -> list[NDArray[np.float64]]:
    """The part of a face (4, 3) beyond the near plane, as quads."""
    kept: list[NDArray[np.float64]] = []
    for a, b in zip(corners, np.roll(corners, -1, 0), strict=True):
        if a[2] > NEAR:
            kept.append(a)
        if (a[2] > NEAR) != (b[2] > NEAR):
            share = (NEAR * 1.0001 - a[2]) / (b[2] - a[2])
            kept.append(a + share * (b - a))
    return [
        np.array([kept[0], kept[i], kept[min(i + 1, len(kept) - 1)], kept[min(i + 2, len(kept) - 1)]]) for i in range(1, len(kept) - 1, 2)
    ]


def draw_over(
    faces: Surface, camera: Camera, jitter: tuple[float, float], still: NDArray[np.float32]
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float32], tuple[NDArray[np.int32], NDArray[np.int64]]]:
    """Draw faces over a background.

    Returns the pixels where a face is nearer than the background, that face and its nearness, and all fragments (face, pixel).

    still: nearness (1 / depth) of the background, flat.
    """
    index, corners, planes = seen_from(camera, faces, jitter)
    face, pixel, near = rasterizer.fragments(corners, planes, camera.width, camera.height)
    face = index[face].astype(np.int32)
    touched = np.zeros(len(still), bool)
    touched[pixel] = True
    pixels = np.flatnonzero(touched)
    slot = np.empty(len(still), np.int64)
    slot[pixels] = np.arange(len(pixels))
    buffer = rasterizer.pack(still[pixels], 0)
    rasterizer.draw(buffer, face + 1, slot[pixel], near)
    winner = rasterizer.faces(buffer) - 1
    won = winner >= 0
    return pixels[won], winner[won], rasterizer.nearness(buffer)[won], (face, pixel)


class PosedMeshes:
    """The meshes of all actors, joined for speed. A pose is one 3×4 matrix per bone, actor by actor."""

    def __init__(self, meshes: Sequence[Mesh], bones: Sequence[int]) -> None:
        self.starts = np.cumsum([0, *bones])
        self.size = len(meshes)
        self.mesh = join(meshes)
        self.owner = np.repeat(np.arange(self.size), [len(m.faces) for m in meshes])
        self.vertex_owner = np.repeat(np.arange(self.size), [len(m.vertices) for m in meshes])
        self.bone = self.mesh.bones + self.starts[self.vertex_owner]
        boxed = np.zeros(len(self.bone), bool)
        boxed[self.mesh.faces[self.mesh.counts].ravel()] = True
        self._boxed = boxed

    def select(self, actors: NDArray[np.bool_]) -> MeshPart:
        """The faces and vertices of the actors in a mask (actors,)."""
        return self.part(np.flatnonzero(actors[self.owner]))

    def part(self, faces: NDArray[np.int64]) -> MeshPart:
        """Some faces, given by number, and their vertices."""
        corners = self.mesh.faces[faces]
        used = np.zeros(len(self.bone), bool)
        used[corners.ravel()] = True
        vertices = np.flatnonzero(used)
        slot = np.empty(len(used), np.int64)
        slot[vertices] = np.arange(len(vertices))
        return MeshPart(faces, vertices, slot[corners], self.mesh.vertices[vertices], self.bone[vertices])

    def boxes(self, part: MeshPart, vertices: NDArray[np.float64], camera: Camera) -> NDArray[np.float64]:
        """Unclipped boxes x1 y1 x2 y2 (actors, 4) of the actors; NaN for one partly behind the camera or not in ``part``."""
        boxed = self._boxed[part.vertices]
        seen = camera.to_camera(vertices[boxed])
        owner = self.vertex_owner[part.vertices[boxed]]
        behind = np.zeros(self.size, bool)
        behind[owner[seen[:, 2] <= NEAR]] = True
        seen[:, 2] = np.maximum(seen[:, 2], NEAR)
        flat = camera.project(seen)
        found = np.full((self.size, 4), np.nan)
        here, start = np.unique(owner, return_index=True)
        if len(here):
            found[here, :2] = np.minimum.reduceat(flat, start)
            found[here, 2:] = np.maximum.reduceat(flat, start)
        found[behind] = np.nan
        return found


@dataclass(frozen=True, eq=False)
class MeshPart:
    """Some faces of joined meshes.

    faces, vertices: their numbers in the joined mesh. corners: (m, 4) indices into the part's own vertices. rest: (n, 3)
    vertices before posing. bone: (n,) the bone of each vertex.
    """

    faces: NDArray[np.int64]
    vertices: NDArray[np.int64]
    corners: NDArray[np.int64]
    rest: NDArray[np.float64]
    bone: NDArray[np.int64]

    def posed(self, matrices: NDArray[np.float64]) -> NDArray[np.float64]:
        """World positions (n, 3) of the part's vertices under the bone matrices (bones, 3, 4) of all actors."""
        m = matrices.reshape(-1, 12)[self.bone].T
        x, y, z = self.rest.T
        return np.stack([m[4 * i] * x + m[4 * i + 1] * y + m[4 * i + 2] * z + m[4 * i + 3] for i in range(3)], -1)

    def surface(self, vertices: NDArray[np.float64]) -> Surface:
        """The faces over posed vertices (n, 3)."""
        return surface(vertices[self.corners])
