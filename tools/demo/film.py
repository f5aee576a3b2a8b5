"""Frames of a scene: what moves, over a copy of what stands still."""

from __future__ import annotations

from dataclasses import dataclass, replace

import cv2
import numpy as np
from numpy.typing import NDArray

from tools.demo import raster, traffic, weather
from tools.demo.camera import Camera
from tools.demo.cast import Part, Surface, seen_from, surface
from tools.demo.furniture import SIGNALS
from tools.demo.light import Light
from tools.demo.scene import Scene
from tools.demo.shade import face_light, tone
from tools.demo.stage import Stage
from tools.demo.truth import Truth, measure

F32 = NDArray[np.float32]
GRID = 0.12
"""Cell of the maps of contact shadows and headlight beams on the ground, metres."""
REACH = 75.0
"""Things further from the camera than this cast no shadow, metres."""
DELTA = 0.01
"""Poses within an exposure are extrapolated from two this far apart, seconds."""


@dataclass(frozen=True, eq=False)
class Moment:
    """Everything that moves and faces the camera, at one time: its place and its radiance, face by face."""

    part: Part
    lenses: NDArray[np.float64]
    owner: NDArray[np.int64]
    rest: F32
    sunlit: F32


class Film:
    """Renders frames of one scene. passes: subpixel passes a frame. shutter: seconds the exposure lasts. lights: the
    light at evenly spaced times over the scene's length (one: it stays).
    """

    def __init__(
        self, scene: Scene, passes: int = 4, shutter: float = 0.02, lights: list[Light] | None = None, shadow_cell: float = 0.07
    ) -> None:
        self.scene, self.shutter = scene, shutter
        self.lights = lights or [scene.light]
        self.stage = Stage(scene.town, scene.ground, scene.camera, passes)
        self.shadows = self.stage.sun_map(self.lights[0], shadow_cell)
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
        lay = scene.layout
        self._low = (-34.0, lay.near)
        self._grid = int(68 / GRID), int((min(lay.far, 80) - lay.near) / GRID)
        self._still = {i: actor.pose(0.0) for i, actor in enumerate(scene.actors) if actor.still}
        self._lit = np.array([actor.lit for actor in scene.actors])

    def light_at(self, time: float) -> tuple[Light, int, float]:
        """The light, and between which of the lit pictures it lies."""
        if len(self.lights) == 1:
            return self.lights[0], 0, 0.0
        t = min(max(time / self.scene.seconds, 0), 1) * (len(self.lights) - 1)
        i = min(int(t), len(self.lights) - 2)
        return self.lights[i].toward(self.lights[i + 1], t - i), i, t - i

    def frame(self, number: int, time: float) -> tuple[NDArray[np.uint8], Truth]:
        """One frame, uint8 RGB (height, width, 3), exposed around ``time``; ``number`` seeds rain and noise."""
        camera = self.scene.camera
        light, i, share = self.light_at(time)
        still = self.pictures[i] if len(self.pictures) == 1 else self.pictures[i].toward(self.pictures[i + 1], share)
        matrices, places = self._matrices(time)
        seen, shading = self._in_view(places)
        contact, beams = self._ground_maps(places, light)
        whole = self.scene.cast.select(seen)
        vertices = whole.posed(matrices)
        moment = self._moment(whole, vertices, light, beams, time)
        mask, moving = self._moving_shadows(matrices, shading)

        picture = still.fixed.copy()
        shadow = self.shadows.ground_view(mask, camera).astype(np.float32)[..., None] * np.float32(1 / 255)
        picture += still.sun * (1 - shadow)
        picture += still.shade * (1 - self._on_ground(contact)[..., None])
        if beams is not None:
            tint = np.array((3.6, 3.2, 2.4), np.float32) * np.float32(np.clip(light.night * 2, 0, 1))
            picture += still.bare * (self._on_ground(beams)[..., None] * tint)
        if self.wet:
            picture += self._reflection(moment, matrices, light, i, share, moving) * still.mirror[..., None]

        drift = (self._matrices(time + DELTA, seen, matrices)[0] - matrices) / DELTA if self.shutter else None
        total = np.zeros((camera.width * camera.height, 3), np.float32)
        cover = np.zeros(camera.width * camera.height, np.float32)
        passes = len(self.stage.jitters)
        for k, jitter in enumerate(self.stage.jitters):
            part = ((k + 0.5) / passes - 0.5) * self.shutter
            faces = self._placed(moment, matrices if drift is None else matrices + drift * part)
            pixels, face, near, _ = self._draw(faces, camera, jitter, self.stage.near[k])
            total[pixels] += self._color(moment, pixels, face, near, camera, jitter, light, moving)
            cover[pixels] += 1
        truth = self._truth(whole, vertices, moment, matrices)
        scale = np.float32(1 / passes)
        picture *= (1 - cover.reshape(picture.shape[:2]) * scale)[..., None]
        picture += total.reshape(picture.shape) * scale
        return self.weather.finish(picture, light, number, tone), truth

    # -- what moves
    def _matrices(
        self, time: float, only: NDArray[np.bool_] | None = None, base: NDArray[np.float64] | None = None
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Bone matrices of all actors, those not in ``only`` as in ``base``; and each actor's x, y and direction (n, 3)."""
        cast = self.scene.cast
        poses = []
        for i, actor in enumerate(self.scene.actors):
            if actor.still:
                poses.append(self._still[i])
            elif only is not None and base is not None and not only[i]:
                poses.append(base[cast.starts[i] : cast.starts[i + 1]])
            else:
                poses.append(actor.pose(time))
        matrices = np.concatenate(poses)
        first = matrices[cast.starts[:-1]]
        return matrices, np.stack([first[:, 0, 3], first[:, 1, 3], np.arctan2(first[:, 1, 0], first[:, 0, 0])], -1)

    def _in_view(self, places: NDArray[np.float64]) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Which actors may be in the picture, and which may throw a shadow into it."""
        camera = self.scene.camera
        seen = camera.to_camera(np.c_[places[:, :2], np.ones(len(places))])
        size = np.array([max(actor.size[0] / 2, 1.5) for actor in self.scene.actors]) + 0.5
        slope = camera.width / 2 / camera.focal
        edge = np.abs(seen[:, 0]) - slope * seen[:, 2]
        inside = (
            (seen[:, 2] > -size) & (edge < size * 1.4) & (seen[:, 1] - slope * camera.height / camera.width * seen[:, 2] < size * 1.4 + 2)
        )
        return inside, (seen[:, 2] > -6) & (edge < 10) & (seen[:, 2] < REACH)

    def _lenses(self, time: float) -> tuple[NDArray[np.float64], F32]:
        """Lit lenses of the signals: corners (n, 4, 3) and colours."""
        found, colors = [np.zeros((0, 4, 3))], []
        for signal in self.scene.town.signals:
            color = traffic.phase(signal.cross, self.scene.offset + time)
            found.append(signal.corners[:, ("red", "amber", "green").index(color)])
            colors += [SIGNALS[color]] * len(signal.corners)
        return np.concatenate(found), np.array(colors, np.float32).reshape(-1, 3)

    def _placed(self, moment: Moment, matrices: NDArray[np.float64]) -> Surface:
        return surface(np.concatenate([moment.part.posed(matrices)[moment.part.corners], moment.lenses]))

    def _moment(self, whole: Part, vertices: NDArray[np.float64], light: Light, beams: F32 | None, time: float) -> Moment:
        cast, camera = self.scene.cast, self.scene.camera
        faces = whole.surface(vertices)
        # what looks away from the camera now does so during all of the exposure, but for a little
        away = np.einsum("ij,ij->i", faces.normals, faces.centers - np.array(camera.position))
        front = np.flatnonzero(away < 0.15) if not self.wet else np.arange(len(away))
        part = cast.part(whole.faces[front])
        centers, normals = faces.centers[front].astype(np.float32), faces.normals[front].astype(np.float32)
        mesh, chosen = cast.mesh, part.faces
        lit = np.zeros((len(chosen), 3), np.float32)
        if light.night > 0.05:
            lit = self.scene.town.lamps.irradiance(centers, normals) * np.float32(np.clip((light.night - 0.3) * 3, 0, 1))
            if beams is not None:
                x = np.clip(((centers[:, 0] - self._low[0]) / GRID).astype(int), 0, self._grid[0] - 1)
                y = np.clip(((centers[:, 1] - self._low[1]) / GRID).astype(int), 0, self._grid[1] - 1)
                # headlights throw from the side: upright faces catch them, roofs do not
                upright = np.clip(1 - np.abs(normals[:, 2]), 0, 1) * np.clip(1.6 - centers[:, 2], 0, 1)
                lit += (beams[y, x] * upright)[:, None] * np.array((1.6, 1.4, 1.05), np.float32)
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

    def _moving_shadows(self, matrices: NDArray[np.float64], actors: NDArray[np.bool_]) -> tuple[NDArray[np.uint8], F32]:
        """On the sun's map: where something moving stands between it and the ground, and how near to the sun."""
        part = self.scene.cast.select(actors)
        faces = part.surface(part.posed(matrices))
        size = self.shadows.width * self.shadows.height
        mask, near = np.zeros(size, np.uint8), np.zeros(size, np.float32)
        _, pixel, nearness = self.shadows.fragments(faces.corners, faces.normals)
        mask[pixel] = 255
        np.maximum.at(near, pixel, nearness)
        sigma = max(0.6, (0.02 + 0.7 * self.lights[0].softness) / self.shadows.cell)
        return cv2.GaussianBlur(mask.reshape(self.shadows.height, self.shadows.width), (0, 0), sigma), near

    def _draw(
        self, faces: Surface, camera: Camera, jitter: tuple[float, float], still: F32
    ) -> tuple[NDArray[np.int64], NDArray[np.int32], F32, tuple[NDArray[np.int32], NDArray[np.int64]]]:
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

    def _truth(self, whole: Part, vertices: NDArray[np.float64], moment: Moment, matrices: NDArray[np.float64]) -> Truth:
        """Measured in the middle of the exposure, on the unshifted grid of the pass in the middle."""
        k = len(self.stage.jitters) // 2
        pixels, face, _, (faces, where) = self._draw(
            self._placed(moment, matrices), self.scene.camera, self.stage.jitters[k], self.stage.near[k]
        )
        boxes = self.scene.cast.boxes(whole, vertices, self.scene.camera)
        counts = np.concatenate([self.scene.cast.mesh.counts[moment.part.faces], np.zeros(len(moment.lenses), bool)])
        del pixels
        return measure(self.scene, boxes, np.where(counts, moment.owner, -1), face, (faces, where))

    def _color(
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
        return color * clear + light.horizon * np.float32(0.92) * (1 - clear)

    # -- what moving things do to the ground
    def _ground_maps(self, places: NDArray[np.float64], light: Light) -> tuple[F32, F32 | None]:
        """Seen from above, float32 (rows, columns): share of skylight lost under things; light of headlights, None by day."""
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
                weather.throw_beam(beams, (x, y), ahead, aside, actor.beam, self._low, GRID)
        return cv2.GaussianBlur(dark, (0, 0), 0.22 / GRID).astype(np.float32) * np.float32(0.85 / 255), beams

    def _on_ground(self, coarse: F32) -> F32:
        """A map of the ground as the camera sees it."""
        camera = self.scene.camera
        to_picture = camera.ground_homography((self._low[0] + GRID / 2, self._low[1] + GRID / 2), GRID)
        to_picture[:2] -= 0.5 * to_picture[2]
        seen = cv2.warpPerspective(coarse, to_picture, (camera.width, camera.height), flags=cv2.INTER_LINEAR)
        a, b, c = camera.ground_plane()
        seen[b * (np.arange(camera.height) + 0.5) + a * camera.width / 2 + c <= 1e-4] = 0
        return seen

    def _reflection(self, moment: Moment, matrices: NDArray[np.float64], light: Light, i: int, share: float, moving: F32) -> F32:
        """What the wet ground mirrors: the scene from below the ground, upside down and smeared."""
        still = (
            self.below_pictures[i]
            if len(self.below_pictures) == 1
            else self.below_pictures[i] + (self.below_pictures[i + 1] - self.below_pictures[i]) * np.float32(share)
        )
        seen = still.copy().reshape(-1, 3)
        pixels, face, near, _ = self._draw(self._placed(moment, matrices), self.below, self.below_jitters[0], self.below_near[0])
        seen[pixels] = self._color(moment, pixels, face, near, self.below, self.below_jitters[0], light, moving)
        flipped = np.ascontiguousarray(seen.reshape(self.below.height, self.below.width, 3)[::-1])
        # ripples stretch what is mirrored towards the viewer
        smeared = cv2.GaussianBlur(flipped, (0, 0), sigmaX=self.below.height / 260, sigmaY=self.below.height / 32)
        return cv2.resize(smeared, (self.scene.camera.width, self.scene.camera.height), interpolation=cv2.INTER_LINEAR)
