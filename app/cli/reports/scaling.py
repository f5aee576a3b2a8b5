"""The scaling report: JSON for scripts, Markdown for people."""

import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

import numpy as np

from framefleet.app.cli.checks.system import processor_facts
from framefleet.app.cli.reports.table import markdown_table
from framefleet.engine.bench.pool_result import DeviceRun
from framefleet.engine.bench.pool_run import WARM_UP
from framefleet.engine.bench.scaling import Mode, Point

CHART = "scaling.svg"
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
        whole = f", {most.whole_speedup:.2f}× over the whole file" if mode is Mode.STRONG else ""
        share = f"{most.efficiency:.0%} of ideal{whole}"
        parts.append(f"{mode} scaling {most.speedup:.2f}× on {most.count} ({share}), bottleneck: {most.run.bottleneck}")
    return "; ".join(parts)


def markdown(points: Sequence[Point], facts: Facts) -> str:
    """A page with tables that shows the chart."""
    engine = points[0].run.devices[0].engine
    segments = "segment" if engine.decode_threads == 1 else "segments"
    cpu = any(point.ideal < point.count for point in points)
    most = max(points, key=lambda point: point.count)
    parts = [
        "# Scaling",
        f"{date.today()}; {machine()}; Python {platform.python_version()}, NumPy {np.__version__}",
        f"`{facts.command}`",
        f"{summary(points)}.",
        f"![Speedup by number of devices]({CHART})",
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
    name = processor_facts().get("model name") or platform.processor() or platform.machine()
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
        "whole file, frames/s": "" if point.mode is Mode.WEAK else f"{run.whole_per_s:.1f}",
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
        "whole_frames_per_s": round(run.whole_per_s, 2),
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
