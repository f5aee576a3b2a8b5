"""Measures how long tracking, counting and reading take for one hour of video with two million boxes.

    python -m benchmarks.store.hour [--minutes 60] [--rounds 3]

Objects cross the picture at random; every 40 s, new ones replace them. The session is written once, then tracked and counted. Wall time and
processor time are those of one process.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from benchmarks import report
from benchmarks.tracks.zones import ZONES
from framefleet.engine.media.types import SourceInfo, SourceKind
from framefleet.engine.pool.events import Ledger
from framefleet.engine.store.appearances import read_events
from framefleet.engine.store.session import SessionReader, SessionWriter
from framefleet.engine.store.tracks import track_session
from framefleet.engine.store.zones import read_counts
from framefleet.engine.types import Detections, DeviceId, FrameRef, FrameResult
from framefleet.engine.zones.file import read_zones

RATE, OBJECTS, LIFE = 25, 23, 1000
CPU = DeviceId("cpu", "0")
WIDTH, HEIGHT = 1280, 720


def frames(count: int) -> Iterator[FrameResult]:
    """Frames of ``OBJECTS`` moving objects, a few of which are missed in each, or found with little confidence."""
    random = np.random.default_rng(1)
    for first in range(0, count, LIFE):
        start = random.uniform(0, (WIDTH, HEIGHT), (OBJECTS, 2))
        way = random.uniform(0, (WIDTH, HEIGHT), (OBJECTS, 2)) - start
        size = random.uniform(20, 80, (OBJECTS, 2))
        class_ids = random.integers(0, 3, OBJECTS).astype(np.int32)
        for frame in range(first, min(first + LIFE, count)):
            centre = start + way * ((frame - first) / LIFE) + random.normal(0, 0.5, (OBJECTS, 2))
            scores = np.clip(random.normal(0.8, 0.12, OBJECTS), 0.1, 0.99).astype(np.float32)
            order = np.argsort(-scores)[: OBJECTS - int(random.integers(0, 3))]
            boxes = np.concatenate((centre - size / 2, centre + size / 2), 1).astype(np.float32)
            found = Detections(boxes[order], scores[order], class_ids[order])
            yield FrameResult(FrameRef(0, frame, frame / RATE), CPU, WIDTH, HEIGHT, found)


def write(path: Path, count: int) -> int:
    """Write the session. Returns the number of boxes."""
    boxes = 0
    with SessionWriter(path, ("person", "car", "bus"), {}) as writer:
        writer.add_source(0, "hour.mp4", SourceInfo("hour.mp4", SourceKind.VIDEO, "h264", WIDTH, HEIGHT, count, count / RATE, RATE, ()))
        part: list[FrameResult] = []
        for frame in frames(count):
            part.append(frame)
            boxes += len(frame.detections or ())
            if len(part) == 1000:
                writer.add_frames(part)
                part = []
        writer.add_frames(part)
        writer.finish_source(0, "hour.mp4", Ledger(count, count), 1.0)
    return boxes


def main() -> None:
    """Measure, and write the result."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    count, zones, rows = round(options.minutes * 60 * RATE), read_zones(ZONES), []

    def measured(name: str, work: Callable[[], Any], rounds: int = options.rounds) -> Any:
        clock, processor, result = [], [], None
        for _ in range(rounds):
            begun = time.perf_counter(), time.process_time()
            result = work()
            clock.append(time.perf_counter() - begun[0])
            processor.append(time.process_time() - begun[1])
        rows.append([name, report.spread(clock, 2), report.spread(processor, 2), f"{count / np.median(processor):,.0f}"])
        print(*rows[-1], flush=True)
        return result

    with TemporaryDirectory() as folder:
        path = Path(folder) / "session.sqlite"
        boxes = write(path, count)
        ((_, tracks, _),) = measured("track", partial(track_session, path), 1)
        size = path.stat().st_size / 1e6

        def first_page() -> None:
            with SessionReader(path) as reader:
                reader.sources(), reader.tracks(0), next(reader.frames(0)), [*reader.blocks(0, first=count // 2, last=count // 2 + 100)]

        measured("open: sources, tracks, the boxes of 100 frames", first_page)
        with SessionReader(path) as reader:
            source = reader.sources()[0]
            counts = measured(f"count at {len(zones.shapes)} lines and zones", lambda: read_counts(reader, source, zones))
            events = measured("list of events", lambda: read_events(reader, source, zones))
    body = (
        f"{count:,} frames, {boxes:,} boxes, {tracks:,} tracks, {len(counts.crossings):,} crossings, {len(events):,} events;"
        f" the session has {size:.0f} MB.\n\n"
        f"{report.table(['step', 'wall time, s', 'processor time, s', 'frames per second of processor time'], rows)}"
    )
    report.write("store.hour", "An hour with two million boxes", body, ["numpy", "lapx"], "store")


if __name__ == "__main__":
    main()
