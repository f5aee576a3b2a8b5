"""Writes sessions. Readers see frames after a commit, every ``COMMIT_SECONDS`` or ``COMMIT_FRAMES``."""

import os
import sqlite3
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Self

from framefleet.engine.errors import ExportError
from framefleet.engine.pool.events import Ledger
from framefleet.engine.processes.file_lock import FileLock
from framefleet.engine.store import schema
from framefleet.engine.store.file.lock import lock_session
from framefleet.engine.store.file.opening import open_session
from framefleet.engine.store.file.presence import Presence, save
from framefleet.engine.store.file.previous import delete_unfinished, keep_copy
from framefleet.engine.store.names import readable_name
from framefleet.engine.store.objects.corrected import affected_by_forgetting, forget, has_corrections
from framefleet.engine.store.writing.earlier import EarlierFrames
from framefleet.engine.store.writing.sources import SourcesWriter, text_of
from framefleet.engine.types import FrameResult

COMMIT_SECONDS = 0.5
COMMIT_FRAMES = 2000

_BOX_COLUMNS = "source, frame, ordinal, class_id, confidence, x1, y1, x2, y2"


class SessionWriter(SourcesWriter):
    """Creates a session, or goes on with one, and adds sources and frames to it. Use it from one thread at a time.

    Another session with frames at ``path`` is renamed to ``NAME.previous.sqlite``: see ``engine.store.file.previous``.

    labels: one per class id. facts: properties of the run. go_on: use the session at ``path`` if the same labels and facts decided its
    results. lock: from ``lock_session``, None = take it until ``close``.

    Attributes: continued: whether an earlier session is used. notes: sentences for the user about an earlier session.

    Raises ExportError if the file cannot be created or written, is of another kind, or another run uses it.
    """

    def __init__(
        self, path: Path, labels: Sequence[str], facts: Mapping[str, str], *, go_on: bool = False, lock: FileLock | None = None
    ) -> None:
        self._frames: list[tuple[object, ...]] = []
        self._detections: list[tuple[object, ...]] = []
        self._segments: list[tuple[object, ...]] = []
        self._due = 0.0
        self._earlier: dict[int, EarlierFrames] = {}
        self._seconds: dict[int, float] = {}  # that earlier runs took for the frames that stay
        self._next_check = 0.0
        self._copied = self._closed = False
        self._own_lock = lock_session(path) if lock is None else None
        try:
            with schema.explained(path, "create"):
                connection, self.continued, self.notes = open_session(path, labels, facts, go_on)
                super().__init__(path, connection)
            self._presence = Presence(path)
        except BaseException:
            if self._own_lock is not None:
                self._own_lock.close()
            raise

    def discard(self, number: int) -> None:
        """Delete all that an earlier run stored of a source.

        If the source was complete, or a person corrected the session, it is copied to ``NAME.previous.sqlite`` before.
        """
        with schema.explained(self.path, "write"):
            row = self._connection.execute(f"SELECT {schema.COMPLETE} FROM sources WHERE source = ?", (number,)).fetchone()
            self._keep_results(row == (1,) or has_corrections(self._connection))
            self._note_forgotten(number)
            with schema.transaction(self._connection):
                for table in ("detections", "frames", "tracks", "segments", "sources"):
                    self._connection.execute(f"DELETE FROM {table} WHERE source = ?", (number,))
                forget(self._connection, number)

    def go_on(self, number: int, end: int) -> None:
        """Prepare a source for frames from index ``end`` on. Stored frames from there on stay until the same frames come again.

        The source's tracks are deleted, and so are corrections of frames from ``end`` on.
        """
        with schema.explained(self.path, "write"):
            self._keep_results(affected_by_forgetting(self._connection, number, end) > 0)
            self._note_forgotten(number, end)
            row = self._connection.execute("SELECT seconds FROM sources WHERE source = ?", (number,)).fetchone()
            self._seconds[number] = (row[0] or 0.0) if row is not None and end else 0.0
            with schema.transaction(self._connection):
                self._connection.execute("DELETE FROM tracks WHERE source = ?", (number,))
                self._connection.execute("UPDATE detections SET track = NULL WHERE source = ? AND track IS NOT NULL", (number,))
                forget(self._connection, number, end)
            earlier = EarlierFrames(self._connection, number, end)
            if earlier.left:
                self._earlier[number] = earlier
            else:
                earlier.delete(self._connection)

    def _keep_results(self, precious: bool) -> None:
        if precious and not self._copied:
            kept = keep_copy(self.path, self._connection)
            self._copied = True
            self.notes.append(f"the earlier results are kept in {kept}")

    def _note_forgotten(self, number: int, end: int = 0) -> None:
        count = affected_by_forgetting(self._connection, number, end)
        if count:
            (path,) = self._connection.execute("SELECT path FROM sources WHERE source = ?", (number,)).fetchone()
            name = readable_name(os.fsdecode(path))
            if count == 1:
                self.notes.append(f"{name}: 1 correction is removed, because the frames are detected again")
            else:
                self.notes.append(f"{name}: {count:,} corrections are removed, because the frames are detected again")

    def begin_segment(self, source: int, segment: int | None, start: int | None, frame: int) -> None:
        """Add the beginning of a segment. start: as in ``Segment``. frame: index of its first frame, which is added next.

        segment: None if frames are missing before this one, because the run ends early.
        """
        if segment is None and source in self._earlier:
            self._earlier[source].gap = frame
        self._segments.append((source, schema.BEHIND_GAP if segment is None else segment, start, frame))

    def add_frames(self, frames: Iterable[FrameResult]) -> None:
        """Add frames of any sources."""
        if not self._frames:
            self._due = time.monotonic() + COMMIT_SECONDS
        for frame in frames:
            source, index = frame.ref.source, frame.ref.index
            device = self._device(frame.device)
            self._frames.append(
                (
                    source,
                    index,
                    frame.ref.pts,
                    frame.width,
                    frame.height,
                    device,
                    text_of(frame.name, readable_name),
                    text_of(frame.failure),
                    text_of(frame.created),
                    self.picture_clock(source, frame.name, frame.created),
                )
            )
            found = frame.detections
            if found:
                rows = zip(found.class_ids.tolist(), found.scores.tolist(), found.boxes.tolist(), strict=True)
                self._detections += [(source, index, ordinal, class_id, score, *box) for ordinal, (class_id, score, box) in enumerate(rows)]
        self.commit_due()

    def commit_due(self) -> None:
        """Commit the added frames if ``COMMIT_SECONDS`` have passed. Call it regularly while there are no new frames.

        Raises ExportError if the file cannot be written, or was removed or moved. What is stored is saved at the same place, if possible.
        """
        now = time.monotonic()
        if len(self._frames) >= COMMIT_FRAMES or (self._frames and now >= self._due):
            self.commit()
        if now >= self._next_check:
            self._next_check = now + COMMIT_SECONDS
            self._check_presence()

    def _check_presence(self) -> None:
        if not self._presence.lost:
            return
        self.commit()
        what = f"{self.path} was removed or moved while the run wrote it"
        try:
            self._connection, place = save(self._connection, self.path)
        except ExportError as error:
            raise ExportError(f"{what}, and its results are lost: {error}") from error
        finally:
            self._presence = Presence(self.path)  # one error is enough
        raise ExportError(f"{what}. The run ends; its results so far are in {place}")

    def commit(self) -> None:
        """Commit the added frames: readers see them, and they survive a crash."""
        if not self._frames:
            return
        frames, detections, segments = self._frames, self._detections, self._segments
        self._frames, self._detections, self._segments = [], [], []  # after an error, the same frames are not written again
        with schema.explained(self.path, "write"), schema.transaction(self._connection):
            for source, earlier in self._earlier.items():
                earlier.replace(self._connection, (row for row in frames if row[0] == source))
            self._connection.executemany("INSERT OR IGNORE INTO segments VALUES (?, ?, ?, ?)", segments)
            self._connection.executemany("INSERT INTO frames VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", frames)
            self._connection.executemany(f"INSERT INTO detections ({_BOX_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", detections)

    def finish_source(
        self, number: int, path: str, ledger: Ledger, seconds: float, error: str | None = None, cancelled: bool = False
    ) -> None:
        """Store a source's final state and commit. A source that could not be opened needs no ``add_source``.

        seconds: processing time in this run. error: why the source could not be processed. cancelled: whether the run ended it early.
        """
        self.commit()
        earlier = self._earlier.pop(number, None)
        if earlier is not None and (cancelled or error is not None):
            ledger = earlier.counted(ledger)
        if earlier is not None and not cancelled and error is None:
            with schema.explained(self.path, "write"):
                earlier.delete(self._connection)
        self._finish(number, path, ledger, seconds + self._seconds.pop(number, 0.0), error, cancelled)

    def close(self, complete: bool) -> None:
        """Commit and close. Repeated calls have no effect.

        complete: whether all sources are complete, so that unfinished older sessions of them can be deleted.
        """
        if self._closed:
            return
        self._closed = True
        try:
            self.commit()
            self._check_presence()
            if complete:
                with schema.explained(self.path, "write"):
                    delete_unfinished(self.path, self._connection)
        finally:
            with suppress(sqlite3.Error):  # while a reader has the file open, the log file cannot be deleted
                self._connection.execute("PRAGMA busy_timeout = 0")
                self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")  # copies the log's content into the database file
                self._connection.execute("PRAGMA journal_mode = DELETE")  # a finished session must be readable in a read-only folder
            self._connection.close()
            if self._own_lock is not None:
                self._own_lock.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self.close(complete=kind is None)
