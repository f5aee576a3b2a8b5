"""Measures how many devices of a cluster leave the window smooth: ``python -m benchmarks.cluster_window``.

The real window shows made-up statuses of devices on machines with eight GPUs each, as often as in a run: statuses five times a second,
machines once a second. A timer that should fire every 20 ms shows how long the window's thread is held up. Its processor time is that of
the whole process.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from pathlib import Path

import numpy as np
from PySide6.QtCore import QElapsedTimer, QSettings, QTimer

from app.window.cluster.link import Machine
from app.window.devices.status import DeviceStatus, Phase, Sample
from app.window.main import make_application
from app.window.main_window import MainWindow
from app.window.session.controller import TICK_MS
from benchmarks.meters import in_new_process
from benchmarks.report import table, write
from engine.cluster.messages import Measured, NodeState
from engine.devices.telemetry.snapshot import Telemetry
from engine.types import DeviceId, EngineInfo

GPUS = 8
"""Devices of one machine."""

BEAT_MS = 20
GOAL_MS = 100.0
"""A window that answers within this time seems to answer at once."""


def machines(count: int, random: np.random.Generator) -> tuple[Machine, ...]:
    """The machines of ``count`` devices."""
    made = []
    for node in range((count + GPUS - 1) // GPUS):
        load = random.uniform(80, 100, GPUS)
        devices = tuple(Telemetry(DeviceId("cuda", str(gpu)), utilization=load[gpu], memory_used=10**10) for gpu in range(GPUS))
        measured = Measured(devices, float(random.uniform(1e8, 1e9)), 1e6)
        made.append(Machine(NodeState(time.monotonic(), f"node-{node:03}", "10.0.0.1", False, 0, 10**9, measured), 0.0, 1e6))
    return tuple(made)


def statuses(count: int, random: np.random.Generator) -> tuple[DeviceStatus, ...]:
    """The statuses of ``count`` devices."""
    now, made = time.monotonic(), []
    for number in range(count):
        device = DeviceId("cuda", str(number % GPUS), f"node-{number // GPUS:03}")
        engine = EngineInfo(device, "NVIDIA H200", "TensorRT", "fp16", "made up", 416, 416, 32, 3)
        rate = float(random.uniform(2500, 3500))
        samples = tuple(Sample(now - 30 + at / 2, rate, 8.0, 12.0, "infer") for at in range(60))
        stages = {"decode": 3.0, "infer": 8.0}
        made.append(DeviceStatus(device, Phase.READY, engine=engine, frames=100_000, stages=stages, samples=samples, rate=rate))
    return tuple(made)


def hold_ups(count: int, seconds: float, folder: Path) -> tuple[list[float], float]:
    """The times by which the timer came late, ms, and the processor time that one update takes, ms."""
    os.environ["QT_QPA_PLATFORM"] = "offscreen"
    application = make_application()
    window = MainWindow(QSettings(str(folder / f"{count}.ini"), QSettings.Format.IniFormat), folder)
    window.show()
    random = np.random.default_rng(1)
    prepared = [statuses(count, random) for _ in range(10)]
    turn, late, clock = 0, [], QElapsedTimer()

    def show() -> None:
        nonlocal turn
        turn += 1
        window.controller.devices_changed.emit(prepared[turn % len(prepared)])
        if turn % 5 == 0:
            window.cluster.link.machines_changed.emit(machines(count, random))

    def beat() -> None:
        late.append(max(0.0, clock.nsecsElapsed() / 1e6 - BEAT_MS))
        clock.restart()

    beating, showing = QTimer(interval=BEAT_MS), QTimer(interval=TICK_MS)
    beating.timeout.connect(beat)
    showing.timeout.connect(show)
    window.cluster.link.machines_changed.emit(machines(count, random))
    show()
    application.processEvents()
    showing.start()
    beating.start()
    clock.start()
    used = time.process_time()
    QTimer.singleShot(round(1000 * seconds), application.quit)
    application.exec()
    update = 1000 * (time.process_time() - used) / (turn - 1)
    window.close()
    return late, update


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--devices", type=int, nargs="+", default=[8, 50, 100, 200, 400, 1000])
    parser.add_argument("--seconds", type=float, default=10)
    options = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for count in options.devices:
            late, update = in_new_process(hold_ups, count, options.seconds, Path(folder))
            rows.append([count, *(f"{value:.0f}" for value in (*np.percentile(late, [50, 99]), max(late), update))])
            print(rows[-1], flush=True)
    head = ("devices", "held up, ms: median", "99th percentile", "longest", "processor time for one update, ms")
    note = f"The panel of devices is shown, {options.seconds:.0f} s for each row."
    note += f" Smooth: the 99th percentile is below {GOAL_MS:.0f} ms on an idle machine."
    write(
        "cluster_window",
        "The window and the devices of a cluster",
        f"{table(head, rows)}\n\n{note}",
        ("PySide6-Essentials",),
        "cluster-window",
    )


if __name__ == "__main__":
    main()
