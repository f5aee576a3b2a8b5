"""Measures storing, closing, opening and reading a session; on request also with an older tree, in the same run.

One million detections are stored and read, in a new process each time. ``--against TREE`` does the same with the engine of another
checkout. Both trees alternate, so that other programs affect them equally:

    git worktree add /tmp/before e52931f
    python -m benchmarks.store.session --rounds 5 --against /tmp/before
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from benchmarks.report import table, write

PROJECT = Path(__file__).resolve().parents[2]
FRAMES, BOXES, CLASSES = 36_000, 28, 80
STEPS = {"write": ("store", "close"), "read": ("open", "read"), "continue": ("open for writing", "close again")}
"""What each process measures."""


def work(step: str, path: Path) -> dict[str, tuple[float, float]]:
    """Do one step in this process. Returns seconds of wall time and of processor time by name."""
    import numpy as np

    from framefleet.engine.media.types import SourceInfo, SourceKind
    from framefleet.engine.pool.events import Ledger
    from framefleet.engine.store.facts import DECIDING
    from framefleet.engine.store.reader import SessionReader
    from framefleet.engine.store.session import SessionWriter
    from framefleet.engine.types import Detections, DeviceId, FrameRef, FrameResult

    clock, taken = [(time.perf_counter(), time.process_time())], list[tuple[float, float]]()

    def lap() -> None:
        now = time.perf_counter(), time.process_time()
        taken.append((now[0] - clock[-1][0], now[1] - clock[-1][1]))
        clock.append((time.perf_counter(), time.process_time()))

    labels = [str(number) for number in range(CLASSES)]
    if step == "read":
        with SessionReader(path) as reader:
            reader.sources()
            lap()
            assert sum(len(frame.detections or ()) for frame in reader.frames(0)) == FRAMES * BOXES
            lap()
        return dict(zip(STEPS[step], taken, strict=True))
    random, device = np.random.default_rng(1), DeviceId("cpu", "0")
    corners, ids = random.random((100, BOXES, 4)) * 1000, random.integers(0, CLASSES, (100, BOXES)).astype(np.int32)
    found = [
        Detections(boxes.astype(np.float32), random.random(BOXES).astype(np.float32), each)
        for boxes, each in zip(corners, ids, strict=True)
    ]
    clock[0] = time.perf_counter(), time.process_time()
    writer = SessionWriter(path, labels, dict.fromkeys(DECIDING, "a"), go_on=step == "continue")
    if step == "write":
        info = SourceInfo("a.mp4", SourceKind.VIDEO, "h264", 1920, 1080, FRAMES, FRAMES / 25, 25.0, (), True)
        writer.add_source(0, "a.mp4", info)
        for frame in range(FRAMES):
            writer.add_frames([FrameResult(FrameRef(0, frame, frame / 25), device, 1920, 1080, found[frame % 100])])
        writer.finish_source(0, "a.mp4", Ledger(FRAMES, FRAMES), 1.0)
    assert writer.continued == (step == "continue")
    lap()
    writer.close(complete=True)
    lap()
    return dict(zip(STEPS[step], taken, strict=True))


def round_of(tree: Path, folder: Path) -> dict[str, tuple[float, float]]:
    """Do all steps with the engine of this tree."""
    path, result = folder / "session.sqlite", dict[str, tuple[float, float]]()
    for step in STEPS:
        command = [sys.executable, __file__, "--step", step, str(path)]
        places = os.pathsep.join([str(tree), str(PROJECT)])
        output = subprocess.run(command, env=os.environ | {"PYTHONPATH": places}, stdout=subprocess.PIPE, check=True, text=True).stdout
        result |= json.loads(output)
    path.unlink()
    return result


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
    trees = {"this": PROJECT, **({"before": arguments.against} if arguments.against else {})}
    rounds: dict[str, list[dict[str, tuple[float, float]]]] = {name: [] for name in trees}
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(arguments.rounds):
            for name, tree in trees.items():
                rounds[name].append(round_of(tree, Path(folder)))
    rows = []
    for step in (name for names in STEPS.values() for name in names):
        cells = [step]
        for name in trees:
            for kind in range(2):
                values = [1000 * each[step][kind] for each in rounds[name]]
                cells.append(f"{median(values):,.1f} ({min(values):,.1f}–{max(values):,.1f})")
        rows.append(cells)
    head = ["ms", *(f"{name}, {kind}" for name in trees for kind in ("wall time", "processor time"))]
    write("store.session", f"Storing and reading {FRAMES * BOXES:,} detections", table(head, rows), ["numpy"], "store")


if __name__ == "__main__":
    main()
