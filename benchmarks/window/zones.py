"""Measures what tracks, lines and events cost in the window: painting 300 tracked boxes with trails, and a list of 100,000 events."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable
from statistics import median

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import numpy as np
from PySide6.QtCore import QSettings, Qt
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QApplication

from benchmarks import report
from benchmarks.tracks.zones import ZONES
from framefleet.app.window.events.panel import EventsPanel
from framefleet.app.window.keys.bindings import Bindings
from framefleet.app.window.viewer.canvas import VideoCanvas
from framefleet.app.window.viewer.filter import ViewFilter
from framefleet.app.window.widgets.appearance import Theme, apply_theme
from framefleet.app.window.zones.counts.counting import Tracks
from framefleet.app.window.zones.drawing.editor import ZoneEditor
from framefleet.app.window.zones.drawing.layer import ZoneLayer
from framefleet.engine.store.appearances import EVENTS
from framefleet.engine.store.zones import TrackTable
from framefleet.engine.tracking.appearances import APPEARANCE
from framefleet.engine.types import Detections, DeviceId, FrameRef, FrameResult
from framefleet.engine.zones.file import read_zones
from framefleet.engine.zones.geometry import HeatMap

OBJECTS, FRAMES, RATE = 300, 200, 25
SIZE = (1920, 1080)
EVENT_ROWS = 100_000
PAINT_GOAL = 8.0
CLASSES = 7


def tracks() -> Tracks:
    """Objects that move straight ahead."""
    random = np.random.default_rng(1)
    start, speed = random.uniform((100, 100), (1700, 900), (OBJECTS, 2)), random.normal(0, 2, (OBJECTS, 2))
    corners = (start + speed * np.arange(FRAMES)[:, None, None]).reshape(-1, 2)
    names, frames = np.tile(np.arange(1, OBJECTS + 1), FRAMES), np.repeat(np.arange(FRAMES), OBJECTS)
    sizes = np.tile(np.array(SIZE, float), (len(frames), 1))
    boxes = np.hstack((corners, corners + np.array((60, 90))))
    table = TrackTable(frames, frames / RATE, names, names % CLASSES, np.full(len(frames), 0.9), boxes, sizes)
    return Tracks(tuple("abcdefg"), table, HeatMap(SIZE), np.zeros(0, APPEARANCE), FRAMES / RATE)


def paint(application: QApplication, shown: Tracks) -> dict[str, list[float]]:
    """Milliseconds of processor time for each picture of 1280×720."""
    assert shown.table is not None
    canvas, editor = VideoCanvas(), ZoneEditor()
    canvas.resize(1280, 720)
    canvas.set_labels(shown.labels)
    canvas.set_filter(ViewFilter(0.2))
    layer = ZoneLayer(canvas, editor)
    layer.set_tracks(shown)
    canvas.show()
    application.processEvents()
    picture = QImage(1280, 720, QImage.Format.Format_RGB32)
    picture.fill(0x808080)
    results = {}
    for name, parts, zones in (
        ("boxes alone", (), False),
        ("with trails", ("trails",), False),
        ("with trails and numbers", ("trails", "numbers"), False),
        ("with trails, numbers, 8 lines and 3 zones", ("trails", "numbers", "zones"), True),
    ):
        if zones:
            editor.load(read_zones(ZONES).scaled_to(SIZE))
        layer.setVisible(bool(parts))
        layer.show_trails, layer.show_zones = "trails" in parts, "zones" in parts
        canvas.show_parts(True, True, "numbers" in parts)
        times = []
        for index in range(100, 180):
            mine = shown.table.frames == index
            found = Detections(
                shown.table.boxes[mine].astype(np.float32),
                shown.table.scores[mine].astype(np.float32),
                shown.table.class_ids[mine].astype(np.int32),
                shown.table.tracks[mine].astype(np.int32),
            )
            result = FrameResult(FrameRef(0, index, index / RATE), DeviceId("cpu", "0"), *SIZE, found)
            canvas.show_picture(picture, SIZE, result)
            layer.set_time(index / RATE)
            start = time.process_time()
            canvas.grab()
            times.append((time.process_time() - start) * 1e3)
        results[name] = times
    return results


def listed(application: QApplication) -> dict[str, list[float]]:
    """Milliseconds of processor time of what a user does with a long list of events."""
    random = np.random.default_rng(1)
    events = np.zeros(EVENT_ROWS, EVENTS)
    events["start"] = np.sort(random.uniform(0, 86_400, EVENT_ROWS))
    events["end"] = events["start"] + random.uniform(0, 60, EVENT_ROWS)
    events["class_id"], events["track"] = random.integers(0, CLASSES, EVENT_ROWS), np.arange(EVENT_ROWS)
    events["shape"], events["confidence"] = -1, random.uniform(0.3, 1, EVENT_ROWS)
    panel = EventsPanel(Bindings(QSettings(os.devnull, QSettings.Format.IniFormat)))
    panel.resize(600, 400)
    panel.show()
    bar = panel.table.verticalScrollBar()

    def scroll() -> None:
        bar.setValue(int(random.uniform(0, bar.maximum())))

    acts: dict[str, Callable[[], object]] = {
        "show the list": lambda: panel.set_events(events, tuple("abcdefg"), None),
        "scroll anywhere": scroll,
        "sort by class": lambda: panel.table.sortByColumn(1, Qt.SortOrder.DescendingOrder),
        "search": lambda: panel.search.setText("" if panel.search.text() else "c"),
        "next event": lambda: panel.step(forward=True),
    }
    results = {}
    for name, act in acts.items():
        times = []
        for _ in range(20):
            start = time.process_time()
            act()
            application.processEvents()
            panel.grab()
            times.append((time.process_time() - start) * 1e3)
        results[name] = times
    return results


def main() -> int:
    """Write the result. Returns 1 if the target for painting is missed."""
    argparse.ArgumentParser(description=__doc__).parse_args()
    application = QApplication([])
    apply_theme(application, Theme.DARK)
    painted, acts = paint(application, tracks()), listed(application)
    good = median(painted["with trails"]) <= PAINT_GOAL
    body = [f"## {OBJECTS} tracked boxes, a picture of 1280×720 (target: {PAINT_GOAL:.0f} ms with trails)", ""]
    body += [report.table(["drawn", "ms of processor time"], [[name, report.spread(times, 1)] for name, times in painted.items()]), ""]
    body += [f"## A list of {EVENT_ROWS:,} events, painted after each step", ""]
    body.append(report.table(["step", "ms of processor time"], [[name, report.spread(times, 1)] for name, times in acts.items()]))
    report.write("window.zones", "Tracks, lines and events in the window", "\n".join(body), ["PySide6-Essentials", "numpy"], "window")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
