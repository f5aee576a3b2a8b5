"""Compares detecting in one frame per second with detecting in all frames: a 1080p H.264 video, 30 frames/s, one keyframe per second.

Speed is the length of the video divided by the time from the first segment to the end of the source.
"""

from __future__ import annotations

import argparse
import tempfile
from dataclasses import replace
from pathlib import Path

from benchmarks.report import spread, table, write
from framefleet.engine.bench.clip_process import RATE, make, repeat
from framefleet.engine.pool.events import SourceFinished, SourceOpened
from framefleet.engine.pool.pool import EnginePool
from framefleet.engine.settings import EngineSettings, ModelFiles, Precision, RunSettings
from framefleet.engine.settings.kinds import Moments
from framefleet.engine.types import DeviceId
from framefleet.resources import DEMO

GOAL = 12
"""Target of one frame per second, in multiples of the speed of all frames."""


def run(settings: RunSettings, video: Path) -> tuple[float, int]:
    """Detect in a video. Returns seconds of video per second, and the number of frames inferred."""
    duration = 0.0
    with EnginePool(settings, settings.devices) as pool:
        pool.add(video)
        pool.finish()
        for event in pool.events():
            if isinstance(event, SourceOpened):
                duration = event.info.duration or 0.0
            if isinstance(event, SourceFinished):
                finished = event
    if finished.error is not None or finished.ledger.failed:
        raise SystemExit(f"{finished.error} {dict(finished.ledger.failed)}")
    return duration / finished.seconds, finished.ledger.inferred


def main() -> None:
    """Command line. Exit status 1: the target is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", type=DeviceId.parse, default=DeviceId("cpu", "0"))
    parser.add_argument("--frames", type=int, default=1800)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    model = ModelFiles(DEMO.cfg, DEMO.weights)
    settings = RunSettings(model, (options.device,), engine=EngineSettings(precision=Precision.FP32))
    rows: list[list[object]] = []
    speeds: dict[str, list[float]] = {"": [], "1s": [], "10s": []}
    with tempfile.TemporaryDirectory() as folder:
        clip, video = Path(folder) / "clip.mp4", Path(folder) / "video.mp4"
        make(clip, min(600, options.frames), keyframes=RATE)
        repeat(clip, options.frames, video)
        counts = {}
        for _ in range(options.rounds):
            for every in speeds:
                chosen = replace(settings, every=Moments().read(every)) if every else settings
                speed, counts[every] = run(chosen, video)
                speeds[every].append(speed)
    for every, values in speeds.items():
        ratios = [value / whole for value, whole in zip(values, speeds[""], strict=True)]
        rows.append([f"`--every {every}`" if every else "all frames", counts[every], spread(values, 1), spread(ratios, 1)])
    head = ("frames", "inferred", "seconds of video per second", "ratio to all frames")
    reached = min(value / whole for value, whole in zip(speeds["1s"], speeds[""], strict=True)) >= GOAL
    note = (
        f"Demo model at fp32 on {options.device}. Medians of {options.rounds} rounds, ranges in brackets. Target for `1s` in every round,"
    )
    note += f" {GOAL} times the speed of all frames: {'reached' if reached else '**missed**'}."
    write("detection.sampling", "Detecting in one frame per second", f"{table(head, rows)}\n\n{note}", ("av", "openvino"), "decoding")
    if not reached:
        raise SystemExit(f"the target of {GOAL} is missed")


if __name__ == "__main__":
    main()
