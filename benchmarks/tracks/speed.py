"""Measures the trackers: frames/s on one core, and how much tracking slows detection.

    python -m benchmarks.tracks.speed [--rounds 3] [--frames 1500] [--detect CLIP]

Speed: processor time of one thread for random scenes with ten objects and false alarms (``tools/reference_tracks.py``). Slowdown: the
demo's model on ``--detect`` (the demo's clip), in alternating runs with and without ``--track``; the ratio of their frames/s, from the
report's seconds. The machine must be idle.
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

from framefleet.engine.tracking.bytetrack import ByteTrack
from framefleet.engine.tracking.ocsort import OcSort
from framefleet.resources import DEMO
from tools import reference_tracks


def speed(kind: type[ByteTrack] | type[OcSort], frames: int) -> tuple[float, float, float]:
    """Return µs of processor time, boxes and active tracks, per frame."""
    reference_tracks.FRAMES = frames
    scene = [(seconds, np.array(boxes, float).reshape(-1, 4), np.array(scores)) for seconds, boxes, scores in reference_tracks.scene(0)]
    tracker, living = kind(1 / reference_tracks.RATE, 2.0, overlap=0.3), 0
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
        command = [sys.executable, "-m", "app", "detect", str(clip), *options, "--track", tracker, "--out", folder, "--json", "--quiet"]
        run = subprocess.run(command, capture_output=True, text=True, check=True)
    source = json.loads(run.stdout.splitlines()[-1])["sources"][0]
    return float(source["frames"]["inferred"] / source["seconds"])


def main() -> None:
    """Measure, and print Markdown."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--frames", type=int, default=1500)
    parser.add_argument("--detect", type=Path, default=DEMO.clip)
    options = parser.parse_args()
    print("| tracker | boxes per frame | active tracks | µs per frame | frames/s on one core |\n|---|---|---|---|---|")
    for kind in (ByteTrack, OcSort):
        rounds = [speed(kind, options.frames) for _ in range(options.rounds)]
        times = sorted(each[0] for each in rounds)
        middle = statistics.median(times)
        _, boxes, living = rounds[0]
        row = (kind.__name__, f"{boxes:.1f}", f"{living:.0f}", f"{middle:.0f} ({times[0]:.0f}–{times[-1]:.0f})", f"{1e6 / middle:.0f}")
        print(f"| {' | '.join(row)} |", flush=True)
    print("\n| detect --track | frames/s, tracked | frames/s, not tracked | ratio |\n|---|---|---|---|")
    for name in ("bytetrack", "ocsort"):
        pairs = [(detected(options.detect, name), detected(options.detect, "none")) for _ in range(options.rounds)]
        ratios = sorted(tracked / plain for tracked, plain in pairs)
        tracked, plain = (statistics.median(column) for column in zip(*pairs, strict=True))
        print(f"| {name} | {tracked:.1f} | {plain:.1f} | {statistics.median(ratios):.3f} ({ratios[0]:.3f}–{ratios[-1]:.3f}) |", flush=True)


if __name__ == "__main__":
    main()
