"""Measures the pool by strategy, isolation and number of devices: speed, processor time and memory.

Every round runs every combination once, each in a new process, and only ratios within a round count. The rate is that of the steady state
(``engine.bench.pool_run``). Processor time per frame covers all processes and threads, from the last engine's readiness to the end of the
source. Memory is the proportional set size of all processes, after a tenth of the frames and at its peak. The peak must not depend on the
number of frames. ``--alone`` also measures the first device's engine without a pool in each round, with noise of the network's size and at
the workers' low priority.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from statistics import median

from benchmarks.meters import in_new_process, memory, processor_seconds
from benchmarks.report import spread, table, write
from framefleet.engine.bench.model import bench_model
from framefleet.engine.bench.pool_run import Clips, DeviceRun, run_pool
from framefleet.engine.pool.events import DeviceReady, DeviceStats, Event, FramesDone, SourceFinished
from framefleet.engine.settings import Decode, EngineSettings, Hint, Isolation, ModelFiles, Parallel, Precision, RunSettings
from framefleet.engine.types import DeviceId


@dataclass(frozen=True)
class Run:
    """One measured run.

    start: seconds until the last engine is ready. rate: frames/s. processor: ms a frame. early, peak: MB.
    """

    start: float
    rate: float
    processor: float
    early: float
    peak: float
    bottleneck: str
    devices: tuple[DeviceRun, ...]


class Meter:
    """Follows the events of one run over a known number of frames."""

    def __init__(self, frames: int) -> None:
        self._tenth, self._frames = frames // 10, 0
        self._began, self._used = time.perf_counter(), 0.0
        self.start = self.processor = self.early = self.peak = 0.0

    def see(self, event: Event) -> None:
        """Process one event."""
        match event:
            case DeviceReady():
                self.start, self._used = time.perf_counter() - self._began, processor_seconds()
            case FramesDone():
                self._frames += len(event.frames)
                if not self.early and self._frames >= self._tenth:
                    self.early = memory()
            case DeviceStats():
                self.peak = max(self.peak, memory())
            case SourceFinished():
                self.processor = 1000 * (processor_seconds() - self._used) / self._frames


def run(settings: RunSettings, video: Path, frames: int) -> Run:
    """Detect in one video, or with ``streams`` in one video for each device."""
    sources = [video] * (len(settings.devices) if settings.parallel is Parallel.STREAMS else 1)
    meter = Meter(frames * len(sources))
    done = run_pool(settings, settings.devices, sources, show=meter.see)
    return Run(meter.start, done.frames_per_s, meter.processor, meter.early, meter.peak, done.bottleneck, done.devices)


def alone(settings: RunSettings, run: Run) -> float:
    """Images/s of the first device's engine, at the precision and batch that the pool's run had."""
    os.nice(5)  # as workers do
    engine = run.devices[0].engine
    (result,) = bench_model(settings.model, settings.devices[:1], [Precision(engine.precision)], None, [engine.batch], 4.0)
    return result.images_per_s


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cfg", type=Path, required=True)
    parser.add_argument("--weights", default="random:1", help="a path or random:SEED (random:1)")
    parser.add_argument("--size", type=int, help="of the network's input (the cfg's)")
    parser.add_argument("--precision", type=Precision, default=Precision.AUTO)
    parser.add_argument("--batch", type=int, help="frames per inference (the backend's choice)")
    parser.add_argument("--hint", type=Hint, default=Hint.THROUGHPUT)
    parser.add_argument("--decode", type=Decode, default=Decode.AUTO)
    parser.add_argument("--confidence", type=float, default=0.4, help="random weights see some ten objects a frame at 0.4")
    parser.add_argument("--devices", default="cpu:0", help="measured with the first, the first two, … (cpu:0)")
    parser.add_argument("--strategies", default="segments", help="of streams, segments, frames, tiles, depth (segments)")
    parser.add_argument("--isolation", default="process", help="of process, thread (process)")
    parser.add_argument("--video", type=Path, help="what is repeated (a generated 1080p clip)")
    parser.add_argument("--frames", default="1500", help="lengths of the video; two show whether memory grows (1500)")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--alone", action="store_true", help="compare with the first device's engine alone")
    parser.add_argument("--result", default="cpu", help="name of the page in benchmarks/results")
    options = parser.parse_args()
    devices = tuple(map(DeviceId.parse, options.devices.split(",")))
    model = ModelFiles(options.cfg, options.weights, size=options.size and (options.size, options.size))
    fields = ("precision", "batch", "hint", "decode")
    settings = RunSettings(
        model, engine=EngineSettings(**{name: getattr(options, name) for name in fields}, stored_confidence=options.confidence)
    )
    cases = [
        (frames, replace(settings, devices=devices[:count], parallel=Parallel(strategy), isolation=Isolation(isolation)))
        for frames, strategy, isolation, count in product(
            map(int, options.frames.split(",")),
            options.strategies.split(","),
            options.isolation.split(","),
            range(1, len(devices) + 1),
        )
        if strategy != Parallel.DEPTH or count > 1
    ]
    rounds: list[list[Run]] = []
    lone: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        clips = Clips(Path(folder), options.video)
        for number in range(options.rounds):
            rounds.append([in_new_process(run, case, clips.of(frames), frames) for frames, case in cases])
            if options.alone:
                lone.append(in_new_process(alone, cases[0][1], rounds[-1][0]))
            print(f"round {number + 1}:", *(f"{each.rate:.1f}" for each in rounds[-1]), *lone[-1:], flush=True)
    rows = []
    for (frames, case), runs in zip(cases, zip(*rounds, strict=True), strict=True):
        middle = {name: median(getattr(each, name) for each in runs) for name in ("start", "processor", "early", "peak")}
        ratios = [each.rate / first[0].rate for each, first in zip(runs, rounds, strict=True)]
        latency = [value for device in runs[-1].devices if (value := device.latency_p50) is not None]
        rows.append(
            (
                f"{case.parallel}, {case.isolation}",
                len(case.devices),
                frames,
                spread([each.rate for each in runs], 1),
                spread(ratios),
                *([spread([each.rate / one for each, one in zip(runs, lone, strict=True)])] if lone else []),
                f"{max(latency):.1f}" if latency else "",
                *(f"{middle[name]:.2f}" for name in ("start", "processor")),
                *(f"{middle[name]:.0f}" for name in ("early", "peak")),
                runs[-1].bottleneck,
                " / ".join(str(device.frames) for device in runs[-1].devices),
                "; ".join(f"{stage} {ms:.3f}" for stage, ms in runs[-1].devices[0].busy.items()),
            )
        )
    head = ["strategy, isolation", "devices", "frames", "frames/s", "÷ first row", *(["÷ engine alone"] if lone else [])]
    head += ["latency p50, ms", "start, s", "processor ms/frame", "MB after a tenth", "peak MB", "bottleneck", "frames of each device"]
    head += ["first device, ms per frame"]
    engine = rounds[0][0].devices[0].engine
    facts = f"{model.cfg.stem}, {engine.width}×{engine.height}, {engine.precision}, batch {engine.batch}."
    facts += f" {engine.device_name}, {engine.backend}."
    if lone:
        facts += f" The engine alone: {spread(lone, 1)} images/s."
    body = f"{facts} {clips.name}. Medians of {options.rounds} rounds, ranges in brackets.\n\n{table(head, rows)}\n\n{__doc__}"
    write("detection.pool", "The pool", body, ("openvino", "tensorrt-rtx", "av", "numpy"), options.result)


if __name__ == "__main__":
    main()
