"""Whether two CPU devices are slower than one: a stream each, and one long video for both.

One and two take turns, so that whatever else the machine does meets both; the ratio of each pair counts. CPU devices share the cores, so
that the ideal is 1. Processor time is that of all processes of the pool, the building of the engines included, for each frame: it
shows what a second device costs where others make the clock unreliable. Rates are those of the steady state (``engine.bench.pool_run``).
"""

from __future__ import annotations

import argparse
import resource
import tempfile
from dataclasses import replace
from pathlib import Path
from statistics import median

from benchmarks.report import table, write
from engine.bench.clips import Clips
from engine.bench.pool_run import run_pool
from engine.settings import EngineSettings, ModelFiles, Parallel, Precision, RunSettings
from engine.types import DeviceId

CPUS = (DeviceId("cpu", "0"), DeviceId("cpu", "1"))


def used() -> float:
    """Seconds of processor time that ended processes of this one have used."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def measure(settings: RunSettings, count: int, sources: list[Path]) -> tuple[float, float]:
    """Frames/s in the steady state, and ms of processor time for a frame."""
    before = used()
    run = run_pool(settings, CPUS[:count], sources, until_first=len(sources) > 1)
    return run.frames_per_s, 1000 * (used() - before) / run.frames


def main() -> None:
    """Measure and report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder with models/ (see the README)")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--frames", type=int, default=2400, help="of the long video; a stream has half of them")
    options = parser.parse_args()
    models = options.data / "models"
    files = ModelFiles(models / "yolo-fastest-1.1.cfg", models / "yolo-fastest-1.1.weights")
    settings = RunSettings(files, parallel=Parallel.SEGMENTS, engine=EngineSettings(precision=Precision.FP32))
    pairs: dict[str, list[tuple[tuple[float, float], tuple[float, float]]]] = {"weak": [], "strong": []}
    with tempfile.TemporaryDirectory() as folder:
        clips = Clips(Path(folder))
        long, short = clips.of(options.frames), clips.of(options.frames // 2)
        for number in range(options.rounds):
            streams = replace(settings, parallel=Parallel.STREAMS)
            pairs["weak"].append((measure(streams, 1, [short]), measure(streams, 2, [short, short])))
            pairs["strong"].append((measure(settings, 1, [long]), measure(settings, 2, [long])))
            print(number, [(mode, found[-1]) for mode, found in pairs.items()], flush=True)
    rows = []
    for mode, found in pairs.items():
        ratios = sorted(two[0] / one[0] for one, two in found)
        cost = median(two[1] / one[1] for one, two in found)
        rates = [f"{median(pair[side][0] for pair in found):.1f}" for side in (0, 1)]
        rows.append([mode, *rates, f"**{median(ratios):.3f}**", " ".join(f"{ratio:.2f}" for ratio in ratios), f"{cost:.3f}"])
    head = ["scaling", "1 device, frames/s", "2 devices, frames/s", "2 ÷ 1", "of the rounds", "processor time a frame, 2 ÷ 1"]
    body = f"{table(head, rows)}\n\nMedians of {options.rounds} rounds; yolo-fastest-1.1, fp32, 1080p H.264.\n\n{__doc__}"
    write("scaling_cpu", "Two CPU devices against one", body, ("openvino", "av", "numpy"))


if __name__ == "__main__":
    main()
