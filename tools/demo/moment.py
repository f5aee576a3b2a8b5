"""Everything that moves at one moment, lit: what colour each of its faces has, and each pixel in which one is seen."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tools.demo import traffic
from tools.demo.camera import Camera
from tools.demo.cast import Part, Surface, surface
from tools.demo.footprint import Footprint
from tools.demo.furniture import SIGNALS
from tools.demo.light import Light
from tools.demo.scene import Scene
from tools.demo.shade import face_light
from tools.demo.sunmap import SunMap

F32 = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Moment:
    """What moves and faces the camera, and the signals' lit lenses: radiance face by face (m, 3).

    part: the actors' faces. lenses: corners (n, 4, 3); their faces come last. owner: the actor of each face, -1 for a lens.
    sunlit counts where the sun reaches a face, rest always.
    """

    part: Part
    lenses: NDArray[np.float64]
    owner: NDArray[np.int64]
    rest: F32
    sunlit: F32

    def placed(self, matrices: NDArray[np.float64]) -> Surface:
        """All faces in the world under these bone matrices."""
        return surface(np.concatenate([self.part.posed(matrices)[self.part.corners], self.lenses]))


class Lighting:
    """Lights what moves in a scene. all_faces: those that look away from the camera, too (a mirror may show them)."""

    def __init__(self, scene: Scene, shadows: SunMap, footprint: Footprint, all_faces: bool) -> None:
        self.scene, self.shadows, self.footprint, self.all_faces = scene, shadows, footprint, all_faces
        self._lit = np.array([actor.lit for actor in scene.actors])

    def moment(self, whole: Part, vertices: NDArray[np.float64], light: Light, beams: F32 | None, time: float) -> Moment:
        """Shade the faces of ``whole`` over its ``vertices``; beams: the map of headlights' light, None by day."""
        cast, camera = self.scene.cast, self.scene.camera
        faces = whole.surface(vertices)
        # what looks away from the camera now does so during all of the exposure, but for a little
        away = np.einsum("ij,ij->i", faces.normals, faces.centers - np.array(camera.position))
        front = np.flatnonzero(away < 0.15) if not self.all_faces else np.arange(len(away))
        part = cast.part(whole.faces[front])
        centers, normals = faces.centers[front].astype(np.float32), faces.normals[front].astype(np.float32)
        mesh, chosen = cast.mesh, part.faces
        lit = np.zeros((len(chosen), 3), np.float32)
        if light.night > 0.05:
            lit = self.scene.town.lamps.irradiance(centers, normals) * np.float32(np.clip((light.night - 0.3) * 3, 0, 1))
            if beams is not None:
                # headlights throw from the side: upright faces catch them, roofs do not
                upright = np.clip(1 - np.abs(normals[:, 2]), 0, 1) * np.clip(1.6 - centers[:, 2], 0, 1)
                lit += (self.footprint.at(beams, centers) * upright)[:, None] * np.array((1.6, 1.4, 1.05), np.float32)
        dark = np.clip(light.night * 2, 0, 1) * self._lit[cast.owner[chosen]]
        switch = np.where(mesh.lamp[chosen] == 0, 1.0, dark).astype(np.float32)
        shaded = face_light(
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
        owner = np.concatenate([cast.owner[chosen], np.full(len(colors), -1)])
        return Moment(part, corners, owner, np.concatenate([shaded.rest, colors]), np.concatenate([shaded.sunlit, np.zeros_like(colors)]))

    def _lenses(self, time: float) -> tuple[NDArray[np.float64], F32]:
        """Lit lenses of the signals: corners (n, 4, 3) and colours."""
        found, colors = [np.zeros((0, 4, 3))], []
        for signal in self.scene.town.signals:
            color = traffic.phase(signal.cross, self.scene.offset + time)
            found.append(signal.corners[:, ("red", "amber", "green").index(color)])
            colors += [SIGNALS[color]] * len(signal.corners)
        return np.concatenate(found), np.array(colors, np.float32).reshape(-1, 3)

    def color(
        self,
        moment: Moment,
        pixels: NDArray[np.int64],
        face: NDArray[np.int32],
        near: F32,
        camera: Camera,
        jitter: tuple[float, float],
        light: Light,
        moving: F32,
    ) -> F32:
        """Radiance (n, 3) of pixels (n,) in which these faces are seen at this nearness; moving: as ``Film`` draws it for the sun."""
        eye = np.array(camera.position, np.float32)
        depth = 1 / near
        right, down, ahead = (axis.astype(np.float32) for axis in camera.axes)
        u = ((pixels % camera.width).astype(np.float32) + np.float32(0.5 - camera.width / 2 - jitter[0])) * np.float32(1 / camera.focal)
        v = ((pixels // camera.width).astype(np.float32) + np.float32(0.5 - camera.height / 2 - jitter[1])) * np.float32(1 / camera.focal)
        points = eye + (u[:, None] * right + v[:, None] * down + ahead) * depth[:, None]
        color = moment.rest[face] * np.clip(0.55 + 0.5 * points[:, 2:], 0, 1)
        if light.beam.max() > 0.6:
            column, row, height = self.shadows.place(points)
            spread = (0.03 + 4 * light.softness) / self.shadows.cell
            sees = self.shadows.reaches(column, row, height, (jitter[0] * 2 * spread, jitter[1] * 2 * spread), bias=0.14, moving=moving)
            color += moment.sunlit[face] * sees[:, None]
        else:
            color += moment.sunlit[face]
        clear = np.exp(-light.haze * np.maximum(depth - 12, 0))[:, None]
        hazy: F32 = color * clear + light.horizon * np.float32(0.92) * (1 - clear)
        return hazy
