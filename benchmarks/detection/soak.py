"""Soak test: detects in recurring sources for a long time, and looks for growth of memory, open files and threads.

24 sources are always queued: a source that ends is added again. Every few seconds, each process of the run is sampled: its own memory (USS:
pages that no other process has), its whole memory (RSS), its open file descriptors and its threads. A line is fitted to the samples after
the warm-up. The growth is the slope of this line times the measured time.

``--window`` does the same in the application's window, which plays one video after the other meanwhile, and measures the gaps of its event
loop. A timer fires every 5 ms. A gap is the time between two iterations of the window's event loop minus these 5 ms: how long a user may
wait for a reaction. Other programs that use the processor make gaps longer, so the processor time of the window's thread per iteration is
measured, too.

``--frames 864000`` ends the run after as many frames as a camera with 30 frames/s records in eight hours. A small network processes them in
less time. Growth with frames, segments, sources and results then shows as in eight hours; growth with time alone does not.

Sources other than videos work, too. Samples are written to a CSV file beside the report as they are taken. SIGTERM and SIGINT end the run
early, with a report. Linux only.
"""

from __future__ import annotations

import argparse
import csv
import os
import platform
import shlex
import signal
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from statistics import median
from typing import TextIO

import numpy as np

from benchmarks.growth import MEASURES, Growth, Use, growths, use_of
from benchmarks.meters import family
from benchmarks.report import LOAD, machine, table
from framefleet.engine.bench.pool_run import Clips
from framefleet.engine.model.load import check_model
from framefleet.engine.pool.events import DeviceFailed, DeviceReady, Event, FramesDone, SourceFinished
from framefleet.engine.run.run import DetectionRun
from framefleet.engine.settings import EngineSettings, ModelFiles, Parallel, Precision, RunSettings
from framefleet.engine.types import DeviceId
from framefleet.resources import DEMO

SOURCES = 24
MIN_SAMPLES = 10
BEAT_MS = 5
SHOWN_SECONDS = 20
"""How long the window shows each video."""
MAX_MEMORY_MB, MAX_DESCRIPTORS, MAX_THREADS, MAX_GAP_MS = 50.0, 3.0, 3.0, 100.0
"""Targets: growth of all processes together after the warm-up, and the 99th percentile of the window's gaps."""


@dataclass
class Meter:
    """Samples all processes of the run. Every sample is written to ``samples`` at once.

    ended: when the run should end, ``monotonic``; None = no end is set yet, since the engines are not ready.
    """

    samples: TextIO
    minutes: float
    most_frames: float
    interval: float
    began: float = field(default_factory=time.monotonic)
    ended: float | None = None
    frames: int = 0
    sources: int = 0
    problems: list[str] = field(default_factory=list)
    rows: list[tuple[float, dict[int, Use]]] = field(default_factory=list)
    _next: float = 0.0
    _said: float = 0.0

    @property
    def over(self) -> bool:
        """Whether the time is up, or all frames are done."""
        return self.ended is not None and (time.monotonic() >= self.ended or self.frames >= self.most_frames)

    def begin(self) -> None:
        """Start the time: all engines are ready."""
        self.began = time.monotonic()
        self.ended = self.began + 60 * self.minutes

    def stop(self, *_: object) -> None:
        """End the run early, as a signal handler."""
        self.ended = time.monotonic()

    def take(self) -> None:
        """Take a sample if one is due."""
        now = time.monotonic()
        if self.ended is None or now < self._next:
            return
        self._next = now + self.interval
        uses = {pid: use for pid in family() if (use := use_of(pid)) is not None}
        seconds = now - self.began
        self.rows.append((seconds, uses))
        writer = csv.writer(self.samples)
        for pid, use in uses.items():
            writer.writerow([round(seconds, 1), self.frames, self.sources, pid, use.uss, use.rss, use.descriptors, use.threads])
        self.samples.flush()
        if now > self._said + 30:
            self._said = now
            sums = {name: sum(getattr(use, name) for use in uses.values()) for name in MEASURES}
            words = ", ".join(f"{name} {value:.0f}" for name, value in sums.items())
            print(f"{seconds:6.0f} s: {self.frames:,} frames, {self.sources} sources; {words}", file=sys.stderr, flush=True)

    def see(self, event: Event) -> None:
        """Count an event of the run."""
        match event:
            case FramesDone(_, frames):
                self.frames += len(frames)
            case DeviceFailed(device, message) if not self.over:
                self.problems.append(f"{device}: {message}")
            case SourceFinished(source, ledger, _, error, cancelled):
                self.sources += not cancelled
                if error is not None or (ledger.failed and not cancelled):
                    self.problems.append(f"source {source}: {error or dict(ledger.failed)}")


def headless(settings: RunSettings, sources: Sequence[Path], folder: Path, meter: Meter, period: float | None) -> None:
    """Detect without a window. period: seconds after which a new session with new workers begins, None = one session."""
    labels = check_model(settings.model).labels
    numbers = 0
    while not meter.over:
        numbers += 1
        database = folder / f"session-{numbers}.sqlite"
        with DetectionRun(settings, database, labels) as session:
            paths = {session.add(source): source for source in sources}
            ready: set[DeviceId] = set()
            until = float("inf")
            for event in session.events():
                meter.see(event)
                meter.take()
                if isinstance(event, DeviceReady):
                    ready.add(event.engine.device)
                    if len(ready) == len(settings.devices) and until == float("inf"):
                        until = time.monotonic() + (period or float("inf"))
                        if meter.ended is None:
                            meter.begin()
                if isinstance(event, SourceFinished):
                    path = paths.pop(event.source)
                    if not event.cancelled and event.error is None:
                        paths[session.add(path)] = path
                if meter.over or time.monotonic() > until or not paths:
                    break
        for file in folder.glob(f"{database.name}*"):
            file.unlink()


def windowed(settings: RunSettings, sources: Sequence[Path], folder: Path, meter: Meter) -> tuple[list[float], list[float]]:
    """Detect in the window, which plays one video after the other.

    Returns the gaps of its event loop while it detects, and the processor time of its thread in each iteration, ms.
    """
    from PySide6.QtCore import QSettings, Qt, QTimer

    from framefleet.app.window.main import GarbageCollector, make_application
    from framefleet.app.window.main_window import MainWindow
    from framefleet.app.window.queue.item import ItemState
    from framefleet.app.window.queue.panel import QueuePanel
    from framefleet.app.window.settings.preferences import Preferences, save
    from tests.support.window import feature

    application = make_application()
    store = QSettings(str(folder / "settings.ini"), QSettings.Format.IniFormat)
    save(Preferences.of(settings.model, **settings.values), store)
    window = MainWindow(store, folder / "sessions")
    window.show()
    garbage = GarbageCollector()
    garbage.start()
    gaps, busy = list[float](), list[float]()
    last, used = time.perf_counter(), time.thread_time()
    keys: list[int] = []
    counted: dict[int, int] = defaultdict(int)

    def beat() -> None:
        nonlocal last, used
        now = time.perf_counter()
        if window.context.run.running and meter.ended is not None:
            gaps.append((now - last) * 1000 - BEAT_MS)
            busy.append((time.thread_time() - used) * 1000)
        meter.take()
        last, used = time.perf_counter(), time.thread_time()  # the time for a sample does not count as the window's work
        if meter.over:
            application.quit()

    def follow(key: int) -> None:
        item = window.context.queue.get(key)
        if item is None:
            return
        if meter.ended is None and item.progress.frames:
            meter.begin()
            turn.start()
        meter.frames += max(item.progress.frames - counted[key], 0)
        counted[key] = item.progress.frames
        if item.ended:
            meter.sources += 1
            if item.state is not ItemState.DONE:
                meter.problems.append(f"{item.path}: {item.explanation}")
            counted[key] = 0
            QTimer.singleShot(0, lambda: window.context.run.detect_again(key))

    def show_next() -> None:
        keys[:] = keys or [item.key for item in window.context.queue]
        feature(window, QueuePanel).show_item(keys.pop(0))

    window.context.run.item_changed.connect(follow)
    turn = QTimer(interval=1000 * SHOWN_SECONDS)
    turn.timeout.connect(show_next)
    pulse = QTimer(interval=BEAT_MS, timerType=Qt.TimerType.PreciseTimer)
    pulse.timeout.connect(beat)
    pulse.start()
    window.open_paths(list(sources))
    application.exec()
    pulse.stop()
    window.close()
    garbage.stop()
    return gaps, busy


def report(meter: Meter, warm_up: float, gaps: Sequence[float], busy: Sequence[float]) -> tuple[str, bool]:
    """The result in words, and whether the targets are reached."""
    rows = [(seconds, uses) for seconds, uses in meter.rows if seconds >= warm_up]
    if len(rows) < MIN_SAMPLES:
        return f"Only {len(rows)} samples after the warm-up of {warm_up:.0f} s: run longer.", False
    whole, each = growths(rows)
    limits = {"uss": MAX_MEMORY_MB, "descriptors": MAX_DESCRIPTORS, "threads": MAX_THREADS}
    reached = all(whole[name].fitted < limit for name, limit in limits.items()) and not meter.problems
    names = {"uss": "memory (USS), MB", "rss": "RSS, MB", "descriptors": "open descriptors", "threads": "threads"}

    def row(name: str, growth: Growth, limit: float | None) -> list[object]:
        target = "" if limit is None else f"< {limit:.0f}"
        return [name, *(f"{value:.1f}" for value in (growth.first, growth.last, growth.most)), f"{growth.fitted:+.1f}", target]

    lines = [row(names[name], whole[name], limits.get(name)) for name in MEASURES]
    lines += [row(f"USS of {'this process' if pid == os.getpid() else f'process {pid}'}", growth, None) for pid, growth in each.items()]
    measured = meter.rows[-1][0] - warm_up
    text = f"{meter.frames:,} frames of {meter.sources} sources in {meter.rows[-1][0] / 60:.1f} minutes; {measured / 60:.1f} of them after"
    text += f" the warm-up. {len(meter.rows)} samples.\n\n"
    text += table(["", "first", "last", "maximum", "growth (fitted)", "target"], lines)
    if gaps:
        p99 = float(np.percentile(gaps, 99))
        reached &= p99 < MAX_GAP_MS
        text += f"\n\nGaps of the window's event loop: median {median(gaps):.1f} ms, p99 **{p99:.1f} ms** (target < {MAX_GAP_MS:.0f}),"
        text += f" longest {max(gaps):.0f} ms, {len(gaps):,} iterations."
        text += f" Processor time per iteration: p99 {np.percentile(busy, 99):.1f} ms, longest {max(busy):.0f} ms."
    if meter.problems:
        text += "\n\nProblems:\n\n" + "\n".join(f"- {problem}" for problem in dict.fromkeys(meter.problems))
    return text, reached


def made_sources(folder: Path) -> list[Path]:
    """The demo's clip, repeated to different lengths."""
    clips = Clips(folder, DEMO.clip)
    return [clips.of(300 * (1 + number % 6)) for number in range(SOURCES)]


def main() -> int:
    """Measure and write the result. Returns 1 if a target is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cfg", type=Path, default=DEMO.cfg, help="the demo's model")
    parser.add_argument("--weights", help="a path or random:SEED (beside the cfg)")
    parser.add_argument("--devices", default="cpu:0", help="such as cuda:0 or cpu:0,cpu:1 (cpu:0)")
    parser.add_argument("--parallel", type=Parallel, default=Parallel.AUTO)
    parser.add_argument("--precision", type=Precision, default=Precision.AUTO)
    parser.add_argument("--batch", type=int, help="frames per inference (the backend's choice)")
    parser.add_argument("--confidence", type=float, default=0.25)
    parser.add_argument("--sources", type=Path, help=f"a folder of videos, which make {SOURCES} sources (the demo's clip, repeated)")
    parser.add_argument("--minutes", type=float, help="from the first engine's readiness (20; without limit if --frames is given)")
    parser.add_argument("--frames", type=float, default=float("inf"), help="end after this number of frames")
    parser.add_argument("--warm-up", type=float, help="minutes that do not count (a fifth)")
    parser.add_argument("--interval", type=float, default=3.0, help="seconds between samples (3)")
    parser.add_argument("--session-seconds", type=float, help="begin a new session, with new workers, after each of these (one session)")
    parser.add_argument("--window", action="store_true", help="in the application's window")
    parser.add_argument("--out", type=Path, default=Path("soak.md"), help="the report; samples go to the same name with .csv (soak.md)")
    options = parser.parse_args()
    devices = tuple(map(DeviceId.parse, options.devices.split(",")))
    model = ModelFiles(options.cfg, options.weights or options.cfg.with_suffix(".weights"))
    engine = EngineSettings(precision=options.precision, batch=options.batch, stored_confidence=options.confidence)
    settings = RunSettings(model, devices, parallel=options.parallel, engine=engine)
    minutes = options.minutes or (20.0 if options.frames == float("inf") else float("inf"))
    options.out.parent.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        if options.sources is None:
            sources = made_sources(folder)
        else:
            found = sorted(path for path in options.sources.iterdir() if path.is_file())
            sources = [found[number % len(found)] for number in range(SOURCES)]
        samples = stack.enter_context(options.out.with_suffix(".csv").open("w", newline=""))
        csv.writer(samples).writerow(["seconds", "frames", "sources", "process", "uss MB", "rss MB", "descriptors", "threads"])
        meter = Meter(samples, minutes, options.frames, options.interval)
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, meter.stop)
        gaps, busy = list[float](), list[float]()
        if options.window:
            gaps, busy = windowed(settings, sources, folder, meter)
        else:
            headless(settings, sources, folder, meter, options.session_seconds)
    measured = meter.rows[-1][0] if meter.rows else 0.0
    text, reached = report(meter, measured / 5 if options.warm_up is None else 60 * options.warm_up, gaps, busy)
    facts = f"{date.today()}; {machine()}, load {LOAD:.1f} before, {os.getloadavg()[0]:.1f} after; Python {platform.python_version()}\n\n"
    facts += f"`{shlex.join(['python', '-m', 'benchmarks.detection.soak', *sys.argv[1:]])}`"
    body = f"# Soak test\n\n{facts}\n\nAll targets reached: {'yes' if reached else '**no**'}.\n\n{text}\n"
    options.out.write_text(body)
    print(body)
    return 0 if reached else 1


if __name__ == "__main__":
    sys.exit(main())
