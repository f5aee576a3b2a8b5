"""Lighting of moving objects: the radiance of their faces at a time, and the colours of the pixels that show them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tools.street_renderer.geometry.camera import Camera
from tools.street_renderer.geometry.posed_meshes import MeshPart, Surface, surface
from tools.street_renderer.lighting.light import Light
from tools.street_renderer.lighting.shading import shade_faces
from tools.street_renderer.lighting.shadow_map import ShadowMap
from tools.street_renderer.render.ground_effects import GroundEffects
from tools.street_renderer.scene import Scene
from tools.street_renderer.street.furniture import SIGNALS
from tools.street_renderer.traffic import simulation

F32 = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class LitFaces:
    """Shaded faces of the actors and the lit lenses of traffic lights at one time.

    part: the actors' faces that the camera may see. lenses: corners (n, 4, 3); lenses follow the actors' faces in all arrays.
    owner: the actor of each face (m,), -1 for a lens. rest, sunlit: radiance (m, 3) as in ``ShadedFaces``.
    """

    part: MeshPart
    lenses: NDArray[np.float64]
    owner: NDArray[np.int64]
    rest: F32
    sunlit: F32

    def placed(self, matrices: NDArray[np.float64]) -> Surface:
        """All faces in world coordinates under these bone matrices."""
        return surface(np.concatenate([self.part.posed(matrices)[self.part.corners], self.lenses]))


class ActorLighting:
    """Lights the actors of a scene. all_faces: includes faces turned away from the camera, which a reflection may show."""

    def __init__(self, scene: Scene, shadows: ShadowMap, ground_effects: GroundEffects, all_faces: bool) -> None:
        self.scene, self.shadows, self.ground_effects, self.all_faces = scene, shadows, ground_effects, all_faces
        self._lit = np.array([actor.lit for actor in scene.actors])

    def light_faces(self, whole: MeshPart, vertices: NDArray[np.float64], light: Light, beams: F32 | None, time: float) -> LitFaces:
        """Shade the faces of ``whole`` with its ``vertices`` at a time. beams: the map of headlight beams, None by day."""
        meshes, camera = self.scene.meshes, self.scene.camera
        faces = whole.surface(vertices)
        # a face that clearly looks away now does so during the whole exposure
        away = np.einsum("ij,ij->i", faces.normals, faces.centers - np.array(camera.position))
        front = np.flatnonzero(away < 0.15) if not self.all_faces else np.arange(len(away))
        part = meshes.part(whole.faces[front])
        centers, normals = faces.centers[front].astype(np.float32), faces.normals[front].astype(np.float32)
        mesh, chosen = meshes.mesh, part.faces
        lit = np.zeros((len(chosen), 3), np.float32)
        if light.night > 0.05:
            lit = self.scene.town.lamps.irradiance(centers, normals) * np.float32(np.clip((light.night - 0.3) * 3, 0, 1))
            if beams is not None:
                # headlight beams are nearly horizontal: they light upright faces, not roofs
                upright = np.clip(1 - np.abs(normals[:, 2]), 0, 1) * np.clip(1.6 - centers[:, 2], 0, 1)
                lit += (self.ground_effects.at(beams, centers) * upright)[:, None] * np.array((1.6, 1.4, 1.05), np.float32)
        dark = np.clip(light.night * 2, 0, 1) * self._lit[meshes.owner[chosen]]
        switch = np.where(mesh.lamp[chosen] == 0, 1.0, dark).astype(np.float32)
        shaded = shade_faces(
            normals,
            centers,
            mesh.albedo[chosen],
            mesh.gloss[chosen],
            mesh.emission[chosen],
            switch,
            np.array(camera.position, np.float32),
            light,
            lit,
        )
        corners, colors = self._lenses(time)
        owner = np.concatenate([meshes.owner[chosen], np.full(len(colors), -1)])
        return LitFaces(part, corners, owner, np.concatenate([shaded.rest, colors]), np.concatenate([shaded.sunlit, np.zeros_like(colors)]))

    def _lenses(self, time: float) -> tuple[NDArray[np.float64], F32]:
        """Lit lenses of the traffic lights: corners (n, 4, 3) and colours (n, 3)."""
        found, colors = [np.zeros((0, 4, 3))], []
        for signal in self.scene.town.signals:
            color = simulation.phase(signal.cross, self.scene.offset + time)
            found.append(signal.corners[:, ("red", "amber", "green").index(color)])
            colors += [SIGNALS[color]] * len(signal.corners)
        return np.concatenate(found), np.array(colors, np.float32).reshape(-1, 3)

    def color(
        self,
        lit_faces: LitFaces,
        pixels: NDArray[np.int64],
        face: NDArray[np.int32],
        near: F32,
        camera: Camera,
        jitter: tuple[float, float],
        light: Light,
        moving: F32,
    ) -> F32:
        """Radiance (n, 3) of pixels (n,) that show these faces at this nearness (1 / depth). moving: shadow map of the actors."""
        eye = np.array(camera.position, np.float32)
        depth = 1 / near
        right, down, ahead = (axis.astype(np.float32) for axis in camera.axes)
        u = ((pixels % camera.width).astype(np.float32) + np.float32(0.5 - camera.width / 2 - jitter[0])) * np.float32(1 / camera.focal)
        v = ((pixels // camera.width).astype(np.float32) + np.float32(0.5 - camera.height / 2 - jitter[1])) * np.float32(1 / camera.focal)
        points = eye + (u[:, None] * right + v[:, None] * down + ahead) * depth[:, None]
        color = lit_faces.rest[face] * np.clip(0.55 + 0.5 * points[:, 2:], 0, 1)
        if light.beam.max() > 0.6:
            column, row, height = self.shadows.place(points)
            spread = (0.03 + 4 * light.softness) / self.shadows.cell
            sees = self.shadows.reaches(column, row, height, (jitter[0] * 2 * spread, jitter[1] * 2 * spread), bias=0.14, moving=moving)
            color += lit_faces.sunlit[face] * sees[:, None]
        else:
            color += lit_faces.sunlit[face]
        clear = np.exp(-light.haze * np.maximum(depth - 12, 0))[:, None]
        hazy: F32 = color * clear + light.horizon * np.float32(0.92) * (1 - clear)
        return hazy
