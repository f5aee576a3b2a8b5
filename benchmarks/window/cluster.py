"""Measures with how many cluster devices the window stays smooth: ``python -m benchmarks.window.cluster``.

The real window shows simulated devices on machines with eight GPUs each. As in a session, a thread updates the statistics of each device
twice per second, and the window reads them; it updates the machines once per second.

A timer fires every 5 ms. A gap is the time between two iterations of the window's event loop minus these 5 ms: how long a user may wait for
a reaction. "Work" is the processor time of the window's thread in one iteration. Unlike a gap, it depends little on the machine's load.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
from PySide6.QtCore import QSettings, Qt, QTimer

from benchmarks.meters import in_new_process
from benchmarks.report import table, write
from framefleet.app.window.cluster.link import Machine
from framefleet.app.window.devices.panel import DevicePanel
from framefleet.app.window.main import GarbageCollector, make_application
from framefleet.app.window.main_window import MainWindow
from framefleet.app.window.run.controller import TICK_MS
from framefleet.app.window.run.thread import Feed
from framefleet.engine.cluster.messages import Measured, NodeState
from framefleet.engine.devices.discovery import DeviceDescription
from framefleet.engine.devices.telemetry import Telemetry
from framefleet.engine.pool.events import DeviceReady, DeviceStats, RunFigures, SourceOpened, SourceProgress
from framefleet.engine.types import AS_ASKED, DeviceId, EngineInfo
from tests.support.store import video_info
from tests.support.window import feature

GPUS = 8
"""Devices of one machine."""

BEAT_MS, LOOK_MS, STATS_SECONDS = 5, 1000, 0.5
MAX_P99_MS, MAX_MS = 16.0, 100.0
"""Limits of the gaps of a smooth window."""

SETTLE_MS = 3000


def device_of(number: int) -> DeviceId:
    """The device with this number."""
    return DeviceId("cuda", str(number % GPUS), f"node-{number // GPUS:03}")


def machines(count: int, random: np.random.Generator) -> tuple[Machine, ...]:
    """The machines of ``count`` devices."""
    made = []
    for node in range((count + GPUS - 1) // GPUS):
        load = random.uniform(80, 100, GPUS)
        devices = tuple(Telemetry(DeviceId("cuda", str(gpu)), utilization=load[gpu], memory_used=10**10) for gpu in range(GPUS))
        measured = Measured(devices, float(random.uniform(1e8, 1e9)), 1e6)
        made.append(Machine(NodeState(time.monotonic(), f"node-{node:03}", "10.0.0.1", False, 0, 10**9, measured), 0.0, 1e6))
    return tuple(made)


def fold(feed: Feed, count: int, over: threading.Event) -> None:
    """Fold the events of a run until it is over. Its one source never ends."""
    random = np.random.default_rng(2)
    feed.apply(SourceOpened(0, video_info("street.mp4", 1_000_000)), SourceProgress(Path("street.mp4")))
    for number in range(count):
        device = device_of(number)
        feed.apply(DeviceReady(EngineInfo(device, "NVIDIA H200", "TensorRT", "fp16", AS_ASKED, 416, 416, 32, 3)))
    interval = RunFigures().with_interval(1500, STATS_SECONDS, random.uniform(6, 14, 1500).astype(np.float32))
    run, number = RunFigures(), 0
    began = time.monotonic()
    while not over.is_set():
        if number % count == 0:
            run += interval
        for _ in range(min(count, GPUS)):
            rate, stages = float(random.uniform(2500, 3500)), {"decode": 3.0, "infer": 8.0}
            feed.apply(DeviceStats(device_of(number % count), int(run.frames), rate, 8.0, 12.0, stages, bottleneck="infer", run=run))
            number += 1
        over.wait(max(0.0, began + STATS_SECONDS * number / count - time.monotonic()))


def measure(count: int, seconds: float, opened: int, folder: Path) -> tuple[list[float], list[float]]:
    """Gaps and work of all iterations, ms. opened: number of machines whose devices are shown."""
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    application = make_application()
    window = MainWindow(QSettings(str(folder / f"{count}.ini"), QSettings.Format.IniFormat), folder)
    window.show()
    random, feed, over = np.random.default_rng(1), Feed(), threading.Event()
    garbage = GarbageCollector()
    garbage.start()
    controller = window.context.run

    def tick() -> None:
        taken = feed.take()
        (controller.devices_changed if taken.states_changed else controller.figures_changed).emit(taken.devices)

    def look() -> None:
        window.context.cluster.machines_changed.emit(machines(count, random))

    gaps: list[float] = []
    work: list[float] = []
    last, worked = time.perf_counter(), time.thread_time()

    def beat() -> None:
        nonlocal last, worked
        now, working = time.perf_counter(), time.thread_time()
        gaps.append((now - last) * 1000 - BEAT_MS)
        work.append((working - worked) * 1000)
        last, worked = now, working

    feature(window, DevicePanel).describe_cluster(
        DeviceDescription(device_of(number), "NVIDIA H200", "TensorRT", ("fp16",)) for number in range(count)
    )
    look()
    for heading in list(feature(window, DevicePanel).machines.folds.headings.values())[:opened]:
        heading.click()
    threading.Thread(target=fold, args=(feed, count, over), daemon=True).start()
    timers = []
    for act, interval in ((beat, BEAT_MS), (tick, TICK_MS), (look, LOOK_MS)):
        timer = QTimer(interval=interval, timerType=Qt.TimerType.PreciseTimer)
        timer.timeout.connect(act)
        timer.start()
        timers.append(timer)

    def settled() -> None:
        gaps.clear()
        work.clear()

    QTimer.singleShot(SETTLE_MS, settled)
    QTimer.singleShot(round(1000 * seconds) + SETTLE_MS, application.quit)
    application.exec()
    over.set()
    for timer in timers:
        timer.stop()
    window.close()
    garbage.stop()
    return gaps, work


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--devices", type=int, nargs="+", default=[8, 100, 200, 400, 1000, 2000])
    parser.add_argument("--opened", type=int, default=1, help="machines whose devices are shown, if there are more than four")
    parser.add_argument("--seconds", type=float, default=20)
    options = parser.parse_args()
    rows, smooth = [], 0
    with tempfile.TemporaryDirectory() as folder:
        for count in options.devices:
            gaps, work = in_new_process(measure, count, options.seconds, options.opened if count > 4 * GPUS else 0, Path(folder))
            p99, longest = float(np.percentile(gaps, 99)), max(gaps)
            smooth = count if p99 < MAX_P99_MS and longest < MAX_MS else smooth
            cells = (f"{np.median(gaps):.2f}", f"**{p99:.1f}**", f"**{longest:.0f}**", f"{np.percentile(work, 99):.1f}", f"{max(work):.1f}")
            rows.append([f"{count:,}", f"{-(-count // GPUS)}", *cells])
            print(rows[-1], flush=True)
    head = ("devices", "machines", "gaps, ms: median", "p99", "longest", "work per iteration, ms: p99", "longest")
    result = f"The window stays smooth with **{smooth:,}** devices (gaps: p99 < {MAX_P99_MS:g} ms, longest < {MAX_MS:g} ms)."
    about = str(__doc__).partition("\n\n")[2]
    note = f"Each row: {options.seconds:g} s, after {SETTLE_MS / 1000:g} s. The panel of devices is shown, with {options.opened} machine"
    note += f" opened. Load {os.getloadavg()[0]:.0f} at the end.\n\n{about.strip()}"
    write(
        "window.cluster",
        "The window and the devices of a cluster",
        f"{result}\n\n{table(head, rows)}\n\n{note}",
        ("PySide6-Essentials",),
        "cluster",
    )


if __name__ == "__main__":
    main()
