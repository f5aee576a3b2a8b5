"""How well and how fast the demo's model detects: held-out scenes as H.264 files through the engine, scored by pycocotools.

Three sets: held-out streets in the kinds of light that training drew, held-out streets in light that it never drew, and the
demo's own clip.
Every file runs through ``EnginePool`` as a user's does: decoding, resizing, inference and suppression in the worker. Only the
confidence threshold is lower, since mean average precision asks for weak detections, too.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.report import RESULTS, table, write
from engine.bench.model import bench_model
from engine.detection.accuracy import FLOOR, Accuracy, read_truth, score
from engine.pool.events import DeviceFailed, DeviceReady, FramesDone, SourceFinished
from engine.pool.pool import EnginePool
from engine.settings import EngineSettings, ModelFiles, Precision, RunSettings
from engine.types import Detections, DeviceId, EngineInfo
from resources import DEMO
from tools.demo import heldout
from tools.demo.actor import NAMES
from tools.demo.truth import coco

MODEL = ModelFiles(DEMO.cfg, DEMO.weights, DEMO.labels)
SEEN, UNSEEN = 900_000, 905_000
"""First seeds of the two sets of streets; training took seeds from 1000."""
LEAST_MAP50, MOST_CHANGE, LEAST_RATE = 0.90, 0.005, 30.0
ROUNDS = 5


@dataclass(frozen=True)
class Set:
    """Videos and what is truly in all their frames, one after the other, in COCO's format."""

    name: str
    videos: Sequence[Path]
    truth: dict[str, Any]


def street_set(name: str, folder: Path, first: int, scenes: int, frames: int, unseen_light: bool) -> Set:
    """Rendered on the spot."""
    videos = heldout.render(folder, first, scenes, frames, unseen_light, os.cpu_count() or 1)
    truths = [truth for video in videos for truth in heldout.load(video.with_suffix(".truth.npz"))]
    return Set(name, videos, coco(truths, NAMES, heldout.WIDTH, heldout.HEIGHT, name))


def clip_set() -> Set:
    """What ``framefleet demo`` shows."""
    return Set("the demo's clip", [DEMO.clip], read_truth(DEMO.truth))


def detect(videos: Sequence[Path], device: DeviceId, precision: Precision) -> tuple[list[Detections], EngineInfo, float]:
    """Every frame's detections, the engine, and frames/s from its readiness to the last frame."""
    settings = EngineSettings(precision=precision, confidence=FLOOR)
    found: list[list[Detections]] = [[] for _ in videos]
    engine: EngineInfo | None = None
    ready = time.perf_counter()
    with EnginePool(RunSettings(MODEL, (device,), engine=settings), [device]) as pool:
        for video in videos:
            pool.add(video)
        pool.finish()
        for event in pool.events():
            match event:
                case DeviceReady(engine):
                    ready = time.perf_counter()
                case DeviceFailed(_, message, _):
                    raise SystemExit(message)
                case FramesDone(source, frames):
                    # a failed frame would be missing here, and the score below would say so
                    found[source] += [frame.detections for frame in frames if frame.detections is not None]
                case SourceFinished(source, ledger, _, error):
                    assert error is None, error
                    assert len(found[source]) == ledger.decoded, f"{videos[source]}: {ledger}"
    seconds = time.perf_counter() - ready
    assert engine is not None
    flat = [detections for video in found for detections in video]
    return flat, engine, len(flat) / seconds


def halves(part: Set, found: Sequence[Detections]) -> tuple[float, float]:
    """mAP@0.5 of the first and of the second half of the frames: how far the number depends on the scenes."""
    middle = len(found) // 2
    values = []
    for low, high in ((0, middle), (middle, len(found))):
        notes = [{**note, "image_id": note["image_id"] - low} for note in part.truth["annotations"] if low <= note["image_id"] < high]
        truth = {**part.truth, "images": part.truth["images"][: high - low], "annotations": notes}
        values.append(score(truth, found[low:high]).map50)
    return values[0], values[1]


@dataclass(frozen=True)
class Outcome:
    """One set at one precision. rate: frames/s, decoding included."""

    part: Set
    engine: EngineInfo
    found: Sequence[Detections]
    result: Accuracy
    rate: float


def measure(part: Set, device: DeviceId, precision: Precision) -> Outcome:
    """Detect and score."""
    found, engine, rate = detect(part.videos, device, precision)
    result = score(part.truth, found)
    print(f"{part.name}, {engine.precision}: mAP@0.5 {result.map50:.4f}, {rate:.0f} frames/s", flush=True)
    return Outcome(part, engine, found, result, rate)


def by_precision(outcomes: Sequence[Outcome]) -> str:
    """Every set at every precision, against the set's first one."""
    rows, largest = [], 0.0
    first = {outcome.part.name: outcome.result for outcome in reversed(outcomes)}
    for outcome in outcomes:
        result, before = outcome.result, first[outcome.part.name]
        change = (result.map50 - before.map50, result.map50_95 - before.map50_95)
        largest = max(largest, *map(abs, change))
        values = (f"{result.map50:.4f}", f"{result.map50_95:.4f}", *(f"{value:+.4f}" for value in change))
        rows.append((outcome.part.name, outcome.engine.precision, *values, f"{outcome.rate:.0f}"))
    held = all(outcome.result.map50 >= LEAST_MAP50 for outcome in outcomes)
    head = ("set", "precision", "mAP@0.5", "mAP@0.5:0.95", "change of 0.5", "of 0.5:0.95", "frames/s")
    return (
        f"{table(head, rows)}\n\nChanges are against the first precision. Frames/s include decoding, and what else the machine did.\n"
        f"mAP@0.5 ≥ {LEAST_MAP50:.2f} everywhere: {_word(held)}. "
        f"Largest change {largest:.4f}, less than {MOST_CHANGE}: {_word(largest < MOST_CHANGE)}."
    )


def by_class(outcomes: Sequence[Outcome]) -> str:
    """Each set's classes at the first precision."""
    rows: list[tuple[str, ...]] = []
    for outcome in {outcome.part.name: outcome for outcome in reversed(outcomes)}.values():
        classes, (one, other) = {c.label: c for c in outcome.result.classes}, halves(outcome.part, outcome.found)
        cells = (f"{c.ap50:.3f} / {c.ap50_95:.3f} ({c.objects:,})" if (c := classes.get(name)) else "–" for name in NAMES)
        objects = sum(c.objects for c in classes.values())
        rows.insert(0, (outcome.part.name, f"{len(outcome.found):,}", f"{objects:,}", f"{one:.3f} / {other:.3f}", *cells))
    head = ("set", "frames", "objects", "mAP@0.5 of the halves", *NAMES)
    return f"## Classes at {outcomes[0].engine.precision}: AP@0.5 / AP@0.5:0.95 (objects)\n\n{table(head, rows)}"


def alone(device: DeviceId, precisions: Sequence[Precision], seconds: float) -> str:
    """The model's speed without decoding or files: of some rounds the fastest, the one that others disturbed least."""
    rounds = [list(bench_model(MODEL, [device], precisions, None, [1], seconds)) for _ in range(ROUNDS)]
    speeds = [max(results, key=lambda result: result.images_per_s) for results in zip(*rounds, strict=True)]
    rows = [(s.precision, f"{s.images_per_s:.1f}", f"{s.latency_p50:.1f}", f"{s.latency_p99:.1f}") for s in speeds]
    fast = all(speed.images_per_s >= LEAST_RATE for speed in speeds)
    return (
        f"## The model alone, {speeds[0].width}×{speeds[0].height}, batch 1\n\n"
        f"{table(('precision', 'frames/s', 'latency p50, ms', 'p99, ms'), rows)}\n\n"
        f"The fastest of {ROUNDS} rounds. At least {LEAST_RATE:.0f} frames/s: {_word(fast)}."
    )


def _word(true: bool) -> str:
    return "yes" if true else "**no**"


def main() -> None:
    """Measure, print, keep."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", type=DeviceId.parse, default=DeviceId("cpu", "0"))
    parser.add_argument("--precision", default="fp32,mixed,bf16", help="comma-separated; the first is what the others are compared with")
    parser.add_argument("--scenes", type=int, default=75, help="of each of the two sets of streets")
    parser.add_argument("--frames", type=int, default=16, help="of each scene")
    parser.add_argument("--videos", type=Path, help="folder for the rendered videos, which are kept and used again")
    parser.add_argument("--seconds", type=float, default=4, help="how long a round of the model's speed alone takes, each precision")
    parser.add_argument("--result", default="demo-model", help="name of the file in benchmarks/results")
    a = parser.parse_args()
    precisions = [Precision(name) for name in a.precision.split(",")]
    with TemporaryDirectory() as temporary:
        folder = a.videos or Path(temporary)
        sets = [
            street_set("streets, light as in training", folder / "seen", SEEN, a.scenes, a.frames, False),
            street_set("streets, other light", folder / "unseen", UNSEEN, a.scenes, a.frames, True),
            clip_set(),
        ]
        outcomes = [measure(part, a.device, precision) for part in sets for precision in precisions]
    about = __doc__.partition("\n\n")[2].strip()
    streets = f"Streets: {a.scenes} scenes of {a.frames} frames a set, {heldout.WIDTH}×{heldout.HEIGHT}, seeds from {SEEN} and {UNSEEN}."
    engine = f"{a.device}: {outcomes[0].engine.device_name}, {outcomes[0].engine.backend}."
    parts = (about, f"{streets} {engine}", by_precision(outcomes), by_class(outcomes), alone(a.device, precisions, a.seconds))
    made = write("demo_model", "The demo's model", "\n\n".join(parts), ("numpy", "openvino", "tensorrt-rtx", "av", "pycocotools"))
    made.replace(RESULTS / f"{a.result}.md")


if __name__ == "__main__":
    main()
