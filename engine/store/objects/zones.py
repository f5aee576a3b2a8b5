"""Counts the tracks of a stored session at lines and in zones."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from typing import Self

import numpy as np
from numpy.typing import NDArray

from framefleet.engine.errors import UsageError
from framefleet.engine.media.types import SourceKind
from framefleet.engine.store.blocks import Block, read_blocks
from framefleet.engine.store.session import SessionReader, StoredSource
from framefleet.engine.store.tracks import tracker_of
from framefleet.engine.tracking.appearances import vote
from framefleet.engine.zones.counter import ZoneCounter
from framefleet.engine.zones.counts import Counts, counts_of
from framefleet.engine.zones.geometry import HeatMap, distances, reference_points
from framefleet.engine.zones.shapes import ZoneSet


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
        sizes = np.array([(frame.width, frame.height) for frame in block.frames], np.float64).reshape(-1, 2)
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
        classes[tracks] = vote(tracks, class_ids, scores)
        best = np.zeros(len(classes))
        np.maximum.at(best, tracks, scores)
        classes[best < self._confidence] = -1
        if self._classes is not None:
            classes[~np.isin(classes, np.fromiter(self._classes, np.int64, len(self._classes)))] = -1
        return counts_of(self._counter, classes, self._allowed)


def zones_for(zones: ZoneSet, source: StoredSource) -> tuple[ZoneSet, str | None]:
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
    return fitted, f"{source.name}: lines and zones drawn for {drawn} pixels are scaled to {there}"


def read_counts(reader: SessionReader, source: StoredSource, zones: ZoneSet) -> Counts:
    """Count the tracks of a stored source. zones: for pictures of its size, see ``zones_for``.

    The reader's confidence and classes choose tracks, not detections: a track counts with all its detections.

    Raises:
        UsageError: the source was not tracked, or the model does not have a label of the zones.
        ExportError: the session cannot be read.
    """
    require_tracks(reader, source.number)
    counter = TrackCounter(zones, reader.labels, reader.confidence, reader.classes)
    with unfiltered(reader):
        for block in read_blocks(reader, source.number):
            counter.add(TrackTable.of(block))
    return counter.counts()


def count_pictures(reader: SessionReader, source: StoredSource, zones: ZoneSet) -> NDArray[np.int64]:
    """Count the objects in zones in each picture of a source. Pictures have no tracks, so nothing crosses a line.

    Only detections that pass the reader's filter count. Returns their numbers by zone and picture, int64 (zones, pictures).

    Raises:
        UsageError: a picture has another shape, or the model does not have a label of the zones.
        ExportError: the session cannot be read.
    """
    allowed, columns = zones.class_ids(reader.labels), []
    for block in read_blocks(reader, source.number):
        table = TrackTable.of(block, everything=True)
        for size in {(frame.width, frame.height) for frame in block.frames if frame.failure is None}:
            zones.scaled_to(size, where=f"a picture of {source.name}")
        points = reference_points(table.boxes * np.tile(np.divide(zones.size, table.sizes), 2), zones.reference)
        part = np.zeros((len(zones.zones), len(block.frames)), np.int64)
        for number, zone in enumerate(zones.zones):
            wanted = allowed[zone.name]
            inside = distances(points, zone) >= 0
            if wanted is not None:
                inside &= np.isin(table.class_ids, [*wanted])
            part[number] = np.bincount(block.frame[inside], minlength=len(block.frames))
        columns.append(part[:, [frame.failure is None for frame in block.frames]])
    return np.concatenate(columns, 1) if columns else np.zeros((len(zones.zones), 0), np.int64)


def is_tracked(reader: SessionReader, source: int) -> bool:
    """Whether the objects of a source were tracked, also if none was found."""
    return bool(reader.tracks(source)) or tracker_of(reader.path, source) is not None


def require_any_tracks(reader: SessionReader, sources: Iterable[StoredSource]) -> None:
    """Check that the objects of at least one of the videos were tracked, if there are videos. Raises UsageError if none was."""
    videos = [source.number for source in sources if source.kind is SourceKind.VIDEO]
    if not any(is_tracked(reader, video) for video in videos):
        for video in videos:
            require_tracks(reader, video)


def require_tracks(reader: SessionReader, source: int) -> None:
    """Check that the objects of a source were tracked. Raises UsageError if they were not, with the name of the session if none was."""
    if not is_tracked(reader, source):
        name = reader.source(source).name if reader.has_tracks else reader.path
        remedy = f"'framefleet track {reader.path.parent}' adds them"
        raise UsageError(f"{name} has no tracks, and lines and zones count tracks: {remedy}")


def read_heat(reader: SessionReader, source: StoredSource) -> HeatMap:
    """Where the objects of a stored source were. Only detections that pass the reader's filter count.

    Raises ExportError if the session cannot be read.
    """
    size = (source.info.width, source.info.height) if source.info is not None else (16, 9)
    heat = HeatMap(size)
    for block in read_blocks(reader, source.number):
        heat.add(block.corners)
    return heat


@contextmanager
def unfiltered(reader: SessionReader) -> Iterator[None]:
    """Let a reader return all detections, as a context manager."""
    chosen = reader.confidence, reader.classes
    reader.confidence, reader.classes = 0.0, None
    try:
        yield
    finally:
        reader.confidence, reader.classes = chosen
