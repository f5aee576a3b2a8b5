"""Small frames of the demo's rendered streets, and its files."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from resources import DEMO
from tools.street_renderer import scene
from tools.street_renderer.render.frame_renderer import FrameRenderer
from tools.street_renderer.truth import Truth

CFG, WEIGHTS, CLIP, CLIP_TRUTH = DEMO.cfg, DEMO.weights, DEMO.clip, DEMO.truth

RAIN, DAY = 1011, 1010
"""Seeds of a wet street that has every class on it, and of a dry one."""
WIDTH, HEIGHT = 480, 270


@dataclass(frozen=True, eq=False)
class Still:
    """One frame, what is truly in it, and which actor each pixel shows (-1: none)."""

    renderer: FrameRenderer
    picture: NDArray[np.uint8]
    truth: Truth
    actors: NDArray[np.int32]

    @property
    def digest(self) -> str:
        """Changes with any byte of it."""
        made = hashlib.sha256(self.picture.tobytes() + self.actors.tobytes())
        for column in vars(self.truth).values():
            made.update(column.tobytes())
        return made.hexdigest()


def still(seed: int, time: float = 1.0) -> Still:
    """A frame of a seed's street, about 1.5 s of work."""
    renderer = FrameRenderer(scene.draw(seed, WIDTH, HEIGHT, 2.0, cell=0.15), passes=2, shadow_cell=0.12)
    return Still(renderer, *renderer.frame_and_actors(0, time))
