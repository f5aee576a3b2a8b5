"""When something happens in a stored source: objects appear, cross lines and are in zones; how many there are over time; chapters of it."""

from collections.abc import Callable
from enum import IntEnum, StrEnum
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from framefleet.engine.media.types import Chapter, SourceKind
from framefleet.engine.store import sources
from framefleet.engine.store.session import Block, SessionReader, StoredSource
from framefleet.engine.store.zones import read_counts
from framefleet.engine.tracking.appearances import APPEARANCE, GAP, class_appearances, track_appearances
from framefleet.engine.zones.counts import Counts
from framefleet.engine.zones.shapes import Line, ZoneSet

PARTS = 160
"""Number of parts of the time in which ``mean_counts`` counts."""

CHAPTER_GAP = 10.0
"""A class that was not seen for longer, seconds, appears again in a chapter. With less, chapters are too many to choose from."""
MAX_CHAPTERS = 255
"""An MP4 holds no more chapters."""

_ROUNDING = 0.001  # seconds: of durations in containers
_MIN_SECONDS = 1.0  # between two chapters
_MAX_NAMES = 3  # in the title of a chapter


class By(StrEnum):
    """What appears: each track, or objects of a class."""

    TRACK = "track"
    CLASS = "class"


def read_appearances(
    reader: SessionReader, source: int, by: By | None = None, gap: float = GAP, each: Callable[[Block], None] = lambda _: None
) -> NDArray[Any]:
    """Return the appearances in a source, ordered by start: see ``engine.tracking.appearances.APPEARANCE``.

    They end when the frame after their last one begins, so that an appearance of one frame has the length of one frame.
    Only detections that pass the reader's filter count. by: None: tracks if the source has them, else classes. gap: see ``GAP``.
    In a folder of pictures, an appearance of a class lasts one picture, because the next picture may show another place.
    each: called with each block, for a caller that needs more from them.

    Raises ExportError if the session cannot be read.
    """
    parts: list[tuple[NDArray[Any], ...]] = []
    rows: list[NDArray[np.float64]] = []
    for block in reader.blocks(source):
        each(block)
        rows.append(np.stack((block.numbers, block.pts)))
        parts.append((block.numbers[block.frame], block.pts[block.frame], block.class_ids, block.tracks, block.scores))
    if not parts:
        return np.zeros(0, APPEARANCE)
    frames, times, class_ids, tracks, scores = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    if by is None:
        by = By.TRACK if (tracks >= 0).any() else By.CLASS
    indices, starts = np.concatenate(rows, 1)
    ends = np.append(starts[1:], end_of(reader, source))  # a frame is shown until the next one
    if len(epochs := reader.epochs(source)[1:]):  # but not in the gap before an epoch
        last = np.searchsorted(indices, epochs) - 1
        ends[last] = np.minimum(ends[last], starts[last] + float(np.median(np.diff(starts))))
    if by is By.TRACK:
        found = track_appearances(frames, times, class_ids, tracks, scores)
    elif reader.source(source).kind is SourceKind.IMAGES:
        found = class_appearances(frames, times, times, class_ids, scores, 0.0)
    else:
        found = class_appearances(frames, times, ends[np.searchsorted(indices, frames)], class_ids, scores, gap)
    found["end"] = np.maximum(found["end"], ends[np.searchsorted(indices, found["last"])])  # times of failed frames are estimates
    return found


def end_of(reader: SessionReader, source: int) -> float:
    """Return the time at which the last stored frame ends, seconds.

    The frame is shown for as long as the others on average, but not beyond the end of the video.

    Raises ExportError if the session cannot be read.
    """
    times = np.sort(reader.times(source, reader.count(source)))
    info = reader.source(source).info
    last = float(times.max(initial=0.0))
    if len(times) < 2:
        return last + 1 / ((info.rate if info is not None else None) or 1.0)
    gaps = len(reader.epochs(source)) > 1
    end = last + (float(np.median(np.diff(times))) if gaps else float(times[-1] - times[0]) / (len(times) - 1))
    stop = info.begin + info.duration if info is not None and info.duration is not None else end
    return stop if last < stop < end - _ROUNDING else end  # frames of varying lengths: the mean may be longer than what remains


def mean_counts(reader: SessionReader, source: int, end: float = 0.0) -> tuple[dict[int, NDArray[np.float64]], tuple[float, float]]:
    """Return the mean number of objects per frame in ``PARTS`` equal parts of the time, and where these parts begin and end, seconds.

    end: where they end if the last stored frame ends earlier, seconds; the means after that frame are 0.
    Only detections that pass the reader's filter count. The means are float64 (PARTS,), by class id, the most frequent class first. A part
    without frames has those of the part before it.

    Raises ExportError if the session cannot be read.
    """
    begin, last = reader.times(source, 1).max(initial=0.0), end_of(reader, source) if reader.count(source) else 0.0
    end = max(last, end)
    frames, found = np.zeros(PARTS), dict[int, NDArray[np.float64]]()
    for block in reader.blocks(source):
        places = np.clip((block.pts - begin) / max(end - begin, 1e-9) * PARTS, 0, PARTS - 1).astype(np.int64)
        frames += np.bincount(places[block.inferred], minlength=PARTS)
        for class_id in np.unique(block.class_ids).tolist():
            seen = places[block.frame[block.class_ids == class_id]]
            found[class_id] = np.bincount(seen, minlength=PARTS) + found.get(class_id, np.zeros(PARTS))
    known = np.maximum.accumulate(np.where(frames > 0, np.arange(PARTS), 0))
    stored = begin + np.arange(PARTS) / PARTS * (end - begin) < last
    if len(epochs := reader.epochs(source)[1:]):  # nothing is known of the gaps between epochs
        times = reader.times(source, reader.count(source))
        edges = np.stack((times[epochs - 1], times[epochs])) if int(epochs[-1]) < len(times) else np.zeros((2, 0))
        for before, after in np.ceil((edges - begin) / max(end - begin, 1e-9) * PARTS).astype(np.int64).T.tolist():
            stored[before : after - 1] &= frames[before : after - 1] > 0
    ordered = sorted(found, key=lambda class_id: -found[class_id].sum())
    return {class_id: stored * found[class_id][known] / np.maximum(frames[known], 1) for class_id in ordered}, (float(begin), end)


class EventKind(IntEnum):
    """What happens."""

    APPEARANCE = 0
    CROSSING = 1
    VISIT = 2


EVENTS = np.dtype(
    [
        *(("kind", np.int8), ("start", np.float64), ("end", np.float64), ("class_id", np.int64), ("track", np.int64)),
        *(("shape", np.int64), ("forward", np.bool_), ("confidence", np.float64), ("best", np.float64)),
    ]
)
"""One event. start, end: seconds; equal for crossings. track: -1 = of a class. shape: number of the line or zone, -1 = none.
forward: direction of a crossing. confidence, best: of the most confident detection of an appearance, and its time; else NaN and start."""


def read_events(reader: SessionReader, source: StoredSource, zones: ZoneSet | None) -> NDArray[np.void]:
    """Return the events of a source, ordered by start, ``EVENTS`` (n,). zones: for pictures of its size; None = appearances only.

    Raises
    ------
    UsageError
        There are zones, but the source was not tracked, or the model does not have a label of the zones.
    ExportError
        The session cannot be read.
    """
    counts = read_counts(reader, source, zones) if zones is not None and zones.shapes else None
    return events_of(read_appearances(reader, source.number), counts)


def events_of(seen: NDArray[np.void], counts: Counts | None) -> NDArray[np.void]:
    """Return appearances, crossings and visits as events, ordered by start, ``EVENTS`` (n,)."""
    found = _events(EventKind.APPEARANCE, seen, "start", "end")
    found["confidence"], found["best"] = seen["confidence"], seen["best"]
    parts = [found]
    if counts is not None:
        crossings = _events(EventKind.CROSSING, counts.crossings, "time", "time")
        visits = _events(EventKind.VISIT, counts.visits, "begin", "end")
        crossings["forward"] = counts.crossings["forward"]
        crossings["shape"], visits["shape"] = counts.crossings["shape"], counts.visits["shape"]
        parts += [crossings, visits]
    every = np.concatenate(parts)
    return every[np.argsort(every["start"], kind="stable")]


def _events(kind: EventKind, table: NDArray[np.void], start: str, end: str) -> NDArray[np.void]:
    found = np.zeros(len(table), EVENTS)
    found["kind"], found["shape"], found["confidence"] = kind, -1, np.nan
    found["start"], found["end"], found["best"] = table[start], table[end], table[start]
    for name in ("class_id", "track"):
        found[name] = table[name]
    return found


def words(event: NDArray[np.void] | np.void, zones: ZoneSet | None) -> str:
    """What happens in an event, in a few words, such as "crosses Main street forward"."""
    number = int(event["shape"])
    if zones is None or number < 0:
        return "appears"
    shape = zones.shapes[number]
    if isinstance(shape, Line):
        return f"crosses {shape.name} {'forward' if event['forward'] else 'backward'}"
    return f"is in {shape.name}"


def chapters_of(reader: SessionReader, source: int, end: float, counts: Counts | None = None, second: float = 0.0) -> list[Chapter]:
    """Return a chapter for each moment at which a class appears or a line is crossed. What happens together shares one.

    end: of the video, seconds. counts: of the source, None = without crossings. second: when its second frame is shown, seconds; what
    happens before it begins at 0. Times are those of the source.

    Raises ExportError if the session cannot be read.
    """
    least = max(_MIN_SECONDS, end / MAX_CHAPTERS)
    begins: list[tuple[float, list[str]]] = []
    events = events_of(read_appearances(reader, source, By.CLASS, CHAPTER_GAP), counts)
    for event in events[np.isin(events["kind"], (EventKind.APPEARANCE, EventKind.CROSSING))]:
        name = sources.label_of(reader.labels, int(event["class_id"]))
        if event["kind"] == EventKind.CROSSING and counts is not None:
            name += f" {words(event, counts.zones)}"
        if not begins or event["start"] >= begins[-1][0] + least:
            begins.append((float(event["start"]), []))
        if name not in begins[-1][1]:
            begins[-1][1].append(name)
    if begins and begins[0][0] > 0:  # the chapters of an MP4 begin at 0
        if begins[0][0] < second - _ROUNDING:
            begins[0] = (0.0, begins[0][1])
        else:
            begins.insert(0, (0.0, ["Beginning"]))
    ends = [(begin, following) for (begin, _), (following, _) in pairwise([*begins, (end, [])])]
    return [Chapter(_title(names), begin, until) for (begin, until), (_, names) in zip(ends, begins, strict=True) if until > begin]


def _title(names: list[str]) -> str:
    more = len(names) - _MAX_NAMES
    return ", ".join(names[:_MAX_NAMES]) + (f" and {more} more" if more > 0 else "")
