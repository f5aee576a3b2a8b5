"""Tracks the objects of stored sources, without detecting again."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from framefleet.engine.errors import UsageError
from framefleet.engine.media.types import SourceKind
from framefleet.engine.store import schema
from framefleet.engine.store.objects import corrected
from framefleet.engine.store.reading.reader import SessionReader
from framefleet.engine.tracking.follow import VERSION, TrackerName, Tracks, follow, make_tracker, strong_confidence
from framefleet.engine.tracking.tracker import Tracker
from framefleet.engine.types import FrameResult

FIRST_FRAMES = 1000
"""The frames that tell the usual time between frames, and how sure the model is of the objects."""

TRACKERS = "CREATE TABLE IF NOT EXISTS trackers (source INTEGER PRIMARY KEY, tracker TEXT NOT NULL);"
"""What tracked each source: the tracker's name and version."""

_CHUNK = 5000
"""Detections that get their tracks in one transaction while a run writes the session, so that it waits a few ms only."""


@dataclass(frozen=True)
class Untracked:
    """Why no object of a source has a track.

    detections: their number. highest: their highest confidence, 0 without any. least: the confidence from which they can begin a track.
    """

    detections: int
    highest: float
    least: float

    def __str__(self) -> str:
        if not self.detections:
            return "nothing was detected"
        most = f"{self.detections:,} detections with confidences up to {self.highest:.2f}"
        if self.highest < self.least:
            return f"{most}, and a track begins at {self.least:.2f}: use a model that is surer of these objects"
        return f"{most}, but no object was seen in several frames in a row: analyse more frames a second, or use a surer model"


def why_untracked(reader: SessionReader, source: int) -> Untracked | None:
    """Return why no object of a source has a track, None if any has, a person corrected the source, or no frame of it is stored.

    Raises ExportError if the session cannot be read.
    """
    if not reader.count(source) or reader.tracks(source) or reader.is_corrected(source):
        return None
    _, scores = reader.scores(source, 0, reader.length(source))
    return Untracked(len(scores), float(scores.max(initial=0)), strong_confidence(_first_scores(reader, source)))


def track_session(path: Path, name: TrackerName, drop_corrections: bool = False) -> list[tuple[str, int, Untracked | None]]:
    """Track the objects of each video in a session, and store the tracks instead of those of an earlier call.

    drop_corrections: forget which tracks a person joined and split. Returns the path and the number of tracks of each video, and why it
    has none. A session may hold the same file twice.

    Raises:
        UsageError: a person joined or split tracks, and ``drop_corrections`` is not set.
        ExportError: the session cannot be read or written.
    """
    with SessionReader(path) as reader:
        if reader.has_track_corrections and not drop_corrections:
            raise UsageError(f"tracks of {path} were joined or split by hand: --drop-corrections forgets that and tracks again")
    with SessionReader(path, corrected=False) as reader:
        sources = [source for source in reader.sources() if source.kind is SourceKind.VIDEO and reader.count(source.number)]
        found = [follow(reader.frames(source.number), tracker_for(reader, source.number, name)) for source in sources]
    with schema.explained(path, "write"), closing(schema.open_existing(path, "rw")) as connection, schema.transaction(connection):
        if drop_corrections:
            corrected.drop_track_corrections(connection)
        for source, tracks in zip(sources, found, strict=True):
            for _ in store_tracks(connection, source.number, tracks, name):
                pass  # all in one transaction
    with SessionReader(path, corrected=False) as reader:
        reasons = [why_untracked(reader, source.number) for source in sources]
    return [(source.path, len(tracks.class_ids), why) for source, tracks, why in zip(sources, found, reasons, strict=True)]


def track_source(path: Path, source: int, name: TrackerName, frames: Iterator[FrameResult]) -> None:
    """Track the objects of one source while a run writes the session.

    frames: all frames of the source; the first one comes after ``FIRST_FRAMES`` frames are stored.
    """
    first = next(frames, None)
    with SessionReader(path, corrected=False) as reader:
        tracker = tracker_for(reader, source, name)
    tracks = follow([] if first is None else chain((first,), frames), tracker)
    with schema.explained(path, "write"), closing(schema.open_existing(path, "rw")) as connection:
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("BEGIN IMMEDIATE")
        for _ in store_tracks(connection, source, tracks, name):
            connection.execute("COMMIT")
            connection.execute("BEGIN IMMEDIATE")
        connection.execute("COMMIT")


def store_tracks(connection: sqlite3.Connection, source: int, tracks: Tracks, name: TrackerName) -> Iterator[None]:
    """Replace the tracks of a source within the caller's transactions. Yields after each part, when the caller may commit."""
    connection.execute(TRACKERS)
    corrected.forget_undone(connection)  # they name tracks that are replaced
    connection.execute("DELETE FROM trackers WHERE source = ?", (source,))
    connection.execute("DELETE FROM tracks WHERE source = ?", (source,))
    connection.execute("UPDATE detections SET track = NULL WHERE source = ? AND track IS NOT NULL", (source,))
    rows = list(zip(tracks.tracks.tolist(), tracks.frames.tolist(), tracks.ordinals.tolist(), strict=True))
    for begin in range(0, len(rows), _CHUNK):
        yield
        connection.executemany(
            f"UPDATE detections SET track = ? WHERE source = {int(source)} AND frame = ? AND ordinal = ?", rows[begin : begin + _CHUNK]
        )
    connection.executemany("INSERT INTO tracks VALUES (?, ?, ?, ?, ?, ?)", _rows(source, tracks))
    connection.execute("INSERT INTO trackers VALUES (?, ?)", (source, f"{name} {VERSION}"))


def tracked_with(path: Path, source: int, name: TrackerName) -> bool:
    """Whether the present version of a tracker has tracked a source."""
    return tracker_of(path, source) == f"{name} {VERSION}"


def tracker_of(path: Path, source: int) -> str | None:
    """Name and version of what tracked a source, None if nothing did."""
    with schema.reading(path), closing(schema.open_existing(path, "ro")) as connection:
        if not schema.has_table(connection, "trackers"):
            return None
        row = connection.execute("SELECT tracker FROM trackers WHERE source = ?", (source,)).fetchone()
    return None if row is None else str(row[0])


def _rows(source: int, tracks: Tracks) -> Iterator[tuple[int, ...]]:
    """The rows of the table ``tracks``: source, track, class, first and last frame, number of detections."""
    order = np.argsort(tracks.tracks, kind="stable")
    starts = np.searchsorted(tracks.tracks[order], np.arange(1, len(tracks.class_ids) + 2))
    for number, class_id in enumerate(tracks.class_ids.tolist(), 1):
        frames = tracks.frames[order[starts[number - 1] : starts[number]]]
        yield source, number, class_id, int(frames[0]), int(frames[-1]), len(frames)


def tracker_for(reader: SessionReader, source: int, name: TrackerName) -> Tracker:
    """Create the tracker for a source of which ``FIRST_FRAMES`` frames or all are stored."""
    steps = np.diff(reader.times(source, FIRST_FRAMES))
    steps = steps[steps > 0]
    return make_tracker(name, float(np.median(steps)) if len(steps) else 1.0, strong_confidence(_first_scores(reader, source)))


def _first_scores(reader: SessionReader, source: int) -> NDArray[np.float32]:
    """The confidences of the detections in the first frames of a source."""
    rows = next(reader.frame_rows(source, FIRST_FRAMES), [])
    return reader.scores(source, 0, rows[-1][0] if rows else -1)[1]
