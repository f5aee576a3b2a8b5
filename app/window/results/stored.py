"""Stored results of an earlier run as items for the queue."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from app.window.queue.item import ItemState, QueueItem, Results
from app.window.timeline.class_counts import Tally, length_of
from engine.errors import ExportError
from engine.pool.events import SourceFinished
from engine.pool.progress import SourceProgress
from engine.store.session import SessionReader, StoredSource


@dataclass(frozen=True)
class StoredItem:
    """A source of an earlier run. item: its key is not set yet. changed: whether the file has changed since."""

    item: QueueItem
    tally: Tally
    changed: bool = False


def read_stored(database: Path) -> list[StoredItem]:
    """Read the sources of a session database, also while a session writes it.

    Raises:
        ExportError: it is missing, damaged, no session database, or without a source.
    """
    with SessionReader(database) as reader:
        found = [_stored(reader, source) for source in reader.sources()]
    if not found:
        raise ExportError(f"{database} holds no results: the run ended before it had looked at a file")
    return found


def _stored(reader: SessionReader, source: StoredSource) -> StoredItem:
    tally = Tally()
    failed = tally.add_frames(reader.frames(source.number), length_of(source.info))
    frames = reader.count(source.number)
    state = ItemState.FAILED if source.error else ItemState.DONE if source.complete else ItemState.CANCELLED
    finished = SourceFinished(source.number, source.ledger, source.seconds or 0.0, source.error, source.cancelled)
    progress = SourceProgress(source.file, source.info, frames, failed, reader.last_pts(source.number), finished)
    results = Results(reader.path, source.number, reader.labels)
    return StoredItem(QueueItem(0, progress, state, results, reason=source.error), tally, source.changed())
