"""Renders frames of a scene: moving objects over a copy of the static background."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from tools.street_renderer.geometry.posed_meshes import MeshPart, draw_over
from tools.street_renderer.lighting.light import Light
from tools.street_renderer.lighting.shading import tone
from tools.street_renderer.render import camera_effects
from tools.street_renderer.render.actor_lighting import ActorLighting, LitFaces
from tools.street_renderer.render.actor_motion import Motion
from tools.street_renderer.render.background import Background
from tools.street_renderer.render.ground_effects import GroundEffects
from tools.street_renderer.render.wet_reflection import WetReflection
from tools.street_renderer.scene import Scene
from tools.street_renderer.truth import Truth, measure

F32 = NDArray[np.float32]
DELTA = 0.01
"""Poses within an exposure are extrapolated from two poses this far apart, seconds."""


class FrameRenderer:
    """Renders frames of one scene.

    passes: subpixel passes a frame. shutter: exposure time, seconds. lights: the light at evenly spaced times of the scene;
    one light stays constant. shadow_cell: metres per pixel of the shadow map.
    """

    def __init__(
        self, scene: Scene, passes: int = 4, shutter: float = 0.02, lights: list[Light] | None = None, shadow_cell: float = 0.07
    ) -> None:
        self.scene, self.shutter = scene, shutter
        self.lights = lights or [scene.light]
        self.background = Background(scene.town, scene.ground, scene.camera, passes)
        self.shadows = self.background.shadow_map(self.lights[0], shadow_cell)
        self.layers = [self.background.light_with(light, self.shadows) for light in self.lights]
        wet = max(light.wet for light in self.lights) > 0
        self.reflection = WetReflection(scene, self.shadows, self.lights) if wet else None
        self.effects = camera_effects.CameraEffects(scene.camera.width, scene.camera.height, scene.rain, scene.noise)
        self.motion, self.ground_effects = Motion(scene), GroundEffects(scene)
        self.lighting = ActorLighting(scene, self.shadows, self.ground_effects, all_faces=wet)

    def light_at(self, time: float) -> tuple[Light, int, float]:
        """The light at a time, the number of the lit background before it, and the share of the next one."""
        if len(self.lights) == 1:
            return self.lights[0], 0, 0.0
        t = min(max(time / self.scene.seconds, 0), 1) * (len(self.lights) - 1)
        i = min(int(t), len(self.lights) - 2)
        return self.lights[i].toward(self.lights[i + 1], t - i), i, t - i

    def frame(self, number: int, time: float) -> tuple[NDArray[np.uint8], Truth]:
        """One frame, uint8 RGB (height, width, 3), and its truth. time: middle of the exposure. number: seeds rain and noise."""
        picture, truth, _ = self.frame_and_actors(number, time)
        return picture, truth

    def frame_and_actors(self, number: int, time: float) -> tuple[NDArray[np.uint8], Truth, NDArray[np.int32]]:
        """One frame, its truth, and the actor that each pixel shows at ``time``: int32 (height, width), -1 for none."""
        camera = self.scene.camera
        light, i, share = self.light_at(time)
        layers = self.layers[i] if len(self.layers) == 1 else self.layers[i].toward(self.layers[i + 1], share)
        matrices, places = self.motion.matrices(time)
        seen, shading = self.motion.in_view(places)
        contact, beams = self.ground_effects.maps(places, light)
        whole = self.scene.meshes.select(seen)
        vertices = whole.posed(matrices)
        lit_faces = self.lighting.light_faces(whole, vertices, light, beams, time)
        mask, moving = self._moving_shadows(matrices, shading)

        picture = layers.fixed.copy()
        shadow = self.shadows.ground_view(mask, camera).astype(np.float32)[..., None] * np.float32(1 / 255)
        picture += layers.sun * (1 - shadow)
        picture += layers.shade * (1 - self.ground_effects.in_picture(contact)[..., None])
        if beams is not None:
            tint = np.array((3.6, 3.2, 2.4), np.float32) * np.float32(np.clip(light.night * 2, 0, 1))
            picture += layers.bare * (self.ground_effects.in_picture(beams)[..., None] * tint)
        if self.reflection:
            picture += self.reflection.picture(self.lighting, lit_faces, matrices, light, (i, share), moving) * layers.mirror[..., None]

        drift = (self.motion.matrices(time + DELTA, seen, matrices)[0] - matrices) / DELTA if self.shutter else None
        total = np.zeros((camera.width * camera.height, 3), np.float32)
        cover = np.zeros(camera.width * camera.height, np.float32)
        passes = len(self.background.jitters)
        for k, jitter in enumerate(self.background.jitters):
            part = ((k + 0.5) / passes - 0.5) * self.shutter
            faces = lit_faces.placed(matrices if drift is None else matrices + drift * part)
            pixels, face, near, _ = draw_over(faces, camera, jitter, self.background.near[k])
            total[pixels] += self.lighting.color(lit_faces, pixels, face, near, camera, jitter, light, moving)
            cover[pixels] += 1
        truth, actors = self._truth(whole, vertices, lit_faces, matrices)
        scale = np.float32(1 / passes)
        picture *= (1 - cover.reshape(picture.shape[:2]) * scale)[..., None]
        picture += total.reshape(picture.shape) * scale
        return self.effects.finish(picture, light, number, tone), truth, actors

    def _moving_shadows(self, matrices: NDArray[np.float64], actors: NDArray[np.bool_]) -> tuple[NDArray[np.uint8], F32]:
        """On the shadow map: a blurred mask of the actors' shadows, and the actors' nearness to the sun."""
        part = self.scene.meshes.select(actors)
        faces = part.surface(part.posed(matrices))
        size = self.shadows.width * self.shadows.height
        mask, near = np.zeros(size, np.uint8), np.zeros(size, np.float32)
        _, pixel, nearness = self.shadows.fragments(faces.corners, faces.normals)
        mask[pixel] = 255
        np.maximum.at(near, pixel, nearness)
        sigma = max(0.6, (0.02 + 0.7 * self.lights[0].softness) / self.shadows.cell)
        return np.asarray(cv2.GaussianBlur(mask.reshape(self.shadows.height, self.shadows.width), (0, 0), sigma), np.uint8), near

    def _truth(
        self, whole: MeshPart, vertices: NDArray[np.float64], lit_faces: LitFaces, matrices: NDArray[np.float64]
    ) -> tuple[Truth, NDArray[np.int32]]:
        """The truth in the middle of the exposure, on the pixel grid of the middle pass, and the actor of each pixel."""
        camera, k = self.scene.camera, len(self.background.jitters) // 2
        pixels, face, _, fragments = draw_over(lit_faces.placed(matrices), camera, self.background.jitters[k], self.background.near[k])
        boxes = self.scene.meshes.boxes(whole, vertices, camera)
        counts = np.concatenate([self.scene.meshes.mesh.counts[lit_faces.part.faces], np.zeros(len(lit_faces.lenses), bool)])
        owner = np.where(counts, lit_faces.owner, -1)
        actors = np.full(camera.height * camera.width, -1, np.int32)
        actors[pixels] = owner[face]
        return measure(self.scene, boxes, owner, face, fragments), actors.reshape(camera.height, camera.width)
