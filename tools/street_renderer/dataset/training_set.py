"""Renders many scenes to arrays for training and evaluation.

    python -m tools.street_renderer.dataset.training_set OUT --scenes 600 --frames 28 --first 1000 [--width 640] [--height 360]

writes OUT/pictures.npy (uint8, frames × height × width × 3), OUT/boxes.npy, kinds.npy, visible.npy, scenes.npy. The same
seeds produce the same files.
"""

from __future__ import annotations

import argparse
import os
import time
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from tools.street_renderer import scene as scenes
from tools.street_renderer.dataset.processes import process_pool
from tools.street_renderer.render.frame_renderer import FrameRenderer

MAX_BOXES = 96
"""Most objects kept per frame, the largest first."""
STEP = 0.9
"""Seconds between the frames of a scene: enough for different frames."""


def render_scene(
    seed: int, frames: int, width: int, height: int, passes: int | None = None
) -> tuple[NDArray[np.uint8], NDArray[np.float32], NDArray[np.int8], NDArray[np.float32]]:
    """Render frames of one scene.

    Returns pictures, boxes (frames, MAX_BOXES, 4), kinds (frames, MAX_BOXES), -1 for none, and visible shares (frames, MAX_BOXES).

    passes: number of passes per frame; None: random, with random JPEG artefacts.
    """
    rng = np.random.default_rng((seed, 1))
    scene = scenes.draw(seed, width, height, frames * STEP)
    renderer = FrameRenderer(scene, passes or int(rng.choice([2, 3, 4], p=[0.25, 0.25, 0.5])), float(rng.choice([0.0, 0.01, 0.02, 0.03])))
    pictures = np.empty((frames, height, width, 3), np.uint8)
    boxes, kinds, visible = (
        np.zeros((frames, MAX_BOXES, 4), np.float32),
        np.full((frames, MAX_BOXES), -1, np.int8),
        np.zeros((frames, MAX_BOXES), np.float32),
    )
    for i in range(frames):
        picture, truth = renderer.frame(i, (i + 0.5) * STEP)
        if passes is None and rng.random() < 0.35:
            _, packed = cv2.imencode(".jpg", picture[..., ::-1], [cv2.IMWRITE_JPEG_QUALITY, int(rng.integers(45, 92))])
            picture = np.asarray(cv2.imdecode(packed, cv2.IMREAD_COLOR), np.uint8)[..., ::-1]
        pictures[i] = picture
        area = np.prod(truth.boxes[:, 2:] - truth.boxes[:, :2], 1)
        largest = np.argsort(-area, kind="stable")[:MAX_BOXES]
        boxes[i, : len(largest)], kinds[i, : len(largest)], visible[i, : len(largest)] = (
            truth.boxes[largest],
            truth.kinds[largest],
            truth.visible[largest],
        )
    return pictures, boxes, kinds, visible


def _work(job: tuple[int, int, int, int, int, Path]) -> str | None:
    place, seed, frames, width, height, out = job
    part = slice(place * frames, (place + 1) * frames)
    try:
        made = render_scene(seed, frames, width, height)
    except Exception as error:  # a failed scene must not stop the others
        return f"scene {seed}: {error!r}"
    for name, values in zip(("pictures", "boxes", "kinds", "visible"), made, strict=True):
        np.load(out / f"{name}.npy", mmap_mode="r+")[part] = values
    return None


def render(out: Path, first: int, count: int, frames: int, width: int, height: int, processes: int) -> None:
    """Render ``count`` scenes from seed ``first`` on."""
    out.mkdir(parents=True, exist_ok=True)
    n = count * frames
    for name, shape, kind in (
        ("pictures", (n, height, width, 3), np.uint8),
        ("boxes", (n, MAX_BOXES, 4), np.float32),
        ("kinds", (n, MAX_BOXES), np.int8),
        ("visible", (n, MAX_BOXES), np.float32),
    ):
        np.lib.format.open_memmap(out / f"{name}.npy", "w+", kind, shape).flush()
    kinds = np.load(out / "kinds.npy", mmap_mode="r+")
    kinds[:] = -1
    kinds.flush()
    np.save(out / "scenes.npy", np.repeat(np.arange(first, first + count), frames))
    start = time.monotonic()
    jobs = [(i, first + i, frames, width, height, out) for i in range(count)]
    with process_pool(processes) as pool:
        for done, failed in enumerate(pool.imap_unordered(_work, jobs), 1):
            if failed:
                print(failed, flush=True)
            if done % 50 == 0 or done == count:
                print(f"{done}/{count} scenes, {done * frames / (time.monotonic() - start):.0f} frames/s", flush=True)


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("--scenes", type=int, default=600)
    parser.add_argument("--frames", type=int, default=28)
    parser.add_argument("--first", type=int, default=1000)
    parser.add_argument("--width", type=int, default=640)
    parser.add_argument("--height", type=int, default=360)
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    a = parser.parse_args()
    render(a.out, a.first, a.scenes, a.frames, a.width, a.height, a.processes)


if __name__ == "__main__":
    main()
