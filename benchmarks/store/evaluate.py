"""Measures ``framefleet evaluate`` on a session of one hour: 108,000 frames, 2 million detections and 1 million true objects.

    python -m benchmarks.store.evaluate [--frames N] [--detections N] [--sessions N] [--compare]

``--compare`` also measures pycocotools, on every hundredth frame.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from framefleet.engine.media.types import SourceInfo, SourceKind
from framefleet.engine.pool.events import Ledger
from framefleet.engine.store.session import SessionWriter
from framefleet.engine.types import Detections, DeviceId, FrameRef, FrameResult

LABELS = ("person", "bicycle", "car", "motorcycle", "bus", "truck", "dog", "cat", "boat", "train")
RATE = 30.0
COMPARED = 100


def main() -> int:
    """Print the times. Returns the exit status of ``framefleet evaluate``."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--frames", type=int, default=108_000)
    parser.add_argument("--detections", type=int, default=2_000_000)
    parser.add_argument("--sessions", type=int, default=1)
    parser.add_argument("--compare", action="store_true")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        per_frame = arguments.detections / arguments.frames
        truth = folder / "truth.json"
        objects = _objects(arguments.frames, per_frame / 2)
        truth.write_text(json.dumps(_coco(objects)))
        names = [f"run{number}" for number in range(arguments.sessions)]
        counts = [_write(folder / f"{each}.sqlite", objects, per_frame, seed) for seed, each in enumerate(names)]
        total = sum(map(len, objects))
        print(f"{arguments.frames:,} frames, {total:,} objects ({truth.stat().st_size / 1e6:.0f} MB of JSON), detections: {counts}")
        start = time.perf_counter()
        databases = [str(folder / f"{each}.sqlite") for each in names]
        command = [sys.executable, "-m", "app", "evaluate", *databases, "--truth", str(truth), "--out", str(folder / "report")]
        done = subprocess.run(command, check=False)
        seconds = time.perf_counter() - start
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        print(f"framefleet evaluate: {seconds:.1f} s, {used.ru_utime + used.ru_stime:.1f} s of CPU time, {used.ru_maxrss / 1e6:.2f} GB")
        if arguments.compare:
            _compare(objects[::COMPARED], per_frame)
    return done.returncode


def _objects(frames: int, per_frame: float) -> list[np.ndarray[Any, Any]]:
    """The objects of each frame: class, x, y, width, height."""
    random = np.random.default_rng(0)
    found = []
    for count in random.poisson(per_frame, frames):
        sizes = random.uniform(20, 300, (count, 2))
        corners = random.uniform(0, 1, (count, 2)) * (np.array([1920, 1080]) - sizes)
        found.append(np.hstack([random.integers(0, len(LABELS), (count, 1)), corners, sizes]).round(2))
    return found


def _found(objects: np.ndarray[Any, Any], per_frame: float, random: np.random.Generator) -> Detections:
    """Detections near nine of ten objects, and others."""
    near = objects[random.random(len(objects)) < 0.9]
    near[:, 1:] += random.normal(0, 4, near[:, 1:].shape)
    others = np.hstack(
        [random.integers(0, len(LABELS), (count := random.poisson(per_frame * 0.55), 1)), random.uniform(5, 500, (count, 4))]
    )
    table = np.concatenate([near, others])
    boxes = np.hstack([table[:, 1:3], table[:, 1:3] + np.maximum(table[:, 3:], 1)]).astype(np.float32)
    scores = np.concatenate([random.beta(4, 2, len(near)), random.beta(1, 6, count)]).astype(np.float32)
    order = np.argsort(-scores)
    return Detections(boxes[order], scores[order], table[order, 0].astype(np.int32))


def _write(path: Path, objects: list[np.ndarray[Any, Any]], per_frame: float, seed: int) -> int:
    random, total = np.random.default_rng(seed + 1), 0
    device = DeviceId("cpu", "0")

    def frames() -> Iterator[FrameResult]:
        nonlocal total
        for index, each in enumerate(objects):
            found = _found(each.copy(), per_frame, random)
            total += len(found)
            yield FrameResult(FrameRef(0, index, index / RATE), device, 1920, 1080, found)

    writer = SessionWriter(path, LABELS, {"confidence": "0.005"})
    count = len(objects)
    writer.add_source(0, "hour.mp4", SourceInfo("hour.mp4", SourceKind.VIDEO, "h264", 1920, 1080, count, count / RATE, RATE, ()))
    writer.add_frames(frames())
    writer.finish_source(0, "hour.mp4", Ledger(count, count), 1.0)
    writer.close(complete=True)
    return total


def _coco(objects: list[np.ndarray[Any, Any]]) -> dict[str, Any]:
    numbers = iter(range(1, 1 << 60))
    return {
        "images": [{"id": index, "file_name": f"hour.mp4#{index}", "width": 1920, "height": 1080} for index in range(len(objects))],
        "categories": [{"id": number + 1, "name": label} for number, label in enumerate(LABELS)],
        "annotations": [
            {"id": next(numbers), "image_id": index, "category_id": int(c) + 1, "bbox": box, "area": box[2] * box[3], "iscrowd": 0}
            for index, each in enumerate(objects)
            for c, *box in each.tolist()
        ],
    }


def _compare(objects: list[np.ndarray[Any, Any]], per_frame: float) -> None:
    from pycocotools.coco import COCO
    from pycocotools.cocoeval import COCOeval

    random = np.random.default_rng(1)
    rows = []
    for index, each in enumerate(objects):
        found = _found(each.copy(), per_frame, random)
        corners = found.boxes.astype(np.float64)
        corners[:, 2:] -= corners[:, :2]
        for box, score, class_id in zip(corners.tolist(), found.scores.tolist(), found.class_ids.tolist(), strict=True):
            rows.append({"image_id": index, "category_id": class_id + 1, "bbox": box, "score": score})
    start = time.perf_counter()
    with contextlib.redirect_stdout(io.StringIO()):
        reference = COCO()
        reference.dataset = _coco(objects)
        reference.createIndex()
        evaluation = COCOeval(reference, reference.loadRes(rows), "bbox")
        evaluation.params.areaRng, evaluation.params.areaRngLbl, evaluation.params.maxDets = [[0, 1e10]], ["all"], [100]
        evaluation.evaluate()
        evaluation.accumulate()
    seconds = time.perf_counter() - start
    print(f"pycocotools: {seconds:.1f} s for {len(objects):,} frames, so about {seconds * COMPARED:.0f} s for all (mAP only)")


if __name__ == "__main__":
    sys.exit(main())
