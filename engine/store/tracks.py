"""Tracks the objects of a stored session, without detecting again."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from engine.media.types import SourceKind
from engine.store import schema
from engine.store.reader import SessionReader
from engine.tracking.follow import VERSION, TrackerName, Tracks, follow, make_tracker

_FRAMES_FOR_INTERVAL = 1000
"""The usual time between frames is the median of this number of frames."""


def track_session(path: Path, name: TrackerName) -> dict[str, int]:
    """Track the objects of each video in a session, and store the tracks instead of those of an earlier call.

    Returns the number of tracks, by path.

    Raises:
        ExportError: the session cannot be read or written.
    """
    counts: dict[str, int] = {}
    with SessionReader(path, corrected=False) as reader:
        sources = [source for source in reader.sources() if source.kind is SourceKind.VIDEO and reader.count(source.number)]
        found = [follow(reader.frames(source.number), make_tracker(name, _interval(reader, source.number))) for source in sources]
    with schema.explained(path, "write"):
        connection = schema.open_existing(path, "rw")
        try:
            connection.execute("BEGIN IMMEDIATE")
            connection.execute("UPDATE detections SET track = NULL WHERE track IS NOT NULL")
            connection.execute("DELETE FROM tracks")
            for source, tracks in zip(sources, found, strict=True):
                rows = zip(tracks.tracks.tolist(), tracks.frames.tolist(), tracks.ordinals.tolist(), strict=True)
                connection.executemany(
                    "UPDATE detections SET track = ? WHERE source = ? AND frame = ? AND ordinal = ?",
                    ((track, source.number, frame, ordinal) for track, frame, ordinal in rows),
                )
                connection.executemany("INSERT INTO tracks VALUES (?, ?, ?, ?, ?, ?)", _rows(source.number, tracks))
                counts[source.path] = len(tracks.class_ids)
            connection.execute("INSERT OR REPLACE INTO session VALUES ('tracker', ?)", (f"{name} {VERSION}",))
            connection.execute("COMMIT")
        finally:
            connection.close()
    return counts


def _rows(source: int, tracks: Tracks) -> Iterator[tuple[int, ...]]:
    """The rows of the table ``tracks``: source, track, class, first and last frame, number of detections."""
    order = np.argsort(tracks.tracks, kind="stable")
    starts = np.searchsorted(tracks.tracks[order], np.arange(1, len(tracks.class_ids) + 2))
    for number, class_id in enumerate(tracks.class_ids.tolist(), 1):
        frames = tracks.frames[order[starts[number - 1] : starts[number]]]
        yield source, number, class_id, int(frames[0]), int(frames[-1]), len(frames)


def _interval(reader: SessionReader, source: int) -> float:
    """The usual time between two frames, seconds."""
    times = reader.times(source, _FRAMES_FOR_INTERVAL)
    steps = np.diff(times)
    steps = steps[steps > 0]
    return float(np.median(steps)) if len(steps) else 1.0
