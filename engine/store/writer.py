"""Writes sessions, also on top of what an interrupted run stored."""

import os
import sqlite3
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from pathlib import Path, PurePath
from typing import Any, Self

import numpy as np

from framefleet.engine.media.sources import Stamp
from framefleet.engine.media.types import SourceInfo
from framefleet.engine.notices import ExportError, Notice
from framefleet.engine.pool.events import Ledger
from framefleet.engine.processes.file_lock import FileLock
from framefleet.engine.settings.clock import ClockSettings
from framefleet.engine.store import reader, schema
from framefleet.engine.store.facts import LiveRecord, RecordedFiles
from framefleet.engine.store.files import delete_unfinished, keep_copy, lock_session, open_session, save
from framefleet.engine.store.sources import counts_text, readable, readable_name, reason_of, reason_text
from framefleet.engine.types import Detections, DeviceId, EngineInfo, FrameResult

COMMIT_SECONDS = 0.5
COMMIT_FRAMES = 2000

_PROBED = ("kind", "codec", "width", "height", "frames", "duration", "rate", "size", "modified", "digest")
"""What probing a source finds out, as columns of the table ``sources``."""


class EarlierFrames:
    """Frames of a source behind a gap that an interrupted run stored. They stay until the same frames are stored again.

    Their indices may be wrong, because they come from the container's frame counts (docs/adr/0018-interrupted-runs.md). Their times are
    exact.

    Attributes: end: index of the first frame that no run has stored in order. gap: index from which on the new frames are not in order,
    None = all are. stored: pts and failure, by index of each earlier frame that is still stored.
    """

    def __init__(self, connection: sqlite3.Connection, source: int, end: int) -> None:
        self._source = source
        self.end = end
        self.gap: int | None = None
        rows = connection.execute("SELECT frame, pts, failure FROM frames WHERE source = ? AND frame >= ?", (source, end))
        self.stored = {frame: (pts, failure) for frame, pts, failure in rows}
        self._by_pts = {pts: frame for frame, (pts, _) in self.stored.items()}

    def counted(self, ledger: Ledger) -> Ledger:
        """The ledger with the earlier frames that are still stored."""
        failed = Counter(reason_of(reason) for _, reason in self.stored.values() if reason is not None)
        inferred = ledger.inferred + len(self.stored) - failed.total()
        return replace(ledger, decoded=ledger.decoded + len(self.stored), inferred=inferred, failed=dict(failed + Counter(ledger.failed)))

    def replace(self, connection: sqlite3.Connection, rows: Iterable[tuple[Any, ...]]) -> None:
        """Delete the earlier ones of frames that are about to be stored, within a transaction. rows: of the table ``frames``."""
        again = set[int]()
        for _, index, pts, *_ in rows:
            again |= {index, self._by_pts.get(pts, index)}
            if self.gap is None or index < self.gap:
                self.end = max(self.end, index + 1)
        self._delete(connection, again & self.stored.keys())
        connection.execute("INSERT OR REPLACE INTO segments VALUES (?, ?, NULL, ?)", (self._source, schema.BEHIND_GAP, self.end))

    def delete(self, connection: sqlite3.Connection) -> None:
        """Delete those that are still stored: the source is complete without them."""
        self._delete(connection, set(self.stored))
        connection.execute("DELETE FROM segments WHERE source = ? AND segment = ?", (self._source, schema.BEHIND_GAP))

    def _delete(self, connection: sqlite3.Connection, frames: set[int]) -> None:
        connection.executemany("DELETE FROM frames WHERE source = ? AND frame = ?", [(self._source, frame) for frame in frames])
        for frame in frames:
            del self.stored[frame]


class SessionWriter:
    """Creates a session, or continues one, and adds sources and frames to it. Use it from one thread at a time.

    Readers see frames after a commit, every ``COMMIT_SECONDS`` or ``COMMIT_FRAMES``. Another session with frames at ``path`` is renamed to
    ``NAME.previous.sqlite``: see ``engine.store.files``.

    Parameters
    ----------
    path : Path
        The database.
    labels : sequence of str
        One per class id.
    facts : mapping
        Properties of the run.
    go_on : bool
        Use the session at ``path`` if the same labels and facts decided its results.
    lock : FileLock, optional
        From ``lock_session``. None: take it until ``close``.
    named : Path, optional
        The file that errors name, if the session is moved there when it is complete.

    Attributes
    ----------
    continued : bool
        Whether an earlier session is used.
    notes : list of Notice
        For the user, about an earlier session.

    Raises
    ------
    ExportError
        The file cannot be created or written, is of another kind, or another run uses it.
    """

    def __init__(
        self,
        path: Path,
        labels: Sequence[str],
        facts: Mapping[str, str],
        *,
        go_on: bool = False,
        lock: FileLock | None = None,
        named: Path | None = None,
    ) -> None:
        self.path = path
        self._named = named or path
        self._frames: list[tuple[Any, ...]] = []
        self._segments: list[tuple[object, ...]] = []
        self._due = self._next_check = 0.0
        self._patience = 0.0  # with the next frames: the first ones are committed at once
        self._earlier: dict[int, EarlierFrames] = {}
        self._seconds: dict[int, float] = {}  # that earlier runs took for the frames that stay
        self._clocks: dict[int, tuple[str, ClockSettings]] = {}
        self._copied = self._closed = False
        self._own_lock = lock_session(path) if lock is None else None
        try:
            with schema.explained(self._named, "create"):
                self._connection, self.continued, self.notes, self._replaced = open_session(path, labels, facts, go_on)
                self._devices: dict[str, int] = dict(self._connection.execute("SELECT device, number FROM devices"))
            self._file_identity = reader.FileIdentity(path)
        except BaseException:
            if self._own_lock is not None:
                self._own_lock.close()
            raise

    def _write(self, sql: str, *values: object) -> None:
        with schema.explained(self._named, "write"):
            self._connection.execute(sql, values)

    # sources and devices

    def add_queued(self, sources: Iterable[tuple[int, str]]) -> None:
        """Store sources that have not been opened, so that they are known after a crash. sources: number and path."""
        with schema.explained(self._named, "write"), schema.transaction(self._connection):
            rows = ((number, schema.exact(path)) for number, path in sources)
            self._connection.executemany("INSERT OR IGNORE INTO sources (source, path) VALUES (?, ?)", rows)

    def add_source(self, number: int, path: str, info: SourceInfo, stamp: Stamp | None = None) -> None:
        """Store the result of probing a source, before its first frame. stamp: of its content, None if unknown.

        If an earlier run stored the source, it becomes unfinished again and keeps its frames.
        """
        facts = (info.kind.value, info.codec, info.width, info.height, info.frames, info.duration, info.rate)
        identity = (None, None, None) if stamp is None else (stamp.size, stamp.modified, stamp.digest)
        again = ", ".join(f"{column} = excluded.{column}" for column in _PROBED)
        self._write(
            f"INSERT INTO sources (source, path, {', '.join(_PROBED)}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
            f" ON CONFLICT (source) DO UPDATE SET {again}, finished = 0, cancelled = 0, seconds = NULL, error = NULL",
            *(number, schema.exact(path), *facts, *identity),
        )

    def describe_source(self, number: int, decoder: Notice | None = None, info: SourceInfo | None = None) -> None:
        """Store facts of a source that ``add_source`` has stored. Values that are None stay unchanged.

        decoder: what decoded the frames. info: what tells at which clock time frames were recorded: ``created`` and ``origin``.
        """
        created, origin = (None, None) if info is None else (info.created, info.origin)
        columns = ", ".join(f"{name} = coalesce(?, {name})" for name in ("decoder", "created", "origin"))
        self._write(f"UPDATE sources SET {columns} WHERE source = ?", reason_text(decoder), _text(created), origin, number)

    def set_start(self, number: int, started: datetime | None) -> None:
        """Store the clock time at which a video begins, with time zone; None if it is unknown.

        Raises ValueError if ``started`` has no time zone.
        """
        if started is not None and started.tzinfo is None:
            raise ValueError(f"{started} has no time zone")
        self._write("UPDATE sources SET started = ? WHERE source = ?", None if started is None else started.isoformat(), number)

    def set_picture_clock(self, number: int, path: Path, clock: ClockSettings) -> None:
        """Store by these settings when the pictures of a source were taken: the stored pictures now, others when they are added.

        path: of the picture or folder.
        """
        self._clocks[number] = path.name, clock
        with schema.explained(self._named, "write"), schema.transaction(self._connection):
            rows = self._connection.execute("SELECT frame, name, created FROM frames WHERE source = ?", (number,)).fetchall()
            times = [(self._picture_clock(number, name, created), number, frame) for frame, name, created in rows]
            self._connection.executemany("UPDATE frames SET clock = ? WHERE source = ? AND frame = ?", times)

    def _picture_clock(self, number: int, name: str | None, created: str | None) -> str | None:
        """The clock time of a picture as the session stores it, None if it is unknown. name, created: as in ``FrameRef``."""
        if number not in self._clocks:
            return None
        file, clock = self._clocks[number]
        moment = clock.started(PurePath(name or file), created)
        return None if moment is None else moment.isoformat()

    def set_live(self, number: int, record: LiveRecord) -> None:
        """Store the address and the changes of a live source."""
        self._write("INSERT OR REPLACE INTO session VALUES (?, ?)", LiveRecord.key(number), record.text())

    def set_recorded(self, source: int, recorded: RecordedFiles) -> None:
        """Store the files of the recording of a live source."""
        self._write("INSERT OR REPLACE INTO session VALUES (?, ?)", RecordedFiles.key(source), recorded.text())

    def add_device(self, engine: EngineInfo) -> None:
        """Store a device's name and its engine."""
        choice = (engine.precision, reason_text(engine.reason), engine.batch, " ".join(engine.options))
        query = "UPDATE devices SET name = ?, backend = ?, precision = ?, reason = ?, batch = ?, options = ? WHERE number = ?"
        self._write(query, engine.device_name, engine.backend, *choice, self._device(engine.device))

    def _device(self, device: DeviceId) -> int:
        name = str(device)  # a group of one device has the same name as the device
        if name not in self._devices:
            number = len(self._devices)
            self._write("INSERT INTO devices (number, device) VALUES (?, ?)", number, name)
            self._devices[name] = number
        return self._devices[name]

    def finish_source(
        self, number: int, path: str, ledger: Ledger, seconds: float, error: Notice | None = None, cancelled: bool = False
    ) -> None:
        """Store a source's final state and commit. A source that could not be opened needs no ``add_source``.

        seconds: processing time in this run. error: why the source could not be processed. cancelled: whether the run ended it early.
        """
        self.commit()
        earlier = self._earlier.pop(number, None)
        if earlier is not None and (cancelled or error is not None):
            ledger = earlier.counted(ledger)
        if earlier is not None and not cancelled and error is None:
            with schema.explained(self._named, "write"):
                earlier.delete(self._connection)
        counts = (ledger.decoded, ledger.inferred, counts_text(ledger.dropped), counts_text(ledger.failed), ledger.skipped)
        self._write("INSERT INTO sources (source, path) VALUES (?, ?) ON CONFLICT DO NOTHING", number, schema.exact(path))
        self._write(
            "UPDATE sources SET finished = 1, cancelled = ?, decoded = ?, inferred = ?, dropped = ?, failed = ?,"
            " skipped = ?, seconds = ?, error = ? WHERE source = ?",
            *(cancelled, *counts, seconds + self._seconds.pop(number, 0.0), reason_text(error), number),
        )

    # what an earlier run stored

    def discard(self, number: int) -> None:
        """Delete all that an earlier run stored of a source.

        If the source was complete, or a person corrected the session, it is copied to ``NAME.previous.sqlite`` before.
        """
        with schema.explained(self._named, "write"):
            row = self._connection.execute(f"SELECT {schema.COMPLETE} FROM sources WHERE source = ?", (number,)).fetchone()
            corrected = self._connection.execute("SELECT 1 FROM corrections LIMIT 1").fetchone() is not None
            self._keep_results(row == (1,) or corrected)
            self._note_forgotten(number)
            with schema.transaction(self._connection):
                for table in schema.OF_SOURCE:
                    self._connection.execute(f"DELETE FROM {table} WHERE source = ?", (number,))
                self._forget_corrections(number)

    def go_on(self, number: int, end: int) -> None:
        """Prepare a source for frames from index ``end`` on. Stored frames from there on stay until the same frames come again.

        The source's tracks are deleted, and so are corrections of frames from ``end`` on.
        """
        with schema.explained(self._named, "write"):
            self._keep_results(self._affected_corrections(number, end) > 0)
            self._note_forgotten(number, end)
            row = self._connection.execute("SELECT seconds FROM sources WHERE source = ?", (number,)).fetchone()
            self._seconds[number] = (row[0] or 0.0) if row is not None and end else 0.0
            with schema.transaction(self._connection):
                for table in ("tracks", "frame_tracks", "trackers"):
                    self._connection.execute(f"DELETE FROM {table} WHERE source = ?", (number,))
                self._forget_corrections(number, end)
            earlier = EarlierFrames(self._connection, number, end)
            if earlier.stored:
                self._earlier[number] = earlier
            else:
                earlier.delete(self._connection)

    def _affected_corrections(self, source: int, end: int = 0) -> int:
        """The number of corrected detections that ``_forget_corrections`` changes."""
        query = "SELECT count(*) FROM corrections WHERE source = ? AND (frame >= ? OR track IS NOT NULL)"
        return int(self._connection.execute(query, (source, end)).fetchone()[0])

    def _forget_corrections(self, source: int, end: int = 0) -> None:
        """Delete the corrections of a source's frames from index ``end`` on, because these frames are detected again.

        Those before them that join or split tracks are deleted as well, because the source is tracked again.
        """
        if schema.has_drawn(self._connection):
            self._connection.execute("DELETE FROM drawn WHERE source = ? AND frame >= ?", (source, end))
        for table in ("corrections", "edited"):
            self._connection.execute(f"DELETE FROM {table} WHERE source = ? AND frame >= ?", (source, end))
            self._connection.execute(f"UPDATE {table} SET track = NULL WHERE source = ?", (source,))
        self._connection.execute("DELETE FROM corrections WHERE coalesce(class_id, deleted, verified) IS NULL")
        self._connection.execute("DELETE FROM edits WHERE edit NOT IN (SELECT edit FROM edited)")  # nothing of them can be undone

    def _keep_results(self, needed: bool) -> None:
        if needed and not self._copied:
            kept = keep_copy(self.path, self._connection)
            self._copied = True
            self.notes.append(Notice("store.kept", kept=kept))

    def _note_forgotten(self, number: int, end: int = 0) -> None:
        count = self._affected_corrections(number, end)
        if count:
            (path,) = self._connection.execute("SELECT path FROM sources WHERE source = ?", (number,)).fetchone()
            self.notes.append(Notice("store.corrections_removed", name=readable_name(os.fsdecode(path)), count=count))

    # frames

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
            self._due = time.monotonic() + self._patience
            self._patience = COMMIT_SECONDS
        for frame in frames:
            source, index, pts, name, created = frame.ref
            failure = frame.failure
            texts: tuple[str | None, ...] = (None, None, None, None)
            if name is not None or created is not None or failure is not None or source in self._clocks:
                clock = self._picture_clock(source, name, created)
                texts = (_text(name, readable_name), reason_text(failure), _text(created), clock)
            device = self._device(frame.device)
            self._frames.append((source, index, pts, frame.width, frame.height, device, *texts, packed(frame.detections)))
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
        if not self._file_identity.lost:
            return
        self.commit()
        try:
            self._connection, place = save(self._connection, self.path)
        except ExportError as error:
            raise ExportError(Notice("store.removed_and_lost", path=self.path, cause=error.notice)) from error
        finally:
            self._file_identity = reader.FileIdentity(self.path)  # one error is enough
        raise ExportError(Notice("store.removed_and_saved", path=self.path, place=place))

    def commit(self) -> None:
        """Commit the added frames: readers see them, and they survive a crash."""
        if not self._frames:
            return
        frames, segments = self._frames, self._segments
        self._frames, self._segments = [], []  # after an error, the same frames are not written again
        with schema.explained(self._named, "write"), schema.transaction(self._connection):
            for source, earlier in self._earlier.items():
                earlier.replace(self._connection, (row for row in frames if row[0] == source))
            self._connection.executemany("INSERT OR IGNORE INTO segments VALUES (?, ?, ?, ?)", segments)
            self._connection.executemany("INSERT INTO frames VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", frames)

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
                with schema.explained(self._named, "write"):
                    delete_unfinished(self.path, self._connection)
        finally:
            with suppress(sqlite3.Error):  # while a reader has the file open, the log file cannot be deleted
                self._connection.execute("PRAGMA busy_timeout = 0")
                self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")  # copies the log's content into the database file
                self._connection.execute("PRAGMA journal_mode = DELETE")  # a finished session must be readable in a read-only folder
            self._connection.close()
            if self._own_lock is not None:
                self._own_lock.close()

    def withdraw(self) -> bool:
        """Close the session, which must have no frames, and put the one back that it has replaced. Returns whether there was one."""
        if self._replaced is None or self._closed:
            return False
        self.close(complete=False)
        with schema.explained(self._named, "write"):
            self._replaced.replace(self.path)
        return True

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self.close(complete=kind is None)


def packed(found: Detections | None) -> bytes:
    """The detections of a frame as ``frames.boxes`` holds them, see ``schema.BOX``. None: the frame failed."""
    if not found:
        return b""
    table = np.empty(len(found), schema.BOX)
    table["class_id"], table["confidence"], table["corners"] = found.class_ids, found.scores, found.boxes
    return table.tobytes()


def _text(text: str | None, convert: Any = readable) -> str | None:
    """A text that every program can read."""
    return None if text is None else convert(text)
