"""Compares a node's throughput with that of the local pool, with a raylet on this machine: ``python -m benchmarks.cluster.overhead``.

Rounds alternate (local pool, node, node, local pool, and so on), so that slow changes of the machine affect both. The raylet runs all the
time. Throughput is that of the steady state (see ``run_pool``). Processor time covers all processes, from the opening of the video to its
end: driver, worker, agent and Ray. Unlike throughput, it depends little on the machine's load.
"""

from __future__ import annotations

import argparse
import tempfile
from dataclasses import replace
from pathlib import Path

from benchmarks.cluster.driver import CPU, raylets
from benchmarks.meters import processor_seconds
from benchmarks.report import spread, table, write
from framefleet.engine.bench.clip_process import make, repeat
from framefleet.engine.bench.pool_run import run_pool
from framefleet.engine.cluster.connection import ClusterConnection
from framefleet.engine.pool.events import Event, SourceFinished, SourceOpened
from framefleet.engine.pool.hosts import Hosts
from framefleet.engine.settings import EngineSettings, ModelFiles, Precision, RunSettings
from framefleet.engine.types import DeviceId
from framefleet.resources import DEMO

GOAL = 0.95
"""Least share of the local pool's throughput that a node should reach."""

LOCAL, NODE = "local pool", "node"


def measure(settings: RunSettings, device: DeviceId, video: Path, frames: int, hosts: Hosts | None) -> tuple[float, float]:
    """Frames/s, and the processor time of all processes per 1,000 frames, seconds."""
    used = 0.0

    def show(event: Event) -> None:
        nonlocal used
        if isinstance(event, SourceOpened | SourceFinished):
            used = processor_seconds() - used

    run = run_pool(settings, [device], [video], show=show, hosts=hosts)
    return run.frames_per_s, 1000 * used / frames


def report(options: argparse.Namespace, folder: Path) -> str:
    """Run the rounds. Returns the text of the result."""
    model = ModelFiles(options.cfg, options.weights)
    settings = RunSettings(model, engine=EngineSettings(precision=Precision.FP32))
    clip, video = folder / "clip.mp4", folder / "video.mp4"
    make(clip, min(600, options.frames))
    repeat(clip, options.frames, video)
    found: dict[str, list[tuple[float, float]]] = {LOCAL: [], NODE: []}
    with raylets(1, folder) as address:
        for number in range(options.rounds):
            for which in (LOCAL, NODE) if number % 2 == 0 else (NODE, LOCAL):
                if which == NODE:
                    with ClusterConnection(address, print) as cluster:
                        one = measure(settings, replace(options.device, node="node1"), video, options.frames, cluster)
                else:
                    one = measure(settings, options.device, video, options.frames, None)
                found[which].append(one)
                print(f"{which}: {one[0]:.1f} frames/s, {one[1]:.1f} s of processor time per 1,000 frames", flush=True)
    ratios, costs = ([node[which] / local[which] for node, local in zip(found[NODE], found[LOCAL], strict=True)] for which in (0, 1))
    rows = [[which, spread([one[0] for one in each], 1), spread([one[1] for one in each], 1)] for which, each in found.items()]
    return (
        f"The node reaches {spread(ratios)} of the local pool's throughput (target {GOAL}), with {spread(costs)} of its processor time.\n\n"
        f"{table(('workers', 'frames/s', 'processor time of all processes per 1,000 frames, s'), rows)}\n\n"
        f"{model.cfg.stem} at fp32 on {options.device}, 1080p H.264, {options.frames} frames per round, {options.rounds} alternating"
        " rounds. Medians, ranges in brackets."
    )


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", type=DeviceId.parse, default=CPU)
    parser.add_argument("--cfg", type=Path, default=DEMO.cfg)
    parser.add_argument("--weights", type=Path, default=DEMO.weights)
    parser.add_argument("--frames", type=int, default=3600)
    parser.add_argument("--rounds", type=int, default=4)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        text = report(options, Path(folder))
    write("cluster.overhead", "A node against the local pool", text, ("ray", "openvino"), "cluster")


if __name__ == "__main__":
    main()
