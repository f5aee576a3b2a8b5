"""The events of a stored source: when objects appear, cross lines, and are in zones."""

from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from framefleet.engine.store.objects.appearances import read_appearances
from framefleet.engine.store.objects.zones import read_counts
from framefleet.engine.store.session import SessionReader, StoredSource
from framefleet.engine.zones.counts import Counts
from framefleet.engine.zones.shapes import Line, ZoneSet


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

    Raises:
        UsageError: there are zones, but the source was not tracked, or the model does not have a label of the zones.
        ExportError: the session cannot be read.
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
