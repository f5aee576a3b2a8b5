"""Compares counts at lines and in zones with the true objects of the demo's clip, and measures the speed of counting.

On the true tracks, a count differs from the truth only if an object appears or disappears within the margin of a line. This concerns no
crossing of the clip, and some crossings of the streets, which last 7 s. On a tracker's tracks, every difference from these counts is an
error of the tracker. ``tests.support.zone_truth`` computes the truth from the renderer's boxes, without the engine's geometry.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import numpy as np
from numpy.typing import NDArray

from benchmarks import report
from benchmarks.tracks import streets
from framefleet.app.demo import demo_labels, demo_settings
from framefleet.engine.run.run import DetectionRun
from framefleet.engine.store.session import SessionReader
from framefleet.engine.store.tracks import track_session
from framefleet.engine.store.zones import read_counts, zones_for
from framefleet.engine.tracking.association import assign, overlaps
from framefleet.engine.tracking.follow import MIN_CONFIDENCE
from framefleet.engine.types import Detections, FrameResult
from framefleet.engine.zones.counter import ZoneCounter
from framefleet.engine.zones.counts import Counts, counts_of
from framefleet.engine.zones.file import read_zones
from framefleet.engine.zones.shapes import Line, ZoneSet
from framefleet.resources import DEMO
from tests.support.zone_truth import RATE, TrueCrossing, Truth, as_arrays, read_street, true_crossings, true_seconds

ZONES = Path(__file__).with_name("demo-zones.json")
NEAR = 1.0
"""Seconds between a true crossing and the counted one."""
NEAREST = 0.4
"""Least intersection over union of a detection and the true object that it shows."""
GOAL = 0.03
EXACT = 0.95
"""Least share of equal crossings on true tracks. Short streets have objects that begin or end within the margin of a line."""


@dataclass(frozen=True)
class Found:
    """Counted crossings of one line. missed: true crossings without a count. wrong: counts without a true crossing. twice: repeated."""

    true: int
    counted: int
    missed: int
    wrong: int
    twice: int


def counted_all(counter: ZoneCounter, truth: Truth) -> Counts:
    """What was counted, if tracks have the numbers of true objects."""
    class_ids = truth.class_ids
    classes = np.full(max(class_ids) + 1, -1)
    classes[list(class_ids)] = list(class_ids.values())
    return counts_of(counter, classes, dict.fromkeys((shape.name for shape in counter.zones.shapes), None))


def counted_truth(truth: Truth, zones: ZoneSet, visible: bool = False) -> Counts:
    """Count the true tracks. visible: without the boxes that nothing can detect."""
    counter = ZoneCounter(zones)
    counter.add(*as_arrays(truth, visible))
    return counted_all(counter, truth)


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


@dataclass(frozen=True, eq=False)
class Near:
    """A frame with its detections and the true objects in it. hidden: whether the truth marks them as ignored. table: overlaps, (n, m)."""

    frame: FrameResult
    detections: Detections
    objects: NDArray[np.int64]
    hidden: NDArray[np.bool_]
    table: NDArray[np.float64]


def near_truth(reader: SessionReader, video: Video) -> Iterator[Near]:
    """Yield the frames in which there are detections and true objects."""
    objects, times, boxes = as_arrays(video.truth)
    frames = np.rint(times * RATE).astype(int)
    ignored = {(name, box.frame) for name, all_ in video.truth.boxes.items() for box in all_ if box.ignored}
    for frame in reader.frames(video.source):
        mine, index = np.flatnonzero(frames == frame.ref.index), frame.ref.index
        if frame.detections is not None and len(mine) and len(frame.detections):
            hidden = np.array([(name, index) in ignored for name in objects[mine].tolist()])
            table = overlaps(frame.detections.boxes.astype(float), boxes[mine])
            yield Near(frame, frame.detections, objects[mine], hidden, table)


def owners(reader: SessionReader, video: Video) -> dict[tuple[int, int], int]:
    """The object that each track follows in each frame, by track and frame.

    As in COCO's evaluation, objects that can be seen come first, each with one detection: a box that fits one person in front of another
    shows the one in front. The other detections follow the object that they fit best.
    """
    found = {}
    for near in near_truth(reader, video):
        if near.detections.tracks is None:
            continue
        tracked = np.flatnonzero(near.detections.tracks >= 0)
        table, seen = near.table[tracked], np.flatnonzero(~near.hidden)
        best = np.where(table.max(1) >= NEAREST, table.argmax(1), -1)
        rows, columns = assign(table[:, seen], NEAREST)
        best[rows] = seen[columns]
        for track, name in zip(near.detections.tracks[tracked].tolist(), best.tolist(), strict=True):
            if name >= 0:
                found[track, near.frame.ref.index] = int(near.objects[name])
    return found


def perfectly_tracked(reader: SessionReader, video: Video) -> Counts:
    """Count what a tracker without errors would make of the detections: each gets the number of the true object that it shows.

    In each frame, a detection shows one object at most, and an object has one detection at most.
    """
    counter = ZoneCounter(video.zones)
    for near in near_truth(reader, video):
        usable = np.flatnonzero(near.detections.scores >= MIN_CONFIDENCE)
        rows, columns = assign(near.table[usable], NEAREST)
        size = np.tile(np.divide(video.zones.size, (near.frame.width, near.frame.height)), 2)
        boxes = near.detections.boxes[usable[rows]].astype(float) * size
        counter.add(near.objects[columns], np.full(len(rows), near.frame.ref.pts), boxes)
    return counted_all(counter, video.truth)


@dataclass(frozen=True)
class Video:
    """A source of a session, its true objects, and lines and zones for its size."""

    source: int
    truth: Truth
    zones: ZoneSet


def detect(folder: Path) -> Path:
    """Detect in the clip. Returns the session."""
    with DetectionRun(demo_settings(), folder / "session.sqlite", demo_labels()) as session:
        session.add(DEMO.clip)
        session.finish()
        for _ in session.events():
            pass
    return folder / "session.sqlite"


def exact_part(videos: Sequence[Video]) -> tuple[str, bool]:
    """Compare the counts on the true tracks with the truth. Returns a sentence, and whether all are equal."""
    total, equal = 0, 0
    for video in videos:
        expected = [(each.shape, each.object, each.forward) for each in true_crossings(video.truth, video.zones)]
        counted = counted_truth(video.truth, video.zones).crossings
        found = Counter(zip(*(counted[name].tolist() for name in ("shape", "track", "forward")), strict=True))
        equal += (found & Counter(expected)).total() - (found - Counter(expected)).total()
        total += len(expected)
    sentence = f"all {total} crossings equal" if equal == total else f"{equal} of {total} crossings equal"
    return f"Counted on the true tracks, {sentence} the truth.", equal >= EXACT * total


def tracked_part(session: Path, videos: Sequence[Video]) -> tuple[str, bool]:
    """Track a session, and compare the counts with the truth. Returns tables, and whether the targets are reached."""
    track_session(session)
    shapes, seconds = videos[0].zones.shapes, np.zeros((len(videos[0].zones.shapes), 5))
    found, on_true, perfect = np.zeros((len(shapes), len(fields(Found))), int), 0, 0
    with SessionReader(session) as reader:
        for video in videos:
            counts = read_counts(reader, reader.sources()[video.source], video.zones)
            owner, true = owners(reader, video), true_crossings(video.truth, video.zones)
            visible = counted_truth(video.truth, video.zones, visible=True)
            themselves = {(name, box.frame): name for name, boxes in video.truth.boxes.items() for box in boxes}
            whole, best = counted_truth(video.truth, video.zones), perfectly_tracked(reader, video)
            for number, shape in enumerate(shapes):
                if isinstance(shape, Line):
                    found[number] += list(vars(compare(counts, owner, true, number)).values())
                    on_true += compare(whole, themselves, true, number).counted
                    perfect += compare(best, themselves, true, number).counted
                    continue
                tables = [table.visits[table.visits["shape"] == number] for table in (visible, counts)]
                inside = [float((visits["end"] - visits["begin"]).sum()) for visits in tables]
                true_time = true_seconds(video.truth, video.zones)[number]
                seconds[number] += [
                    true_time,
                    *inside,
                    *(visits["entered"].sum() for visits in tables),
                ]
    total = Found(*found.sum(0).tolist())
    error = abs(total.counted - on_true) / on_true
    lines = [[shape.name, *row] for shape, row in zip(shapes, found.tolist(), strict=True) if isinstance(shape, Line)]
    times = [
        [shape.name, *(f"{each:.1f}" for each in row[:3]), *map(int, row[3:])]
        for shape, row in zip(shapes, seconds, strict=True)
        if not isinstance(shape, Line)
    ]
    heads = ["zone", "true seconds", "seconds, true tracks", "seconds, tracker", "entries, true tracks", "entries, tracker"]
    body = (
        f"### On the tracks: error of the total {error:.1%}, {total.twice} of {total.true} counted twice (targets: 3 %, none)\n\n"
        f"The true tracks give {on_true} crossings. A tracker without errors would count {perfect} on these detections.\n\n"
        f"{report.table(['line', *vars(total)], [*lines, ['**all**', *vars(total).values()]])}\n\n"
        f"{report.table(heads, times)}"
    )
    return body, error <= GOAL and not total.twice


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
    """Write the result. Returns 1 if a target is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--session", type=Path, help="of an earlier run of 'framefleet demo --headless'; else, the clip is detected first")
    parser.add_argument("--streets", type=Path, help="folder for fresh streets, which are rendered if they are missing")
    parser.add_argument("--added", type=streets.numbers, default=[120000, 130000, 140000], help="to the clip's seeds, for fresh streets")
    arguments = parser.parse_args()
    zones, body, good = read_zones(ZONES), list[str](), True
    with TemporaryDirectory() as folder:
        sets = {"The demo's clip": (arguments.session or detect(Path(folder)), [Video(0, read_street(), zones)])}
        if arguments.streets is not None:
            session = streets.session_of(arguments.streets, arguments.added)
            with SessionReader(session) as reader:
                fresh = [
                    Video(source.number, read_street(streets.truth_of(source.file)), zones_for(zones, source)[0])
                    for source in reader.sources()
                ]
            sets[f"{len(fresh)} fresh streets of {streets.FRAMES} frames, seeds + {', '.join(map(str, arguments.added))}"] = session, fresh
        for name, (session, videos) in sets.items():
            copy = Path(folder) / "copy.sqlite"
            shutil.copy(session, copy)
            parts = [exact_part(videos), tracked_part(copy, videos)]
            body += [f"## {name}", *(text for text, _ in parts)]
            good &= all(met for _, met in parts)
    speeds = speed(zones)
    good &= median(speeds) >= 3000
    body.append(f"Counting alone, 10 objects per frame, {len(zones.shapes)} shapes: {report.spread(speeds, 0)} frames/s (target 3,000).")
    report.write("tracks.zones", "Counting at lines and in zones", "\n\n".join(body), ["numpy", "lapx"], "tracks")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
