"""What the window costs: its event loop's gaps, and the time it adds to a detection run.

Three sides run the same detection of the same video at the same settings, in turns, each in a fresh process, so that only the
ratios count: ``pool`` (``EnginePool`` alone), ``session`` (the pool and its database, which is what ``detect`` runs) and
``window`` (the whole application, playing the video with its boxes while it detects). Seconds are those of the source, from its
first task to its last frame; processor time counts all threads of all processes of a side, from the
first frames to the last.

A gap is the time between two turns of the window's event loop beyond the 5 ms at which a timer asks for one: how long the user
waits for a reaction. They are taken while detection runs.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from benchmarks.report import table, write
from engine.model.check import check_model
from engine.pool.events import FramesDone, SourceFinished
from engine.pool.pool import EnginePool
from engine.session import DetectionSession
from engine.settings import EngineSettings, ModelFiles, RunSettings
from engine.types import DeviceId

DEVICE = DeviceId("cpu", "0")
CONFIDENCE = 0.05
BEAT_MS = 5
SIDES = ("pool", "session", "window")


def processor_seconds() -> float:
    """Processor time so far of this process and all that descend from it and are alive."""
    parents, seconds = {}, {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            with contextlib.suppress(OSError):
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
                parents[int(entry.name)] = int(fields[1])
                seconds[int(entry.name)] = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def ours(pid: int) -> bool:
        return pid == os.getpid() or (pid in parents and ours(parents[pid]))

    return sum(spent for pid, spent in seconds.items() if ours(pid))


def headless(settings: RunSettings, video: Path, folder: Path, stored: bool) -> dict[str, Any]:
    """Detect without a window."""
    runner: EnginePool | DetectionSession
    if stored:
        runner = DetectionSession(settings, folder / "session.sqlite", check_model(settings.model).labels)
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

    from app.window.garbage import GarbageCollector
    from app.window.main import make_application
    from app.window.main_window import MainWindow

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
        if window.controller.running:
            gaps.append((now - last) * 1000 - BEAT_MS)
        last = now

    def count(_: object) -> None:
        nonlocal pictures
        pictures += window.controller.running

    def follow(key: int) -> None:
        item = window.items.get(key)
        assert item is not None
        if (item.frames and not spent) or item.ended:
            spent.append(processor_seconds())
        if item.ended:
            application.quit()

    window.viewer.player.shown.connect(count)
    window.controller.item_changed.connect(follow)
    pulse = QTimer(interval=BEAT_MS, timerType=Qt.TimerType.PreciseTimer)
    pulse.timeout.connect(beat)
    pulse.start()
    window.open_paths([video])
    application.exec()
    (item,) = window.items
    assert item.seconds is not None, item.summary
    platform = application.platformName()
    window.close()
    garbage.stop()
    return {"seconds": item.seconds, "processor": spent[-1] - spent[0], "gaps": gaps, "pictures": pictures, "platform": platform}


def run_side(side: str, model: ModelFiles, video: Path) -> dict[str, Any]:
    """Run one side in this process."""
    settings = RunSettings(model, (DEVICE,), engine=EngineSettings(confidence=CONFIDENCE))
    with tempfile.TemporaryDirectory() as folder:
        if side == "window":
            return windowed(settings, video, Path(folder))
        return headless(settings, video, Path(folder), stored=side == "session")


def looped(video: Path, times: int, target: Path) -> Path:
    """A video several times over, packets copied."""
    if times == 1:
        return video
    import av

    with av.open(str(target), "w") as output:
        copy, offset = None, 0
        for _ in range(times):
            with av.open(str(video)) as source:
                track = source.streams.video[0]
                copy = copy or output.add_stream_from_template(track)
                step = 0
                for packet in source.demux(track):
                    if packet.dts is None or packet.pts is None:
                        continue
                    step = max(step, packet.pts + (packet.duration or 1))
                    packet.pts += offset
                    packet.dts += offset
                    packet.stream = copy
                    output.mux(packet)
                offset += step
    return target


def main() -> None:
    """Measure and write the report."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="folder with models/ and video/")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--times", type=int, default=4, help="how often the video is repeated")
    parser.add_argument("--side", choices=SIDES, help=argparse.SUPPRESS)
    parser.add_argument("--video", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    cfg = arguments.data / "models/yolo-fastest-1.1.cfg"
    model = ModelFiles(cfg, cfg.with_suffix(".weights"))
    if arguments.side:
        print(json.dumps(run_side(arguments.side, model, arguments.video)))
        return
    rounds: list[dict[str, dict[str, Any]]] = []
    with tempfile.TemporaryDirectory() as folder:
        video = looped(arguments.data / "video/people.mp4", arguments.times, Path(folder) / "people.mp4")
        for number in range(arguments.rounds):
            order = SIDES if number % 2 == 0 else SIDES[::-1]
            rounds.append({side: _measured(side, arguments.data, video) for side in order})
    gaps = np.array([gap for one in rounds for gap in one["window"]["gaps"]])
    rows = []
    for side in SIDES:
        seconds = [one[side]["seconds"] for one in rounds]
        against = [one[side]["seconds"] / one["session"]["seconds"] for one in rounds]
        cost = [one[side]["processor"] for one in rounds]
        rows.append(
            (
                side,
                f"{median(seconds):.2f}",
                f"**{median(against):.3f}** ({min(against):.3f}–{max(against):.3f})",
                f"{median(cost):.2f}",
                f"{median([one[side]['processor'] / one['session']['processor'] for one in rounds]):.3f}",
            )
        )
    shown = median([one["window"]["pictures"] / one["window"]["seconds"] for one in rounds])
    text = table(("side", "seconds", "÷ session (range)", "processor seconds", "÷ session"), rows)
    text += (
        f"\n\nMedians of {arguments.rounds} rounds; people.mp4 {arguments.times} times over, yolo-fastest-1.1, confidence {CONFIDENCE}."
        f" The window ({rounds[0]['window']['platform']}) showed {shown:.1f} pictures/s meanwhile. Wanted: window ÷ session below 1.05."
        f"\n\nGaps of the event loop, ms, over all rounds ({len(gaps):,} turns): median {np.median(gaps):.2f},"
        f" p99 **{np.percentile(gaps, 99):.2f}**, p99.9 {np.percentile(gaps, 99.9):.2f}, longest **{gaps.max():.1f}**. Wanted: p99 < 33."
    )
    _, _, about = str(__doc__).partition("\n\n")
    write("window", "What the window costs", f"{text}\n\n{about}", ("PySide6-Essentials", "pyqtgraph", "openvino", "av", "numpy"))


def _measured(side: str, data: Path, video: Path) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks.window", "--data", str(data), "--side", side, "--video", str(video)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=os.environ)
    if done.returncode:
        raise SystemExit(done.stderr)
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    print(side, f"{result['seconds']:.2f} s, processor {result['processor']:.2f} s", file=sys.stderr)
    return result


if __name__ == "__main__":
    main()
