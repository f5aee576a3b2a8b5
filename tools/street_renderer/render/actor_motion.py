"""Poses of all actors at a time, and which actors the camera can see."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tools.street_renderer.scene import Scene

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
