"""Whether anything creeps in a long run of live sources: the age of frames, memory, descriptors and threads of each process, each minute.

The age of a frame is the time from its clock time to the moment when its boxes are stored. All streams are recorded, too.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import numpy as np

from benchmarks.report import table, write
from framefleet.engine.media.live.address import LiveAddress
from framefleet.engine.media.live.messages import RecordSettings
from framefleet.engine.model.load import check_model
from framefleet.engine.pool.events import FramesDone, SourceOpened
from framefleet.engine.pool.live_sources import LiveSource
from framefleet.engine.run.run import DetectionRun
from framefleet.engine.settings import Hint, ModelFiles, Parallel, RunSettings, Track
from framefleet.engine.types import DeviceId
from tests.support.media import make_video

LIBRARIES = "openvino", "av", "numpy"
_PAGE = 4096


@dataclass(frozen=True)
class Process:
    """A process at one moment. memory: MB in RAM."""

    name: str
    memory: float
    descriptors: int
    threads: int


def processes() -> list[Process]:
    """This process and those that it has started, in the order of their numbers."""
    parents = defaultdict[int, list[int]](list)
    for path in Path("/proc").glob("[0-9]*"):
        try:
            fields = (path / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        parents[int(fields[1])].append(int(path.name))
    found, left = [], [int(Path("/proc/self").resolve().name)]
    while left:
        number = left.pop(0)
        left += sorted(parents[number])
        place = Path("/proc") / str(number)
        try:
            words = (place / "cmdline").read_bytes().decode(errors="replace")
            if "benchmarks.live.generator" in words or "resource_tracker" in words:
                continue
            pages = int((place / "statm").read_text().split()[1])
            counts = len([*(place / "fd").iterdir()]), len([*(place / "task").iterdir()])
            found.append(Process((place / "comm").read_text().strip(), pages * _PAGE / 1e6, *counts))
        except OSError:
            continue
    return found


def main() -> None:
    """Measure, and write the result."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cfg", type=Path, required=True)
    parser.add_argument("--weights", required=True)
    parser.add_argument("--streams", type=int, default=8)
    parser.add_argument("--rate", type=int, default=5, help="frames/s of each stream")
    parser.add_argument("--minutes", type=int, default=60)
    arguments = parser.parse_args()
    weights = Path(arguments.weights) if Path(arguments.weights).exists() else arguments.weights
    model = ModelFiles(arguments.cfg, weights)
    values = {"devices": (DeviceId("cpu", "0"),), "parallel": Parallel.STREAMS, "hint": Hint.LATENCY, "track": Track.NONE}
    settings = RunSettings.of(model, values)
    rows: list[tuple[object, ...]] = []
    with tempfile.TemporaryDirectory() as folder:
        clip = make_video(Path(folder) / "clip.mp4", 250, (1280, 720), arguments.rate, gop=2 * arguments.rate)
        generator = [sys.executable, "-m", "benchmarks.live.generator", str(clip), str(arguments.rate)]
        with subprocess.Popen(generator, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as serving:
            assert serving.stdout is not None
            assert serving.stdin is not None
            address = LiveAddress.read(f"http://127.0.0.1:{serving.stdout.readline().strip()}/")
            assert address is not None
            with DetectionRun(settings, Path(folder) / "session.sqlite", check_model(model).labels) as run:
                for number in range(arguments.streams):
                    record = RecordSettings(str(Path(folder) / "recorded"), f"cam{number}", 5)
                    run.add_stream(LiveSource(address, seconds=60.0 * arguments.minutes, record=record))
                run.finish()
                rows = watch(run)
            serving.stdin.close()
            ledgers = [source.ledger for source in run.sources.values()]
    assert all(ledger.balanced for ledger in ledgers)
    received, inferred = sum(ledger.received or 0 for ledger in ledgers), sum(ledger.inferred for ledger in ledgers)
    head = ("minute", "frames", "age ms, p50", "age ms, p99", "MB, all processes", "largest process", "descriptors", "threads")
    shape = f"{arguments.streams} streams of 720p{arguments.rate}, each recorded, {arguments.cfg.stem}, {arguments.minutes} minutes"
    text = f"{shape}; {received} frames received, {inferred} inferred, the ledger exact.\n\n" + table(head, rows)
    write("live.hour", "A long run", text, LIBRARIES, "live")


def watch(run: DetectionRun) -> list[tuple[object, ...]]:
    """The figures of each minute."""
    rows: list[tuple[object, ...]] = []
    begun: dict[int, float] = {}
    ages: list[float] = []
    due, minute = time.monotonic() + 60, 0
    for event in run.events():
        now = time.time()
        match event:
            case SourceOpened(source, info):
                assert info.created is not None
                begun[source] = datetime.fromisoformat(info.created).timestamp()
            case FramesDone(source, frames):
                ages += [1000 * (now - begun[source] - frame.ref.pts) for frame in frames]
        if time.monotonic() < due:
            continue
        due, minute = due + 60, minute + 1
        found = processes()
        largest = max(found, key=lambda each: each.memory)
        memory = f"{sum(each.memory for each in found):.0f}", f"{largest.name} {largest.memory:.0f}"
        counts = sum(each.descriptors for each in found), sum(each.threads for each in found)
        age = (f"**{value:.0f}**" for value in np.percentile(ages, (50, 99)))
        rows.append((minute, len(ages), *age, *memory, *counts))
        print(*rows[-1], *(f"{each.name}:{each.memory:.1f}" for each in found), flush=True)
        ages.clear()
    return rows


if __name__ == "__main__":
    main()
