"""Frames of a scene: what moves, over a copy of what stands still."""

from __future__ import annotations

from dataclasses import dataclass, replace

import cv2
import numpy as np
from numpy.typing import NDArray

from tools.demo import raster, traffic, weather
from tools.demo.camera import Camera
from tools.demo.cast import Surface, seen_from, surface
from tools.demo.light import Light
from tools.demo.scene import Scene
from tools.demo.shade import face_light, tone
from tools.demo.stage import GRID, Picture, Stage
from tools.demo.sunmap import SunMap
from tools.demo.truth import Truth, measure

F32 = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Moment:
    """Everything that moves, at one time: surfaces in the world and their shading."""

    faces: Surface
    rest: F32
    sunlit: F32
    owner: NDArray[np.int64]


class Film:
    """Renders frames of one scene. passes: subpixel passes a frame. shutter: seconds the exposure lasts. lights: the
    light at evenly spaced times over the scene's length (one: it stays).
    """

    def __init__(self, scene: Scene, passes: int = 4, shutter: float = 0.02, lights: list[Light] | None = None, shadow_cell: float = 0.07) -> None:
        self.scene, self.shutter = scene, shutter
        self.lights = lights or [scene.light]
        self.stage = Stage(scene.town, scene.ground, scene.camera, passes)
        self.shadows: SunMap = self.stage.sun_map(self.lights[0], shadow_cell)
        self.pictures = [self.stage.picture(light, self.shadows) for light in self.lights]
        self.wet = max(light.wet for light in self.lights) > 0
        if self.wet:
            c = scene.camera
            below = replace(c, position=(c.position[0], c.position[1], -c.position[2]), pitch=-c.pitch)
            self.below = below.resized(c.width // 2, c.height // 2)
            under = Stage(scene.town, scene.ground, self.below, 2, floor=False)
            self.below_near, self.below_jitters = under.near, under.jitters
            self.below_pictures = [under.picture(light, self.shadows).fixed for light in self.lights]
        self.weather = weather.Weather(scene.camera.width, scene.camera.height, scene.rain, scene.noise)
        self._low = (-scene.layout.side, scene.layout.near)
        self._grid = int(2 * scene.layout.side / GRID), int((min(scene.layout.far, 110) - scene.layout.near) / GRID)

    def light_at(self, time: float) -> tuple[Light, int, float]:
        """The light, and between which of the lit pictures it lies."""
        if len(self.lights) == 1:
            return self.lights[0], 0, 0.0
        t = min(max(time / self.scene.seconds, 0), 1) * (len(self.lights) - 1)
        i = min(int(t), len(self.lights) - 2)
        return self.lights[i].toward(self.lights[i + 1], t - i), i, t - i

    def _blend(self, pictures: list[Picture], i: int, share: float) -> Picture:
        return pictures[i] if len(pictures) == 1 else pictures[i].toward(pictures[i + 1], share)

    def frame(self, number: int, time: float) -> tuple[NDArray[np.uint8], Truth]:
        """One frame, uint8 RGB (height, width, 3), exposed around ``time``; ``number`` seeds rain and noise."""
        scene, camera = self.scene, self.scene.camera
        light, i, share = self.light_at(time)
        still = self._blend(self.pictures, i, share)
        matrices = self._matrices(time)
        vertices = scene.cast.vertices(matrices)
        contact, beams = self._ground_maps(time, light)
        moment = self._moment(time, vertices, light, beams)
        mask, moving = self._moving_shadows(moment)

        picture = still.fixed.copy()
        shadow = self.shadows.ground_view(mask, camera).astype(np.float32)[..., None] * np.float32(1 / 255)
        dark = self._on_ground(contact)
        picture += still.sun * (1 - shadow)
        picture += still.shade * (1 - dark[..., None])
        if beams is not None:
            picture += still.bare * self._on_ground(beams)
        if self.wet:
            picture += self._reflection(moment, light, i, share, moving) * still.mirror[..., None]

        total = np.zeros((camera.width * camera.height, 3), np.float32)
        cover = np.zeros(camera.width * camera.height, np.float32)
        truth: Truth | None = None
        passes = len(self.stage.jitters)
        for number_of_pass, jitter in enumerate(self.stage.jitters):
            middle = number_of_pass == passes // 2
            part = (number_of_pass + 0.5) / passes - 0.5
            faces = moment.faces if middle or not self.shutter else self._surface(scene.cast.vertices(self._matrices(time + part * self.shutter)), time)
            pixels, face, near, fragments = self._draw(faces, camera, jitter, self.stage.near[number_of_pass])
            total[pixels] += self._color(moment, pixels, face, near, camera, jitter, light, moving)
            cover[pixels] += 1
            if middle:
                truth = measure(scene, vertices, moment.owner, fragments, pixels, face)
        assert truth is not None
        scale = np.float32(1 / passes)
        picture *= (1 - cover.reshape(picture.shape[:2]) * scale)[..., None]
        picture += total.reshape(picture.shape) * scale
        return self.weather.finish(picture, light, number, tone), truth

    # -- what moves
    def _matrices(self, time: float) -> NDArray[np.float64]:
        return np.concatenate([actor.pose(time) for actor in self.scene.actors])

    def _lenses(self, time: float) -> tuple[NDArray[np.float64], F32]:
        """Lit lenses of the signals: corners (n, 4, 3) and colours."""
        from tools.demo.furniture import SIGNALS

        found, colors = [], []
        for signal in self.scene.town.signals:
            color = traffic.phase(signal.cross, self.scene.offset + time)
            which = ("red", "amber", "green").index(color)
            found.append(signal.corners[:, which])
            colors += [SIGNALS[color]] * len(signal.corners)
        if not found:
            return np.zeros((0, 4, 3)), np.zeros((0, 3), np.float32)
        return np.concatenate(found), np.array(colors, np.float32)

    def _surface(self, vertices: NDArray[np.float64], time: float) -> Surface:
        mesh = self.scene.cast.mesh
        assert mesh is not None
        return surface(np.concatenate([vertices[mesh.faces], self._lenses(time)[0]]))

    def _moment(self, time: float, vertices: NDArray[np.float64], light: Light, beams: F32 | None) -> Moment:
        cast = self.scene.cast
        assert cast.mesh is not None
        faces = self._surface(vertices, time)
        m = len(cast.mesh.faces)
        centers, normals = faces.centers[:m].astype(np.float32), faces.normals[:m].astype(np.float32)
        lit = np.zeros((m, 3), np.float32)
        if light.night > 0.05:
            on = np.float32(np.clip((light.night - 0.3) * 3, 0, 1))
            lit = self.scene.town.lamps.irradiance(centers, normals) * on
            if beams is not None:
                x = np.clip(((centers[:, 0] - self._low[0]) / GRID).astype(int), 0, self._grid[0] - 1)
                y = np.clip(((centers[:, 1] - self._low[1]) / GRID).astype(int), 0, self._grid[1] - 1)
                # headlights throw from the side: upright faces catch them, roofs do not
                lit += beams[y, x] * (0.6 * np.clip(1 - np.abs(normals[:, 2:]), 0, 1)) * np.clip(1.6 - centers[:, 2:], 0, 1)
        switch = np.where(cast.mesh.lamp == 0, 1.0, np.clip(light.night * 2, 0, 1)).astype(np.float32)
        shaded = face_light(normals, centers, cast.mesh.albedo, cast.mesh.gloss, cast.mesh.emission, switch, np.array(self.scene.camera.position, np.float32), light, lit)
        lamps = self._lenses(time)[1]
        owner = np.concatenate([cast.owner, np.full(len(lamps), -1)])
        return Moment(faces, np.concatenate([shaded.rest, lamps]), np.concatenate([shaded.sunlit, np.zeros_like(lamps)]), owner)

    def _moving_shadows(self, moment: Moment) -> tuple[NDArray[np.uint8], F32]:
        size = self.shadows.width * self.shadows.height
        mask, near = np.zeros(size, np.uint8), np.zeros(size, np.float32)
        mine = moment.owner >= 0
        _, pixel, nearness = self.shadows.fragments(moment.faces.corners[mine], moment.faces.normals[mine])
        mask[pixel] = 255
        np.maximum.at(near, pixel, nearness)
        flat = mask.reshape(self.shadows.height, self.shadows.width)
        sigma = max(0.6, (0.02 + 0.7 * self.lights[0].softness) / self.shadows.cell)
        return cv2.GaussianBlur(flat, (0, 0), sigma), near

    def _draw(self, faces: Surface, camera: Camera, jitter: tuple[float, float], still: F32) -> tuple[NDArray[np.int64], NDArray[np.int32], F32, tuple[NDArray[np.int32], NDArray[np.int64]]]:
        """Pixels where something moving is nearest, its face and nearness; and all its fragments (face, pixel)."""
        index, corners, planes = seen_from(camera, faces, jitter)
        face, pixel, near = raster.fragments(corners, planes, camera.width, camera.height)
        face = index[face].astype(np.int32)
        touched = np.zeros(len(still), bool)
        touched[pixel] = True
        pixels = np.flatnonzero(touched)
        slot = np.empty(len(still), np.int64)
        slot[pixels] = np.arange(len(pixels))
        buffer = raster.pack(still[pixels], 0)
        raster.draw(buffer, face + 1, slot[pixel], near)
        winner = raster.faces(buffer) - 1
        won = winner >= 0
        return pixels[won], winner[won], raster.nearness(buffer)[won], (face, pixel)

    def _color(self, moment: Moment, pixels: NDArray[np.int64], face: NDArray[np.int32], near: F32, camera: Camera, jitter: tuple[float, float], light: Light, moving: F32) -> F32:
        eye = np.array(camera.position, np.float32)
        depth = 1 / near
        right, down, ahead = (axis.astype(np.float32) for axis in camera.axes)
        u = ((pixels % camera.width).astype(np.float32) + np.float32(0.5 - camera.width / 2 - jitter[0])) * np.float32(1 / camera.focal)
        v = ((pixels // camera.width).astype(np.float32) + np.float32(0.5 - camera.height / 2 - jitter[1])) * np.float32(1 / camera.focal)
        points = eye + (u[:, None] * right + v[:, None] * down + ahead) * depth[:, None]
        foot = np.clip(0.55 + 0.5 * points[:, 2:], 0, 1)
        color = moment.rest[face] * foot
        if light.beam.max() > 0.6:
            column, row, height = self.shadows.place(points)
            spread = (0.03 + 4 * light.softness) / self.shadows.cell
            shift = (jitter[0] * 2 * spread, jitter[1] * 2 * spread)
            sees = self.shadows.reaches(column, row, height, shift, bias=0.14, moving=moving)
            color += moment.sunlit[face] * sees[:, None]
        else:
            color += moment.sunlit[face]
        clear = np.exp(-light.haze * np.maximum(depth - 12, 0))[:, None]
        return color * clear + light.horizon * np.float32(0.92) * (1 - clear)

    # -- what moving things do to the ground
    def _ground_maps(self, time: float, light: Light) -> tuple[F32, F32 | None]:
        """On the coarse map: share of skylight lost under things (rows, columns), and headlight beams (rows, columns, 3)."""
        width, height = self._grid
        dark = np.zeros((height, width), np.uint8)
        beams = np.zeros((height, width), np.float32) if light.night > 0.05 else None
        for actor in self.scene.actors:
            length, wide = actor.size
            if length == 0:
                continue
            x, y, turn = _place(actor.pose(time))
            if not (-self.scene.layout.side < x < self.scene.layout.side and self.scene.layout.near < y < 110):
                continue
            ahead = np.array([-np.sin(turn), np.cos(turn)])
            aside = np.array([ahead[1], -ahead[0]])
            half, w = length / 2 * 0.96, wide / 2 * 0.92
            corners = np.array([(x, y)]) + np.array([a * aside * w + b * ahead * half for a, b in ((-1, -1), (1, -1), (1, 1), (-1, 1))])
            cv2.fillConvexPoly(dark, np.round((corners - self._low) / GRID * 16).astype(np.int32), 255 if length > 3 else 190 if length > 1.4 else 150, cv2.LINE_AA, 4)
            if beams is not None and actor.beam and self._driven(actor):
                weather.throw_beam(beams, (x, y), ahead, aside, actor.beam, self._low, GRID)
        soft = cv2.GaussianBlur(dark, (0, 0), 0.22 / GRID).astype(np.float32) * np.float32(0.85 / 255)
        if beams is None:
            return soft, None
        strength = np.float32(np.clip(light.night * 2, 0, 1))
        return soft, beams[..., None] * (np.array((2.6, 2.3, 1.75), np.float32) * strength)

    @staticmethod
    def _driven(actor: object) -> bool:
        return True

    def _on_ground(self, coarse: F32) -> F32:
        """A coarse map of the ground as the camera sees it."""
        camera = self.scene.camera
        low = (self._low[0] + GRID / 2, self._low[1] + GRID / 2)
        to_picture = camera.ground_homography(low, GRID)
        to_picture[:2] -= 0.5 * to_picture[2]
        seen = cv2.warpPerspective(coarse, to_picture, (camera.width, camera.height), flags=cv2.INTER_LINEAR)
        a, b, c = camera.ground_plane()
        rows = b * (np.arange(camera.height) + 0.5) + a * camera.width / 2 + c
        seen[rows <= 1e-4] = 0
        return seen

    def _reflection(self, moment: Moment, light: Light, i: int, share: float, moving: F32) -> F32:
        """What the wet ground mirrors: the scene from below the ground, upside down and smeared."""
        still = self.below_pictures[i] if len(self.below_pictures) == 1 else self.below_pictures[i] + (self.below_pictures[i + 1] - self.below_pictures[i]) * np.float32(share)
        seen = still.copy().reshape(-1, 3)
        pixels, face, near, _ = self._draw(moment.faces, self.below, self.below_jitters[0], self.below_near[0])
        seen[pixels] = self._color(moment, pixels, face, near, self.below, self.below_jitters[0], light, moving)
        flipped = seen.reshape(self.below.height, self.below.width, 3)[::-1]
        smeared = cv2.blur(np.ascontiguousarray(flipped), (1, max(3, self.below.height // 28 | 1)))
        smeared = cv2.GaussianBlur(smeared, (0, 0), self.below.height / 300)
        camera = self.scene.camera
        return cv2.resize(smeared, (camera.width, camera.height), interpolation=cv2.INTER_LINEAR)


def _place(matrices: NDArray[np.float64]) -> tuple[float, float, float]:
    """Where an actor stands and which way it looks, from its first bone."""
    m = matrices[0]
    return float(m[0, 3]), float(m[1, 3]), float(np.arctan2(m[1, 0], m[0, 0]))
