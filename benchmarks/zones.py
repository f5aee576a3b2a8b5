"""Counting at lines and in zones against the true objects of the demo's clip, and its speed.

Counts on the true tracks must be exact: what differs there is the counting's fault. What differs on a tracker's tracks only is the
tracker's. ``tests.support.zone_truth`` computes the truth from the renderer's boxes, without the engine's geometry.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import numpy as np

from app.demo import demo_labels, demo_settings
from benchmarks import report
from engine.session import DetectionSession
from engine.store.objects.zones import read_counts
from engine.store.session import SessionReader
from engine.store.tracks import track_session
from engine.tracking.association import overlaps
from engine.tracking.follow import TrackerName
from engine.zones.counter import ZoneCounter
from engine.zones.counts import Counts, counts_of
from engine.zones.file import read_zones
from engine.zones.shapes import Line, ZoneSet
from resources import DEMO
from tests.support.zone_truth import RATE, TrueCrossing, Truth, as_arrays, read_demo_truth, true_crossings, true_seconds

ZONES = Path(__file__).with_name("demo-zones.json")
NEAR = 1.0
"""Seconds between a true crossing and the counted one."""
GOAL = 0.03


@dataclass(frozen=True)
class Found:
    """Counted crossings of one line. missed: true crossings without a count. wrong: counts without a true crossing. twice: repeated."""

    true: int
    counted: int
    missed: int
    wrong: int
    twice: int


def counted_truth(truth: Truth, zones: ZoneSet, visible: bool = False) -> Counts:
    """Count the true tracks. visible: without the boxes that nothing can detect."""
    counter = ZoneCounter(zones)
    counter.add(*as_arrays(truth, visible))
    classes = np.full(max(truth.class_ids) + 1, -1)
    classes[list(truth.class_ids)] = list(truth.class_ids.values())
    return counts_of(counter, classes, dict.fromkeys((shape.name for shape in zones.shapes), None))


def compare(counts: Counts, owner: dict[tuple[int, int], int], true: list[TrueCrossing], number: int) -> Found:
    """Compare the counts of one line with the truth. owner: the object of each track and frame."""
    expected = [each for each in true if each.shape == number]
    used: Counter[int] = Counter()
    wrong = counted = 0
    for crossing in counts.crossings[counts.crossings["shape"] == number]:
        frame, track = round(float(crossing["time"]) * RATE), int(crossing["track"])
        votes = Counter(owner[track, near] for near in range(frame - 12, frame + 13) if (track, near) in owner)
        objects = [name for name, _ in votes.most_common(1)]
        fitting = [
            position
            for position, each in enumerate(expected)
            if each.object in objects and each.forward == crossing["forward"] and abs(each.time - crossing["time"]) < NEAR
        ]
        counted += not (fitting and expected[fitting[0]].ignored)
        used.update(fitting[:1])
        wrong += not fitting
    missed = sum(not each.ignored and position not in used for position, each in enumerate(expected))
    return Found(sum(not each.ignored for each in expected), counted, missed, wrong, sum(used.values()) - len(used))


def owners(reader: SessionReader, truth: Truth) -> dict[tuple[int, int], int]:
    """The object that each track follows in each frame, by track and frame: the one whose box overlaps most, by 0.4 at least."""
    objects, times, boxes = as_arrays(truth)
    frames = np.rint(times * RATE).astype(int)
    found = {}
    for frame in reader.frames(0):
        if frame.detections is None or frame.detections.tracks is None:
            continue
        mine = np.flatnonzero(frames == frame.ref.index)
        tracked = np.flatnonzero(frame.detections.tracks >= 0)
        if len(mine) and len(tracked):
            table = overlaps(frame.detections.boxes[tracked].astype(float), boxes[mine])
            for track, best, share in zip(frame.detections.tracks[tracked].tolist(), table.argmax(1), table.max(1), strict=True):
                if share >= 0.4:
                    found[track, frame.ref.index] = int(objects[mine[best]])
    return found


def detect(folder: Path) -> Path:
    """Detect in the clip. Returns the session."""
    with DetectionSession(demo_settings(), folder / "session.sqlite", demo_labels()) as session:
        session.add(DEMO.clip)
        session.finish()
        for _ in session.events():
            pass
    return folder / "session.sqlite"


def speed(zones: ZoneSet, rounds: int = 5, frames: int = 20_000, objects: int = 10) -> list[float]:
    """Frames per second of the counting alone, in blocks of 25 frames. Objects move at random, and 40 s later new ones come."""
    random = np.random.default_rng(1)
    points = random.uniform(0, 1000, (objects, 2)) + random.normal(0, 4, (frames, objects, 2)).cumsum(0)
    boxes = np.concatenate((points, points + 40), 2).reshape(-1, 4)
    tracks = (np.arange(frames) // 1000 * objects)[:, None] + np.arange(objects)
    times = np.repeat(np.arange(frames) / RATE, objects)
    results = []
    for _ in range(rounds):
        counter, start = ZoneCounter(zones), time.process_time()
        for first in range(0, frames * objects, 25 * objects):
            part = slice(first, first + 25 * objects)
            counter.add(tracks.ravel()[part], times[part], boxes[part])
        results.append(frames / (time.process_time() - start))
    return results


def main() -> int:
    """Write the result. Returns 1 if a goal is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--session", type=Path, help="of an earlier run of 'framefleet demo --headless'; else, the clip is detected first")
    arguments = parser.parse_args()
    zones, truth = read_zones(ZONES), read_demo_truth()
    true, seconds = true_crossings(truth, zones), true_seconds(truth, zones)
    exact, visible = counted_truth(truth, zones), counted_truth(truth, zones, visible=True)
    expected = sorted((each.shape, each.object, each.forward) for each in true)
    is_exact = sorted(zip(*(exact.crossings[name].tolist() for name in ("shape", "track", "forward")), strict=True)) == expected
    lines = [number for number, shape in enumerate(zones.shapes) if isinstance(shape, Line)]
    body, good = [f"Crossings of the {len(true)} true tracks: {'all equal the truth' if is_exact else 'NOT EXACT'}."], is_exact
    with TemporaryDirectory() as folder:
        session = Path(folder) / "copy.sqlite"
        shutil.copy(arguments.session or detect(Path(folder)), session)
        for tracker in TrackerName:
            track_session(session, tracker)
            with SessionReader(session) as reader:
                counts, owner = read_counts(reader, reader.sources()[0], zones), owners(reader, truth)
            rows, total = [], Found(0, 0, 0, 0, 0)
            for number in lines:
                found = compare(counts, owner, true, number)
                rows.append([zones.shapes[number].name, *vars(found).values()])
                total = Found(*(one + other for one, other in zip(vars(total).values(), vars(found).values(), strict=True)))
            rows.append(["**all**", *vars(total).values()])
            error = abs(total.counted - total.true) / total.true
            good &= error <= GOAL and not total.twice
            body += ["", f"## {tracker}: error of the sum {error:.1%}, {total.twice} of {total.true} counted twice (goals: 3 %, none)", ""]
            body.append(report.table(["line", "true", "counted", "missed", "wrong", "twice"], rows))
            times = []
            for number, true_time in seconds.items():
                mine = [table.visits[table.visits["shape"] == number] for table in (visible, counts)]
                own, tracked = (float((visits["end"] - visits["begin"]).sum()) for visits in mine)
                entered = [int(visits["entered"].sum()) for visits in mine]
                times.append([zones.shapes[number].name, f"{true_time:.1f}", f"{own:.1f}", f"{tracked:.1f}", *entered])
            heads = ["zone", "true seconds", "on true tracks", "tracked", "entered, true tracks", "entered, tracked"]
            body += ["", report.table(heads, times)]
    speeds = speed(zones)
    good &= median(speeds) >= 3000
    body += ["", f"Counting alone, 10 objects a frame, {len(zones.shapes)} shapes: {report.spread(speeds, 0)} frames/s (goal 3,000)."]
    report.write("zones", "Counting at lines and in zones", "\n".join(body), ["numpy", "lapx"])
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
