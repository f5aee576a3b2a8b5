"""Renders the demo clip and its ground truth.

    python -m tools.street_renderer.dataset.demo_clip render FOLDER [--shot N] [--processes 1]    frames as PNG, truth as NPZ, shot by shot
    python -m tools.street_renderer.dataset.demo_clip encode FOLDER resources/demo                the MP4 and the COCO file
    python -m tools.street_renderer.dataset.demo_clip still OUT.png --shot N --time 3.2           one picture, for inspection

The clip uses its own seeds. Training uses seeds from 1000, evaluation from 900000.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from tools.street_renderer import scene
from tools.street_renderer.dataset import h264
from tools.street_renderer.dataset.processes import process_pool
from tools.street_renderer.geometry.camera import Camera
from tools.street_renderer.lighting import light
from tools.street_renderer.lighting.light import Light
from tools.street_renderer.render.frame_renderer import FrameRenderer
from tools.street_renderer.scene import Scene
from tools.street_renderer.street import layout
from tools.street_renderer.street.layout import Layout
from tools.street_renderer.traffic.actor import NAMES, TrafficPlan
from tools.street_renderer.truth import Truth, coco

WIDTH, HEIGHT, RATE = 1280, 720, 25


@dataclass(frozen=True)
class Shot:
    """One shot of the clip. lights: the light at evenly spaced times. offset: the traffic lights' clock at the start, seconds."""

    seed: int
    seconds: float
    layout: Layout
    camera: Camera
    lights: Callable[[], list[Light]]
    plan: TrafficPlan
    offset: float
    rain: float = 0.0


def _layout(**options: Any) -> Layout:
    base = layout.draw(np.random.default_rng(0))
    return replace(base, **options)


def _day() -> list[Light]:
    return [light.day(-62, 47)]


def _evening() -> list[Light]:
    """From the last sunlight to street lamps."""
    late, blue = light.golden(10, 20), light.dusk(10)
    return [late, late.toward(blue, 0.3), late.toward(blue, 0.62), late.toward(blue, 0.86), blue]


def _wet() -> list[Light]:
    return [light.dusk(-70, 1.0).toward(light.night(-70, 1.0), 0.35)]


SHOTS = (
    Shot(
        910007, 9.0,
        _layout(lanes=1, cross_lanes=1, bike=1.7, parking=2.2, yc=21.0, pave=5.6, radius=4.2, far=120.0, park=(-1, 1), bus_lane=False,
        season="summer"),
        Camera((7.4, 0.0, 7.2), -11.0, 14.5, 56, WIDTH, HEIGHT), _day,
        TrafficPlan(cars=9, buses=2, trucks=1, motorcycles=2, cyclists=5, walkers=34, dogs=6, parked=0.6), 14.0,
    ),
    Shot(
        910017, 10.0,
        _layout(lanes=2, cross_lanes=1, bike=1.7, parking=0.0, yc=23.0, pave=6.0, radius=4.5, far=125.0, park=None, bus_lane=True,
        season="autumn"),
        Camera((-9.0, 0.0, 6.6), 13.0, 13.0, 57, WIDTH, HEIGHT), _evening,
        TrafficPlan(cars=9, buses=3, trucks=2, motorcycles=3, cyclists=5, walkers=34, dogs=6, parked=0.0), 22.0,
    ),
    Shot(
        910027, 8.0,
        _layout(lanes=1, cross_lanes=1, bike=0.0, parking=2.2, yc=19.0, pave=5.4, radius=4.0, far=110.0, park=(1, 1), bus_lane=False,
        season="summer"),
        Camera((-5.6, 0.0, 5.4), 9.0, 12.0, 54, WIDTH, HEIGHT), _wet,
        TrafficPlan(cars=8, buses=2, trucks=1, motorcycles=3, cyclists=3, walkers=26, dogs=3, parked=0.55, umbrellas=0.6), 14.0, 0.55,
    ),
)  # fmt: skip


def build_shot(number: int, cell: float = 0.03) -> tuple[Scene, list[Light]]:
    """The scene and the lights of a shot. cell: metres per pixel of the ground's map."""
    shot = SHOTS[number]
    lights = shot.lights()
    made = scene.assemble(
        np.random.default_rng(shot.seed),
        shot.layout,
        shot.camera,
        lights[0],
        shot.plan,
        shot.seconds + 0.2,
        shot.offset,
        cell,
        shot.rain,
        0.004,
    )
    return made, lights


def _render(job: tuple[int, int, int, Path, int]) -> None:
    number, part, parts, folder, passes = job
    made, lights = build_shot(number)
    renderer = FrameRenderer(made, passes, 0.02, lights, 0.045)
    for i in range(part, round(SHOTS[number].seconds * RATE), parts):
        picture, truth = renderer.frame(i, (i + 0.5) / RATE)
        cv2.imwrite(str(folder / f"{number}_{i:04d}.png"), picture[..., ::-1], [cv2.IMWRITE_PNG_COMPRESSION, 1])
        truth.save(folder / f"{number}_{i:04d}.npz")


def render(folder: Path, shots: list[int], passes: int, processes: int) -> None:
    """Write all frames of these shots as PNG files, and their truth as NPZ files."""
    folder.mkdir(parents=True, exist_ok=True)
    jobs = [(number, part, processes, folder, passes) for number in shots for part in range(processes)]
    with process_pool(processes) as pool:
        pool.map(_render, jobs, chunksize=1)


def encode(folder: Path, out: Path, rate_factor: float) -> None:
    """Write the clip and its truth from the frames in a folder. rate_factor: x264's CRF."""
    names = sorted(folder.glob("*.png"))
    out.mkdir(parents=True, exist_ok=True)
    clip = out / "framefleet-demo.mp4"
    options = {
        "crf": str(rate_factor),
        "preset": "veryslow",
        "tune": "animation",
        "x264-params": "keyint=75:min-keyint=10:bframes=5:ref=5",
    }
    h264.write(clip, (np.asarray(cv2.imread(str(name)), np.uint8)[..., ::-1] for name in names), RATE, options)
    truths = []
    for name in names:
        truth = Truth.load(name.with_suffix(".npz"))
        # track numbers must differ between shots
        truths.append(replace(truth, tracks=truth.tracks + 1000 * int(name.name.split("_")[0])))
    text = json.dumps(coco(truths, NAMES, WIDTH, HEIGHT, clip.name), separators=(",", ":"))
    # without a time stamp, the same truth gives the same file
    (out / "framefleet-demo.truth.json.gz").write_bytes(gzip.compress(text.encode(), 9, mtime=0))
    print(f"{len(truths)} frames, {clip.stat().st_size / 1e6:.2f} MB, {sum(len(t.boxes) for t in truths)} boxes")


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    one = commands.add_parser("render")
    one.add_argument("folder", type=Path)
    one.add_argument("--shot", type=int, action="append")
    one.add_argument("--passes", type=int, default=8)
    one.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    one = commands.add_parser("encode")
    one.add_argument("folder", type=Path)
    one.add_argument("out", type=Path)
    one.add_argument("--crf", type=float, default=26)
    one = commands.add_parser("still")
    one.add_argument("out", type=Path)
    one.add_argument("--shot", type=int, default=0)
    one.add_argument("--time", type=float, action="append")
    one.add_argument("--passes", type=int, default=4)
    a = parser.parse_args()
    if a.command == "render":
        render(a.folder, a.shot or list(range(len(SHOTS))), a.passes, a.processes)
    elif a.command == "encode":
        encode(a.folder, a.out, a.crf)
    else:
        made, lights = build_shot(a.shot, 0.04)
        renderer = FrameRenderer(made, a.passes, 0.02, lights, 0.05)
        for time in a.time or [1.0]:
            picture, _ = renderer.frame(int(time * RATE), time)
            cv2.imwrite(str(a.out.with_name(f"{a.out.stem}_{time:g}{a.out.suffix}")), picture[..., ::-1])


if __name__ == "__main__":
    main()
