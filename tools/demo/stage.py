"""The still part of a scene as one camera sees it, rendered once: every frame starts from a copy.

A picture is the mean of several passes, each on a pixel grid shifted by a part of a pixel (and, for what moves, at its own
moment within the exposure): smooth edges, soft shadows and motion blur out of one loop.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from tools.demo import raster
from tools.demo.camera import Camera
from tools.demo.cast import Surface, seen_from, surface
from tools.demo.ground import Ground, look
from tools.demo.light import Light, sky_color
from tools.demo.shade import face_light
from tools.demo.sunmap import SunMap
from tools.demo.town import Town

F32 = NDArray[np.float32]
GRID = 0.1
"""Cell of the coarse maps of the ground (contact shadows, headlight beams), metres."""


def jitters(passes: int) -> list[tuple[float, float]]:
    """Shifts that cover a pixel evenly: a rank-1 lattice."""
    step = {1: 1, 2: 1, 3: 1, 4: 1, 8: 3, 12: 5, 16: 7}.get(passes, 3)
    return [((i + 0.5) / passes - 0.5, ((i * step) % passes + 0.5) / passes - 0.5) for i in range(passes)]


@dataclass(frozen=True, eq=False)
class Picture:
    """The still scene under one light, linear radiance, (height, width, 3) each.

    fixed: what nothing moving changes. sun, shade, bare: of the ground: its direct light, its other light, its albedo
    (each dimmed by haze). mirror: how much of what lies beyond the ground's wet surface shows in it, (height, width).
    """

    fixed: F32
    sun: F32
    shade: F32
    bare: F32
    mirror: F32

    def toward(self, other: Picture, share: float) -> Picture:
        """In between."""
        return Picture(
            *(
                a if share == 0 else a + (b - a) * np.float32(share)
                for a, b in ((getattr(self, n), getattr(other, n)) for n in ("fixed", "sun", "shade", "bare", "mirror"))
            )
        )


class Stage:
    """Geometry of the still scene for a camera; ``picture`` lights it. floor: whether there is a ground (not from below)."""

    def __init__(self, town: Town, ground: Ground, camera: Camera, passes: int, floor: bool = True) -> None:
        self.town, self.ground, self.camera = town, ground, camera
        self.jitters = jitters(passes)
        mesh = town.mesh
        self.faces: Surface = surface(mesh.vertices[mesh.faces])
        self.near: list[F32] = []
        self.face: list[NDArray[np.int32]] = []
        columns, rows = np.meshgrid(np.arange(camera.width, dtype=np.float32) + 0.5, np.arange(camera.height, dtype=np.float32) + 0.5)
        for jitter in self.jitters:
            a, b, c = camera.ground_plane(jitter)
            buffer = raster.pack((a * columns + b * rows + c).astype(np.float32).ravel() * np.float32(floor), 0)
            index, corners, planes = seen_from(camera, self.faces, jitter)
            face, pixel, near = raster.fragments(corners, planes, camera.width, camera.height)
            raster.draw(buffer, (index[face] + 1).astype(np.int32), pixel, near)
            self.near.append(raster.nearness(buffer))
            self.face.append(raster.faces(buffer) - 1)
        self.contact = self._contact()

    def sun_map(self, light: Light, cell: float) -> SunMap:
        """Shadows of the still scene."""
        lay = self.ground.lay
        made = SunMap(light.sun, (-36, lay.near), (36, min(lay.far, 110)), cell, 26)
        made.set_fixed(self.faces.corners, self.faces.normals)
        return made

    def _contact(self) -> F32:
        """Share of the sky's light that the ground loses to houses, trees and poles standing on it; on the coarse map."""
        lay = self.ground.lay
        width, height = int((2 * lay.side) / GRID / 2), int((lay.far - lay.near) / GRID / 2)
        mask = np.zeros((height, width), np.float32)

        def px(v: float, low: float) -> int:
            return int((v - low) / GRID / 2)

        for x0, x1, y0, y1 in self.town.footprints:
            cv2.rectangle(mask, (px(x0, -lay.side), px(y0, lay.near)), (px(x1, -lay.side), px(y1, lay.near)), 1.0, -1)
        wide = cv2.GaussianBlur(mask, (0, 0), 1.3 / GRID / 2)
        spots = np.zeros_like(mask)
        for x, y, radius in self.town.spots:
            cv2.circle(spots, (px(x, -lay.side), px(y, lay.near)), max(1, int(radius / GRID / 2)), 0.45, -1)
        lost: F32 = np.minimum(wide * 0.9 + cv2.GaussianBlur(spots, (0, 0), 0.5 / GRID / 2), 0.9)
        return lost

    def _ground_contact(self, x: F32, y: F32) -> F32:
        lay = self.ground.lay
        return np.asarray(look(self.contact, (x + lay.side) / (2 * GRID), (y - lay.near) / (2 * GRID)), np.float32)

    def picture(self, light: Light, shadows: SunMap) -> Picture:
        """Light the scene."""
        mesh, camera = self.town.mesh, self.camera
        eye = np.array(camera.position, np.float32)
        centers, normals = self.faces.centers.astype(np.float32), self.faces.normals.astype(np.float32)
        # the four groups of windows come on one after the other as it gets dark, the lamps half-way
        steps = np.array(
            [1, *(np.clip((light.night - 0.12 * k) * 2.2, 0, 1) for k in range(4)), np.clip((light.night - 0.3) * 3, 0, 1)], np.float32
        )
        lamps_on = float(steps[5])
        used = np.unique(np.concatenate([np.unique(f) for f in self.face]))
        used = used[used >= 0]
        rest, sunlit = np.zeros((len(mesh.faces), 3), np.float32), np.zeros((len(mesh.faces), 3), np.float32)
        lit = self.town.lamps.irradiance(centers[used], normals[used]) * lamps_on if lamps_on else np.zeros((len(used), 3), np.float32)
        shaded = face_light(
            normals[used], centers[used], mesh.albedo[used], mesh.gloss[used], mesh.emission[used], steps[mesh.lamp[used]], eye, light, lit
        )
        rest[used], sunlit[used] = shaded.rest, shaded.sunlit
        size = camera.width * camera.height
        total = {name: np.zeros((size, 3), np.float32) for name in ("fixed", "sun", "shade", "bare")}
        mirror = np.zeros(size, np.float32)
        wet_dark = np.float32(1 - 0.38 * light.wet)
        for number, jitter in enumerate(self.jitters):
            rays = camera.rays(jitter).reshape(-1, 3)
            near, face = self.near[number], self.face[number]
            sky = near <= 0
            depth: F32 = np.reciprocal(np.maximum(near, np.float32(1e-5)))
            clear = np.exp(-light.haze * np.maximum(depth - 12, 0)).astype(np.float32)[:, None]
            veil = light.horizon * np.float32(0.92) * (1 - clear)

            total["fixed"][sky] += sky_color(light, rays[sky])
            solid = np.flatnonzero((face >= 0) & ~sky)
            points = eye + rays[solid] * depth[solid, None]
            sees = self._sun_sees(shadows, points + normals[face[solid]] * 0.05, light, number)
            foot = np.clip(0.62 + 0.38 * points[:, 2:] / 1.3, 0, 1)
            grain = 1 + 0.05 * np.sin(
                points[:, :1] * 7.1 + points[:, 1:2] * 5.3 + 3 * np.sin(points[:, 2:] * 2.7 + points[:, :1])
            ) * np.sin(points[:, 2:] * 11 + points[:, 1:2] * 1.3)
            color = (rest[face[solid]] * foot + sunlit[face[solid]] * sees[:, None]) * grain
            total["fixed"][solid] += color * clear[solid] + veil[solid]

            floor = np.flatnonzero((face < 0) & ~sky)
            if not len(floor):
                continue
            points = eye + rays[floor] * depth[floor, None]
            x, y = points[:, 0], points[:, 1]
            lean = np.maximum(-rays[floor, 2], 0.02)
            footprint = depth[floor] / camera.focal / np.sqrt(lean)
            albedo = self.ground.sample(x, y, footprint) * wet_dark
            sees = self._sun_sees(shadows, points, light, number)
            open_sky = 1 - self._ground_contact(x, y)
            ambient = light.sky * open_sky[:, None] + (self.town.lamps.irradiance(points) * lamps_on if lamps_on else 0)
            total["sun"][floor] += albedo * light.beam * (light.sun[2] * sees)[:, None] * clear[floor]
            total["shade"][floor] += albedo * ambient * clear[floor]
            total["bare"][floor] += albedo * clear[floor]
            total["fixed"][floor] += veil[floor]
            if light.wet:
                water = np.clip(0.25 + 1.1 * self.ground.puddle(x, y), 0, 1) * light.wet
                length = np.linalg.norm(rays[floor], axis=1)
                mirror[floor] += water * (0.06 + 0.94 * (1 - lean / length) ** 5) * clear[floor, 0]
        scale = np.float32(1 / len(self.jitters))
        shape = (camera.height, camera.width, 3)
        return Picture(**{name: layer.reshape(shape) * scale for name, layer in total.items()}, mirror=mirror.reshape(shape[:2]) * scale)

    def _sun_sees(self, shadows: SunMap, points: F32, light: Light, number: int) -> F32:
        """0 … 1 per point: several lookups, spread by the distance of what casts the shadow."""
        column, row, near = shadows.place(points)
        gap = shadows.gap(column, row, near)
        spread = np.minimum(0.03 + light.softness * gap, 1.2) / shadows.cell
        angle = 2.4 * number
        total = np.zeros(len(points), np.float32)
        taps = 4
        for k in range(taps):
            radius = np.sqrt((k + 0.5) / taps)
            total += shadows.reaches(
                column + spread * np.float32(radius * np.cos(angle + 2.4 * k)),
                row + spread * np.float32(radius * np.sin(angle + 2.4 * k)),
                near,
            )
        return total / np.float32(taps)
