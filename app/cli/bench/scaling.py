"""``framefleet bench scaling``: measures the speedup of 2, 4, 8 … devices over one, and writes the report."""

import json
import os
import platform
import shlex
import tempfile
from argparse import ArgumentParser
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from framefleet.app.cli import doctor, options
from framefleet.app.cli.bench import add_pool_options, run_settings, say, show_event
from framefleet.app.cli.table import Table, markdown_table
from framefleet.engine.bench.devices_run import counts
from framefleet.engine.bench.pool_run import WARM_UP, Clips, DeviceRun
from framefleet.engine.bench.scaling import Experiment, Mode, Point, measure_scaling
from framefleet.engine.devices import affinity, discovery
from framefleet.engine.media.sources import missing
from framefleet.engine.model.files import is_random
from framefleet.engine.notices import SourceError
from framefleet.engine.pool.events import Event
from framefleet.engine.store import schema, sources
from framefleet.engine.types import DeviceId

_HOW = f"""Engines are built before the measurement begins. The first {WARM_UP:.0%} of the frames are left out. Weak scaling ends with the
first stream that ends, since after it not all devices have work. Strong scaling ends with the last frame: its uneven end counts.
Frames are counted when the pool receives them. Efficiency is the rate divided by n times the rate of one device in the same round and
mode. Where the second half is faster than the first, the steady state had not begun: give more ``--seconds``."""
_STAGES = "The time of a frame in each stage, mean ms (frames of a batch wait for each other), and the device's own time by its clock:"
_SHARED = "CPU devices share the cores, so their ideal speedup is 1: two must not be slower than one."


@dataclass(frozen=True)
class Facts:
    """What was measured. command: as it was given. source, model: descriptions."""

    command: str
    source: str
    model: str


def as_json(points: Sequence[Point], facts: Facts) -> dict[str, Any]:
    """All figures as a JSON object."""
    return {"machine": machine(), "command": facts.command, "model": facts.model, "source": facts.source, "points": [*map(_point, points)]}


def summary(points: Sequence[Point]) -> str:
    """The outcome in a sentence or two."""
    parts = []
    for mode in dict.fromkeys(point.mode for point in points):
        most = max((point for point in points if point.mode is mode), key=lambda point: point.count)
        whole = f", {median(most.whole_speedups):.2f}× over the whole file" if mode is Mode.STRONG else ""
        share = f"{most.efficiency:.0%} of ideal{whole}"
        parts.append(f"{mode} scaling {most.speedup:.2f}× on {most.count} ({share}), bottleneck: {most.run.bottleneck}")
    return "; ".join(parts)


def markdown(points: Sequence[Point], facts: Facts) -> str:
    """A page with tables."""
    engine = points[0].run.devices[0].engine
    segments = "segment" if engine.decode_threads == 1 else "segments"
    cpu = any(point.ideal < point.count for point in points)
    most = max(points, key=lambda point: point.count)
    parts = [
        "# Scaling",
        f"{date.today()}; {machine()}; Python {platform.python_version()}, NumPy {np.__version__}",
        f"`{facts.command}`",
        f"{summary(points)}.",
        f"{facts.model}, {engine.width}×{engine.height}, {engine.precision}, batch {engine.batch},"
        f" {engine.decode_threads} {segments} at once in each device;"
        f" {engine.device_name}, {engine.backend}. Source: {facts.source}, repeated by copying its packets.",
        _table([_row(point) for point in points]),
        f"{_STAGES}\n\n{_table([_stages(point) for point in points])}",
        f"The devices in {most.mode} scaling on {most.count}:\n\n" + _table([_device_row(device) for device in most.run.devices]),
        _HOW + (f" {_SHARED}" if cpu else ""),
    ]
    return "\n\n".join(parts) + "\n"


def machine() -> str:
    """Processor and system, from Linux or else from Python."""
    name = doctor.processor_facts().get("model name") or platform.processor() or platform.machine()
    return f"{name}, {os.cpu_count()} processors, {platform.system()} {platform.release()}"


def _row(point: Point) -> dict[str, str]:
    run, speedups = point.run, sorted(point.speedups)
    return {
        "mode": point.mode.value,
        "devices": str(point.count),
        "frames/s": f"{point.rate:.1f}",
        "speedup": f"**{point.speedup:.2f}×**",
        "range": f"{speedups[0]:.2f}–{speedups[-1]:.2f}" if speedups[1:] else "",
        "efficiency": f"{point.efficiency:.1%}",
        "whole file, frames/s": "" if point.mode is Mode.WEAK else f"{median(run.whole_per_s for run in point.runs):.1f}",
        "frames": str(run.frames),
        "s": f"{run.seconds:.1f}",
        "pool process": f"{run.pool_load:.0%}",
        "host": "" if run.host_load is None else f"{run.host_load:.0%}",
        "host, µs a frame": "" if run.host_cost is None else f"{run.host_cost:.0f}",
        "2nd ÷ 1st half": "" if run.drift is None else f"{run.drift:.3f}",
        "bottleneck": run.bottleneck,
    }


def _stages(point: Point) -> dict[str, str]:
    """The mean time over the devices, by stage."""
    devices = point.run.devices
    found = {"mode": point.mode.value, "devices": str(point.count)}
    for prefix, values in (("", [device.stages for device in devices]), ("device: ", [device.busy for device in devices])):
        for stage in dict.fromkeys(stage for one in values for stage in one):
            present = [one[stage] for one in values if stage in one]
            found[prefix + stage] = f"{sum(present) / len(present):.3f}"
    return found


def _device_row(device: DeviceRun) -> dict[str, str]:
    p50, p99 = ("" if value is None else f"{value:.1f}" for value in (device.latency_p50, device.latency_p99))
    rates = {"device": str(device.engine.device), "frames": str(device.frames), "frames/s": f"{device.frames_per_s:.1f}"}
    return rates | {"p50 ms": p50, "p99 ms": p99, "bottleneck": device.bottleneck or ""}


def _table(rows: Sequence[Mapping[str, str]]) -> str:
    """A Markdown table. Its columns are the keys of all rows."""
    head = list(dict.fromkeys(name for row in rows for name in row))
    return markdown_table([head, *([row.get(name, "") for name in head] for row in rows)])


def _point(point: Point) -> dict[str, Any]:
    run = point.run
    return {
        "mode": point.mode.value,
        "count": point.count,
        "strategy": run.strategy,
        "frames_per_s": round(point.rate, 2),
        "speedup": round(point.speedup, 4),
        "speedups": [round(speedup, 4) for speedup in point.speedups],
        "ideal": point.ideal,
        "efficiency": round(point.efficiency, 4),
        "whole_frames_per_s": round(median(run.whole_per_s for run in point.runs), 2),
        "whole_speedups": [round(speedup, 4) for speedup in point.whole_speedups],
        "frames": run.frames,
        "seconds": round(run.seconds, 3),
        "pool_load": round(run.pool_load, 3),
        "host_load": run.host_load and round(run.host_load, 3),
        "host_us_per_frame": run.host_cost and round(run.host_cost, 1),
        "drift": run.drift and round(run.drift, 4),
        "bottleneck": run.bottleneck,
        "devices": [device_json(device) for device in run.devices],
    }


def device_json(device: DeviceRun) -> dict[str, Any]:
    """One device of a run as a JSON object."""
    engine = device.engine
    return {
        "id": str(engine.device),
        "name": engine.device_name,
        "backend": engine.backend,
        "precision": engine.precision,
        "batch": engine.batch,
        "frames": device.frames,
        "frames_per_s": round(device.frames_per_s, 2),
        "latency_ms": {"p50": device.latency_p50, "p99": device.latency_p99},
        "stages_ms": {stage: round(ms, 4) for stage, ms in device.stages.items()},
        "device_ms": {stage: round(ms, 4) for stage, ms in device.busy.items()},
        "bottleneck": device.bottleneck,
    }


def run(argv: Sequence[str]) -> int:
    """Measure, and write the report, after an interruption of the runs that have finished. Exit status 0.

    Raises FramefleetError if the model, a device or the source cannot be used, or the report cannot be written.
    """
    arguments = _parser().parse_args(argv)

    settings = run_settings(arguments)
    devices = settings.devices or _default()
    experiment = Experiment(
        settings,
        devices,
        tuple(arguments.counts or counts(len(devices))),
        tuple(map(Mode, arguments.mode)),
        arguments.seconds,
        arguments.rounds,
    )
    if arguments.source is not None and not arguments.source.exists():
        raise SourceError(missing(arguments.source))
    if arguments.out is not None:
        with schema.explained(arguments.out, "make"):  # before measuring, which takes long: this may fail
            arguments.out.mkdir(parents=True, exist_ok=True)
    shown: set[tuple[Mode, int, int]] = set()

    def show(mode: Mode, count: int, turn: int, event: Event) -> None:
        if (mode, count, turn) not in shown:
            shown.add((mode, count, turn))
            say(f"round {turn + 1}, {mode} scaling on {count}" if count else "a trial, to find out how long the video must be")
        show_event(event)

    points: dict[tuple[Mode, int], Point] = {}
    table = Table("{:8} {:>8} {:>10} {:>9} {:>11}  {}", ("mode", "devices", "frames/s", "speedup", "efficiency", "bottleneck"))
    with tempfile.TemporaryDirectory(prefix="framefleet-") as folder:
        clips = Clips(Path(folder), arguments.source)
        named = [Path(argument).name if Path(argument).exists() else argument for argument in argv]
        command = shlex.join(["framefleet", "bench", "scaling", *named])
        model = settings.model.cfg.stem + (", random weights" if is_random(settings.model.weights) else "")
        facts = Facts(*map(sources.readable, (command, clips.name, model)))
        try:
            for point in measure_scaling(experiment, clips, show):
                points[point.mode, point.count] = point
                if not arguments.json:
                    figures = f"{point.rate:.1f}", f"{point.speedup:.2f}", f"{point.efficiency:.1%}"
                    print(table.row(point.mode, point.count, *figures, point.run.bottleneck), flush=True)
        finally:  # an interrupted command reports its finished runs, which have taken minutes
            if points:
                found = [*points.values()]
                if arguments.out is not None:
                    _write(arguments.out, found, facts)
                print(json.dumps(as_json(found, facts)) if arguments.json else summary(found))
    return 0


def _parser() -> ArgumentParser:
    parser = options.make_parser(
        "bench scaling",
        "Measure the speedup of several devices over one: a stream for each (weak scaling), one long video for all (strong)."
        "\nMeanwhile the videos are in the folder of temporary files (TMPDIR): about 25 KB a frame.",
        examples=("--model yolov4-tiny", "--model yolov4.cfg --devices cuda:0,cuda:1 --out report"),
        json="print one JSON object instead of a table",
    )
    add_pool_options(parser, "segments")
    what = parser.add_argument_group("what")
    what.add_argument("--source", type=Path, metavar="FILE", help="a video to repeat (default: a generated 1080p H.264 clip)")
    what.add_argument("--counts", type=options.numbers, metavar="LIST", help="numbers of devices, beginning with 1 (1,2,4,8 … all)")
    what.add_argument("--mode", type=options.some_of(["weak", "strong"]), default=["weak", "strong"], metavar="LIST", help="weak,strong")
    what.add_argument("--seconds", type=options.seconds, default=20.0, metavar="S", help="about how long each run takes (20)")
    what.add_argument("--rounds", type=options.count(100), default=1, metavar="N", help="how many times everything is measured (1)")
    results = parser.add_argument_group("results")
    results.add_argument("--out", type=Path, metavar="DIR", help="write scaling.md and scaling.json there")
    return parser


def _default() -> tuple[DeviceId, ...]:
    """The best devices; if that is the CPU alone and this process may use two cores, two CPU devices."""
    devices = discovery.default_devices()
    if [device.kind for device in devices] == ["cpu"] and affinity.usable_cores() > 1:
        return devices[0], DeviceId("cpu", "1")
    return devices


def _write(folder: Path, found: Sequence[Point], facts: Facts) -> None:
    files = {"scaling.md": markdown(found, facts), "scaling.json": json.dumps(as_json(found, facts), indent=1) + "\n"}
    for name, content in files.items():
        with schema.explained(folder / name, "write"):
            (folder / name).write_text(content, "utf-8")
        say(f"written: {folder / name}")
