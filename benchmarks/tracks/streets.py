"""Renders streets like those of the demo's clip with other seeds, and their true objects. No setting was chosen on these streets.

    python -m benchmarks.tracks.streets FOLDER 120000,130000,140000

renders the clip's three streets with these numbers added to their seeds, 7 s each at half the clip's size. Settings of tracking were chosen
on the numbers 20000 to 80000, and one rule of counting on 90000 to 110000.
"""

from __future__ import annotations

import argparse
import gzip
import json
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from framefleet.app.demo import demo_labels, demo_settings
from framefleet.engine.run.run import DetectionRun
from tools.street_renderer import scene
from tools.street_renderer.dataset import h264
from tools.street_renderer.dataset.demo_clip import RATE, SHOTS
from tools.street_renderer.dataset.processes import process_pool
from tools.street_renderer.render.frame_renderer import FrameRenderer
from tools.street_renderer.traffic.actor import NAMES
from tools.street_renderer.truth import Truth, coco

WIDTH, HEIGHT, FRAMES = 640, 360, 175


def render(folder: Path, number: int, added: int) -> Path:
    """Render one street, unless it exists. number: of the clip's shot. added: to its seed. Returns the video; see ``truth_of``."""
    video = folder / f"{added}-{number}.mp4"
    if truth_of(video).exists():
        return video
    folder.mkdir(parents=True, exist_ok=True)
    shot, truths = SHOTS[number], list[Truth]()
    lights = shot.lights()
    made = scene.assemble(
        np.random.default_rng(shot.seed + added),
        shot.layout,
        replace(shot.camera, width=WIDTH, height=HEIGHT),
        lights[0],
        shot.plan,
        FRAMES / RATE + 0.2,
        shot.offset,
        0.06,
        shot.rain,
        0.004,
    )
    renderer = FrameRenderer(made, 2, 0.02, lights, 0.045)

    def pictures() -> Iterator[NDArray[np.uint8]]:
        for frame in range(FRAMES):
            picture, truth = renderer.frame(frame, (frame + 0.5) / RATE)
            truths.append(truth)
            yield picture

    h264.write(video, pictures(), RATE, {"crf": "20", "tune": "animation", "x264-params": "keyint=75:min-keyint=10"})
    text = json.dumps(coco(truths, NAMES, WIDTH, HEIGHT, video.name))
    truth_of(video).write_bytes(gzip.compress(text.encode(), mtime=0))
    return video


def truth_of(video: Path) -> Path:
    """The file with the true objects of a street, as gzipped COCO."""
    return video.with_suffix(".truth.json.gz")


def session_of(folder: Path, added: list[int]) -> Path:
    """Render the streets of these numbers, detect in them, and return the session. What exists in the folder is used again."""
    session = folder / f"{'-'.join(map(str, added))}.sqlite"
    if session.exists():
        return session
    jobs = [(number, each) for each in added for number in range(len(SHOTS))]
    with process_pool(2) as pool:
        videos = pool.starmap(partial(render, folder), jobs, chunksize=1)
    partial_session = session.with_suffix(".part.sqlite")
    with DetectionRun(demo_settings(), partial_session, demo_labels(), restart=True) as run:
        for video in videos:
            run.add(video)
        run.finish()
        for _ in run.events():
            pass
    return partial_session.rename(session)


def numbers(text: str) -> list[int]:
    """Read numbers with commas between them."""
    return [int(each) for each in text.split(",")]


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("added", type=numbers)
    options = parser.parse_args()
    print(session_of(options.folder, options.added))


if __name__ == "__main__":
    main()
