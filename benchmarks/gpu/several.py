"""Measures all GPUs of a machine in one run: scaling, strategies, links, topology and the GPU tests, with clocks and power.

    python -m benchmarks.gpu.several --cfg yolov4.cfg --devices cuda:0,cuda:1,cuda:2,cuda:3,cuda:4,cuda:5,cuda:6,cuda:7 --out DIR

Each step is a command of the program in a process of its own, with a time limit. A step that fails is reported, and the others follow. The
output of each step stays in DIR. During the run, ``nvidia-smi`` samples clocks and power of all GPUs once a second. The targets are those
for eight GPUs; with fewer devices, the figures have none.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.report import spread, table, write
from framefleet.engine.bench.pool_run import Clips

TARGETS = {
    "weak scaling, yolov4-608": 7.7,
    "strong scaling, yolov4-608": 7.0,
    "strong scaling, yolov4-608, whole file": 6.0,
    "frames, yolov4-608": 6.0,
    "product": 7.2,
    "sum": 1.0,
}
"""Wanted speedups of eight GPUs over one."""

LARGE = 7680, 4320
"""Width and height of the pictures for ``tiles``."""

LARGE_FRAMES = 20
"""Number of different ones. The video repeats them."""


@dataclass(frozen=True)
class Figure:
    """A measured figure, such as a speedup, in each round. devices: their number."""

    what: str
    devices: int
    values: tuple[float, ...]

    @property
    def target(self) -> float | None:
        """The least wanted median, if there is one."""
        return TARGETS.get(self.what, TARGETS.get(self.what.partition(",")[0])) if self.devices == 8 else None

    @property
    def row(self) -> list[object]:
        """For the table."""
        goal = self.target
        return [self.what, self.devices, spread(self.values, 2), goal or "", "" if goal is None else "yes" if self.reached else "**no**"]

    @property
    def reached(self) -> bool:
        """Whether the median reaches the target, if there is one."""
        return self.target is None or median(self.values) >= self.target


@dataclass
class Steps:
    """Runs the steps. seconds: the limit of each. figures: what they measured. rows: how long each took, and how it ended."""

    folder: Path
    seconds: float
    figures: list[Figure] = field(default_factory=list)
    rows: list[list[object]] = field(default_factory=list)

    def run(self, name: str, command: Sequence[str], read: Callable[[str], list[Figure]] = lambda _: []) -> None:
        """Run a step. command: options of Python. read: turns the standard output into figures."""
        began, log = time.time(), self.folder / f"{name}.log"
        try:
            with log.open("w") as errors:
                done = subprocess.run(
                    [sys.executable, *command], stdout=subprocess.PIPE, stderr=errors, text=True, timeout=self.seconds, check=True
                )
            (self.folder / f"{name}.txt").write_text(done.stdout)
            self.figures += read(done.stdout)
            outcome = "done"
        except (subprocess.SubprocessError, ValueError, LookupError) as problem:
            outcome = f"**failed**: {type(problem).__name__}, see {log.name}"
        self.rows.append([name, f"{time.time() - began:.0f}", *states(self.folder / "gpus.csv", began, time.time()), outcome])
        print(*self.rows[-1], sep="  ", file=sys.stderr, flush=True)


def scaling(name: str, printed: str) -> list[Figure]:
    """The speedups in the JSON of ``framefleet bench scaling``. name: of the network, or of the strategy and the network."""
    found = []
    for point in json.loads(printed.splitlines()[-1])["points"]:
        mode, count = point["mode"], point["count"]
        what = name if "," in name else f"{mode} scaling, {name}"
        found.append(Figure(what, count, tuple(point["speedups"]) or (point["speedup"],)))
        if mode == "strong":
            found.append(Figure(f"{what}, whole file", count, tuple(point["whole_speedups"])))
    return found


def links(printed: str) -> list[Figure]:
    """The speedups of product and sum in the JSON of ``framefleet bench devices``."""
    entries: list[dict[str, Any]] = json.loads(printed.splitlines()[-1])["measurements"]
    several = [entry for entry in entries if entry["test"] in ("product", "sum") and len(entry["devices"]) > 1 and entry["speedup"]]
    return [Figure(f"{entry['test']}, {entry['bytes'] >> 20} MiB", len(entry["devices"]), (entry["speedup"],)) for entry in several]


def rates(steps: Steps, what: str, rounds: int, commands: Mapping[int, Sequence[str]]) -> None:
    """Run ``framefleet bench pipeline`` for each number of devices in turns. Adds the frames/s, and the speedups over one device."""
    found: dict[int, list[float]] = {count: [] for count in commands}

    def read(printed: str, count: int) -> list[Figure]:
        found[count].append(json.loads(printed.splitlines()[-1])["frames_per_s"])
        return []

    for round_ in range(rounds):
        for count, command in commands.items():
            steps.run(f"{what}-{count}-{round_ + 1}", command, partial(read, count=count))
    for count, values in found.items():
        if values:
            steps.figures.append(Figure(f"{what}, frames/s", count, tuple(values)))
    for count, values in found.items():
        if count > 1 and len(values) == len(found[1]):
            steps.figures.append(Figure(what, count, tuple(several / one for several, one in zip(values, found[1], strict=True))))


def states(path: Path, begun: float, ended: float) -> tuple[str, str]:
    """Median clock (MHz) and power (W) of the GPUs that compute, from the lines of ``nvidia-smi`` in this period; empty without GPUs."""
    clocks, powers = [], []
    for line in path.read_text().splitlines() if path.exists() else []:
        cells = [cell.strip() for cell in line.split(",")]
        try:
            at = time.mktime(time.strptime(cells[0].partition(".")[0], "%Y/%m/%d %H:%M:%S"))
            clock, power, load = map(float, cells[2:5])
        except (ValueError, IndexError):  # a line that is not complete yet, or a value that the GPU does not tell
            continue
        if begun <= at <= ended and load > 0:
            clocks.append(clock)
            powers.append(power)
    return (f"{median(clocks):.0f}", f"{median(powers):.0f}") if clocks else ("", "")


def large_video(path: Path, frames: int) -> Path:
    """Make a video of ``LARGE`` pictures with moving noise."""
    import av
    import numpy as np

    random = np.random.default_rng(1)
    texture = random.integers(0, 256, (LARGE[1] // 16, LARGE[0] // 16, 3), dtype=np.uint8).repeat(16, 0).repeat(16, 1)
    with av.open(path, "w") as container:
        stream = container.add_stream("libx264", 10, {"preset": "ultrafast", "g": "10"})
        stream.width, stream.height = LARGE
        for number in range(frames):
            container.mux(stream.encode(av.VideoFrame.from_ndarray(np.roll(texture, 8 * number, 1), "rgb24")))
        container.mux(stream.encode(None))
    return path


def measure(options: argparse.Namespace, steps: Steps) -> None:
    """Run all steps that were asked for."""
    devices = options.devices.split(",")
    counts = [count for count in (1, 2, 4, 8) if count <= len(devices)]
    program, pytest = ["-m", "framefleet.app.main"], ["-m", "pytest", "-q", "-n", "0", "-p", "no:cacheprovider"]
    numbers = ",".join(map(str, counts))
    model = ["--model", str(options.cfg), "--weights", options.weights, "--batch", str(options.batch), "--precision", options.precision]
    many = [*program, "bench", "scaling", *model, "--devices", options.devices, "--counts", numbers, "--seconds", str(options.seconds)]
    many += ["--rounds", str(options.rounds), "--json"]
    one = [*program, "bench", "pipeline", *model, "--json"]
    if "links" in options.steps:
        steps.run("links", [*program, "bench", "devices", "--devices", options.devices, "--json"], links)
    if "topology" in options.steps:
        steps.run("topology", [*program, "topology", "--json"])
        steps.run("topology-nvidia-smi", [*pytest, "tests/gpu/test_topology.py"])
    for size in options.sizes:
        name = f"{options.cfg.stem}-{size}"
        if "scaling" in options.steps:
            where = ["--size", str(size), "--out", str(steps.folder / f"scaling-{size}")]
            steps.run(f"scaling-{size}", [*many, *where], partial(scaling, name))
        if "frames" in options.steps:
            frames = [*many, "--size", str(size), "--parallel", "frames", "--mode", "strong"]
            steps.run(f"frames-{size}", frames, partial(scaling, f"frames, {name}"))
    if "tiles" in options.steps:
        made, size = large_video(steps.folder / "large.mp4", LARGE_FRAMES), str(options.sizes[0])
        video = Clips(steps.folder, made).of(options.large_frames)  # with many segments: a single one would be decoded by one thread
        tiles = [*one, str(video), "--parallel", "tiles", "--size", size, "--devices"]
        rates(steps, "tiles of 8K", options.rounds, {count: [*tiles, ",".join(devices[:count])] for count in counts})
        made.unlink()
        video.unlink()
    if "depth" in options.steps:
        video = Clips(steps.folder).of(options.frames)
        depth = [*one, str(video), "--size", str(options.sizes[0]), "--parallel"]
        commands = {count: [*depth, "depth" if count > 1 else "segments", "--devices", ",".join(devices[:count])] for count in counts}
        rates(steps, "depth", options.rounds, commands)
        video.unlink()
    if "tests" in options.steps:
        steps.run("tests", [*pytest, "tests/gpu"])


STEPS = ("links", "topology", "scaling", "frames", "tiles", "depth", "tests")


def main() -> int:
    """Measure and write the report. Returns 1 if a step failed or a target is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cfg", type=Path, required=True, help="such as yolov4.cfg")
    parser.add_argument("--weights", default="random:1", help="a path or random:SEED (random:1)")
    parser.add_argument("--sizes", type=int, nargs="+", default=[608, 416], help="of the network's input (608 416)")
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--precision", default="fp16")
    parser.add_argument("--devices", required=True, help="such as cuda:0,cuda:1")
    parser.add_argument("--seconds", type=float, default=8.0, help="about how long each run of the scaling takes (8)")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--frames", type=int, default=8000, help="length of the video for depth (8000)")
    parser.add_argument("--large-frames", type=int, default=300, help="pictures of the video for tiles (300)")
    parser.add_argument("--limit", type=float, default=550.0, help="seconds that a step may take (550)")
    parser.add_argument("--steps", nargs="+", choices=STEPS, default=STEPS)
    parser.add_argument("--out", type=Path, required=True, help="a folder for the output of the steps")
    parser.add_argument("--result", default="several-gpus", help="name of the page in benchmarks/results")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    steps = Steps(options.out, options.limit)
    query = ["nvidia-smi", "--query-gpu=timestamp,index,clocks.sm,power.draw,utilization.gpu", "--format=csv,noheader,nounits", "-l", "1"]
    with (options.out / "gpus.csv").open("w") as samples:
        try:
            sampler = subprocess.Popen(query, stdout=samples, stderr=subprocess.DEVNULL)
        except OSError:  # the machine has no NVIDIA driver
            sampler = None
        try:
            measure(options, steps)
        finally:
            if sampler is not None:
                sampler.terminate()
                sampler.wait()
    body = [
        table(("figure", "devices", "median (range)", "wanted", "reached"), [figure.row for figure in steps.figures]),
        table(("step", "s", "clock, MHz", "power, W", "outcome"), steps.rows),
        str(__doc__),
    ]
    write("gpu.several", "All GPUs of a machine", "\n\n".join(body), ("tensorrt-rtx", "nvidia-cudnn-cu13", "av", "numpy"), options.result)
    failed = any(str(row[-1]).startswith("**") for row in steps.rows)
    return int(failed or not all(figure.reached for figure in steps.figures))


if __name__ == "__main__":
    sys.exit(main())
