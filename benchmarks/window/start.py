"""Measures how long the window takes to appear: from the start of the process until the window system shows it, imports included.

``python -m benchmarks.window.start --rounds 5`` needs an X display and xdotool; under Xvfb: ``xvfb-run -a python -m …``. The first start,
with empty user folders, does not count.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.report import spread, table, write

LIMIT = 1.2
"""Target, seconds."""


def start(folder: Path) -> tuple[float, float]:
    """Start the window and close it; return the seconds until it is visible, and the processor seconds of the process by then."""
    homes = {f"XDG_{name}_HOME": str(folder / name) for name in ("CONFIG", "DATA", "CACHE", "STATE")}
    begin = time.perf_counter()
    with subprocess.Popen([sys.executable, "-m", "app"], env=os.environ | homes | {"QT_QPA_PLATFORM": "xcb"}) as window:
        try:
            subprocess.run(
                ["xdotool", "search", "--sync", "--onlyvisible", "--pid", str(window.pid)], check=True, stdout=subprocess.DEVNULL
            )
            seconds = time.perf_counter() - begin
            fields = Path(f"/proc/{window.pid}/stat").read_text().rpartition(")")[2].split()
            return seconds, (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        finally:
            window.terminate()
            window.wait(20)


def main() -> None:
    """Measure and write the result file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as name:
        start(Path(name))
        found = [start(Path(name)) for _ in range(rounds)]
    names = ("time until the window is visible", "processor time of the process until then")
    rows = [[name, spread(values, 2)] for name, values in zip(names, zip(*found, strict=True), strict=True)]
    note = f"{rounds} starts, each in a new process; median and range. Target: visible in less than {LIMIT} s."
    body = f"{table(['', 'seconds'], rows)}\n\n{note}"
    write("window.start", "From the start of the program to its window", body, ("PySide6-Essentials", "pyqtgraph"), "window")


if __name__ == "__main__":
    main()
