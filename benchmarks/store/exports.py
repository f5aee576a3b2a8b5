"""Measures exports of many detections: ``python -m benchmarks.store.exports --formats csv,parquet``."""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import numpy as np

from benchmarks import report
from benchmarks.meters import in_new_process
from framefleet.engine.media.types import SourceInfo, SourceKind
from framefleet.engine.pool.events import Ledger
from framefleet.engine.store import schema
from framefleet.engine.store.export import export_session
from framefleet.engine.store.session import SessionReader, SessionWriter
from framefleet.engine.types import Detections, DeviceId, FrameRef, FrameResult

PER_FRAME = 10
"""Detections in a frame."""

WRITTEN = 100_000
"""Number of frames that are generated. Longer sessions repeat them, which is faster."""


def frames(count: int) -> Iterator[FrameResult]:
    """Yield frames with random boxes of 8 classes, 25 frames/s."""
    random = np.random.default_rng(1)
    for index in range(count):
        corners = random.uniform(0, 900, (PER_FRAME, 2))
        boxes = np.hstack((corners, corners + random.uniform(10, 180, (PER_FRAME, 2)))).astype(np.float32)
        scores = np.sort(random.uniform(0.25, 1, PER_FRAME).astype(np.float32))[::-1].copy()
        found = Detections(boxes, scores, random.integers(0, 8, PER_FRAME).astype(np.int32))
        yield FrameResult(FrameRef(0, index, index / 25), DeviceId("cpu", "0"), 1920, 1080, found)


def store(path: Path, count: int) -> None:
    """Write a session of one video with this number of frames. After the first ``WRITTEN`` frames, it repeats them."""
    labels = [f"class {number}" for number in range(8)]
    with SessionWriter(path, labels, {}) as writer:
        writer.add_source(0, "street.mp4", SourceInfo("street.mp4", SourceKind.VIDEO, "h264", 1920, 1080, count, count / 25, 25.0, ()))
        for frame in frames(min(count, WRITTEN)):
            writer.add_frames((frame,))
        writer.finish_source(0, "street.mp4", Ledger(count, count), 1.0)
        with closing(schema.open_existing(path, "rw")) as connection:
            columns = [name for _, name, *_ in connection.execute("PRAGMA table_info(frames)")]
            for start in range(WRITTEN, count, WRITTEN):
                moved = {"frame": f"frame + {start}", "pts": f"pts + {start / 25}"}
                values = ", ".join(moved.get(name, name) for name in columns)
                connection.execute(f"INSERT INTO frames SELECT {values} FROM frames WHERE frame < {min(WRITTEN, count - start)}")


def measure(session: Path, form: str) -> tuple[float, float, float]:
    """Export once. Returns seconds, processor seconds, and the peak memory of this process in MB."""
    with tempfile.TemporaryDirectory() as folder, SessionReader(session) as reader:
        start, used = time.perf_counter(), time.process_time()
        export_session(reader, Path(folder), [form])
        seconds, processor = time.perf_counter() - start, time.process_time() - used
    return seconds, processor, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000


def main() -> None:
    """Measure each format in new processes, and write the result."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--detections", type=int, default=1_000_000)
    parser.add_argument("--formats", default="csv,parquet,jsonl,coco,mot,cvat,labelstudio,megadetector")
    parser.add_argument("--runs", type=int, default=5)
    arguments = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        session = Path(folder) / "session.sqlite"
        store(session, arguments.detections // PER_FRAME)
        for form in arguments.formats.split(","):
            runs = [in_new_process(measure, session, form) for _ in range(arguments.runs)]
            seconds, processor, memory = zip(*runs, strict=True)
            rows.append((form, report.spread(seconds), report.spread(processor), f"{max(memory):.0f}"))
    body = f"Exports of {arguments.detections:,} detections in {arguments.detections // PER_FRAME:,} frames of one video, warm file cache."
    heading = ("format", "seconds", "processor seconds", "peak memory, MB")
    report.write("store.exports", "Exports of stored results", f"{body}\n\n{report.table(heading, rows)}", ("numpy", "pyarrow"), "store")


if __name__ == "__main__":
    main()
