"""The tracks of the shown file in memory: what trails, counts, the heat map and the list of events are made of."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from threading import Event

import numpy as np
from numpy.typing import NDArray

from framefleet.app.window.queue.item import Results
from framefleet.app.window.viewer.filter import ViewFilter
from framefleet.engine.errors import UsageError
from framefleet.engine.media.types import SourceKind
from framefleet.engine.notices import Notice
from framefleet.engine.settings import Track
from framefleet.engine.store.appearances import By, events_of, read_appearances
from framefleet.engine.store.clock import Clock
from framefleet.engine.store.facts import TRACK
from framefleet.engine.store.files import written_here
from framefleet.engine.store.session import SessionReader
from framefleet.engine.store.tracks import why_untracked
from framefleet.engine.store.zones import TrackCounter, TrackTable, read_counts, zones_for
from framefleet.engine.tracking.appearances import APPEARANCE
from framefleet.engine.zones.counts import Counts
from framefleet.engine.zones.geometry import HeatMap, trails, trails_begin
from framefleet.engine.zones.shapes import ZoneSet

_PART = 100_000  # detections counted at once: arrays of this size stay in the processor's cache


@dataclass(frozen=True, eq=False)
class Tracks:
    """What a session says about the objects of one source.

    table: of what is counted; None if nothing can be. tracked: whether objects have tracks. whole: whether all was read; without tracks
    that is not always wanted. length: seconds up to the last frame, or the last position of pictures. untracked: why there are no tracks
    although objects were tracked. pending: the run that goes on will store them. shown: the filter of the heat map and the appearances,
    None = they are not read.
    """

    labels: tuple[str, ...]
    table: TrackTable | None
    heat: HeatMap
    appearances: NDArray[np.void]
    length: float
    tracked: bool = True
    whole: bool = True
    untracked: Notice | None = None
    pending: bool = False
    shown: ViewFilter | None = None

    def trails(self, time: float, tracks: NDArray[np.int64]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """The recent paths of some tracks up to a time, as lines from point to point.

        Returns: x1 y1 x2 y2 of each line, pixels of the source, float64 (n, 4), and the line's track, int64 (n,).
        """
        if self.table is None or not self.tracked:
            return np.zeros((0, 4)), np.zeros(0, np.int64)
        times = self.table.times
        part = slice(np.searchsorted(times, trails_begin(time)), np.searchsorted(times, time, side="right"))
        return trails(self.table.tracks[part], times[part], self.table.boxes[part], tracks)


def read_tracks(results: Results, whole: bool, stop: Event) -> Tracks:
    """Read the objects of one source. Millions of boxes take seconds. whole: also if the source has no tracks.

    stop: ends it early, with a part of the objects.

    Each object in a folder of pictures counts as a track of its own, so that zones can count them.

    Raises ExportError if the session cannot be read.
    """
    with SessionReader(results.database, created=results.created) as reader:
        reader.stop = stop
        source = reader.source(results.source)
        length, tracked = reader.last_pts(source.number) or 0.0, reader.is_tracked(source.number)
        pending = not tracked and reader.facts.get(TRACK, Track.NONE) != Track.NONE and written_here(results.database)
        heat = HeatMap((source.info.width, source.info.height) if source.info is not None else (16, 9))
        if not whole and not tracked:
            return Tracks(reader.labels, None, heat, np.zeros(0, APPEARANCE), length, tracked, whole, pending=pending)
        counted = tracked or source.kind is SourceKind.IMAGES
        tables = [TrackTable.of(block, everything=not tracked) for block in reader.blocks(source.number)] if counted else []
        table = TrackTable.joined(tables) if tables else None
        if table is not None and not tracked:
            table = replace(table, tracks=np.arange(len(table.tracks)))
        untracked = why_untracked(reader, source.number) if tracked else None
        return Tracks(reader.labels, table, heat, np.zeros(0, APPEARANCE), length, tracked, untracked=untracked, pending=pending)


def with_shown(tracks: Tracks, results: Results, shown: ViewFilter, stop: Event) -> Tracks:
    """The tracks with the heat map and the appearances of shown detections. stop: ends it early, with a part of them.

    Raises ExportError if the session cannot be read.
    """
    if tracks.shown == shown or not (tracks.whole or tracks.tracked):
        return tracks
    heat = HeatMap(tracks.heat.size)
    with SessionReader(results.database, shown.confidence, shown.classes, created=results.created) as reader:
        reader.stop = stop
        by = By.TRACK if tracks.tracked and tracks.untracked is None else By.CLASS  # not those of classes if no track passes the filter
        found = read_appearances(reader, results.source, by, each=lambda block: heat.add(block.corners))
        return replace(tracks, heat=heat, appearances=found, shown=shown)


def count(tracks: Tracks, zones: ZoneSet, shown: ViewFilter) -> Counts | None:
    """Count shown tracks at lines and in zones; None without tracks. Raises UsageError if the model does not have a label of the zones."""
    if tracks.table is None:
        return None
    counter, table = TrackCounter(zones, tracks.labels, shown.confidence, shown.classes), tracks.table
    for first in range(0, len(table.times), _PART):
        part = slice(first, first + _PART)
        counter.add(TrackTable(*(getattr(table, name)[part] for name in TrackTable.__dataclass_fields__)))
    return counter.counts()


@dataclass(frozen=True, eq=False)
class Total:
    """What was counted in several files together.

    counts: None if no file could be counted. files: the number of counted ones. others: the names of the others. clock: of the times of
    the counts, which begin with the first file; None if a clock time is unknown, and then the times are those of each file. recorded: the
    times of the first and the last frame of each counted file, seconds, float64 (n, 2).
    """

    counts: Counts | None
    files: int
    others: Sequence[str]
    clock: Clock | None = None
    recorded: NDArray[np.float64] = field(default_factory=lambda: np.zeros((0, 2)))


def count_files(files: Sequence[Results], zones: ZoneSet, shown: ViewFilter, stop: Event) -> Total:
    """Count the shown tracks of several sources together. stop: ends it early, with a part of them.

    Raises ExportError if a session cannot be read.
    """
    found, others = [], []
    for results in files:
        with SessionReader(results.database, shown.confidence, shown.classes, created=results.created) as reader:
            reader.stop = stop
            source = reader.source(results.source)
            try:
                counts = read_counts(reader, source, zones_for(zones, source)[0])
            except UsageError:
                others.append(source.name)
                continue
            span = reader.first_pts(source.number) or 0.0, reader.last_pts(source.number) or 0.0
            found.append((counts, Clock.of(reader, source), span))
    if not found:
        return Total(None, 0, others)
    begins = [clock.started for _, clock, _ in found if clock.started is not None]
    first = min(begins) if len(begins) == len(found) else None
    moved, recorded, tracks = [], [], 0
    for counts, clock, span in found:
        zero = clock.at(0.0)
        start = (zero - first).total_seconds() if zero is not None and first is not None else 0.0
        moved.append(counts.moved(start, tracks))
        recorded.append([start + time for time in span])
        tracks = max([tracks, *(int(table["track"].max(initial=0)) + 1 for table in (moved[-1].crossings, moved[-1].visits))])
    crossings, visits = (np.concatenate([getattr(counts, name) for counts in moved]) for name in ("crossings", "visits"))
    return Total(Counts(zones, crossings, visits), len(found), others, Clock(first) if first is not None else None, np.array(recorded))


def events(tracks: Tracks, counts: Counts | None) -> NDArray[np.void]:
    """The events of the source, see ``EVENTS``."""
    return events_of(tracks.appearances, counts)
