"""Measures the accuracy of the demo's model: ``EnginePool`` detects in held-out scenes, and pycocotools scores the detections.

No decision was based on the fresh streets. Models were compared on the held-out streets during development, which may favour the chosen
model. Both kinds of streets have sets with light as in training and with other light. The last set is the demo's clip. The confidence
threshold is lower than a user's, because mean average precision also counts weak detections.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.detection.accuracy import detect
from benchmarks.report import table, write
from framefleet.engine.evaluation.accuracy import FLOOR, Accuracy, read_truth, score
from framefleet.engine.settings import EngineSettings, ModelFiles, Precision
from framefleet.engine.types import DeviceId
from framefleet.resources import DEMO
from tools.street_renderer.dataset import held_out
from tools.street_renderer.traffic.actor import NAMES
from tools.street_renderer.truth import coco

MODEL = ModelFiles(DEMO.cfg, DEMO.weights, DEMO.labels)
STREETS = {
    "fresh streets, light as in training": (930_000, False),
    "fresh streets, other light": (935_000, True),
    "held-out streets, light as in training": (900_000, False),
    "held-out streets, other light": (905_000, True),
}
"""First seed of each set, and whether its light differs from that of training, which took seeds from 1000."""
MIN_MAP50, MAX_CHANGE = 0.90, 0.005


def streets(folder: Path, first: int, scenes: int, frames: int, unseen_light: bool) -> tuple[Sequence[Path], dict[str, Any]]:
    """Videos, and the true objects in all their frames, in COCO's format."""
    videos = held_out.render(folder, first, scenes, frames, unseen_light, os.cpu_count() or 1)
    truths = [truth for video in videos for truth in held_out.load(video.with_suffix(".truth.npz"))]
    return videos, coco(truths, NAMES, held_out.WIDTH, held_out.HEIGHT, folder.name)


def main() -> int:
    """Measure and write the result. Returns 1 if a target is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", type=DeviceId.parse, default=DeviceId("cpu", "0"))
    parser.add_argument("--precision", default="fp32,mixed,bf16", help="comma-separated; the others are compared with the first")
    parser.add_argument("--scenes", type=int, default=75, help="of each set of streets")
    parser.add_argument("--frames", type=int, default=16, help="of each scene")
    parser.add_argument("--videos", type=Path, help="folder for the rendered videos, which are kept and used again")
    parser.add_argument("--result", default="demo-model", help="name of the page in benchmarks/results")
    options = parser.parse_args()
    rows, classes = [], []
    worst, largest = 1.0, 0.0
    with TemporaryDirectory() as temporary:
        folder = options.videos or Path(temporary)
        sets: dict[str, tuple[Sequence[Path], dict[str, Any]]] = {
            name: streets(folder / str(first), first, options.scenes, options.frames, other) for name, (first, other) in STREETS.items()
        }
        sets["the demo's clip"] = [DEMO.clip], read_truth(DEMO.truth)
        for name, (videos, truth) in sets.items():
            first: Accuracy | None = None
            for precision in options.precision.split(","):
                settings = EngineSettings(precision=Precision(precision), stored_confidence=FLOOR)
                found = [each for video in videos for each in detect(MODEL, video, options.device, settings)[0]]
                result = score(truth, found)
                first = first or result
                change = (result.map50 - first.map50, result.map50_95 - first.map50_95)
                worst, largest = min(worst, result.map50), max(largest, *map(abs, change))
                values = (f"{result.map50:.4f}", f"{result.map50_95:.4f}", *(f"{value:+.4f}" for value in change))
                rows.append((name, precision, *values))
                print(*rows[-1], flush=True)
                if result is first:
                    by_name = {each.label: each for each in result.classes}
                    cells = (f"{c.ap50:.3f} / {c.ap50_95:.3f} ({c.objects:,})" if (c := by_name.get(label)) else "–" for label in NAMES)
                    classes.append((name, f"{len(found):,}", *cells))
    about = f"{options.scenes} scenes of {options.frames} frames per set, {held_out.WIDTH}×{held_out.HEIGHT}, seeds from"
    about += f" {', '.join(str(first) for first, _ in STREETS.values())}."
    yes = {True: "yes", False: "**no**"}
    body = (
        f"mAP@0.5 ≥ {MIN_MAP50:.2f} in every set: {yes[worst >= MIN_MAP50]}. "
        f"Largest change {largest:.4f}, less than {MAX_CHANGE}: {yes[largest < MAX_CHANGE]}.\n\n"
        f"{__doc__.partition('.')[2].strip()}\n\nStreets: {about} {options.device}.\n\n"
        f"{table(('set', 'precision', 'mAP@0.5', 'mAP@0.5:0.95', 'change of mAP@0.5', 'of mAP@0.5:0.95'), rows)}\n\n"
        f"Changes are relative to the first precision.\n\n"
        f"## Classes at the first precision: AP@0.5 / AP@0.5:0.95 (objects)\n\n{table(('set', 'frames', *NAMES), classes)}"
    )
    libraries = ("numpy", "openvino", "tensorrt-rtx", "av", "pycocotools")
    write("detection.demo_model", "The demo's model", body, libraries, options.result)
    return 0 if worst >= MIN_MAP50 and largest < MAX_CHANGE else 1


if __name__ == "__main__":
    sys.exit(main())
