"""Renders frames of a scene: moving objects over a copy of the static background, reflections, and what a camera adds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import cv2
import numpy as np
from numpy.typing import NDArray

from tools.street_renderer.geometry.posed_meshes import MeshPart, draw_over
from tools.street_renderer.lighting.light import Light
from tools.street_renderer.lighting.shading import tone
from tools.street_renderer.lighting.shadow_map import ShadowMap
from tools.street_renderer.render.actor_lighting import ActorLighting, LitFaces
from tools.street_renderer.render.background import Background
from tools.street_renderer.render.ground_effects import GroundEffects
from tools.street_renderer.scene import Scene
from tools.street_renderer.truth import Truth, measure

F32 = NDArray[np.float32]
REACH = 75.0
"""Actors further from the camera than this cast no shadow, metres."""


class Motion:
    """Computes the poses of a scene's actors."""

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self._still = {i: actor.pose(0.0) for i, actor in enumerate(scene.actors) if actor.still}

    def matrices(
        self, time: float, only: NDArray[np.bool_] | None = None, base: NDArray[np.float64] | None = None
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Bone matrices of all actors, and each actor's x, y and direction (n, 3). Actors not in ``only`` keep their pose of ``base``."""
        meshes = self.scene.meshes
        poses = []
        for i, actor in enumerate(self.scene.actors):
            if actor.still:
                poses.append(self._still[i])
            elif only is not None and base is not None and not only[i]:
                poses.append(base[meshes.starts[i] : meshes.starts[i + 1]])
            else:
                poses.append(actor.pose(time))
        matrices = np.concatenate(poses)
        first = matrices[meshes.starts[:-1]]
        return matrices, np.stack([first[:, 0, 3], first[:, 1, 3], np.arctan2(first[:, 1, 0], first[:, 0, 0])], -1)

    def in_view(self, places: NDArray[np.float64]) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Which actors may be in the picture, and which may cast a shadow into it."""
        camera = self.scene.camera
        seen = camera.to_camera(np.c_[places[:, :2], np.ones(len(places))])
        size = np.array([max(actor.size[0] / 2, 1.5) for actor in self.scene.actors]) + 0.5
        slope = camera.width / 2 / camera.focal
        edge = np.abs(seen[:, 0]) - slope * seen[:, 2]
        inside = (
            (seen[:, 2] > -size) & (edge < size * 1.4) & (seen[:, 1] - slope * camera.height / camera.width * seen[:, 2] < size * 1.4 + 2)
        )
        return inside, (seen[:, 2] > -6) & (edge < 10) & (seen[:, 2] < REACH)


class WetReflection:
    """Reflections of one scene, rendered at half the picture's resolution."""

    def __init__(self, scene: Scene, shadows: ShadowMap, lights: Sequence[Light]) -> None:
        c = scene.camera
        below = replace(c, position=(c.position[0], c.position[1], -c.position[2]), pitch=-c.pitch)
        self.camera, self.size = below.resized(c.width // 2, c.height // 2), (c.width, c.height)
        under = Background(scene.town, scene.ground, self.camera, 2, floor=False)
        self._near, self._jitter = under.near[0], under.jitters[0]
        self._pictures = [under.light_with(light, shadows).fixed for light in lights]

    def picture(
        self,
        lighting: ActorLighting,
        lit_faces: LitFaces,
        matrices: NDArray[np.float64],
        light: Light,
        between: tuple[int, float],
        moving: F32,
    ) -> F32:
        """Reflected radiance (height, width, 3). between: the number of a lit background, and the share of the next one."""
        i, share = between
        still = (
            self._pictures[i]
            if len(self._pictures) == 1
            else self._pictures[i] + (self._pictures[i + 1] - self._pictures[i]) * np.float32(share)
        )
        seen = still.copy().reshape(-1, 3)
        pixels, face, near, _ = draw_over(lit_faces.placed(matrices), self.camera, self._jitter, self._near)
        seen[pixels] = lighting.color(lit_faces, pixels, face, near, self.camera, self._jitter, light, moving)
        flipped = np.ascontiguousarray(seen.reshape(self.camera.height, self.camera.width, 3)[::-1])
        # ripples stretch a reflection towards the viewer
        smeared = cv2.GaussianBlur(flipped, (0, 0), sigmaX=self.camera.height / 260, sigmaY=self.camera.height / 32)
        return np.asarray(cv2.resize(smeared, self.size, interpolation=cv2.INTER_LINEAR), np.float32)


class CameraEffects:
    """Post-processes frames of one size. rain: 0 none … 1 heavy. noise: standard deviation of the grain as a share of full scale."""

    def __init__(self, width: int, height: int, rain: float, noise: float) -> None:
        self.width, self.height, self.rain, self.noise = width, height, rain, noise
        y, x = np.mgrid[0:height, 0:width].astype(np.float32)
        square = ((x / width - 0.5) ** 2 + (y / height - 0.5) ** 2) * 2
        self.vignette = (1 - 0.2 * square**1.2)[..., None].astype(np.float32)
        if noise:
            self.grain = np.random.default_rng(7).normal(0, 1, (height + 64, width + 64)).astype(np.float32)

    def finish(self, picture: F32, light: Light, number: int, tone: Callable[[F32, float], NDArray[np.uint8]]) -> NDArray[np.uint8]:
        """Add glow, rain and vignette, apply ``tone``, and add grain.

        picture: radiance, float32 (height, width, 3). number: seed of rain and grain.
        """
        rng = np.random.default_rng((977, number))
        small = cv2.resize(picture, (self.width // 4, self.height // 4), interpolation=cv2.INTER_AREA)
        bright = np.clip(small - 1.1 / light.exposure, 0, 6)
        unit = self.height / 720
        glow = cv2.GaussianBlur(bright, (0, 0), 2.2 * unit) * 0.16 + cv2.GaussianBlur(bright, (0, 0), 9 * unit) * 0.12
        picture += cv2.resize(glow, (self.width, self.height), interpolation=cv2.INTER_LINEAR)
        if self.rain:
            self._streaks(picture, rng, light)
        picture *= self.vignette
        out = tone(picture, light.exposure)
        if self.noise:
            x, y = rng.integers(0, 64, 2)
            grain = self.grain[y : y + self.height, x : x + self.width]
            color = rng.integers(0, 64, 2)
            tint = self.grain[color[0] : color[0] + self.height, color[1] : color[1] + self.width]
            mixed = np.stack([grain + 0.35 * tint, grain, grain - 0.35 * tint], -1) * np.float32(255 * self.noise)
            out = np.clip(out + mixed, 0, 255).astype(np.uint8)
        return out

    def _streaks(self, picture: F32, rng: np.random.Generator, light: Light) -> None:
        count = int(self.rain * 420)
        layer = np.zeros((self.height, self.width), np.uint8)
        unit = self.height / 720
        depth = rng.uniform(0.25, 1.0, count) ** 1.5
        x, y = rng.uniform(-20, self.width + 20, count), rng.uniform(-60, self.height, count)
        length = (26 + 60 * depth) * unit
        slant = 0.07 + rng.normal(0, 0.012, count)
        for i in range(count):
            start = (int(x[i] * 16), int(y[i] * 16))
            end = (int((x[i] + slant[i] * length[i]) * 16), int((y[i] + length[i]) * 16))
            cv2.line(layer, start, end, int(40 + 70 * depth[i]), max(1, round(1.6 * depth[i] * unit)), cv2.LINE_AA, 4)
        soft = cv2.GaussianBlur(layer, (0, 0), 0.6 * max(unit, 0.5))
        picture += soft[..., None].astype(np.float32) * ((light.sky + 0.4 * light.horizon) * np.float32(0.35 / 255))


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
        self.effects = CameraEffects(scene.camera.width, scene.camera.height, scene.rain, scene.noise)
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
