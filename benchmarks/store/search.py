"""Measures the search over all stored results: how long an index of many sessions takes, its size, and how long a search takes.

``python -m benchmarks.store.search --files 10000`` writes that many sessions of one video each, a minute long at 1 frame/s (``--rate``),
indexes them, and searches. A few sessions are written frame by frame; the others are copies with another name, indexed like any other.
"""

from __future__ import annotations

import argparse
import shutil
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from benchmarks import report
from framefleet.engine.media.types import SourceInfo, SourceKind
from framefleet.engine.model.files import coco_labels
from framefleet.engine.pool.events import Ledger
from framefleet.engine.store.search import INDEX, Query, SearchIndex
from framefleet.engine.store.session import SessionWriter
from framefleet.engine.types import Detections, DeviceId, FrameRef, FrameResult

SECONDS, TEMPLATES = 60, 20
START = datetime(2026, 11, 1, tzinfo=UTC)


def write_template(path: Path, number: int, rate: float) -> None:
    """Write a session in which the number of persons, cars and seven rarer classes wanders."""
    random = np.random.default_rng(number)
    count, device = round(SECONDS * rate), DeviceId("cpu", "0")
    classes = np.array([0, 2, *random.choice(80, 7, replace=False)], np.int32)
    means = np.array([3.0, 4.0, *[0.1] * 7])
    with SessionWriter(path, coco_labels(), {"model": "tiny"}) as writer:
        source = str(path.with_suffix(".mp4"))
        writer.add_source(0, source, SourceInfo(source, SourceKind.VIDEO, "h264", 1280, 720, count, SECONDS, rate, ()))
        writer.set_start(0, START + timedelta(hours=12 * number))
        walk = np.cumsum(random.normal(0, 0.1, (count, len(classes))), axis=0)
        for frame in range(count):
            ids = np.repeat(classes, random.poisson(np.maximum(means + walk[frame] * (means > 1), 0)))
            corners = random.random((len(ids), 4)).astype(np.float32) * 300
            corners[:, 2:] += corners[:, :2] + 1
            found = Detections(corners, random.uniform(0.1, 1, len(ids)).astype(np.float32), ids.astype(np.int32))
            writer.add_frames([FrameResult(FrameRef(0, frame, frame / rate), device, 1280, 720, found)])
        writer.finish_source(0, source, Ledger(count, count), 1.0)


def main() -> None:
    """Measure, and write the result."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=10_000)
    parser.add_argument("--rate", type=float, default=1.0, help="frames/s of each video")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    rows = list[list[Any]]()

    def measured(name: str, work: Callable[[], Any], rounds: int) -> Any:
        clock, processor, result = [], [], None
        for _ in range(rounds):
            begun = time.perf_counter(), time.process_time()
            result = work()
            clock.append(time.perf_counter() - begun[0])
            processor.append(time.process_time() - begun[1])
        rows.append([name, report.spread(clock), report.spread(processor)])
        print(*rows[-1], flush=True)
        return result

    with TemporaryDirectory() as name:
        folder = Path(name)
        templates = [folder / f"template{number}" / "a.sqlite" for number in range(TEMPLATES)]
        for number, template in enumerate(templates):
            write_template(template, number, options.rate)
        for number in range(options.files):
            shutil.copyfile(templates[number % TEMPLATES], folder / f"{number:05}.sqlite")
        index = SearchIndex(folder)

        def build() -> None:
            for path in index.outdated():
                index.update(path)

        measured("index all sessions once", build, 1)
        measured("look for sessions that are new or changed", index.outdated, options.rounds)
        measured("list the classes", index.labels, options.rounds)
        week = Query(("car",), 6, 0.25, START, START + timedelta(days=7))
        for words, query in (
            ("car, last week, more than five at once", week),
            ("car, at any time, at least one", Query(("car",), 1, 0.1)),
            ("car, at least 20 at once: none", Query(("car",), 20)),
            ("car or person, together at least 8", Query(("car", "person"), 8)),
            ("car or person, together at least 15", Query(("car", "person"), 15)),
            ("any class, at least 10 at once", Query((), 10)),
        ):
            found = measured(words, lambda query=query: index.search(query), options.rounds)  # type: ignore[misc]
            rows[-1][0] += f" ({'more than ' if found.total is None else ''}{found.total or len(found.hits):,} moments)"
        size = (folder / INDEX).stat().st_size / 1e6
    body = (
        f"{options.files:,} sessions of one video each, {SECONDS * options.rate:.0f} frames a video; the index has {size:.0f} MB."
        f" The first search after a start also looks for sessions that are new or changed.\n\n"
        f"{report.table(['step', 'wall time, s', 'processor time, s'], rows)}"
    )
    report.write("store.search", "Search over all stored results", body, ["numpy"], "store")


if __name__ == "__main__":
    main()
