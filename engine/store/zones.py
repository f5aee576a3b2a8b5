"""Counts the tracks of a stored session at lines and in zones, also while a run writes the session."""

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

from framefleet.engine.notices import Notice, UsageError
from framefleet.engine.store.session import Block, SessionReader, StoredSource
from framefleet.engine.store.tracks import Epochs, tracker_for
from framefleet.engine.tracking import appearances, bytetrack, follow
from framefleet.engine.zones.counter import ZoneCounter
from framefleet.engine.zones.counts import CROSSINGS, VISITS, Counts, counts_of, settle
from framefleet.engine.zones.geometry import HeatMap, distances, reference_points
from framefleet.engine.zones.shapes import ZoneSet

SETTLE_SECONDS = 60.0
"""What is this long past cannot change the counts of a running source any more."""

_PORTION = 50  # frames that are counted at once


@dataclass(frozen=True, eq=False)
class TrackTable:
    """The detections of tracks, in the order of frames.

    frames, tracks, class_ids: int64 (n,). times: seconds, float64 (n,). scores: float64 (n,). boxes: x1 y1 x2 y2, float64 (n, 4). sizes:
    width and height of each detection's picture, float64 (n, 2), pixels.
    """

    frames: NDArray[np.int64]
    times: NDArray[np.float64]
    tracks: NDArray[np.int64]
    class_ids: NDArray[np.int64]
    scores: NDArray[np.float64]
    boxes: NDArray[np.float64]
    sizes: NDArray[np.float64]

    @classmethod
    def of(cls, block: Block, everything: bool = False) -> Self:
        """The tracked detections of some frames. everything: also those without a track, whose track is -1."""
        mine = (block.tracks >= 0) | everything
        sizes = block.sizes.astype(np.float64)
        frame, class_ids, scores = block.frame[mine], block.class_ids[mine], block.scores[mine]
        return cls(block.numbers[frame], block.pts[frame], block.tracks[mine], class_ids, scores, block.corners[mine], sizes[frame])

    @classmethod
    def joined(cls, tables: Sequence[Self]) -> Self:
        """Tables of consecutive frames as one."""
        return cls(*(np.concatenate([getattr(table, field.name) for table in tables]) for field in fields(cls)))


class TrackCounter:
    """Counts the tracks of one source from tables of its frames, which come in order.

    zones: for pictures of the source's size. labels: the model's. confidence, classes: a track counts if its most confident detection
    reaches this confidence, and its class is one of these; None = all.

    Raises UsageError if the model does not have a label of the zones.
    """

    def __init__(self, zones: ZoneSet, labels: tuple[str, ...], confidence: float, classes: frozenset[int] | None) -> None:
        self._zones, self._allowed = zones, zones.class_ids(labels)
        self._confidence, self._classes = confidence, classes
        self._counter = ZoneCounter(zones)
        self._votes: list[tuple[NDArray[np.int64], ...]] = []  # track and class id of each detection
        self._scores: list[NDArray[np.float64]] = []

    def add(self, table: TrackTable) -> None:
        """Count the next frames."""
        boxes = table.boxes * np.tile(np.divide(self._zones.size, table.sizes), 2)
        self._counter.add(table.tracks, table.times, boxes)
        self._votes.append((table.tracks, table.class_ids))
        self._scores.append(table.scores)

    def counts(self) -> Counts:
        """The current counts."""
        if not self._votes:
            return counts_of(self._counter, np.zeros(0, np.int64), self._allowed)
        (tracks, class_ids), scores = map(np.concatenate, zip(*self._votes, strict=True)), np.concatenate(self._scores)
        classes = np.full(len(self._counter.ends), -1, np.int64)
        classes[tracks] = appearances.vote(tracks, class_ids, scores)
        best = np.zeros(len(classes))
        np.maximum.at(best, tracks, scores)
        classes[best < self._confidence] = -1
        if self._classes is not None:
            classes[~np.isin(classes, np.fromiter(self._classes, np.int64, len(self._classes)))] = -1
        return replace(counts_of(self._counter, classes, self._allowed), class_ids=classes[classes >= 0])


def zones_for(zones: ZoneSet, source: StoredSource) -> tuple[ZoneSet, Notice | None]:
    """Fit lines and zones to a source: scaled if its pictures have another size of the same shape, with a note about it.

    Raises UsageError if its pictures have another shape.
    """
    if source.info is None:
        return zones, None
    size = source.info.width, source.info.height
    fitted = zones.scaled_to(size, where=source.name)
    if fitted is zones:
        return zones, None
    drawn, there = ("×".join(map(str, each)) for each in (zones.size, size))
    return fitted, Notice("store.zones_scaled", name=source.name, drawn=drawn, there=there)


def read_counts(reader: SessionReader, source: StoredSource, zones: ZoneSet) -> Counts:
    """Count the tracks of a stored source. zones: for pictures of its size, see ``zones_for``.

    The reader's confidence and classes choose tracks, not detections: a track counts with all its detections.

    Raises
    ------
    UsageError
        The source was not tracked, or the model does not have a label of the zones.
    ExportError
        The session cannot be read.
    """
    require_tracks(reader, source.number)
    counter = TrackCounter(zones, reader.labels, reader.confidence, reader.classes)
    with reader.unfiltered():
        for block in reader.blocks(source.number):
            counter.add(TrackTable.of(block))
    return counter.counts()


def count_pictures(reader: SessionReader, source: StoredSource, zones: ZoneSet) -> NDArray[np.int64]:
    """Count the objects in zones in each picture of a source. Pictures have no tracks, so nothing crosses a line.

    Only detections that pass the reader's filter count. Returns their numbers by zone and picture, int64 (zones, pictures).

    Raises
    ------
    UsageError
        A picture has another shape, or the model does not have a label of the zones.
    ExportError
        The session cannot be read.
    """
    allowed, columns = zones.class_ids(reader.labels), []
    for block in reader.blocks(source.number):
        table = TrackTable.of(block, everything=True)
        for size in {*map(tuple, block.sizes[block.inferred].tolist())}:
            zones.scaled_to(size, where=f"a picture of {source.name}")
        points = reference_points(table.boxes * np.tile(np.divide(zones.size, table.sizes), 2), zones.reference)
        part = np.zeros((len(zones.zones), len(block.frames)), np.int64)
        for number, zone in enumerate(zones.zones):
            wanted = allowed[zone.name]
            inside = distances(points, zone) >= 0
            if wanted is not None:
                inside &= np.isin(table.class_ids, [*wanted])
            part[number] = np.bincount(block.frame[inside], minlength=len(block.frames))
        columns.append(part[:, block.inferred])
    return np.concatenate(columns, 1) if columns else np.zeros((len(zones.zones), 0), np.int64)


def require_any_tracks(reader: SessionReader, sources: Iterable[StoredSource]) -> None:
    """Check that the objects of at least one of the videos were tracked, if there are videos. Raises UsageError if none was."""
    videos = [source.number for source in sources if source.timed]
    if not any(reader.is_tracked(video) for video in videos):
        for video in videos:
            require_tracks(reader, video)


def require_tracks(reader: SessionReader, source: int) -> None:
    """Check that the objects of a source were tracked. Raises UsageError if they were not, with the name of the session if none was."""
    if not reader.is_tracked(source):
        where = reader.source(source).name if reader.has_tracks else reader.path
        raise UsageError(Notice("store.no_tracks", where=where, folder=reader.path.parent))


def read_heat(reader: SessionReader, source: StoredSource) -> HeatMap:
    """Where the objects of a stored source were. Only detections that pass the reader's filter count.

    Raises ExportError if the session cannot be read.
    """
    heat = HeatMap(source.size if source.info is not None else (16, 9))
    for block in reader.blocks(source.number):
        heat.add(block.corners * block.scale_to(heat.size))
    return heat


class LiveCounts:
    """Follows the objects of one source behind the frames that are stored, and counts them.

    Detections and tracks go when they cannot change the counts any more. What was counted in them stays: a few numbers for each crossing
    and visit. Of two tracks that showed one object then, the same one counts for every confidence.

    zones: for pictures of the source's size. Attributes: time: of the last counted frame, seconds.

    Raises
    ------
    UsageError
        The model does not have a label of the zones.
    ExportError
        The session cannot be read.
    """

    def __init__(self, path: Path, source: int, zones: ZoneSet) -> None:
        self._path, self._source, self._zones = path, source, zones
        with SessionReader(path, corrected=False) as reader:
            self._allowed = zones.class_ids(reader.labels)
            tracker = tracker_for(reader, source)
        self._follower = follow.Follower(tracker)
        self._counter = ZoneCounter(zones)
        self._numbers = np.zeros(0, np.int64)  # the tracker's numbers of the counter's tracks
        self._best = np.zeros(0)  # their highest confidences
        self._past = [(np.zeros(0, CROSSINGS), np.zeros(0)), (np.zeros(0, VISITS), np.zeros(0))]  # with the confidences of their tracks
        self._settle_seconds = max(SETTLE_SECONDS, 2 * tracker.patience)
        self._settle_at = -np.inf
        self._last = -1
        self._epoch = 0
        self.time = 0.0

    @property
    def kept(self) -> int:
        """The number of detections, tracks and changes of sides that further frames may need."""
        return len(self._counter.seen.times) + len(self._counter.ends) + len(self._counter.changes)

    def update(self, seconds: float, confidence: float = 0.0, classes: frozenset[int] | None = None) -> Counts:
        """Count the frames that were stored since the last call, for at most this time. The next call goes on behind them.

        confidence, classes: see ``TrackCounter``; each call may have others.
        """
        end = time.monotonic() + seconds
        rows: list[tuple[np.ndarray, ...]] = []
        with SessionReader(self._path, corrected=False) as reader:
            epochs = Epochs(reader, self._source)
            for frame in reader.frames(self._source, self._last):
                if (epoch := epochs.number(frame)) != self._epoch:
                    self._epoch = epoch
                    self._follower.restart()
                frame = frame.scaled_to(self._zones.size)
                places, numbers = self._follower.add(frame)
                followed = numbers != bytetrack.NONE
                which, numbers = places[followed], numbers[followed]
                if frame.detections is not None:
                    scores = np.round(frame.detections.scores[which].astype(np.float64), 4)
                    rows.append((numbers, np.full(len(which), frame.ref.pts), frame.detections.boxes[which], scores))
                self._last, self.time = frame.ref.index, frame.ref.pts
                if len(rows) >= _PORTION:
                    self._count(rows)
                    rows = []
                    if time.monotonic() > end:
                        break
        self._count(rows)
        class_ids = self._class_ids()
        class_ids[self._best < confidence] = -1
        if classes is not None:
            class_ids[~np.isin(class_ids, [*classes])] = -1
        new = counts_of(self._counter, class_ids, self._allowed)
        tables = []
        for (past, best), table, order in zip(self._past, (new.crossings, new.visits), ("time", "begin"), strict=True):
            wanted = (best >= confidence) & (True if classes is None else np.isin(past["class_id"], [*classes]))
            table["track"] = self._numbers[table["track"]]
            joined = np.concatenate((past[wanted], table))
            tables.append(joined[np.argsort(joined[order], kind="stable")])
        crossings, visits = tables
        return Counts(self._zones, crossings, visits)

    def _count(self, rows: list[tuple[np.ndarray, ...]]) -> None:
        if not rows:
            return
        numbers, times, boxes, scores = (np.concatenate(column) for column in zip(*rows, strict=True))
        self._numbers = np.union1d(self._numbers, numbers)  # new tracks have higher numbers, so the others keep their places
        self._best = np.append(self._best, np.zeros(len(self._numbers) - len(self._best)))
        tracks = np.searchsorted(self._numbers, numbers)
        np.maximum.at(self._best, tracks, scores)
        self._counter.add(tracks, times, boxes.astype(np.float64))
        if self.time >= self._settle_at:
            self._settle()

    def _settle(self) -> None:
        """Count what is long past for good."""
        self._settle_at = self.time + self._settle_seconds
        new, kept = settle(self._counter, self._class_ids(), self._allowed, self.time, self._settle_seconds)
        for place, table in enumerate((new.crossings, new.visits)):
            past, best = self._past[place]
            its_best = self._best[table["track"]]
            table["track"] = self._numbers[table["track"]]
            self._past[place] = np.concatenate((past, table)), np.append(best, its_best)
        kept = kept[: len(self._numbers)]
        self._numbers, self._best = self._numbers[kept], self._best[kept]
        self._follower.keep(set(self._numbers.tolist()))

    def _class_ids(self) -> NDArray[np.int64]:
        """The class of each of the counter's tracks; -1 for those that are not certain."""
        found = np.full(len(self._numbers), -1, np.int64)
        certain = self._follower.confirmed
        found[np.searchsorted(self._numbers, certain)] = [self._follower.class_of(number) for number in certain]
        return found
