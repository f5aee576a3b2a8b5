"""Measures the window with many files in its queue: memory a file, and the time that remembering the queue takes in the window's thread.

Waiting: copies of a clip are dropped on the window, and no model is chosen. Stored: a session with results of all files is opened, and all
files are counted. Afterwards the list is scrolled to its end, so that small pictures are made.

``python -m benchmarks.window.many_files --files 1000 10000``
"""

from __future__ import annotations

import argparse
import gc
import os
import shutil
import tempfile
import time
from pathlib import Path

from benchmarks.growth import use_of
from benchmarks.meters import in_new_process
from benchmarks.report import table, write
from tests.support.media import make_video
from tests.support.store import write_session

FRAMES, CALM_SECONDS, STOPS = 4, 3.0, 200


def measure(count: int, stored: bool) -> tuple[float, float, float, float]:
    """Open this number of files. Returns the memory a file, kB, after opening and after scrolling; and how long remembering the queue holds
    the window's thread, ms: for new files, and when nothing has changed."""
    from PySide6.QtCore import QSettings
    from PySide6.QtWidgets import QApplication

    from framefleet.app.window.context import Start
    from framefleet.app.window.main import make_application
    from framefleet.app.window.main_window import MainWindow
    from framefleet.app.window.queue.panel import QueuePanel
    from tests.support.window import feature

    def run_events(seconds: float) -> None:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            QApplication.processEvents()
            time.sleep(0.005)

    def memory() -> float:
        gc.collect()
        run_events(CALM_SECONDS)
        use = use_of(os.getpid())
        assert use is not None
        return use.uss

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        videos = folder / "videos"
        videos.mkdir()
        first = make_video(videos / "00000.mp4", FRAMES, (160, 120))
        paths = [first, *(Path(shutil.copyfile(first, videos / f"{number:05}.mp4")) for number in range(1, count))]
        session = folder / "results" / "session.sqlite"
        if stored:
            write_session(session, {str(path): FRAMES for path in paths})
        application = make_application()
        window = MainWindow(QSettings(str(folder / "settings.ini"), QSettings.Format.IniFormat), folder / "sessions")
        window.show()
        window.begin(Start())
        run_events(CALM_SECONDS)
        before, memory_of_queue, queue = memory(), window.context.memory, window.context.queue
        window.open_paths([session] if stored else paths)
        while len(queue) < count or window.context.background.busy:
            run_events(0.05)
        opened = memory()
        times = []
        for forget in (True, False):
            if forget:
                memory_of_queue._entries = {}
            start = time.thread_time()
            memory_of_queue._lines()
            times.append(1000 * (time.thread_time() - start))
        for row in range(0, count, max(1, count // STOPS)):
            feature(window, QueuePanel).view.scrollTo(queue.index(row))
            run_events(0.02)
        scrolled = memory()
        window.close()
        application.processEvents()
    return (opened - before) * 1000 / count, (scrolled - before) * 1000 / count, times[0], times[1]


def main() -> None:
    """Measure, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, nargs="+", default=[1000, 10_000])
    options = parser.parse_args()
    rows = []
    for count in options.files:
        for stored in (False, True):
            opened, scrolled, new, same = in_new_process(measure, count, stored)
            rows.append([f"{count:,}", "stored" if stored else "waiting", f"{opened:.1f}", f"{scrolled:.1f}", f"{new:.1f}", f"{same:.1f}"])
            print(*rows[-1], flush=True)
    head = ["files", "results", "memory, kB a file", "scrolled to the end, kB a file", "remembered first, ms", "again, ms"]
    write("window.many_files", "Many files in the window", table(head, rows), ["PySide6-Essentials", "numpy"], "window")


if __name__ == "__main__":
    main()
