"""Renders held-out scenes as H.264 videos of x264's default quality, each with its ground truth.

    python -m tools.street_renderer.dataset.held_out FOLDER [--scenes 60] [--frames 16] [--first 900000] [--unseen-light] [--processes 2]

writes FOLDER/SEED.mp4 and FOLDER/SEED.truth.npz. Development uses seeds 900000 … 909999, results use seeds from 930000. Training uses
seeds from 1000, the clip seeds from 910007.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tools.street_renderer import scene
from tools.street_renderer.dataset import h264
from tools.street_renderer.dataset.processes import process_pool
from tools.street_renderer.lighting import light
from tools.street_renderer.render.frame_renderer import FrameRenderer
from tools.street_renderer.truth import Truth

WIDTH, HEIGHT = 1280, 720
RATE = 5
"""Frames/s. A low rate makes the frames of a scene differ."""
PASSES, SHUTTER = 4, 0.02
FIRST = 900_000


def render_scene(seed: int, frames: int, unseen_light: bool, out: Path) -> None:
    """Write one scene's video and truth, unless both exist."""
    truth_file = out / f"{seed}.truth.npz"
    if truth_file.exists() and len(load(truth_file)) == frames:
        return
    made = scene.draw(seed, WIDTH, HEIGHT, frames / RATE, lights=light.draw_unseen if unseen_light else light.draw)
    write_video(FrameRenderer(made, PASSES, SHUTTER), frames, out / f"{seed}.mp4", truth_file)


def write_video(renderer: FrameRenderer, frames: int, video: Path, truth_file: Path) -> None:
    """Write the first frames of a scene as a video, and their truth."""
    truths: list[Truth] = []

    def pictures() -> Iterator[NDArray[np.uint8]]:
        for i in range(frames):
            picture, truth = renderer.frame(i, (i + 0.5) / RATE)
            truths.append(truth)
            yield picture

    h264.write(video, pictures(), RATE, {"threads": "1"})
    joined: dict[str, Any] = {f.name: np.concatenate([getattr(truth, f.name) for truth in truths]) for f in fields(Truth)}
    np.savez(truth_file, frame=np.repeat(np.arange(frames), [len(truth.kinds) for truth in truths]), frames=frames, **joined)


def load(path: Path) -> list[Truth]:
    """Read the truth of each frame of one scene."""
    with np.load(path) as saved:
        columns = {f.name: saved[f.name] for f in fields(Truth)}
        frame, frames = saved["frame"], int(saved["frames"])
    return [Truth(**{name: values[frame == i] for name, values in columns.items()}) for i in range(frames)]


def render(out: Path, first: int, count: int, frames: int, unseen_light: bool, processes: int) -> list[Path]:
    """Render ``count`` scenes from seed ``first`` on, unless they exist in the folder; return all videos."""
    out.mkdir(parents=True, exist_ok=True)
    jobs = [(seed, frames, unseen_light, out) for seed in range(first, first + count)]
    with process_pool(processes) as pool:
        pool.starmap(render_scene, jobs, chunksize=1)
    return [out / f"{seed}.mp4" for seed, *_ in jobs]


def main() -> None:
    """Run the command line."""
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
