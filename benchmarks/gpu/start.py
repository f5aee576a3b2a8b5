"""Measures the time from the command to the first stored frame, without any cache and with the cache of the run before.

Every round runs ``framefleet detect`` twice as a process of its own: with an empty cache folder, as on a new machine, and again with that
folder. A third process reads the session until it holds a frame. The command may be that of another checkout (``--source``), so that two
versions take turns on one machine. ``--steps`` also tells when each step of the start was done, by the command's log. ``--cached`` leaves
out the empty cache: all versions share a folder, which is filled before the first round.
"""

from __future__ import annotations

import argparse
import os
import re
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from benchmarks.report import spread, table, write

POLL_SECONDS = 0.005
LIMIT_SECONDS = 400.0


STEPS = {
    "the command's process runs": r"MainProcess framefleet\.engine\.logs: process",
    "the worker's process runs": r"framefleet \S+ framefleet\.engine\.logs: process",
    "the worker's modules are imported": "modules are imported$",
    "the GPU is open": r"cuda:\d+ is open$",
    "the GPU's libraries are loaded": r"libraries of cuda:\d+ are loaded$",
    "the session is open": "StrategyChosen$",
    "the worker has its task": "DeviceStarting$",
    "the engine's network is loaded": "the model is loaded$",
    "the source is probed": "SourceOpened$",
    "the decoder has examined the source": "the decoder has examined ",
    "the GPU's kernels are loaded": "kernels are loaded$",
    "the GPU's engine is built": "the engine is built$",
    "the engine is ready": "DeviceReady$",
    "the first frame arrives": "FramesDone$",
}
"""What the log says first when a step is done."""


@dataclass(frozen=True)
class Start:
    """Seconds since the command: when the first frame was stored, when the command ended, and when each step was done."""

    first: float
    whole: float
    engine: str
    steps: dict[str, float] = field(default_factory=dict)


def start(source: Path, options: Sequence[str], cache: Path) -> Start:
    """Run ``detect`` of a checkout with these options and this cache folder.

    Raises RuntimeError with the end of the output if the command fails.
    """
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder, "out")
        environment = os.environ | {"FRAMEFLEET_CACHE": str(cache), "PYTHONPATH": f"{source}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"}
        begin, began = time.perf_counter(), datetime.now()
        with (
            Path(folder, "log").open("w+b") as log,
            subprocess.Popen(
                [sys.executable, "-m", "framefleet.app", "detect", *options, "--out", str(out), "--debug"],
                env=environment,
                cwd=folder,
                stdout=log,
                stderr=subprocess.STDOUT,
            ) as process,
        ):
            first = None
            while process.poll() is None and time.perf_counter() - begin < LIMIT_SECONDS:
                if first is None and any(_has_frame(path) for path in out.glob("*.sqlite")):
                    first = time.perf_counter() - begin
                time.sleep(POLL_SECONDS)
            process.kill()
            whole = time.perf_counter() - begin
            log.seek(0)
            said = log.read().decode(errors="replace")
        if first is None or process.returncode:
            raise RuntimeError(said[-2000:])
        return Start(first, whole, _engine(out), _steps(said, began))


def _steps(log: str, began: datetime) -> dict[str, float]:
    """Seconds from the command until each step was done."""
    found = {}
    for step, words in STEPS.items():
        if line := re.search(rf"^(\d+-\S+ \S+) .*{words}", log, re.MULTILINE):
            found[step] = (datetime.strptime(line[1], "%Y-%m-%d %H:%M:%S,%f") - began).total_seconds()
    return found


def _has_frame(session: Path) -> bool:
    with suppress(sqlite3.Error), closing(sqlite3.connect(f"file:{session}?mode=ro", uri=True, timeout=0)) as connection:
        return bool(connection.execute("SELECT EXISTS (SELECT 1 FROM frames)").fetchone()[0])
    return False


def _engine(out: Path) -> str:
    session = next(out.glob("*.sqlite"))
    with closing(sqlite3.connect(f"file:{session}?mode=ro", uri=True)) as connection:
        rows = connection.execute("SELECT backend, precision, batch FROM devices").fetchall()
    return "; ".join(f"{backend}, {precision}, batch {batch}" for backend, precision, batch in rows)


def _step_table(found: dict[tuple[Path, str], list[Start]]) -> str:
    """When each step was done, with a column for each checkout and cache."""
    head = ["milliseconds until", *(f"{source.parent.name}, cache {state}" for source, state in found)]
    rows = []
    for step in STEPS:
        times = [[1000 * each.steps[step] for each in starts if step in each.steps] for starts in found.values()]
        if any(times):
            rows.append([step, *(spread(each, 0) if each else "" for each in times)])
    return table(head, rows)


def main() -> None:
    """Run the benchmark and write its result."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("video", type=Path)
    parser.add_argument("--cfg", type=Path, required=True)
    parser.add_argument("--weights", default="random:2020")
    parser.add_argument("--devices", default="cuda:0")
    parser.add_argument("--source", type=Path, action="append", help="the src folder of a checkout; may be repeated (default: this one)")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--steps", action="store_true", help="also tell when each step was done")
    parser.add_argument("--cached", action="store_true", help="only with a filled cache, which all checkouts share")
    parser.add_argument("--options", default="", help="more options of detect, in one word")
    arguments = parser.parse_args()
    here = Path(__file__).resolve().parents[2] / "src"
    sources: list[Path] = [path.resolve() for path in arguments.source or [here]]
    weights = arguments.weights if arguments.weights.startswith("random:") else str(Path(arguments.weights).resolve())
    options = [str(arguments.video.resolve()), "--model", str(arguments.cfg.resolve()), "--weights", weights]
    options += ["--devices", arguments.devices, *arguments.options.split()]
    found: dict[tuple[Path, str], list[Start]] = {}
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as shared:
        for source in sources if arguments.cached else ():
            start(source, options, Path(shared))
        for number in range(arguments.rounds):
            for source in sources:
                cache = Path(shared, "" if arguments.cached else f"{number}-{source.parent.name}")
                for state in ("filled",) if arguments.cached else ("empty", "filled"):
                    found.setdefault((source, state), []).append(result := start(source, options, cache))
                    print(f"{number} {source} {state}: {result}", file=sys.stderr, flush=True)
    rows = [
        [
            *([source.parent.name] if len(sources) > 1 else []),
            state,
            *(spread([getattr(each, name) for each in starts], 2) for name in ("first", "whole")),
            starts[-1].engine,
        ]
        for (source, state), starts in found.items()
    ]
    head = [*(["checkout"] if len(sources) > 1 else []), "cache", "first stored frame, s", "end of the command, s", "engine"]
    body = f"From the command to the first stored frame, {arguments.rounds} rounds, medians and ranges.\n\n{table(head, rows)}"
    if arguments.steps:
        body += f"\n\n{_step_table(found)}"
    write(
        "gpu.start",
        f"From the command to the first stored frame, {arguments.devices}",
        body,
        ("tensorrt-rtx", "nvidia-cudnn-frontend", "openvino", "av"),
        page="start",
    )


if __name__ == "__main__":
    main()
