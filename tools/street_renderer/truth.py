"""The ground truth of frames: boxes, classes, tracks and visibility of objects, and the conversion to COCO's format."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from tools.street_renderer.scene import Scene

MIN_HEIGHT = 16 / 720
"""Objects lower than this share of the picture's height are ignored: 16 pixels at 1280×720."""
MIN_VISIBLE = 0.4
"""Objects of which less than this share is visible are ignored. The rest is hidden or outside the picture."""


@dataclass(frozen=True, eq=False)
class Truth:
    """The visible objects of one frame.

    boxes: float32 (n, 4), x1 y1 x2 y2, pixels, around the part of the object inside the picture, hidden or not. kinds: int32
    (n,) class numbers. tracks: int32 (n,), an object's number in all frames. visible: float32 (n,) share of the object that
    is visible. ignore: bool (n,), too small or too much hidden to be scored.
    """

    boxes: NDArray[np.float32]
    kinds: NDArray[np.int32]
    tracks: NDArray[np.int32]
    visible: NDArray[np.float32]
    ignore: NDArray[np.bool_]

    def save(self, path: Path) -> None:
        """Write an .npz file."""
        np.savez(path, **vars(self))

    @classmethod
    def load(cls, path: Path) -> Truth:
        """Read a file that ``save`` wrote."""
        with np.load(path) as saved:
            return cls(**saved)


def measure(
    scene: Scene,
    whole: NDArray[np.float64],
    owner: NDArray[np.int64],
    won: NDArray[np.int32],
    fragments: tuple[NDArray[np.int32], NDArray[np.int64]],
) -> Truth:
    """The truth of one frame, measured from its fragments.

    whole: (actors, 4) unclipped boxes, NaN for an actor out of view. owner: the actor of each face, -1 for a face outside the
    box. won: the face of each pixel that shows an actor. fragments: face and pixel of all fragments, hidden or not.
    """
    camera, actors = scene.camera, len(scene.actors)
    clipped = whole.copy()
    clipped[:, 0::2] = np.clip(clipped[:, 0::2], 0, camera.width)
    clipped[:, 1::2] = np.clip(clipped[:, 1::2], 0, camera.height)
    winners = owner[won]
    shown = np.bincount(winners[winners >= 0], minlength=actors)
    drawn, extent = _silhouettes(owner[fragments[0]], fragments[1], actors, camera.width)
    with np.errstate(invalid="ignore", divide="ignore"):
        inside = np.prod(clipped[:, 2:] - clipped[:, :2], 1) / np.prod(whole[:, 2:] - whole[:, :2], 1)
        # if only a person's head is in the picture, the box must be the head's, not as wide as the arms outside
        cut = (inside < 0.999) & (drawn > 0)
    clipped[cut, :2] = np.maximum(clipped[cut, :2], extent[cut, :2])
    clipped[cut, 2:] = np.minimum(clipped[cut, 2:], extent[cut, 2:])
    with np.errstate(invalid="ignore", divide="ignore"):
        visible = shown / np.maximum(drawn, 1) * inside
    kinds = np.array([actor.kind for actor in scene.actors])
    keep = np.flatnonzero((kinds >= 0) & (shown > 0) & np.isfinite(visible))
    boxes, visible = clipped[keep].astype(np.float32), np.minimum(visible[keep], 1).astype(np.float32)
    ignore = (boxes[:, 3] - boxes[:, 1] < MIN_HEIGHT * camera.height) | (visible < MIN_VISIBLE)
    return Truth(boxes, kinds[keep].astype(np.int32), keep.astype(np.int32), visible, ignore)


def _silhouettes(
    who: NDArray[np.int64], pixel: NDArray[np.int64], actors: int, width: int
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The number of pixels each actor would cover if nothing hid it, and their extent x1 y1 x2 y2 (actors, 4)."""
    counted = who >= 0
    who, pixel = who[counted], pixel[counted]
    x, y = pixel % width, pixel // width
    low, high = np.full((actors, 2), 1 << 30), np.full((actors, 2), -1)
    for axis, value in enumerate((x, y)):
        np.minimum.at(low[:, axis], who, value)
        np.maximum.at(high[:, axis], who, value)
    size = np.maximum(high - low + 1, 0)
    start = np.concatenate([[0], np.cumsum(size[:, 0] * size[:, 1])])
    flags = np.zeros(start[-1] + 1, np.uint8)
    flags[start[who] + (y - low[who, 1]) * size[who, 0] + x - low[who, 0]] = 1
    sums = np.concatenate([[0], np.cumsum(flags)])
    return sums[start[1:]] - sums[start[:-1]], np.concatenate([low, high + 1], 1).astype(float)


def coco(frames: Sequence[Truth], names: Sequence[str], width: int, height: int, video: str) -> dict[str, Any]:
    """Convert truths to COCO's detection format: category ids are class numbers + 1, ignored objects are ``iscrowd``.

    pycocotools counts an ``iscrowd`` object neither as missed nor as a false detection.
    """
    annotations: list[dict[str, Any]] = []
    for number, truth in enumerate(frames):
        for box, kind, track, visible, ignore in zip(truth.boxes, truth.kinds, truth.tracks, truth.visible, truth.ignore, strict=True):
            x1, y1, x2, y2 = (round(float(v), 1) for v in box)
            annotations.append(
                {"id": len(annotations) + 1, "image_id": number, "category_id": int(kind) + 1, "bbox": [x1, y1, round(x2 - x1, 1),
                round(y2 - y1, 1)],
                 "area": round((x2 - x1) * (y2 - y1), 1), "iscrowd": int(ignore), "track_id": int(track),
                 "visible": round(float(visible), 2)}
            )  # fmt: skip
    return {
        "info": {"description": "Rendered street; boxes are exact", "video": video},
        "images": [{"id": i, "width": width, "height": height, "file_name": f"{video}#{i}"} for i in range(len(frames))],
        "categories": [{"id": i + 1, "name": name} for i, name in enumerate(names)],
        "annotations": annotations,
    }
