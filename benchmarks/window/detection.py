"""Measures the cost of the window: the gaps of its event loop, and the time that it adds to a detection run.

Three variants run the same detection of the same video with the same settings. They alternate, each in a new process, so only the ratios
count.

- ``pool``: ``EnginePool`` alone.
- ``session``: the pool and its database, which is what ``detect`` runs.
- ``window``: the whole application, which plays the video with its boxes while it detects.

Seconds are those of the source, from its first task to its last frame. Processor time covers all threads and processes of a variant, from
the first frames to the last.

A timer fires every 5 ms. A gap is the time between two iterations of the window's event loop minus these 5 ms: how long a user may wait for
a reaction. Gaps are measured while detection runs.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from benchmarks.meters import in_new_process, processor_seconds
from benchmarks.report import spread, table, write
from framefleet.engine.bench.pool_run import Clips
from framefleet.engine.model.load import check_model
from framefleet.engine.pool.events import FramesDone, SourceFinished
from framefleet.engine.pool.pool import EnginePool
from framefleet.engine.run.run import DetectionRun
from framefleet.engine.settings import EngineSettings, ModelFiles, RunSettings
from framefleet.engine.types import DeviceId
from framefleet.resources import DEMO

BEAT_MS = 5
MAX_SLOWER, MAX_GAP_MS = 1.05, 33
"""Targets: the run's time with the window in multiples of that without it, and the 99th percentile of the gaps."""
SIDES = ("pool", "session", "window")


def headless(settings: RunSettings, video: Path, folder: Path, stored: bool) -> dict[str, Any]:
    """Detect without a window."""
    runner: EnginePool | DetectionRun
    if stored:
        runner = DetectionRun(settings, folder / "session.sqlite", check_model(settings.model).labels)
    else:
        runner = EnginePool(settings, settings.devices)
    before: float | None = None
    with runner:
        runner.add(video)
        runner.finish()
        for event in runner.events():
            if isinstance(event, FramesDone) and before is None:
                before = processor_seconds()
            if isinstance(event, SourceFinished):
                assert before is not None, event.error
                result = {"seconds": event.seconds, "processor": processor_seconds() - before}
    return result


def windowed(settings: RunSettings, video: Path, folder: Path) -> dict[str, Any]:
    """Detect in the window, which plays the video meanwhile."""
    from PySide6.QtCore import QSettings, Qt, QTimer

    from framefleet.app.window.main import GarbageCollector, make_application
    from framefleet.app.window.main_window import MainWindow

    application = make_application()
    window = MainWindow(QSettings(str(folder / "settings.ini"), QSettings.Format.IniFormat), folder / "sessions", settings.model)
    window.show()
    garbage = GarbageCollector()
    garbage.start()
    gaps: list[float] = []
    spent: list[float] = []
    last = time.perf_counter()
    pictures = 0

    def beat() -> None:
        nonlocal last
        now = time.perf_counter()
        if window.context.run.running:
            gaps.append((now - last) * 1000 - BEAT_MS)
        last = now

    def count(_: object) -> None:
        nonlocal pictures
        pictures += window.context.run.running

    def follow(key: int) -> None:
        item = window.context.queue.get(key)
        assert item is not None
        if (item.progress.frames and not spent) or item.ended:
            spent.append(processor_seconds())
        if item.ended:
            application.quit()

    window.context.viewer.player.shown.connect(count)
    window.context.run.item_changed.connect(follow)
    pulse = QTimer(interval=BEAT_MS, timerType=Qt.TimerType.PreciseTimer)
    pulse.timeout.connect(beat)
    pulse.start()
    window.open_paths([video])
    application.exec()
    (item,) = window.context.queue
    assert item.progress.finished is not None, item.summary
    platform = application.platformName()
    window.close()
    garbage.stop()
    return {"seconds": item.progress.seconds, "processor": spent[-1] - spent[0], "gaps": gaps, "pictures": pictures, "platform": platform}


def run_side(side: str, settings: RunSettings, video: Path) -> dict[str, Any]:
    """Run one side in this process."""
    with tempfile.TemporaryDirectory() as folder:
        if side == "window":
            return windowed(settings, video, Path(folder))
        return headless(settings, video, Path(folder), stored=side == "session")


def main() -> int:
    """Measure and write the result. Returns 1 if a target is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cfg", type=Path, default=DEMO.cfg, help="its weights lie beside it (the demo's model)")
    parser.add_argument("--video", type=Path, default=DEMO.clip, help="what is repeated (the demo's clip)")
    parser.add_argument("--frames", type=int, default=3000)
    parser.add_argument("--confidence", type=float, default=0.05)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    model = ModelFiles(options.cfg, options.cfg.with_suffix(".weights"))
    settings = RunSettings(model, (DeviceId("cpu", "0"),), engine=EngineSettings(stored_confidence=options.confidence))
    rounds: list[dict[str, dict[str, Any]]] = []
    with tempfile.TemporaryDirectory() as folder:
        video = Clips(Path(folder), options.video).of(options.frames)
        for number in range(options.rounds):
            rounds.append({side: in_new_process(run_side, side, settings, video) for side in SIDES[:: 1 if number % 2 else -1]})
            print(number + 1, {side: f"{rounds[-1][side]['seconds']:.2f} s" for side in SIDES}, file=sys.stderr)
    gaps = np.array([gap for one in rounds for gap in one["window"]["gaps"]])
    rows = []
    for side in SIDES:
        seconds, cost = ([one[side][what] for one in rounds] for what in ("seconds", "processor"))
        ratios = [one[side]["seconds"] / one["session"]["seconds"] for one in rounds]
        costs = [one[side]["processor"] / one["session"]["processor"] for one in rounds]
        rows.append((side, f"{median(seconds):.2f}", spread(ratios), f"{median(cost):.2f}", f"{median(costs):.3f}"))
    shown = median([one["window"]["pictures"] / one["window"]["seconds"] for one in rounds])
    slower = median(one["window"]["seconds"] / one["session"]["seconds"] for one in rounds)
    p99 = float(np.percentile(gaps, 99))
    reached = slower < MAX_SLOWER and p99 < MAX_GAP_MS
    text = (
        f"Targets: window ÷ session below {MAX_SLOWER}, gaps of p99 < {MAX_GAP_MS} ms."
        f" Both reached: {'yes' if reached else '**no**'}.\n\n"
        f"{table(('variant', 'seconds', '÷ session (range)', 'processor seconds', '÷ session'), rows)}\n\n"
        f"Medians of {options.rounds} rounds; {options.frames} frames of {options.video.name}, {options.cfg.stem}, confidence"
        f" {options.confidence}. The window ({rounds[0]['window']['platform']}) showed {shown:.1f} pictures/s meanwhile."
        f"\n\nGaps of the event loop, ms, over all rounds ({len(gaps):,} iterations):"
        f" median {np.median(gaps):.2f}, p99 **{p99:.2f}**, p99.9 {np.percentile(gaps, 99.9):.2f}, longest **{gaps.max():.1f}**."
    )
    libraries = ("PySide6-Essentials", "pyqtgraph", "openvino", "av", "numpy")
    write("window.detection", "What the window costs", f"{text}\n\n{str(__doc__).partition('.')[2].strip()}", libraries, "window")
    return 0 if reached else 1


if __name__ == "__main__":
    sys.exit(main())
