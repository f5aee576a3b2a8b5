"""Reads the tracks of files in the background, and counts them at lines and in zones, also while a file is detected."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from threading import Event
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QObject, QTimer, Signal

from framefleet.app.window.queue.item import ItemState, QueueItem, Results
from framefleet.app.window.run.background import Background
from framefleet.app.window.viewer.filter import ViewFilter
from framefleet.app.window.widgets.translation import of_engine, translate
from framefleet.engine.media.types import SourceKind
from framefleet.engine.notices import FramefleetError, Notice, UsageError
from framefleet.engine.settings import Track
from framefleet.engine.store.appearances import By, events_of, read_appearances
from framefleet.engine.store.clock import Clock
from framefleet.engine.store.facts import TRACK
from framefleet.engine.store.files import lock_session, written_here
from framefleet.engine.store.session import SessionReader
from framefleet.engine.store.tracks import motion_problem, track_session, track_source, why_untracked
from framefleet.engine.store.zones import LiveCounts, TrackCounter, TrackTable, read_counts, zones_for
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
    although objects were tracked. motion: that they move too far from frame to frame to be followed. pending: the run that goes on will
    store them. shown: the filter of the heat map and the appearances, None = they are not read.
    """

    labels: tuple[str, ...]
    table: TrackTable | None
    heat: HeatMap
    appearances: NDArray[np.void]
    length: float
    tracked: bool = True
    whole: bool = True
    untracked: Notice | None = None
    motion: Notice | None = None
    pending: bool = False
    shown: ViewFilter | None = None

    def trails(self, time: float, tracks: NDArray[np.int64]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """The recent paths of some tracks up to a time, as lines from point to point.

        Returns: x1 y1 x2 y2 of each line, as parts of the picture's width and height, float64 (n, 4), and the line's track, int64 (n,).
        """
        if self.table is None or not self.tracked:
            return np.zeros((0, 4)), np.zeros(0, np.int64)
        times = self.table.times
        part = slice(np.searchsorted(times, trails_begin(time)), np.searchsorted(times, time, side="right"))
        return trails(self.table.tracks[part], times[part], self.table.boxes[part] / np.tile(self.table.sizes[part], 2), tracks)


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
        heat = HeatMap(source.size if source.info is not None else (16, 9))
        if not whole and not tracked:
            return Tracks(reader.labels, None, heat, np.zeros(0, APPEARANCE), length, tracked, whole, pending=pending)
        counted = tracked or source.kind is SourceKind.IMAGES
        tables = [TrackTable.of(block, everything=not tracked) for block in reader.blocks(source.number)] if counted else []
        table = TrackTable.joined(tables) if tables else None
        if table is not None and not tracked:
            table = replace(table, tracks=np.arange(len(table.tracks)))
        untracked = why_untracked(reader, source.number) if tracked else None
        motion = motion_problem(reader, source.number) if tracked and source.complete else None
        none = np.zeros(0, APPEARANCE)
        return Tracks(reader.labels, table, heat, none, length, tracked, untracked=untracked, motion=motion, pending=pending)


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
        found = read_appearances(reader, results.source, by, each=lambda block: heat.add(block.corners * block.scale_to(heat.size)))
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


class Remark(NamedTuple):
    """note: why there are no counts. remark: what happens now. can_track: whether the user can let the objects be tracked."""

    note: str = ""
    remark: str = ""
    can_track: bool = False


def remark_on(tracks: Tracks | None, problem: str, pictures: bool, ended: bool) -> Remark:
    """What to say about the counts of a file.

    tracks: of the file, None until they are read. problem: why nothing could be counted, or "". ended: whether no tracks will follow.
    """
    if tracks is not None and tracks.pending:
        return Remark(problem, translate("zones", "Tracking the objects…"))
    if tracks is not None and not tracks.tracked and (pictures or ended):
        if pictures:
            words = translate("zones", "Zones count the objects of each picture; lines count tracked objects of videos only.")
        else:
            words = translate("zones", "Lines and zones count tracked objects, and these results have no tracks.")
        return Remark(problem or words, can_track=not pictures)
    if not problem and tracks is not None and tracks.motion is not None:
        return Remark(f"{of_engine(tracks.motion, capital=True)}.")
    if not problem and tracks is not None and tracks.untracked is not None:
        return Remark(_words(tracks.untracked))
    return Remark(problem)


def _words(why: Notice) -> str:
    """Why there are no tracks, in the window's language."""
    if why.code == "store.nothing_detected":
        return translate("zones", "Nothing was detected, so there is nothing to count.")
    return translate("zones", "No object could be tracked: {reason}").format(reason=of_engine(why))


REREAD_MS = 2000
"""Time from one reading of a running file to the next, at least."""
LIVE_SECONDS = 0.25
"""Time for counting at once, so that it takes an eighth of a core at most, however fast the devices are."""


@dataclass(frozen=True, eq=False)
class Counted:
    """The tracks of the file with this key, and what was counted for these lines, zones and shown detections.

    problem: why there are no counts, or "".
    """

    key: int
    tracks: Tracks
    counts: Counts | None
    events: NDArray[np.void]
    zones: ZoneSet
    shown: ViewFilter
    problem: str = ""


class Counting(QObject):
    """Counts one file. zones: returns the present lines and zones.

    shown: returns which detections are shown: only they appear, and only tracks that they belong to are counted.

    found: Counted. found_live: Counts and the time up to which they go. failed: why the results cannot be read. Attributes: tracks: of the
    file, None until they are read. whole: whether to read results without tracks, too.
    """

    found = Signal(object)
    found_live = Signal(object, float)
    failed = Signal(str)

    def __init__(
        self,
        background: Background,
        zones: Callable[[], ZoneSet],
        shown: Callable[[], ViewFilter],
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._background, self._zones, self._shown = background, zones, shown
        self.tracks: Tracks | None = None
        self.whole = False
        self._item: QueueItem | None = None
        self._live: tuple[tuple[int, Results, ZoneSet], LiveCounts | partial[LiveCounts]] | None = None
        self._reading = self._stale = self._read_begun = False
        self._stop = Event()
        self._to_track: int | None = None
        self._again = QTimer(self, singleShot=True, interval=REREAD_MS)
        self._again.timeout.connect(self.read)

    def show_item(self, item: QueueItem | None) -> None:
        """Read another file, None = no file."""
        self._stop.set()
        self._item, self.tracks, self._live, self._read_begun = item, None, None, False
        self.read()

    def update_item(self, item: QueueItem) -> None:
        """Read the same file again soon, because it has further results."""
        self._item = item
        self._read_soon()

    def read(self) -> None:
        """Read the file again."""
        item = self._item
        if item is None or (results := item.stored) is None:
            return
        running = item.state is ItemState.RUNNING
        if self._reading:
            self._stale = True
        elif not running or (item.begun is not None and not self._read_begun):
            self._read_begun = running  # the first frames of a file that goes on are read once while it runs: all of them are stored then
            self._start(item, partial(_read_and_count, item.key, results, self._zones(), self._shown(), whole=self.whole))
        elif self._zones().shapes and item.progress.frames:
            self._count_live(item, results)

    def count_again(self) -> None:
        """Count for other lines, zones or shown detections."""
        item = self._item
        if self.tracks is not None and item is not None and (results := item.stored) is not None and not self._reading:
            self._start(item, partial(_count, item.key, results, self.tracks, self._zones(), self._shown()))
        elif item is not None and item.state is ItemState.RUNNING:
            self._read_soon()

    def track(self) -> bool:
        """Follow the objects through the stored results. Returns whether this has begun."""
        item = self._item
        if item is None or item.results is None:
            return False
        if self._reading:
            self._to_track = item.key
            return True
        self._start(item, partial(_track_and_count, item.key, item.results, self._zones(), self._shown()))
        return True

    def _read_soon(self) -> None:
        if not self._again.isActive():
            self._again.start()

    def _count_live(self, item: QueueItem, results: Results) -> None:
        """Count what a run has stored so far. The tracks are stored when it ends."""
        key = item.key, results, self._zones()
        if self._live is None or self._live[0] != key:
            self._live = key, partial(LiveCounts, results.database, results.source, key[2])
        self._reading, self._stale = True, False
        work = partial(_count_live, self._live[1], self._shown())
        self._background.start(self, work, partial(self._counted_live, key), partial(self._failed, item.key))

    def _counted_live(self, key: tuple[int, Results, ZoneSet], counted: tuple[LiveCounts, Counts]) -> None:
        self._reading = False
        if self._live is None or self._live[0] != key or self._item is None or self._item.key != key[0]:
            self.read()
            return
        live, counts = counted
        self._live = key, live
        if self._item.state is not ItemState.RUNNING:
            self._live = None
            self.read()
            return
        self.found_live.emit(counts, live.time)
        self._read_soon()

    def _start(self, item: QueueItem, work: partial[Counted]) -> None:
        self._reading, self._stale = True, False
        self._stop = stop = Event()
        self._background.start(self, partial(work, stop=stop), partial(self._counted, stop), partial(self._failed, item.key), stop)

    def _counted(self, stop: Event, counted: Counted) -> None:
        self._reading = False
        if stop.is_set() or self._item is None:  # another file is shown
            self.read()
            return
        self.tracks = counted.tracks
        self.found.emit(counted)
        if self._to_track == self._item.key:
            self._to_track = None
            self.track()
        elif counted.tracks.pending:
            self._read_soon()
        elif self._stale:
            self.read()
        elif (counted.zones, counted.shown) != (self._zones(), self._shown()):
            self.count_again()

    def _failed(self, key: int, problem: Notice) -> None:
        self._reading = False
        if self._item is None:
            return
        if key != self._item.key or self._stale:  # another file is shown since then, or this one has changed
            self.read()
        else:
            self.failed.emit(of_engine(problem))


def _count_live(live: LiveCounts | partial[LiveCounts], shown: ViewFilter) -> tuple[LiveCounts, Counts]:
    made = live if isinstance(live, LiveCounts) else live()
    return made, made.update(LIVE_SECONDS, shown.confidence, shown.classes)


def _read_and_count(key: int, results: Results, zones: ZoneSet, shown: ViewFilter, *, whole: bool, stop: Event) -> Counted:
    return _count(key, results, read_tracks(results, whole, stop), zones, shown, stop=stop)


def _track_and_count(key: int, results: Results, zones: ZoneSet, shown: ViewFilter, *, stop: Event) -> Counted:
    if written_here(results.database):  # the window's own run may go on with other files
        with SessionReader(results.database, corrected=False, created=results.created) as reader:
            for source in reader.sources():
                if source.complete and source.kind is SourceKind.VIDEO and not reader.is_tracked(source.number):
                    track_source(results.database, source.number, reader.frames(source.number))
    else:
        with lock_session(results.database):
            track_session(results.database)
    return _read_and_count(key, results, zones, shown, whole=True, stop=stop)


def _count(key: int, results: Results, tracks: Tracks, zones: ZoneSet, shown: ViewFilter, *, stop: Event) -> Counted:
    tracks, problem = with_shown(tracks, results, shown, stop), ""
    try:
        counts = count(tracks, zones, shown) if zones.shapes else None
    except FramefleetError as error:
        counts, problem = None, of_engine(error.notice, capital=True)
    return Counted(key, tracks, counts, events(tracks, counts), zones, shown, problem)


MAX_NAMES = 3
"""The largest number of files without counts that a message names."""


class Totals(QObject):
    """Counts all files with the set of lines and zones together, while it is on. files: returns their results.

    found: Total or None, what is wrong, and what they count.
    """

    found = Signal(object, str, str)

    def __init__(
        self,
        background: Background,
        files: Callable[[], list[Results]],
        zones: Callable[[], ZoneSet],
        shown: Callable[[], ViewFilter],
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._background, self._files, self._zones, self._shown = background, files, zones, shown
        self.on = self._reading = self._stale = False
        self._soon = QTimer(self, singleShot=True, interval=REREAD_MS)
        self._soon.timeout.connect(self.count)

    def count_soon(self) -> None:
        """Count again soon, because files have changed."""
        if self.on and not self._soon.isActive():
            self._soon.start()

    def count(self) -> None:
        """Count again."""
        if self._reading or not self.on:
            self._stale = self._reading
            return
        self._reading, self._stale = True, False
        stop = Event()
        work = partial(count_files, self._files(), self._zones(), self._shown(), stop)
        self._background.start(self, work, self._counted, lambda problem: self._end(None, of_engine(problem, capital=True), ""), stop)

    def _counted(self, total: Total) -> None:
        problem = ""
        if total.others:
            names = ", ".join(total.others[:MAX_NAMES]) + (" …" if len(total.others) > MAX_NAMES else "")
            problem = translate("zones", "Without tracks or of another shape: {names}.").format(names=names)
        self._end(total, problem, translate("zones", "The sum of %Ln files.", None, total.files))

    def _end(self, total: Total | None, problem: str, remark: str) -> None:
        self._reading = False
        if self._stale:
            self.count()
        elif self.on:
            self.found.emit(total, problem, remark)
