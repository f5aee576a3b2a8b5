"""Measures detection in many small files, and the commands that use the session of many files.

For each number of files, each command runs once: ``detect`` with random weights of a tiny network, ``results`` in each format, ``merge`` of
two sessions that hold half of the files each, and ``clips`` of one file of the result. All measures must be linear in the number of files:
the last column compares the processor time with that of the fewest files in the same run. ``--exports`` leaves detection out.

``python -m benchmarks.store.many_files --files 500 2000 10000``
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.growth import use_of
from benchmarks.report import table, write
from framefleet.engine.store.exporters import EXPORTERS
from tests.support.media import make_video
from tests.support.models import TINY_CFG
from tests.support.paths import PYTHONPATH
from tests.support.store import write_session

FRAMES = 4
FORMATS = [form for form in EXPORTERS if form not in ("video", "zones")]
MODEL = ("--model", str(TINY_CFG), "--weights", "random:1", "--devices", "cpu:0", "--precision", "fp32")


def measured(folder: Path, *words: str) -> tuple[float, float, float]:
    """Run a command. Returns its wall time and the processor time with its workers, s, and the largest memory of the program itself, MB."""
    environment = os.environ | {"PYTHONPATH": PYTHONPATH}
    start = time.monotonic()
    with (folder / "log.txt").open("w") as log:
        program = subprocess.Popen(
            [sys.executable, "-m", "framefleet.app.main", *words], cwd=folder, stdout=log, stderr=log, env=environment
        )
        most = 0.0
        while True:
            pid, status, used = os.wait4(program.pid, os.WNOHANG)
            if pid:
                break
            if (use := use_of(program.pid)) is not None:
                most = max(most, use.uss)
            time.sleep(0.1)
    program.returncode = os.waitstatus_to_exitcode(status)
    if program.returncode:
        raise SystemExit((folder / "log.txt").read_text()[-2000:])
    return time.monotonic() - start, used.ru_utime + used.ru_stime, most


def rows(count: int, parent: Path, exports: bool) -> list[tuple[str, int, float, float, float]]:
    """Measure every command with this number of files. exports: only those that use a session.

    Returns the command, the number of files, wall time and processor time (s), and memory (MB).
    """
    folder = Path(tempfile.mkdtemp(dir=parent))
    videos = folder / "videos"
    videos.mkdir()
    first = make_video(videos / "00000.mp4", FRAMES, (160, 120))
    for number in range(1, count):
        shutil.copyfile(first, videos / f"{number:05}.mp4")
    halves = [folder / f"half{number}" / "session.sqlite" for number in (0, 1)]
    for number, half in enumerate(halves):
        paths = sorted(videos.iterdir())[number * count // 2 : (number + 1) * count // 2]
        write_session(half, {str(path): FRAMES for path in paths}, boxes=2)
    detect = ("detect", "videos", *MODEL, "--confidence", "0.01", "--out", "all", "--quiet")
    commands = {
        "merge": ("merge", *(str(half) for half in halves), "--out", "merged"),
        "clips of one file": ("clips", "merged", "--class", "person", "--source", "00000.mp4", "--out", "clips"),
        **({} if exports else {"detect": detect}),
        **{f"results --format {form}": ("results", "all", "--out", f"out-{form}", "--format", form) for form in FORMATS},
        **({} if exports else {"detect, when all is done": detect}),
    }
    if exports:
        write_session(folder / "all" / "session.sqlite", {str(path): FRAMES for path in sorted(videos.iterdir())}, boxes=2)
    found = []
    for name, words in commands.items():
        wall, processor, memory = measured(folder, *words)
        print(f"{count} {name}: {wall:.1f} s, processor {processor:.1f} s, {memory:.0f} MB", flush=True)
        found.append((name, count, wall, processor, memory))
    shutil.rmtree(folder)
    return found


def main() -> None:
    """Measure, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, nargs="+", default=[500, 2000, 10_000])
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()), help="where the files are made")
    parser.add_argument("--exports", action="store_true", help="leave detection out")
    options = parser.parse_args()
    found = sorted(row for count in options.files for row in rows(count, options.folder, options.exports))
    first = {name: (count, processor) for name, count, _, processor, _ in reversed(found)}
    shown = [
        (
            name,
            f"{count:,}",
            f"{wall:.1f}",
            f"{processor:.1f}",
            f"{memory:.0f}",
            f"{processor / first[name][1] / (count / first[name][0]):.2f}",
        )
        for name, count, wall, processor, memory in found
    ]
    columns = [
        "command",
        "files",
        "time, s",
        "processor time, s",
        "memory of the program, MB",
        "processor time a file ÷ that of the fewest files",
    ]
    lines = table(columns, shown)
    write("store.many_files", "Many files", lines, ["numpy", "openvino"], "store")


if __name__ == "__main__":
    main()
