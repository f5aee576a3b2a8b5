"""Measures a session: storing, closing, opening, reading, listing and exporting; on request also with an older tree, in the same run.

One million detections are stored and read, in a new process each time. ``--against TREE`` does the same with the engine of another
checkout. Both trees alternate, so that other programs affect them equally:

    git worktree add /tmp/before 58f0db19
    python -m benchmarks.store.session --rounds 3 --against /tmp/before
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

PROJECT = Path(__file__).resolve().parents[2]
FRAMES, BOXES, CLASSES = 36_000, 28, 80
STEPS = {
    "write": ("store", "close"),
    "read": ("open", "read frames one by one"),
    "list": ("list when objects appear",),
    "csv": ("export csv",),
    "parquet": ("export parquet",),
}
"""What each process measures."""


def engine(name: str) -> Any:
    """A module of the engine of the tree under test. Older trees have no common import package."""
    return importlib.import_module(f"{os.environ['ENGINE']}.{name}")


def work(step: str, path: Path) -> dict[str, tuple[float, float]]:
    """Do one step in this process. Returns seconds of wall time and of processor time by name."""
    import numpy as np

    taken = list[tuple[float, float]]()

    def lap(task: Callable[[], object]) -> None:
        start = time.perf_counter(), time.process_time()
        task()
        taken.append((time.perf_counter() - start[0], time.process_time() - start[1]))

    session, types = engine("store.session"), engine("types")
    if step == "write":
        media, events = engine("media.types"), engine("pool.events")
        random, device = np.random.default_rng(1), types.DeviceId("cpu", "0")
        corners = random.random((100, BOXES, 4)) * 900
        corners[..., 2:] += corners[..., :2] + 1
        ids = random.integers(0, CLASSES, (100, BOXES)).astype(np.int32)
        found = [
            types.Detections(boxes.astype(np.float32), random.random(BOXES).astype(np.float32), each)
            for boxes, each in zip(corners, ids, strict=True)
        ]
        frames = [types.FrameResult(types.FrameRef(0, each, each / 25), device, 1920, 1080, found[each % 100]) for each in range(FRAMES)]
        writer = session.SessionWriter(path, [str(number) for number in range(CLASSES)], {})
        info = media.SourceInfo("a.mp4", media.SourceKind.VIDEO, "h264", 1920, 1080, FRAMES, FRAMES / 25, 25.0, (), True)
        writer.add_source(0, "a.mp4", info)

        def store() -> None:
            for frame in frames:
                writer.add_frames([frame])
            writer.finish_source(0, "a.mp4", events.Ledger(FRAMES, FRAMES), 1.0)

        lap(store)
        lap(lambda: writer.close(complete=True))
    elif step == "read":
        lap(lambda: session.SessionReader(path).sources())
        with session.SessionReader(path) as reader:
            lap(lambda: sum(len(frame.detections or ()) for frame in reader.frames(0)))
    elif step == "list":
        try:
            module = engine("store.appearances")
        except ModuleNotFoundError:
            module = engine("store.objects.appearances")
        with session.SessionReader(path) as reader:
            lap(lambda: module.read_appearances(reader, 0))
    else:
        try:
            export = engine("store.export")
            export.export_session  # noqa: B018
        except (ModuleNotFoundError, AttributeError):
            export = engine("store.export.run")
        with session.SessionReader(path) as reader, tempfile.TemporaryDirectory() as folder:
            lap(lambda: export.export_session(reader, Path(folder), [step]))
    return dict(zip(STEPS[step], taken, strict=True))


def round_of(tree: Path, folder: Path) -> tuple[dict[str, tuple[float, float]], int]:
    """Do all steps with the engine of this tree. Returns the times, and the size of the file in bytes."""
    path, result = folder / "session.sqlite", dict[str, tuple[float, float]]()
    for step in STEPS:
        command = [sys.executable, __file__, "--step", step, str(path)]
        places = os.pathsep.join([str(tree / "src" if (tree / "src").exists() else tree), str(PROJECT)])
        environment = os.environ | {"PYTHONPATH": places, "ENGINE": "framefleet.engine" if (tree / "src").exists() else "engine"}
        output = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True, text=True).stdout
        result |= json.loads(output)
    size = path.stat().st_size
    path.unlink()
    return result, size


def main() -> None:
    """Measure and print a report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--against", type=Path, metavar="TREE")
    parser.add_argument("--step", choices=STEPS, help=argparse.SUPPRESS)
    parser.add_argument("path", nargs="?", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.step is not None:
        print(json.dumps(work(arguments.step, arguments.path)))
        return
    from benchmarks.report import table, write  # not in the processes that measure: they may use another tree

    trees = {"this": PROJECT, **({"before": arguments.against} if arguments.against else {})}
    rounds: dict[str, list[dict[str, tuple[float, float]]]] = {name: [] for name in trees}
    sizes = dict[str, int]()
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(arguments.rounds):
            for name, tree in trees.items():
                times, sizes[name] = round_of(tree, Path(folder))
                rounds[name].append(times)
    rows = []
    for step in (name for names in STEPS.values() for name in names):
        cells = [step]
        for name in trees:
            for kind in range(2):
                values = [each[step][kind] for each in rounds[name]]
                cells.append(f"{median(values):.2f} ({min(values):.2f}–{max(values):.2f})")
        rows.append(cells)
    head = ["seconds", *(f"{name}, {kind}" for name in trees for kind in ("wall time", "processor time"))]
    size = ", ".join(f"{name} {each / 1e6:.0f} MB" for name, each in sizes.items())
    body = f"{FRAMES:,} frames with {BOXES} boxes each. Median (lowest to highest) of {arguments.rounds} rounds. The file: {size}."
    write(
        "store.session",
        f"Storing, reading and exporting {FRAMES * BOXES:,} detections",
        f"{body}\n\n{table(head, rows)}",
        ["numpy"],
        "store",
    )


if __name__ == "__main__":
    main()
