"""Measures how long the window takes to appear, and to find the first objects in the user's own video.

``python -m benchmarks.window.start --rounds 5`` needs an X display and xdotool; under Xvfb: ``xvfb-run -a python -m …``. The first start,
with empty user folders, does not count for the window. Imports are included.

``--boxes`` starts the window with a video and a model, without a click, and waits until the first frame is stored. The first start has
empty user folders, so that it tries precisions; the later ones find what it has learned. ``--against TREE`` does the same with another
checkout, in turn:

    git worktree add /tmp/before 58f0db19
    xvfb-run -a python -m benchmarks.window.start --boxes --rounds 3 --against /tmp/before
"""

from __future__ import annotations

import argparse
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

from benchmarks.report import spread, table, write

LIMIT, BOXES_LIMIT = 1.2, 5.0
"""Targets, seconds."""
PATIENCE = 120.0
PROJECT = Path(__file__).resolve().parents[2]
DEMO = PROJECT / "resources" / "demo"


def start(folder: Path, tree: Path = PROJECT, files: Sequence[Path] = (), ready: Callable[[], bool] = lambda: True) -> tuple[float, ...]:
    """Start the window and close it.

    Returns the seconds until it is visible, the processor seconds of the process by then, and the seconds until ``ready`` returns True.
    """
    homes = {f"XDG_{name}_HOME": str(folder / name) for name in ("CONFIG", "DATA", "CACHE", "STATE")}
    environment = os.environ | homes | {"QT_QPA_PLATFORM": "xcb", "PYTHONPATH": str(tree / "src")}
    begin = time.perf_counter()
    with subprocess.Popen([sys.executable, "-m", "app", *map(str, files)], env=environment, cwd=tree) as window:
        try:
            subprocess.run(
                ["xdotool", "search", "--sync", "--onlyvisible", "--pid", str(window.pid)], check=True, stdout=subprocess.DEVNULL
            )
            seconds = time.perf_counter() - begin
            fields = Path(f"/proc/{window.pid}/stat").read_text().rpartition(")")[2].split()
            processor = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
            while not ready() and time.perf_counter() < begin + PATIENCE:
                time.sleep(0.02)
            return seconds, processor, time.perf_counter() - begin
        finally:
            window.terminate()
            window.wait(20)


def has_frames(folder: Path) -> bool:
    """Whether a session in the user folders has a frame."""
    for path in folder.rglob("*.sqlite"):
        try:
            with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
                if connection.execute("SELECT 1 FROM frames LIMIT 1").fetchone() is not None:
                    return True
        except sqlite3.Error:
            continue  # not written yet
    return False


def first_boxes(tree: Path, rounds: int) -> tuple[float, list[float]]:
    """Seconds until the first boxes, of the first start and of the later ones. Sessions are deleted between them, caches are not."""
    model = [DEMO / f"framefleet-demo.{end}" for end in ("cfg", "weights", "names")]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "user"
        found = []
        for number in range(rounds + 1):
            for session in folder.rglob("*.sqlite*"):
                session.unlink()
            video = Path(name) / f"own{number}.mp4"
            shutil.copyfile(DEMO / "framefleet-demo.mp4", video)
            found.append(start(folder, tree, [*model, video], lambda: has_frames(folder))[2])
            print(f"{tree}: {found[-1]:.2f} s", flush=True)
    return found[0], found[1:]


def measure_boxes(rounds: int, against: Path | None) -> None:
    """Measure the time to the first boxes, and write the result."""
    rows = []
    for title, tree in (("this", PROJECT), *([("before", against)] if against is not None else [])):
        first, later = first_boxes(tree, rounds)
        rows.append([title, "0", f"{first:.1f}", spread(later, 1)])
    body = (
        f"{table(['tree', 'clicks', 'first start, s', 'later starts, s'], rows)}\n\n"
        "From the start of the process, with a video and the model of the demo (640×352) as arguments, until the first frame is stored with"
        f" its boxes; the window shows it with the next picture. {rounds} later starts: median and range. Target: {BOXES_LIMIT:g} s."
    )
    write("window.start", "From the start to the first boxes in an own video", body, ("PySide6-Essentials", "openvino"), "window")


def main() -> None:
    """Measure and write the result file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--boxes", action="store_true")
    parser.add_argument("--against", type=Path)
    options = parser.parse_args()
    if options.boxes:
        measure_boxes(options.rounds, options.against)
        return
    with tempfile.TemporaryDirectory() as name:
        start(Path(name))
        found = [start(Path(name))[:2] for _ in range(options.rounds)]
    names = ("time until the window is visible", "processor time of the process until then")
    rows = [[name, spread(values, 2)] for name, values in zip(names, zip(*found, strict=True), strict=True)]
    note = f"{options.rounds} starts, each in a new process; median and range. Target: visible in less than {LIMIT} s."
    body = f"{table(['', 'seconds'], rows)}\n\n{note}"
    write("window.start", "From the start of the program to its window", body, ("PySide6-Essentials", "pyqtgraph"), "window")


if __name__ == "__main__":
    main()
