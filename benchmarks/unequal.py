"""Unequal devices: does one that is slowed, to a third if not told otherwise, hold the others up?

Two CPU devices of one thread each share a video whose pictures are so small that decoding costs nothing. One is slowed by stopping its
process for the rest of every 30 ms. Its speed alone, slowed as well, and the other's speed alone are measured in the same round;
together they should reach the sum.

Where other programs use the same cores, rates say little. So a device's use is measured as well: the share of the time in which the
thread that computes was running, or ready to run and waiting for a core, by the kernel's own account (/proc/PID/task/TID/schedstat);
the rest it waited for work. A slowed device can be in use for its share of the time. If devices are as busy together as each of them was
alone, together they reach the sum of their speeds, whoever else uses the cores. Counted from the moment in which the video is given to
the pool, engines built, to its last frame, the wait for the slow one's last work included.

With ``--devices`` two GPUs share a 1080p clip; there the rates count, and a processor's use says nothing; and so they do where the slowed
device gets so little of the time that it takes the other one no core. As a GPU goes on with what it
was given while its process is stopped, that is stopped for longer, and batches are small.
"""

from __future__ import annotations

import argparse
import multiprocessing
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path
from statistics import median

import av
import numpy as np

from benchmarks.report import table, write
from engine.bench.clips import Clips
from engine.pool.events import DeviceReady, DeviceStarting, DeviceStats, FramesDone, SourceFinished
from engine.pool.pool import EnginePool
from engine.settings import EngineSettings, ModelFiles, Parallel, Precision, RunSettings
from engine.types import DeviceId
from tests.support.groups import slowed

PERIOD = 0.03
LONG_PERIOD = 0.3


def small_video(path: Path, frames: int) -> Path:
    """64 × 48 pixels, a keyframe every 12 frames."""
    random = np.random.default_rng(1)
    with av.open(str(path), "w") as output:
        stream = output.add_stream("libx264", rate=30, options={"preset": "ultrafast", "g": "12", "crf": "40"})
        stream.width, stream.height, stream.pix_fmt = 64, 48, "yuv420p"
        for _ in range(frames):
            picture = random.integers(0, 256, (48, 64, 3), dtype=np.uint8)
            output.mux(stream.encode(av.VideoFrame.from_ndarray(picture, format="rgb24")))
        output.mux(stream.encode(None))
    return path


def processes_that_infer() -> list[int]:
    """The workers; of a group, its members."""
    parents = {process.pid for process in multiprocessing.active_children()}
    children = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            parent = int(stat.read_text().rpartition(")")[2].split()[1])
            if parent in parents and b"spawn_main" in (stat.parent / "cmdline").read_bytes():
                children.append(int(stat.parent.name))
    return sorted(children) or sorted(pid for pid in parents if pid is not None)


def wanted(pid: int) -> dict[str, float]:
    """Seconds that each thread of a process ran or waited for a core."""
    found = {}
    for task in Path(f"/proc/{pid}/task").glob("*/schedstat"):
        with suppress(OSError):
            ran, waited, _ = task.read_text().split()
            found[task.parent.name] = (int(ran) + int(waited)) / 1e9
    return found


@dataclass(frozen=True)
class Run:
    """rate: frames/s. busy: the sum of the devices' use, each 0..1. share: of the frames, of the device that did the fewest."""

    rate: float
    busy: float
    share: float


def run(settings: RunSettings, devices: tuple[DeviceId, ...], video: Path, share: float | None) -> Run:
    """share: of the time, that the last device gets once the engines are built; None = all."""
    frames, started, took, busy, shares = 0, 0.0, 0.0, 0.0, []
    before: dict[int, dict[str, float]] = {}
    brake = None
    try:
        with EnginePool(settings, devices) as pool:
            building: set[DeviceId] = set()
            for event in pool.events():
                match event:
                    case DeviceStarting(device):
                        building.add(device)
                    case DeviceReady(engine):
                        building.discard(engine.device)
                        if not building and not started:
                            pool.add(video)
                            pool.finish()
                            started = time.perf_counter()
                            before = {pid: wanted(pid) for pid in processes_that_infer()}
                            if share is not None:
                                period = LONG_PERIOD if devices[0].kind == "cuda" or share < 0.1 else PERIOD
                                brake = slowed(processes_that_infer()[-1], share, period)
                                brake.__enter__()
                    case FramesDone():
                        frames += len(event.frames)
                        took = time.perf_counter() - started
                    case SourceFinished():
                        assert not event.ledger.failed, event
                        for pid, threads in before.items():
                            # a worker that was not ready yet has got its computing thread since
                            busy += max(used - threads.get(thread, 0.0) for thread, used in wanted(pid).items()) / took
                    case DeviceStats() if event.final:
                        shares.append(event.frames)
                if brake is not None and isinstance(event, SourceFinished):
                    brake.__exit__(None, None, None)
                    brake = None
    finally:
        if brake is not None:
            brake.__exit__(None, None, None)
    return Run(frames / took, busy, min(shares) / sum(shares))


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cfg", type=Path, required=True)
    parser.add_argument("--weights", default="random:1", help="a path or random:SEED (random:1)")
    parser.add_argument("--size", type=int, help="of the network's input (the cfg's)")
    parser.add_argument("--batch", type=int, default=8, help="of GPUs (8)")
    parser.add_argument("--devices", default="cpu:0,cpu:1")
    parser.add_argument("--strategies", default="segments,frames")
    parser.add_argument("--share", type=float, default=1 / 3, help="of the time that the slowed device gets (0.333)")
    parser.add_argument("--frames", type=int, default=3000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    model = ModelFiles(options.cfg, options.weights, size=options.size and (options.size, options.size))
    devices = tuple(map(DeviceId.parse, options.devices.split(",")))
    gpus = devices[0].kind == "cuda"
    by_rate = gpus or options.share < 0.1
    engine = (
        EngineSettings(precision=Precision.FP16, batch=options.batch, confidence=0.4)
        if gpus
        else EngineSettings(precision=Precision.FP32, threads=1)
    )
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        lengths = (options.frames, max(150, round(options.frames * options.share)))  # the slowed one alone gets less to do
        clips = Clips(Path(folder))
        video, short = (clips.of(frames) if gpus else small_video(Path(folder) / f"{frames}.mkv", frames) for frames in lengths)
        for parallel in map(Parallel, options.strategies.split(",")):
            settings = RunSettings(model, parallel=parallel, engine=engine)
            rounds = []
            for number in range(options.rounds):
                fast, slow = run(settings, devices[:1], video, None), run(settings, devices[:1], short, options.share)
                even, both = (run(settings, devices, video, share) for share in (None, options.share))
                rounds.append((fast, slow, even, both))
                print(parallel, number + 1, *rounds[-1], flush=True)
            key = attrgetter("rate" if by_rate else "busy")
            reached = sorted(key(both) / (key(fast) + key(slow)) for fast, slow, _, both in rounds)
            equal = median(key(even) / (2 * key(fast)) for fast, _, even, _ in rounds)
            rates = [f"{median(each[kind].rate for each in rounds):.0f}" for kind in range(4)]
            share = median(both.share for *_, both in rounds)
            spread = f"**{median(reached):.3f}** ({reached[0]:.3f}–{reached[-1]:.3f})"
            rows.append([parallel, *rates, f"{equal:.3f}", spread, f"{share:.0%}"])
    head = [
        "strategy",
        "one device, frames/s",
        "slowed, frames/s",
        "two equal ones, frames/s",
        "one and a slowed one, frames/s",
        f"two equal ones: {'rate' if by_rate else 'in use'}, of twice one",
        f"one and a slowed one: {'rate' if by_rate else 'in use'}, of the sum (range)",
        "the slowed one's share of the frames",
    ]
    body = f"{table(head, rows)}\n\nMedians of {options.rounds} rounds of {options.frames} frames. 0.9 of the sum is wanted.\n\n{__doc__}"
    write("unequal", "Unequal devices: one of them slowed", body, ("openvino", "av", "numpy"))


if __name__ == "__main__":
    main()
