"""Tables of what was counted at lines and in zones: crossings, times in zones, counts per interval, and routes (RFC 4180, UTF-8).

Times are seconds of the source. ``clock`` is empty if it is unknown when the source began. Only videos with tracks have rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from engine.errors import ExportError, UsageError
from engine.media.types import SourceKind
from engine.store.clock import Clock
from engine.store.exporters.common.base import Export, Exporter, Output
from engine.store.exporters.common.rounding import label_of
from engine.store.exporters.csv import row, table_file
from engine.store.objects.zones import TrackCounter, TrackTable, require_tracks, unfiltered, zones_for
from engine.store.session import SessionReader, StoredSource
from engine.zones.counts import Counts, Intervals
from engine.zones.shapes import Line, Shape

CROSSINGS = ("source", "line", "time", "clock", "track", "class_id", "label", "direction")
ZONE_TIMES = ("source", "zone", "track", "class_id", "label", "begin", "end", "clock", "seconds", "entered", "left")
_INTERVAL = ("start", "end", "clock", "class_id", "label")
LINE_COUNTS = ("source", "line", *_INTERVAL, "forward", "backward")
ZONE_COUNTS = ("source", "zone", *_INTERVAL, "tracks", "entered", "left", "most_at_once", "mean")
ROUTES = ("source", "from", "to", "class_id", "label", "tracks")
DIRECTIONS = ("backward", "forward")

Row = Iterable[object]
_counted: WeakKeyDictionary[SessionReader, dict[tuple[object, ...], Counts]] = WeakKeyDictionary()
"""Five tables need the same counts, and counting reads all boxes."""


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


def _line_counts(export: Export, source: StoredSource, counts: Counts) -> Iterator[Row]:
    for number, shape, class_id, intervals, heads in _tallied(export, source, counts, lines=True):
        mine = _of(counts.crossings, number, class_id)
        ways = [intervals.counted(mine["time"][mine["forward"] == way]).tolist() for way in (True, False)]
        for head, forward, backward in zip(heads, *ways, strict=True):
            yield source.name, shape.name, *head, forward, backward


def _zone_counts(export: Export, source: StoredSource, counts: Counts) -> Iterator[Row]:
    for number, shape, class_id, intervals, heads in _tallied(export, source, counts, lines=False):
        mine = _of(counts.visits, number, class_id)
        moved = [intervals.counted(mine[when][mine[how]]).tolist() for when, how in (("begin", "entered"), ("end", "left"))]
        occupied = intervals.occupancy(mine["begin"], mine["end"])
        for head, entered, left, (tracks, most, mean) in zip(heads, *moved, occupied, strict=True):
            yield source.name, shape.name, *head, tracks, entered, left, most, round(mean, 4)


def _routes(export: Export, source: StoredSource, counts: Counts) -> Iterator[Row]:
    shapes = counts.zones.shapes
    for origin, target, class_id, tracks in counts.route_counts().tolist():
        there = shapes[target].name if target >= 0 else None
        yield source.name, shapes[origin].name, there, class_id, label_of(export.labels, class_id), tracks


def _tallied(
    export: Export, source: StoredSource, counts: Counts, lines: bool
) -> Iterator[tuple[int, Shape, int, Intervals, list[tuple[object, ...]]]]:
    """Yield the lines, or else the zones, with each class that was counted anywhere and may count there.

    Yields: number and shape, class id, the intervals, and the cells that describe each interval.
    """
    reader = export.reader
    first, last = next((rows[0][1] for rows in reader.frame_rows(source.number, 1)), None), reader.last_pts(source.number)
    if first is None or last is None:
        return
    clock, allowed = Clock.of(reader, source), counts.zones.class_ids(reader.labels)
    intervals = Intervals.of(first, last, export.options.interval, clock.since_midnight())
    spans = [(round(start, 6), round(start + intervals.length, 6), clock.text(start)) for start in intervals.starts.tolist()]
    seen = np.unique(np.concatenate((counts.crossings["class_id"], counts.visits["class_id"]))).tolist()
    for number, shape in enumerate(counts.zones.shapes):
        wanted = allowed[shape.name]
        if isinstance(shape, Line) == lines:
            for class_id in [each for each in seen if wanted is None or each in wanted]:
                label = label_of(export.labels, class_id)
                yield number, shape, class_id, intervals, [(*span, class_id, label) for span in spans]


def _of(table: NDArray[np.void], number: int, class_id: int) -> NDArray[np.void]:
    mine: NDArray[np.void] = table[(table["shape"] == number) & (table["class_id"] == class_id)]
    return mine


def count(export: Export, source: StoredSource) -> Counts:
    """Count the tracks of one source, once for all tables.

    Raises:
        ExportError: there are no lines and zones, they do not fit, or the session has no tracks.
    """
    reader, zones = export.reader, export.options.zones
    if zones is None:
        raise ExportError("no lines and zones to count at: give --zones FILE")
    key = source.number, zones, reader.view
    known = _counted.setdefault(reader, {})
    if key not in known:
        try:
            require_tracks(reader, source.number)
            fitted, note = zones_for(zones, source)
            counter = TrackCounter(fitted, reader.labels, reader.confidence, reader.classes)
        except UsageError as error:
            raise ExportError(str(error)) from error
        export.notes += [note] if note else []
        with unfiltered(reader):
            for block in export.blocks(source):
                counter.add(TrackTable.of(block))
        known[key] = counter.counts()
    return known[key]


def _table(name: str, heading: tuple[str, ...], rows: Callable[[Export, StoredSource, Counts], Iterator[Row]]) -> Output:
    def write(export: Export) -> None:
        videos = [source for source in export.sources if source.kind is SourceKind.VIDEO]
        counted = [(source, count(export, source)) for source in videos]
        with table_file(export, heading) as file:
            for source, counts in counted:
                file.writelines(row(cells) + "\r\n" for cells in rows(export, source, counts))

    return Output(name, write, per_session=True)


EXPORTER = Exporter(
    "Counts at lines and zones",
    "Crossings, times in zones, counts per interval and routes, for spreadsheets: needs tracks, and lines or zones",
    (
        _table("crossings.csv", CROSSINGS, _crossings),
        _table("line-counts.csv", LINE_COUNTS, _line_counts),
        _table("zone-times.csv", ZONE_TIMES, _zone_times),
        _table("zone-counts.csv", ZONE_COUNTS, _zone_counts),
        _table("routes.csv", ROUTES, _routes),
    ),
    frozenset((SourceKind.VIDEO,)),
    options=("zones", "interval", "bom"),
)
