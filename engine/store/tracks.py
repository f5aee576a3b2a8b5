"""Tracks the objects of stored sources, without detecting again."""

import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import fields, replace
from itertools import groupby
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from framefleet.engine.media.types import SourceKind
from framefleet.engine.notices import ExportError, Notice, Option, UsageError
from framefleet.engine.processes.file_lock import FileLock, LockedError
from framefleet.engine.store import files, schema
from framefleet.engine.store.session import SessionReader
from framefleet.engine.tracking import bytetrack, refine
from framefleet.engine.tracking.follow import TRACKER, Tracks, follow, make_tracker, strong_confidence, too_fast
from framefleet.engine.types import FrameResult

FIRST_FRAMES = 1000
"""The frames that tell the usual time between frames, and how sure the model is of the objects."""

_CHUNK = 2000
"""Frames whose tracks are stored in one transaction while a run writes the session, so that it waits a few ms only."""


def why_untracked(reader: SessionReader, source: int) -> Notice | None:
    """Return why no object of a source has a track. None: one has, a person corrected the source, or no frame is stored.

    Raises ExportError if the session cannot be read.
    """
    if not reader.count(source) or reader.tracks(source) or reader.is_corrected(source):
        return None
    _, scores = reader.scores(source, 0, reader.length(source))
    if not len(scores):
        return Notice("store.nothing_detected")
    highest, needed = float(scores.max()), strong_confidence(_first_scores(reader, source))
    if highest < needed:
        return Notice("store.no_strong_detection", count=len(scores), highest=highest, needed=needed)
    return Notice("store.seen_too_rarely", count=len(scores), highest=highest)


def motion_problem(reader: SessionReader, source: int) -> Notice | None:
    """Return a notice if the objects of a tracked source move too far from frame to frame to be followed, else None.

    Raises ExportError if the session cannot be read.
    """
    blocks = [*reader.blocks(source)]
    if not blocks:
        return None
    before = np.cumsum([0, *(len(block.frames) for block in blocks)]).tolist()
    positions = np.concatenate([block.frame + first for block, first in zip(blocks, before, strict=False)])
    size = reader.source(source).size
    boxes = np.concatenate([block.stored * block.scale_to(size) for block in blocks])
    tracks, class_ids, scores = (
        np.concatenate([getattr(block, name) for block in blocks]) for name in ("tracks", "class_ids", "confidences")
    )
    seen = refine.Sightings(positions, boxes, tracks, np.concatenate([block.pts for block in blocks]), np.zeros(0, np.int64))
    return too_fast(seen, class_ids, scores.astype(np.float64))


def track_growing(path: Path, drop_corrections: bool = False) -> list[tuple[str, int, Notice | None]]:
    """Track what a run has stored of live sources, while it still writes the session. See ``track_session``.

    Raises
    ------
    UsageError
        As ``track_session``.
    ExportError
        As ``track_session``; the run also writes other sources; or another process tracks the same session.
    """
    with SessionReader(path) as reader:
        if any(not source.finished and source.kind is not SourceKind.LIVE for source in reader.sources()):
            files.lock_session(path).close()
    try:
        with FileLock(files.tracking_lock(path)):
            return track_session(path, drop_corrections, growing=True)
    except LockedError as error:
        raise ExportError(Notice("store.locked", path=path, holder=error.holder)) from error


def track_session(path: Path, drop_corrections: bool = False, growing: bool = False) -> list[tuple[str, int, Notice | None]]:
    """Track the objects of each video in a session, and store the tracks instead of those of an earlier call.

    drop_corrections: forget which tracks a person joined and split. growing: see ``track_growing``. Returns the path and the number of
    tracks of each video, and why it has none, or why they are not reliable. A session may hold the same file twice.

    Raises
    ------
    UsageError
        A person joined or split tracks, and ``drop_corrections`` is not set.
    ExportError
        The session cannot be read or written.
    """
    with SessionReader(path) as reader:
        if reader.has_track_corrections and not drop_corrections:
            raise UsageError(Notice("store.tracks_were_corrected", path=path, option=Option("drop-corrections")))
    with SessionReader(path, corrected=False) as reader:
        sources = [source for source in reader.sources() if source.timed and reader.count(source.number)]
        found = [_follow(reader, source.number, reader.frames(source.number)) for source in sources]
    with schema.explained(path, "write"), closing(schema.open_existing(path, "rw")) as connection:
        connection.execute("BEGIN IMMEDIATE")
        if drop_corrections:
            connection.execute("UPDATE corrections SET track = NULL")
            connection.execute("DELETE FROM corrections WHERE coalesce(class_id, deleted, verified) IS NULL")
            schema.forget_edits(connection, "edit <> 0")  # earlier edits cannot be undone
        for source, tracks in zip(sources, found, strict=True):
            for _ in store_tracks(connection, source.number, tracks):
                if growing:  # else all in one transaction
                    connection.execute("COMMIT")
                    connection.execute("BEGIN IMMEDIATE")
        connection.execute("COMMIT")
    with SessionReader(path, corrected=False) as reader:
        reasons = [motion_problem(reader, source.number) or why_untracked(reader, source.number) for source in sources]
    return [(source.path, len(tracks.class_ids), why) for source, tracks, why in zip(sources, found, reasons, strict=True)]


def track_source(path: Path, source: int, frames: Iterator[FrameResult]) -> None:
    """Track the objects of one source while a run writes the session.

    frames: all frames of the source; the first one comes after ``FIRST_FRAMES`` frames are stored.
    """
    with SessionReader(path, corrected=False) as reader:
        tracks = _follow(reader, source, frames)
    with schema.explained(path, "write"), closing(schema.open_existing(path, "rw")) as connection:
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("BEGIN IMMEDIATE")
        for _ in store_tracks(connection, source, tracks):
            connection.execute("COMMIT")
            connection.execute("BEGIN IMMEDIATE")
        connection.execute("COMMIT")


class Epochs:
    """Tells to which epoch of a live source its stored frames belong. Other sources have one epoch."""

    def __init__(self, reader: SessionReader, source: int) -> None:
        self._reader, self._source = reader, source
        self._begins = np.zeros(0, np.int64)
        self._known = 0  # the frame from which on epochs are unknown

    def number(self, frame: FrameResult) -> int:
        """The number of the epoch, from 0, of a frame that is stored."""
        if frame.ref.index >= self._known:
            self._known = self._reader.length(self._source)
            self._begins = self._reader.epochs(self._source)
        return max(0, int(np.searchsorted(self._begins, frame.ref.index, "right")) - 1)


def _follow(reader: SessionReader, source: int, frames: Iterable[FrameResult]) -> Tracks:
    """Track the objects of a source, in each epoch on its own. frames: see ``track_source``."""
    parts, before = [Tracks(*np.zeros((4, 0), np.int64))], 0
    for _, group in groupby(frames, Epochs(reader, source).number):
        size = reader.source(source).size  # known when frames are stored
        part = follow((frame.scaled_to(size) for frame in group), tracker_for(reader, source))
        parts.append(replace(part, tracks=part.tracks + before))
        before += len(part.class_ids)
    return Tracks(*(np.concatenate([getattr(part, column.name) for part in parts]) for column in fields(Tracks)))


def store_tracks(connection: sqlite3.Connection, source: int, tracks: Tracks) -> Iterator[None]:
    """Replace the tracks of a source within the caller's transactions. Yields after each part, when the caller may commit."""
    schema.forget_edits(connection, "edit < 0")  # what was undone names tracks that are replaced
    for table in ("trackers", "tracks", "frame_tracks"):
        connection.execute(f"DELETE FROM {table} WHERE source = ?", (source,))
    rows = [*_packed(connection, source, tracks)]
    for begin in range(0, len(rows), _CHUNK):
        yield
        connection.executemany("INSERT INTO frame_tracks VALUES (?, ?, ?)", rows[begin : begin + _CHUNK])
    connection.executemany("INSERT INTO tracks VALUES (?, ?, ?, ?, ?, ?)", _rows(source, tracks))
    connection.execute("INSERT INTO trackers VALUES (?, ?)", (source, TRACKER))


def has_current_tracks(path: Path, source: int) -> bool:
    """Whether the present version of the tracker has tracked a source."""
    with SessionReader(path) as reader:
        return reader.tracker(source) == TRACKER


def _packed(connection: sqlite3.Connection, source: int, tracks: Tracks) -> Iterator[tuple[int, int, bytes]]:
    """The rows of the table ``frame_tracks``: source, frame, the track of each of the frame's detections."""
    rows = connection.execute("SELECT frame, length(boxes) FROM frames WHERE source = ? ORDER BY frame", (source,)).fetchall()
    frames, lengths = np.array(rows, np.int64).reshape(-1, 2).T
    ends = np.cumsum(lengths // schema.BOX.itemsize)
    starts = np.concatenate(([0], ends[:-1]))
    numbers = np.full(ends[-1] if len(ends) else 0, -1, schema.TRACK)
    positions = np.searchsorted(frames, tracks.frames)
    numbers[starts[positions] + tracks.ordinals] = tracks.tracks
    for position in np.unique(positions).tolist():
        yield source, int(frames[position]), numbers[starts[position] : ends[position]].tobytes()


def _rows(source: int, tracks: Tracks) -> Iterator[tuple[int, ...]]:
    """The rows of the table ``tracks``: source, track, class, first and last frame, number of detections."""
    order = np.argsort(tracks.tracks, kind="stable")
    starts = np.searchsorted(tracks.tracks[order], np.arange(1, len(tracks.class_ids) + 2))
    for number, class_id in enumerate(tracks.class_ids.tolist(), 1):
        frames = tracks.frames[order[starts[number - 1] : starts[number]]]
        yield source, number, class_id, int(frames[0]), int(frames[-1]), len(frames)


def tracker_for(reader: SessionReader, source: int) -> bytetrack.ByteTrack:
    """Create the tracker for a source of which ``FIRST_FRAMES`` frames or all are stored."""
    steps = np.diff(reader.times(source, FIRST_FRAMES))
    steps = steps[steps > 0]
    return make_tracker(float(np.median(steps)) if len(steps) else 1.0, strong_confidence(_first_scores(reader, source)))


def _first_scores(reader: SessionReader, source: int) -> NDArray[np.float32]:
    """The confidences of the detections in the first frames of a source."""
    with reader.unfiltered():
        block = next(reader.blocks(source, FIRST_FRAMES), None)
    return np.zeros(0, np.float32) if block is None else block.confidences
