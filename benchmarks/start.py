"""What the first video of a run costs more than the next one: looking at it, and opening a decoder for every decode thread that needs one.

A pool gets the same generated clip (1080p H.264) several times, each time when the one before has ended, and the first time when all
engines are ready. Seconds are counted from the moment in which it is given to the pool. Frames come out in their order, so the first
ones show when the first segment has begun.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

from benchmarks.report import table, write
from engine.bench.clips import Clips
from engine.pool.events import DeviceReady, FramesDone, SourceFinished
from engine.pool.pool import EnginePool
from engine.settings import EngineSettings, ModelFiles, Parallel, Precision, RunSettings
from engine.types import DeviceId

VIDEOS = 4


def run(settings: RunSettings, devices: tuple[DeviceId, ...], clip: Path) -> list[tuple[float, float]]:
    """For each video: seconds until its first frame is done, and until its last one is."""
    seen: list[tuple[float, float]] = []
    engines, started, first = 0, 0.0, 0.0
    with EnginePool(settings, devices) as pool:
        for event in pool.events():
            match event:
                case DeviceReady():
                    engines += 1
                    if engines == len(devices):
                        pool.add(clip)
                        started = time.perf_counter()
                case FramesDone():
                    first = first or time.perf_counter() - started
                case SourceFinished():
                    assert not event.error, event
                    assert not event.ledger.failed, event
                    seen.append((first, time.perf_counter() - started))
                    first = 0.0
                    if len(seen) < VIDEOS:
                        pool.add(clip)
                        started = time.perf_counter()
                    else:
                        pool.finish()
    return seen


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cfg", type=Path, required=True)
    parser.add_argument("--weights", default="random:1", help="a path or random:SEED (random:1)")
    parser.add_argument("--size", type=int, help="of the network's input (the cfg's)")
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--devices", default="cuda:0")
    parser.add_argument("--frames", type=int, default=9000, help="for each device (9000)")
    options = parser.parse_args()
    devices = tuple(map(DeviceId.parse, options.devices.split(",")))
    precision = Precision.FP16 if devices[0].kind == "cuda" else Precision.FP32
    model = ModelFiles(options.cfg, options.weights, size=options.size and (options.size, options.size))
    settings = RunSettings(
        model, parallel=Parallel.SEGMENTS, engine=EngineSettings(precision=precision, batch=options.batch, confidence=0.4)
    )
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        clips = Clips(Path(folder))
        for count in range(1, len(devices) + 1):
            clip = clips.of(options.frames * count)
            (first, took), *later = run(settings, devices[:count], clip)
            usual_first, usual = (sorted(times)[len(later) // 2] for times in zip(*later, strict=True))
            figures = [f"{seconds:.2f}" for seconds in (first, usual_first, took, usual)]
            rows.append([count, options.frames * count, *figures, f"**{took - usual:.2f}**"])
            print(*rows[-1], flush=True)
    head = [
        "devices",
        "frames",
        "first frame after, s",
        "of later videos",
        "all after, s",
        "of later videos",
        "the first video costs more, s",
    ]
    body = f"{table(head, rows)}\n\nLater videos: the median of {VIDEOS - 1}.\n\n{__doc__}"
    write("start", "The beginning of a run", body, ("tensorrt-rtx", "av", "numpy"))


if __name__ == "__main__":
    main()
