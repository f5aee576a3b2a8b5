"""Frames of a scene: what moves, over a copy of what stands still."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from tools.demo import weather
from tools.demo.cast import Part, draw_over
from tools.demo.footprint import Footprint
from tools.demo.light import Light
from tools.demo.mirror import Mirror
from tools.demo.moment import Lighting, Moment
from tools.demo.motion import Motion
from tools.demo.scene import Scene
from tools.demo.shade import tone
from tools.demo.stage import Stage
from tools.demo.truth import Truth, measure

F32 = NDArray[np.float32]
DELTA = 0.01
"""Poses within an exposure are extrapolated from two this far apart, seconds."""


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
        wet = max(light.wet for light in self.lights) > 0
        self.mirror = Mirror(scene, self.shadows, self.lights) if wet else None
        self.weather = weather.Weather(scene.camera.width, scene.camera.height, scene.rain, scene.noise)
        self.motion, self.footprint = Motion(scene), Footprint(scene)
        self.lighting = Lighting(scene, self.shadows, self.footprint, all_faces=wet)

    def light_at(self, time: float) -> tuple[Light, int, float]:
        """The light, and between which of the lit pictures it lies."""
        if len(self.lights) == 1:
            return self.lights[0], 0, 0.0
        t = min(max(time / self.scene.seconds, 0), 1) * (len(self.lights) - 1)
        i = min(int(t), len(self.lights) - 2)
        return self.lights[i].toward(self.lights[i + 1], t - i), i, t - i

    def frame(self, number: int, time: float) -> tuple[NDArray[np.uint8], Truth]:
        """One frame, uint8 RGB (height, width, 3), exposed around ``time``; ``number`` seeds rain and noise."""
        picture, truth, _ = self.frame_and_actors(number, time)
        return picture, truth

    def frame_and_actors(self, number: int, time: float) -> tuple[NDArray[np.uint8], Truth, NDArray[np.int32]]:
        """The same, and which actor each pixel shows in the middle of the exposure: int32 (height, width), -1 for none."""
        camera = self.scene.camera
        light, i, share = self.light_at(time)
        still = self.pictures[i] if len(self.pictures) == 1 else self.pictures[i].toward(self.pictures[i + 1], share)
        matrices, places = self.motion.matrices(time)
        seen, shading = self.motion.in_view(places)
        contact, beams = self.footprint.maps(places, light)
        whole = self.scene.cast.select(seen)
        vertices = whole.posed(matrices)
        moment = self.lighting.moment(whole, vertices, light, beams, time)
        mask, moving = self._moving_shadows(matrices, shading)

        picture = still.fixed.copy()
        shadow = self.shadows.ground_view(mask, camera).astype(np.float32)[..., None] * np.float32(1 / 255)
        picture += still.sun * (1 - shadow)
        picture += still.shade * (1 - self.footprint.in_picture(contact)[..., None])
        if beams is not None:
            tint = np.array((3.6, 3.2, 2.4), np.float32) * np.float32(np.clip(light.night * 2, 0, 1))
            picture += still.bare * (self.footprint.in_picture(beams)[..., None] * tint)
        if self.mirror:
            picture += self.mirror.picture(self.lighting, moment, matrices, light, (i, share), moving) * still.mirror[..., None]

        drift = (self.motion.matrices(time + DELTA, seen, matrices)[0] - matrices) / DELTA if self.shutter else None
        total = np.zeros((camera.width * camera.height, 3), np.float32)
        cover = np.zeros(camera.width * camera.height, np.float32)
        passes = len(self.stage.jitters)
        for k, jitter in enumerate(self.stage.jitters):
            part = ((k + 0.5) / passes - 0.5) * self.shutter
            faces = moment.placed(matrices if drift is None else matrices + drift * part)
            pixels, face, near, _ = draw_over(faces, camera, jitter, self.stage.near[k])
            total[pixels] += self.lighting.color(moment, pixels, face, near, camera, jitter, light, moving)
            cover[pixels] += 1
        truth, actors = self._truth(whole, vertices, moment, matrices)
        scale = np.float32(1 / passes)
        picture *= (1 - cover.reshape(picture.shape[:2]) * scale)[..., None]
        picture += total.reshape(picture.shape) * scale
        return self.weather.finish(picture, light, number, tone), truth, actors

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
        return np.asarray(cv2.GaussianBlur(mask.reshape(self.shadows.height, self.shadows.width), (0, 0), sigma), np.uint8), near

    def _truth(
        self, whole: Part, vertices: NDArray[np.float64], moment: Moment, matrices: NDArray[np.float64]
    ) -> tuple[Truth, NDArray[np.int32]]:
        """Measured in the middle of the exposure, on the grid of the pass in the middle; and the actor of each pixel."""
        camera, k = self.scene.camera, len(self.stage.jitters) // 2
        pixels, face, _, fragments = draw_over(moment.placed(matrices), camera, self.stage.jitters[k], self.stage.near[k])
        boxes = self.scene.cast.boxes(whole, vertices, camera)
        counts = np.concatenate([self.scene.cast.mesh.counts[moment.part.faces], np.zeros(len(moment.lenses), bool)])
        owner = np.where(counts, moment.owner, -1)
        actors = np.full(camera.height * camera.width, -1, np.int32)
        actors[pixels] = owner[face]
        return measure(self.scene, boxes, owner, face, fragments), actors.reshape(camera.height, camera.width)
