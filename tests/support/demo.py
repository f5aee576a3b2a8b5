"""The demo's files, and small frames of rendered streets."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from framefleet.resources import DEMO
from tools.street_renderer import scene
from tools.street_renderer.render.frame_renderer import FrameRenderer
from tools.street_renderer.truth import Truth

CFG, WEIGHTS, CLIP, CLIP_TRUTH = DEMO.cfg, DEMO.weights, DEMO.clip, DEMO.truth

RAIN, DAY = 1011, 1010
"""Seeds of a wet street with objects of every class, and of a dry one."""
WIDTH, HEIGHT, SECONDS = 480, 270, 2.0


@dataclass(frozen=True, eq=False)
class Still:
    """One frame, its truth, and for each pixel the number of the actor that it shows, -1 = none."""

    renderer: FrameRenderer
    picture: NDArray[np.uint8]
    truth: Truth
    actors: NDArray[np.int32]

    @property
    def digest(self) -> str:
        """A checksum of the picture, the actors and the truth."""
        checksum = hashlib.sha256(self.picture.tobytes() + self.actors.tobytes())
        for column in vars(self.truth).values():
            checksum.update(column.tobytes())
        return checksum.hexdigest()


def still(seed: int, time: float = 1.0) -> Still:
    """Draw the frame at ``time`` seconds of the street of a seed. Takes about 1.5 s."""
    renderer = FrameRenderer(scene.draw(seed, WIDTH, HEIGHT, SECONDS, cell=0.3), passes=2, shadow_cell=0.2)
    return Still(renderer, *renderer.frame_and_actors(0, time))
