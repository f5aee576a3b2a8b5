"""A process for each device, or threads of one process: what each costs.

The same file goes through the same pool with the same devices, with both kinds of isolation in turns, so that the ratios count. The file
is added when all engines are built, which is the start-up; the rate is taken from the first tenth of its frames to the last. Memory is the
proportional set size of the pool's process and its workers, of the devices what NVML says is used more than before; processor time is
that of the workers, all threads, per frame. Each run has a process of its own.

A crash is what processes are for: the last table kills one worker's process in the middle of a run, and counts the seconds until
every device is at work again, and the frames that came meanwhile.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import signal
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from benchmarks.memory import _memory, looped
from benchmarks.report import table, write
from engine.pool.events import DeviceFailed, DeviceReady, FramesDone, SourceFinished
from engine.pool.pool import EnginePool
from engine.settings import EngineSettings, Isolation, ModelFiles, Parallel, Precision, RunSettings
from engine.types import DeviceId

T = TypeVar("T")

CONFIDENCE = 0.4
"""YOLOv4 with random weights sees some ten objects in a frame of the clip then, about as many as a street has."""


@dataclass(frozen=True)
class Figures:
    """Of one run. start: seconds to the last engine. rate: frames/s. processor: ms a frame. host, device: MB."""

    start: float
    rate: float
    processor: float
    host: float
    device: float


@dataclass(frozen=True)
class Crash:
    """Of one run with a killed process. away: seconds until all devices were ready again. meanwhile: frames in that time."""

    away: float
    meanwhile: int


def workers() -> list[int]:
    """Ids of the processes with workers."""
    return [process.pid for process in multiprocessing.active_children() if process.pid]


def processor_seconds(pids: Sequence[int]) -> float:
    """Time that these processes have had of the processors."""
    total = 0
    for pid in pids:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        total += int(fields[11]) + int(fields[12])
    return total / os.sysconf("SC_CLK_TCK")


def device_memory(devices: Sequence[DeviceId]) -> float:
    """MB in use on these devices, 0 where they are no NVIDIA GPUs."""
    if any(device.kind != "cuda" for device in devices):
        return 0.0
    try:
        import pynvml
    except ImportError:
        return 0.0
    pynvml.nvmlInit()
    used = sum(pynvml.nvmlDeviceGetMemoryInfo(pynvml.nvmlDeviceGetHandleByIndex(int(device.name))).used for device in devices)
    pynvml.nvmlShutdown()
    return float(used) / 1e6


def measure(settings: RunSettings, video: Path, total: int) -> Figures:
    """One run."""
    before = device_memory(settings.devices)
    frames, first, start, since, took, processor, host, device = 0, 0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    began = time.perf_counter()
    building = set(settings.devices)
    with EnginePool(settings, settings.devices) as pool:
        for event in pool.events():
            match event:
                case DeviceReady(engine):
                    building.discard(engine.device)
                    if not building and not start:
                        start = time.perf_counter() - began
                        pool.add(video)
                        pool.finish()
                case DeviceFailed():
                    raise RuntimeError(str(event))
                case FramesDone():
                    frames += len(event.frames)
                    if not first and frames >= total / 10:
                        first, since, processor = frames, time.perf_counter(), processor_seconds(workers())
                    if frames == total:
                        took = time.perf_counter() - since
                        processor = processor_seconds(workers()) - processor
                        host = sum(_memory(pid)[0] for pid in (os.getpid(), *workers()))
                        device = device_memory(settings.devices) - before
                case SourceFinished():
                    assert event.ledger.inferred == total, event
    return Figures(start, (total - first) / took, 1000 * processor / (total - first), host, device)


def crash(settings: RunSettings, video: Path, total: int) -> Crash:
    """One run, in which the process of the first device is killed after a fifth of the frames."""
    frames, killed, away, meanwhile = 0, 0.0, 0.0, 0
    missing = set(settings.devices)
    with EnginePool(settings, settings.devices) as pool:
        for event in pool.events():
            match event:
                case DeviceFailed(device):
                    missing.add(device)
                case DeviceReady(engine):
                    missing.discard(engine.device)
                    if not missing and not killed:
                        pool.add(video)
                        pool.finish()
                    elif not missing:
                        away = away or time.perf_counter() - killed
                case FramesDone():
                    frames += len(event.frames)
                    meanwhile += len(event.frames) if missing else 0
                    if not killed and frames >= total / 5:
                        os.kill(min(workers()), signal.SIGKILL)
                        killed = time.perf_counter()
                case SourceFinished():
                    assert event.ledger.inferred == total, event
    return Crash(away, meanwhile)


def apart(what: Callable[[RunSettings, Path, int], T], settings: RunSettings, video: Path, total: int) -> T:
    """The same in a process of its own."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as process:  # a Pool's processes may have no children
        return process.submit(what, settings, video, total).result()


def main() -> int:
    """Measure and report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cfg", type=Path, required=True)
    parser.add_argument("--weights", default="random:1", help="a path or random:SEED (random:1)")
    parser.add_argument("--size", type=int, help="of the network's input (the cfg's)")
    parser.add_argument("--precision", choices=[*Precision], default="fp32")
    parser.add_argument("--batch", type=int, help="frames per inference (the backend's choice)")
    parser.add_argument("--devices", default="cpu:0,cpu:1", help="measured with the first, the first two, … (cpu:0,cpu:1)")
    parser.add_argument("--video", type=Path, help="a 1080p clip is made where there is none")
    parser.add_argument("--frames", type=int, default=1500, help="of the clip that is made")
    parser.add_argument("--times", type=int, default=1, help="the video is repeated for each device")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--no-crash", action="store_true", help="leave the last table out")
    options = parser.parse_args()
    devices = tuple(map(DeviceId.parse, options.devices.split(",")))
    model = ModelFiles(options.cfg, options.weights, size=options.size and (options.size, options.size))
    engine = EngineSettings(precision=Precision(options.precision), batch=options.batch, confidence=CONFIDENCE)
    rows: list[list[object]] = []
    crashes: list[list[object]] = []
    with tempfile.TemporaryDirectory() as folder:
        clip = options.video or _make_clip(Path(folder) / "clip.mp4", options.frames)
        for count in range(1, len(devices) + 1):
            video = looped(clip, count * options.times, Path(folder) / f"{count}.mp4")
            total = _frames(video)
            kinds = {isolation: RunSettings(model, devices[:count], Parallel.SEGMENTS, engine, isolation) for isolation in Isolation}
            runs: dict[Isolation, list[Figures]] = {isolation: [] for isolation in Isolation}
            for number in range(options.rounds):
                for isolation in [*Isolation][:: 1 if number % 2 else -1]:
                    runs[isolation].append(apart(measure, kinds[isolation], video, total))
                    print(count, isolation, runs[isolation][-1], flush=True)
            rows += _rows(count, total, runs)
            if count > 1 and not options.no_crash:
                for isolation in Isolation:
                    result = apart(crash, kinds[isolation], video, total)
                    crashes.append([count, isolation, f"{result.away:.2f}", result.meanwhile])
                    print(crashes[-1], flush=True)
    head = ["devices", "frames", "isolation", "start-up, s", "frames/s", "processor ms/frame", "host memory, MB", "device memory, MB"]
    parts = [table(head, rows), f"Medians of {options.rounds} rounds; the ratio is that of each round's pair, with its range."]
    if crashes:
        parts.append(table(["devices", "isolation", "until all are ready again, s", "frames meanwhile"], crashes))
    write(
        "isolation", "A process for each device, or threads of one", "\n\n".join([*parts, __doc__ or ""]), ("openvino", "av", "cuda-core")
    )
    return 0


def _rows(count: int, total: int, runs: dict[Isolation, list[Figures]]) -> list[list[object]]:
    rows: list[list[object]] = []
    for isolation, found in runs.items():
        middle = [statistics.median(getattr(figures, name) for figures in found) for name in Figures.__dataclass_fields__]
        start, rate, processor, host, device = middle
        rows.append([count, total, isolation, f"{start:.2f}", f"{rate:.1f}", f"{processor:.2f}", f"{host:.0f}", f"{device:.0f}"])
    pairs = list(zip(runs[Isolation.THREAD], runs[Isolation.PROCESS], strict=True))
    ratios: list[object] = []
    for name in Figures.__dataclass_fields__:
        found_ratios = [getattr(thread, name) / (getattr(process, name) or 1) for thread, process in pairs]
        middle_ratio = statistics.median(found_ratios)
        ratios.append(f"**{middle_ratio:.3f}** ({min(found_ratios):.3f}–{max(found_ratios):.3f})" if middle_ratio else "–")
    return [*rows, [count, "", "thread ÷ process", *ratios]]


def _frames(video: Path) -> int:
    from engine.media.probe import probe

    return probe(video).frames


def _make_clip(path: Path, frames: int) -> Path:
    from benchmarks.nvdec import make_clip

    return make_clip(path, frames)


if __name__ == "__main__":
    sys.exit(main())
