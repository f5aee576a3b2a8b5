"""Tables of what was counted at lines and in zones: crossings, times in zones, counts per interval, and routes (RFC 4180, UTF-8).

Times are seconds of the source. ``clock`` is empty if it is unknown when the source began. Only videos with tracks have rows. The sums over
all videos have rows by clock time, and rows by the time since the first frame (``since_start``) for videos whose clock time is unknown.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from itertools import chain
from typing import Any, TypeAlias
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from framefleet.engine.media.types import SourceKind
from framefleet.engine.notices import ExportError, Notice, Option, UsageError
from framefleet.engine.store.clock import Clock
from framefleet.engine.store.exporters.base import Export, Exporter, Output
from framefleet.engine.store.exporters.csv import offset_of, row, table_file
from framefleet.engine.store.session import SessionReader, StoredSource
from framefleet.engine.store.sources import label_of
from framefleet.engine.store.zones import TrackCounter, TrackTable, require_tracks, zones_for
from framefleet.engine.zones.counts import Counts, Intervals
from framefleet.engine.zones.shapes import Line, Shape

CROSSINGS = ("source", "line", "time", "clock", "track", "class_id", "label", "direction")
ZONE_TIMES = ("source", "zone", "track", "class_id", "label", "begin", "end", "clock", "seconds", "entered", "left")
_INTERVAL = ("start", "end", "clock", "class_id", "label")
LINE_COUNTS = ("source", "line", *_INTERVAL, "forward", "backward")
LINE_TOTALS = ("line", "clock", "since_start", "class_id", "label", "files", "forward", "backward")
ZONE_COUNTS = ("source", "zone", *_INTERVAL, "tracks", "entered", "left", "most_at_once", "mean")
ROUTES = ("source", "from", "to", "class_id", "label", "tracks")
DIRECTIONS = ("backward", "forward")

MAX_INTERVALS = 1_000_000
"""Of one video: each has a row, also an empty one."""

Row: TypeAlias = Iterable[object]
Counted: TypeAlias = Sequence[tuple[StoredSource, Counts]]
_counted: WeakKeyDictionary[SessionReader, dict[tuple[object, ...], Counts | ExportError]] = WeakKeyDictionary()
"""Six tables need the same counts, and counting reads all boxes."""


def _crossings(export: Export, source: StoredSource, counts: Counts) -> Iterator[Row]:
    clock, labels, shapes = Clock.of(export.reader, source), export.labels, counts.zones.shapes
    for number, track, class_id, time, forward in counts.crossings.tolist():
        at = round(time, 6), clock.text(time)
        yield source.name, shapes[number].name, *at, track, class_id, label_of(labels, class_id), DIRECTIONS[forward]


def _zone_times(export: Export, source: StoredSource, counts: Counts) -> Iterator[Row]:
    clock, labels, shapes = Clock.of(export.reader, source), export.labels, counts.zones.shapes
    for number, track, class_id, begin, end, entered, left in counts.visits.tolist():
        times = round(begin, 6), round(end, 6), clock.text(begin), round(end - begin, 6)
        yield source.name, shapes[number].name, track, class_id, label_of(labels, class_id), *times, entered, left


def _line_counts(export: Export, counted: Counted) -> Iterator[tuple[Any, ...]]:
    for source, counts, number, shape, class_id, intervals, heads in _tallied(export, counted, lines=True):
        for head, forward, backward in zip(heads, *_ways(counts, number, class_id, intervals), strict=True):
            yield source.name, shape.name, *head, forward, backward


def _ways(counts: Counts, number: int, class_id: int, intervals: Intervals) -> list[list[int]]:
    """How many objects of a class crossed a line forward, and how many backward, in each interval."""
    mine = _of(counts.crossings, number, class_id)
    return [intervals.counted(mine["time"][mine["forward"] == way]).tolist() for way in (True, False)]


def _line_totals(export: Export, counted: Counted) -> Iterator[Row]:
    """Yield the sums over all files: files that share an interval of the day share a row.

    After a change of the clocks, the times of such files may have different offsets from UTC. Files whose clock time is unknown share rows
    by the time since their first frames, behind the others.
    """
    totals: dict[tuple[int, bool, datetime | float, int, str], tuple[str, int, int, int]] = {}
    names: dict[int, str] = {}
    for source, counts, number, shape, class_id, intervals, heads in _tallied(export, counted, lines=True):
        names[number] = shape.name
        begin = offset_of(export, source, Clock.of(export.reader, source), export.options.interval)[1]
        ways = _ways(counts, number, class_id, intervals)
        for start, (_, _, clock, _, label), forward, backward in zip(intervals.starts.tolist(), heads, *ways, strict=True):
            moment = datetime.fromisoformat(clock) if clock else round(start - begin, 6) + 0.0
            key = number, not clock, moment, class_id, label
            text, files, ahead, back = totals.get(key, (clock, 0, 0, 0))
            totals[key] = min(text, clock), files + 1, ahead + forward, back + backward
    for (place, unknown, moment, *kind), (clock, *sums) in sorted(totals.items(), key=lambda each: each[0]):
        yield names[place], clock, moment if unknown else None, *kind, *sums


def _zone_counts(export: Export, counted: Counted) -> Iterator[Row]:
    for source, counts, number, shape, class_id, intervals, heads in _tallied(export, counted, lines=False):
        mine = _of(counts.visits, number, class_id)
        moved = [intervals.counted(mine[when][mine[how]]).tolist() for when, how in (("begin", "entered"), ("end", "left"))]
        occupied = intervals.occupancy(mine["track"], mine["begin"], mine["end"])
        for head, entered, left, (tracks, most, mean) in zip(heads, *moved, occupied, strict=True):
            yield source.name, shape.name, *head, tracks, entered, left, most, round(mean, 4)


def _routes(export: Export, source: StoredSource, counts: Counts) -> Iterator[Row]:
    shapes = counts.zones.shapes
    for origin, target, class_id, tracks in counts.route_counts().tolist():
        there = shapes[target].name if target >= 0 else None
        yield source.name, shapes[origin].name, there, class_id, label_of(export.labels, class_id), tracks


def _tallied(
    export: Export, counted: Counted, lines: bool
) -> Iterator[tuple[StoredSource, Counts, int, Shape, int, Intervals, list[tuple[object, ...]]]]:
    """Yield the lines, or else the zones, of each source with the classes that they name, or else those of all tracks that count.

    Yields: the source and its counts, number and shape, class id, all intervals of the source, and the cells that describe each interval.
    """
    reader = export.reader
    tracked = sorted({class_id for _, counts in counted for class_id in counts.class_ids.tolist()})
    for source, counts in counted:
        first, last = reader.first_shown(source.number), reader.last_pts(source.number)
        if first is None or last is None:
            continue
        clock, allowed = Clock.of(reader, source), counts.zones.class_ids(reader.labels)
        offset, begin = offset_of(export, source, clock, export.options.interval)
        if last - first > MAX_INTERVALS * export.options.interval:
            days = (last - first) / 86_400
            raise ExportError(
                Notice("store.too_many_intervals", name=source.name, days=days, most=MAX_INTERVALS, option=Option("interval"))
            )
        intervals = Intervals.of(first, last, export.options.interval, offset)
        spans = [
            (max(round(start, 6), round(begin, 6)), round(start + intervals.length, 6), clock.text(start))
            for start in intervals.starts.tolist()
        ]
        for number, shape in enumerate(counts.zones.shapes):
            named = allowed[shape.name]
            wanted = tracked if named is None else sorted(named if reader.classes is None else named & reader.classes)
            if isinstance(shape, Line) == lines:
                for class_id in wanted:
                    label = label_of(export.labels, class_id)
                    yield source, counts, number, shape, class_id, intervals, [(*span, class_id, label) for span in spans]


def _of(table: NDArray[np.void], number: int, class_id: int) -> NDArray[np.void]:
    mine: NDArray[np.void] = table[(table["shape"] == number) & (table["class_id"] == class_id)]
    return mine


def count(export: Export, source: StoredSource) -> Counts | ExportError:
    """Count the tracks of one source, once for all tables. Returns the error if it has no tracks, or its pictures have another shape.

    Raises ExportError if there are no lines and zones, or the model does not have their labels.
    """
    reader, zones = export.reader, export.options.zones
    if zones is None:
        raise ExportError(Notice("store.no_zones", option=Option("zones", "FILE")))
    key = source.number, zones, reader.view
    known = _counted.setdefault(reader, {})
    if key not in known:
        try:
            zones.class_ids(reader.labels)
        except UsageError as error:
            raise ExportError(error.notice) from error
        try:
            require_tracks(reader, source.number)
            fitted, note = zones_for(zones, source)
        except UsageError as error:
            known[key] = ExportError(error.notice)
            return known[key]
        export.notes += [note] if note else []
        counter = TrackCounter(fitted, reader.labels, reader.confidence, reader.classes)
        with reader.unfiltered():
            for block in export.blocks(source):
                counter.add(TrackTable.of(block))
        known[key] = counter.counts()
    return known[key]


def _counts(export: Export) -> Counted:
    """The counts of all videos that can be counted; notes name the others. Raises ExportError if there are only others."""
    counted, misfits = [], []
    for source in export.sources:
        if source.timed:
            found = count(export, source)
            if isinstance(found, ExportError):
                misfits.append(found)
            else:
                counted.append((source, found))
    if misfits and not counted:
        raise misfits[0]
    export.notes += [Notice("store.not_counted", problem=error.notice) for error in misfits]
    return counted


def _table(name: str, heading: tuple[str, ...], rows: Callable[[Export, Counted], Iterable[Row]], needs: str = "") -> Output:
    def write(export: Export) -> None:
        counted = _counts(export)
        with table_file(export, heading) as file:
            file.writelines(row(cells) + "\r\n" for cells in rows(export, counted))

    return Output(name, write, per_session=True, needs=needs)


def _each(rows: Callable[[Export, StoredSource, Counts], Iterator[Row]]) -> Callable[[Export, Counted], Iterator[Row]]:
    """The rows of each source, one source after the other."""
    return lambda export, counted: chain.from_iterable(rows(export, source, counts) for source, counts in counted)


EXPORTER = Exporter(
    "Counts at lines and zones",
    "Crossings, times in zones, counts per interval and routes, for spreadsheets: needs tracks, and lines or zones",
    (
        _table("crossings.csv", CROSSINGS, _each(_crossings), "lines"),
        _table("line-counts.csv", LINE_COUNTS, _line_counts, "lines"),
        _table("line-totals.csv", LINE_TOTALS, _line_totals, "lines"),
        _table("zone-times.csv", ZONE_TIMES, _each(_zone_times), "zones"),
        _table("zone-counts.csv", ZONE_COUNTS, _zone_counts, "zones"),
        _table("routes.csv", ROUTES, _each(_routes)),
    ),
    frozenset((SourceKind.VIDEO, SourceKind.LIVE)),
    options=("zones", "interval", "bom"),
)
