"""Render held-out scenes as videos like a user's: H.264 at x264's default quality, each with its truth.

    python -m tools.demo.heldout FOLDER [--scenes 60] [--frames 16] [--first 900000] [--unseen-light] [--processes 2]

writes FOLDER/SEED.mp4 and FOLDER/SEED.truth.npz. Training takes seeds from 1000, the clip from 910007 on: keep to 900000 … 909999.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

import cv2  # noqa: E402
import numpy as np  # noqa: E402
from numpy.typing import NDArray  # noqa: E402

from tools.demo import light, scene, video  # noqa: E402
from tools.demo.film import Film  # noqa: E402
from tools.demo.truth import Truth  # noqa: E402

WIDTH, HEIGHT = 1280, 720
RATE = 5
"""Frames/s: low, so that the frames of a scene differ."""
PASSES, SHUTTER = 4, 0.02
FIRST = 900_000


def render_scene(seed: int, frames: int, unseen_light: bool, out: Path, size: tuple[int, int] = (WIDTH, HEIGHT)) -> None:
    """One scene's video and truth; nothing where they exist already."""
    clip, truth_file = out / f"{seed}.mp4", out / f"{seed}.truth.npz"
    if truth_file.exists() and len(load(truth_file)) == frames:
        return
    cv2.setNumThreads(1)
    film = Film(scene.draw(seed, *size, frames / RATE, lights=light.draw_unseen if unseen_light else light.draw), PASSES, SHUTTER)
    truths: list[Truth] = []

    def pictures() -> Iterator[NDArray[np.uint8]]:
        for i in range(frames):
            picture, truth = film.frame(i, (i + 0.5) / RATE)
            truths.append(truth)
            yield picture

    video.write(clip, pictures(), RATE, {"threads": "1"})
    joined: dict[str, Any] = {f.name: np.concatenate([getattr(truth, f.name) for truth in truths]) for f in fields(Truth)}
    np.savez(truth_file, frame=np.repeat(np.arange(frames), [len(truth.kinds) for truth in truths]), frames=frames, **joined)


def load(path: Path) -> list[Truth]:
    """The truth of each frame of one scene."""
    with np.load(path) as saved:
        columns = {f.name: saved[f.name] for f in fields(Truth)}
        frame, frames = saved["frame"], int(saved["frames"])
    return [Truth(**{name: values[frame == i] for name, values in columns.items()}) for i in range(frames)]


def render(out: Path, first: int, count: int, frames: int, unseen_light: bool, processes: int) -> list[Path]:
    """Render ``count`` scenes from seed ``first`` on, those already in the folder excepted; returns the videos."""
    out.mkdir(parents=True, exist_ok=True)
    jobs = [(seed, frames, unseen_light, out) for seed in range(first, first + count)]
    with multiprocessing.get_context("spawn").Pool(processes) as pool:
        pool.starmap(render_scene, jobs, chunksize=1)
    return [out / f"{seed}.mp4" for seed, *_ in jobs]


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--scenes", type=int, default=60)
    parser.add_argument("--frames", type=int, default=16)
    parser.add_argument("--first", type=int, default=FIRST)
    parser.add_argument("--unseen-light", action="store_true")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    a = parser.parse_args()
    render(a.folder, a.first, a.scenes, a.frames, a.unseen_light, a.processes)


if __name__ == "__main__":
    main()
