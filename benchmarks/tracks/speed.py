"""Measures which speeds of objects ByteTrack follows, its frames/s on one core, and how much tracking slows detection.

    python -m benchmarks.tracks.speed [--rounds 3] [--frames 1500] [--detect CLIP]

Speeds: scenes of ``tests/engine/tracking/test_speeds.py``, three objects one behind the other. Frames/s: processor time of one thread for
random scenes with ten objects and false alarms (``tools/reference_tracks.py``). Slowdown: the demo's model on the video ``--detect``, in
alternating runs with and without ``--track``; the ratio of their frames/s, from the report's seconds. The machine must be idle.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from framefleet.engine.tracking.follow import make_tracker
from framefleet.resources import DEMO
from tests.engine.tracking import test_speeds as speeds
from tools import reference_tracks

CONDITIONS = {"exact boxes": (0.0, 0.0), "noise of 3 %": (0.03, 0.0), "noise of 3 %, 10 % missing": (0.03, 0.1)}
SEEDS = 3
FASTER = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.1, 1.2, 1.3, 1.5)


def followed(condition: str, rate: float) -> list[str]:
    """The share of scenes in which three objects have three numbers and each keeps its own, for each speed of ``FASTER``."""
    cells = []
    for speed in FASTER:
        good = 0
        for seed in range(SEEDS):
            frames, owners = speeds.scene(speed, rate, 3, *CONDITIONS[condition], seed=seed)
            tracks, found = speeds.numbers(frames, owners, rate)
            good += len(tracks.class_ids) == 3 and [len(each) for each in found] == [1] * 3
        cells.append(f"{good}/{SEEDS}")
    return cells


def speed(frames: int) -> tuple[float, float, float]:
    """Return µs of processor time, boxes and active tracks, per frame."""
    reference_tracks.FRAMES = frames
    scene = [(seconds, np.array(boxes, float).reshape(-1, 4), np.array(scores)) for seconds, boxes, scores in reference_tracks.scene(0)]
    tracker, living = make_tracker(1 / reference_tracks.RATE), 0
    begun = time.process_time()
    for seconds, boxes, scores in scene:
        tracker.update(boxes, scores, seconds)
        living += len(tracker._tracks)
    taken = time.process_time() - begun
    return 1e6 * taken / len(scene), float(np.mean([len(boxes) for _, boxes, _ in scene])), living / len(scene)


def detected(clip: Path, tracker: str) -> float:
    """Return the frames/s of a run, with results of the same confidence whatever the tracker."""
    with tempfile.TemporaryDirectory() as folder:
        options = [
            "--model",
            str(DEMO.cfg),
            "--labels",
            str(DEMO.labels),
            "--precision",
            "fp32",
            "--devices",
            "cpu:0",
            "--confidence",
            "0.1",
        ]
        command = [
            sys.executable,
            "-m",
            "framefleet.app",
            "detect",
            str(clip),
            *options,
            "--track",
            tracker,
            "--out",
            folder,
            "--json",
            "--quiet",
        ]
        run = subprocess.run(command, capture_output=True, text=True, check=True)
    source = json.loads(run.stdout.splitlines()[-1])["sources"][0]
    return float(source["frames"]["inferred"] / source["seconds"])


def main() -> None:
    """Measure, and print Markdown."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--frames", type=int, default=1500)
    parser.add_argument("--detect", type=Path, help="measure how much tracking slows the detection in this video")
    options = parser.parse_args()
    print(f"| boxes | frames/s | {' | '.join(map(str, FASTER))} |\n|---|---|{'---|' * len(FASTER)}")
    for condition in CONDITIONS:
        for rate in speeds.RATES:
            print(f"| {condition} | {rate} | {' | '.join(followed(condition, rate))} |", flush=True)
    print("\n| boxes per frame | active tracks | µs per frame | frames/s on one core |\n|---|---|---|---|")
    rounds = [speed(options.frames) for _ in range(options.rounds)]
    times = sorted(each[0] for each in rounds)
    middle = statistics.median(times)
    _, boxes, living = rounds[0]
    print(f"| {boxes:.1f} | {living:.0f} | {middle:.0f} ({times[0]:.0f}–{times[-1]:.0f}) | {1e6 / middle:.0f} |", flush=True)
    if options.detect is None:
        return
    pairs = [(detected(options.detect, "bytetrack"), detected(options.detect, "none")) for _ in range(options.rounds)]
    ratios = sorted(tracked / plain for tracked, plain in pairs)
    tracked, plain = (statistics.median(column) for column in zip(*pairs, strict=True))
    print("\n| frames/s, tracked | frames/s, not tracked | ratio |\n|---|---|---|")
    print(f"| {tracked:.1f} | {plain:.1f} | {statistics.median(ratios):.3f} ({ratios[0]:.3f}–{ratios[-1]:.3f}) |", flush=True)


if __name__ == "__main__":
    main()
