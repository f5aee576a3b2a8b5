"""Reads and counts the objects of the shown file in the background, also while it is detected."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from threading import Event

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QObject, QTimer, Signal

from framefleet.app.window.queue.item import ItemState, QueueItem, Results
from framefleet.app.window.session.background import Background
from framefleet.app.window.viewer.filter import ViewFilter
from framefleet.app.window.zones.counts.tracks import Tracks, count, events, read_tracks, with_shown
from framefleet.engine.errors import FramefleetError
from framefleet.engine.media.types import SourceKind
from framefleet.engine.store.files import lock_session, written_here
from framefleet.engine.store.session import SessionReader
from framefleet.engine.store.tracks import track_session, track_source
from framefleet.engine.store.zones import LiveCounts
from framefleet.engine.tracking.follow import TrackerName
from framefleet.engine.zones.counts import Counts
from framefleet.engine.zones.shapes import ZoneSet

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
    """Counts one file. zones: returns the present lines and zones. tracker: returns the tracker for results without tracks.

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
        tracker: Callable[[], TrackerName],
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._background, self._zones, self._shown, self._tracker = background, zones, shown, tracker
        self.tracks: Tracks | None = None
        self.whole = False
        self._item: QueueItem | None = None
        self._live: tuple[tuple[int, Results, ZoneSet], LiveCounts | partial[LiveCounts]] | None = None
        self._reading = self._stale = False
        self._stop = Event()
        self._to_track: int | None = None
        self._again = QTimer(self, singleShot=True, interval=REREAD_MS)
        self._again.timeout.connect(self.read)

    def show_item(self, item: QueueItem | None) -> None:
        """Read another file, None = no file."""
        self._stop.set()
        self._item, self.tracks = item, None
        self.read()

    def update_item(self, item: QueueItem) -> None:
        """Read the same file again soon, because it has further results."""
        self._item = item
        self._read_soon()

    def read(self) -> None:
        """Read the file again."""
        item = self._item
        if item is None or item.results is None or item.results.source < 0:
            return
        if self._reading:
            self._stale = True
        elif item.state is not ItemState.RUNNING:
            self._start(item, partial(_read_and_count, item.key, item.results, self._zones(), self._shown(), whole=self.whole))
        elif self._zones().shapes and item.progress.frames:
            self._count_live(item, item.results)

    def count_again(self) -> None:
        """Count for other lines, zones or shown detections."""
        item = self._item
        if self.tracks is not None and item is not None and item.results is not None and not self._reading:
            self._start(item, partial(_count, item.key, item.results, self.tracks, self._zones(), self._shown()))
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
        self._start(item, partial(_track_and_count, item.key, item.results, self._zones(), self._shown(), self._tracker()))
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

    def _failed(self, key: int, problem: str) -> None:
        self._reading = False
        if self._item is not None and key == self._item.key:
            self.failed.emit(problem)


def _count_live(live: LiveCounts | partial[LiveCounts], shown: ViewFilter) -> tuple[LiveCounts, Counts]:
    made = live if isinstance(live, LiveCounts) else live()
    return made, made.update(LIVE_SECONDS, shown.confidence, shown.classes)


def _read_and_count(key: int, results: Results, zones: ZoneSet, shown: ViewFilter, *, whole: bool, stop: Event) -> Counted:
    return _count(key, results, read_tracks(results, whole, stop), zones, shown, stop=stop)


def _track_and_count(key: int, results: Results, zones: ZoneSet, shown: ViewFilter, tracker: TrackerName, *, stop: Event) -> Counted:
    if written_here(results.database):  # the window's own run may go on with other files
        with SessionReader(results.database, corrected=False, created=results.created) as reader:
            for source in reader.sources():
                if source.complete and source.kind is SourceKind.VIDEO and not reader.is_tracked(source.number):
                    track_source(results.database, source.number, tracker, reader.frames(source.number))
    else:
        with lock_session(results.database):
            track_session(results.database, tracker)
    return _read_and_count(key, results, zones, shown, whole=True, stop=stop)


def _count(key: int, results: Results, tracks: Tracks, zones: ZoneSet, shown: ViewFilter, *, stop: Event) -> Counted:
    tracks, problem = with_shown(tracks, results, shown, stop), ""
    try:
        counts = count(tracks, zones, shown) if zones.shapes else None
    except FramefleetError as error:
        counts, problem = None, str(error)
    return Counted(key, tracks, counts, events(tracks, counts), zones, shown, problem)
