"""Keeps the session of running streams small: what they stored in a past interval of clock time moves into a session file of its own.

The intervals are those of clock time. ``session_2026-11-26_14-00-00.sqlite`` beside ``session.sqlite`` has what streams stored from
14:00 on, until the next interval. The session itself keeps the current interval, so that its readers and its writer go on with the same
file. Indices and times of frames stay as they are. So parts can be joined again, see ``engine.store.merge``.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import count
from multiprocessing.connection import Connection
from pathlib import Path

from framefleet.engine.media.types import SourceKind
from framefleet.engine.notices import FramefleetError, Notice
from framefleet.engine.processes import child, child_main, file_lock
from framefleet.engine.store import schema, tracks
from framefleet.engine.store.facts import OF_SOURCE, TRACK, LiveRecord, RecordedFiles
from framefleet.engine.store.files import session_parts, stamp_of_part, tracking_lock
from framefleet.engine.store.merge import copy_drawn, copy_rows
from framefleet.engine.store.sources import counts_text, reason_of

SETTLE_SECONDS = 10.0
"""How long after the end of an interval its frames are moved: the last ones are stored by then."""

CHUNK = 2000
"""Frames that are deleted in one transaction, so that the run that writes the session waits a few ms only."""

_FORMAT = "%Y-%m-%d_%H-%M-%S"


def end_of_part(path: Path, database: Path, minutes: int) -> datetime:
    """The time, with time zone, at which the interval of a part ends. minutes: the length of an interval."""
    return datetime.strptime(stamp_of_part(path, database), _FORMAT).astimezone() + timedelta(minutes=minutes)


def begin_of_interval(moment: datetime, minutes: int) -> datetime:
    """The local time at which the interval of a moment begins. minutes: its length, counted from midnight."""
    local = moment.astimezone()
    past = timedelta(minutes=(local.hour * 60 + local.minute) % minutes, seconds=local.second, microseconds=local.microsecond)
    return local - past


@dataclass(frozen=True)
class _Source:
    """A live source with frames. started: clock time of the frame at ``origin``. first: time of its first stored frame. Seconds."""

    number: int
    started: datetime
    origin: float
    first: float

    def clock(self, pts: float) -> datetime:
        return self.started + timedelta(seconds=pts - self.origin)

    def pts(self, moment: datetime) -> float:
        return self.origin + (moment - self.started).total_seconds()


def move_past(database: Path, minutes: int, now: datetime) -> list[Path]:
    """Move what live sources stored before the current interval into parts; return them. Another process may write the session meanwhile.

    minutes: the length of an interval. now: with time zone.

    Raises ExportError: the session cannot be read or written. Raises LockedError: another process tracks the objects of the session.
    """
    made = []
    current = begin_of_interval(now, minutes)
    with file_lock.FileLock(tracking_lock(database)):
        while past := [source for source in _sources(database) if source.first < source.pts(current)]:
            begin = begin_of_interval(min(source.clock(source.first) for source in past), minutes)
            end = min(begin + timedelta(minutes=minutes), current)
            lasts = _lasts(database, past, end)
            if not lasts:
                break
            _delete(database, _moved_before(database, begin, lasts))  # a process that was killed has left them
            left = [source for source in _sources(database) if source.number in lasts and source.first < source.pts(end)]
            if left:
                made.append(_copy(database, begin, left, lasts))
                _delete(database, {source.number: lasts[source.number] for source in left})
    return made


def _sources(database: Path) -> list[_Source]:
    with schema.reading(database), closing(schema.open_existing(database, "ro")) as connection:
        rows = connection.execute(
            f"SELECT source, started, {schema.ORIGIN}, (SELECT min(pts) FROM frames f WHERE f.source = s.source)"
            " FROM sources s WHERE kind = ? AND started IS NOT NULL",
            (SourceKind.LIVE.value,),
        ).fetchall()
        return [_Source(number, datetime.fromisoformat(begun), origin, first) for number, begun, origin, first in rows if first is not None]


def _lasts(database: Path, sources: Sequence[_Source], end: datetime) -> dict[int, int]:
    """The last frame of each source before a time, for sources that have one."""
    with schema.reading(database), closing(schema.open_existing(database, "ro")) as connection:
        query = "SELECT max(frame) FROM frames WHERE source = ? AND pts < ?"
        found = {source.number: connection.execute(query, (source.number, source.pts(end))).fetchone()[0] for source in sources}
    return {number: last for number, last in found.items() if last is not None}


def _moved_before(database: Path, begin: datetime, lasts: Mapping[int, int]) -> dict[int, int]:
    """The last frame of each source that a part of an interval has."""
    found = dict[int, int]()
    for part in session_parts(database):
        if stamp_of_part(part, database) != begin.strftime(_FORMAT):
            continue
        with schema.reading(part), closing(schema.open_existing(part, "ro")) as connection:
            rows = connection.execute("SELECT source, max(frame) FROM frames GROUP BY source").fetchall()
        found |= {number: last for number, last in rows if number in lasts and last <= lasts[number]}
    return found


def _copy(database: Path, begin: datetime, sources: Sequence[_Source], lasts: Mapping[int, int]) -> Path:
    """Write a part, which appears complete or not at all."""
    stem = f"{database.stem}_{begin.strftime(_FORMAT)}"
    names = (f"{stem}{'' if number == 1 else f'-{number}'}{database.suffix}" for number in count(1))
    target = next(path for name in names if not (path := database.with_name(name)).exists())
    made = target.with_name(f".{target.name}.part")
    for suffix in ("", "-wal", "-shm", "-journal"):  # of a process that was killed
        made.with_name(made.name + suffix).unlink(missing_ok=True)
    try:
        with schema.reading(database), closing(schema.open_existing(database, "ro")) as stored:
            facts = dict(stored.execute("SELECT key, value FROM session"))
            with schema.explained(target, "write"), closing(schema.create(made)) as part:
                with schema.transaction(part):
                    _copy_common(stored, part, facts)
                    for source in sources:
                        _copy_source(stored, part, facts, source, lasts[source.number])
                part.execute("PRAGMA journal_mode = DELETE")
        if facts.get(TRACK, "none") != "none":
            tracks.track_session(made, drop_corrections=True)
        with schema.explained(target, "write"):
            made.rename(target)
    finally:
        made.unlink(missing_ok=True)
    return target


def _copy_common(stored: sqlite3.Connection, part: sqlite3.Connection, facts: Mapping[str, str]) -> None:
    """Copy what does not belong to a source."""
    numbers = [number for (number,) in stored.execute("SELECT source FROM sources")]
    of_sources = {key(number) for number in numbers for key in OF_SOURCE}
    part.executemany("INSERT INTO session VALUES (?, ?)", [(key, value) for key, value in facts.items() if key not in of_sources])
    for table in ("labels", "devices"):
        rows = stored.execute(f"SELECT * FROM {table}").fetchall()
        if rows:
            part.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * len(rows[0]))})", rows)


def _copy_source(stored: sqlite3.Connection, part: sqlite3.Connection, facts: Mapping[str, str], source: _Source, last: int) -> None:
    """Copy what a source has up to a frame."""
    number = source.number
    copy_rows(stored, part, "sources", "source = ?", (number,))
    for table in ("frames", "corrections"):
        copy_rows(stored, part, table, "source = ? AND frame <= ?", (number, last))
    if schema.has_drawn(stored):
        copy_drawn(stored, part, {number: number}, last)
    first, end = part.execute("SELECT min(frame), max(pts) FROM frames WHERE source = ?", (number,)).fetchone()
    begun = "frame >= (SELECT coalesce(max(frame), 0) FROM segments WHERE source = ? AND frame <= ?)"
    copy_rows(stored, part, "segments", f"source = ? AND segment >= 0 AND frame <= ? AND {begun}", (number, last, number, first))
    failures = part.execute("SELECT failure, count(*) FROM frames WHERE source = ? GROUP BY failure", (number,)).fetchall()
    failed = {reason_of(failure): times for failure, times in failures if failure is not None}
    frames = sum(times for _, times in failures)
    part.execute(
        "UPDATE sources SET finished = 1, cancelled = 0, error = NULL, decoded = ?, inferred = ?, dropped = '{}', failed = ?,"
        " seconds = ?, started = ?, origin = ? WHERE source = ?",
        (
            *(frames, frames - sum(failed.values()), counts_text(failed), end - source.first),
            *(source.clock(source.first).isoformat(), source.first, number),
        ),
    )
    if (text := facts.get(LiveRecord.key(number))) is not None:
        record = LiveRecord.read(text)
        changes = tuple(change for change in record.changes if source.first - 1 <= change.seconds <= end)
        part.execute("INSERT INTO session VALUES (?, ?)", (LiveRecord.key(number), replace(record, changes=changes).text()))
    recorded = RecordedFiles.of(facts, number)
    if files := tuple(file for file, *_ in recorded.between(source.first, end)):
        part.execute("INSERT INTO session VALUES (?, ?)", (RecordedFiles.key(number), RecordedFiles(files).text()))


def _delete(database: Path, lasts: Mapping[int, int]) -> None:
    """Delete what sources have up to a frame, and their tracks, which do not fit the remaining frames."""
    with schema.explained(database, "write"), closing(schema.open_existing(database, "rw")) as connection:
        connection.execute("PRAGMA synchronous = NORMAL")
        for number, last in lasts.items():
            with schema.transaction(connection):
                connection.execute(f"UPDATE sources AS s SET origin = {schema.ORIGIN} WHERE source = ?", (number,))
            some = f"SELECT frame FROM frames WHERE source = ? AND frame <= ? ORDER BY frame LIMIT {CHUNK}"
            gone = CHUNK
            while gone == CHUNK:
                with schema.transaction(connection):
                    gone = connection.execute(f"DELETE FROM frames WHERE source = ? AND frame IN ({some})", (number, number, last)).rowcount
            with schema.transaction(connection):
                for table in ("tracks", "frame_tracks", "trackers"):
                    connection.execute(f"DELETE FROM {table} WHERE source = ?", (number,))
                for table in ("corrections", "edited", *(["drawn"] * schema.has_drawn(connection))):
                    connection.execute(f"DELETE FROM {table} WHERE source = ? AND frame <= ?", (number, last))
                connection.execute("UPDATE corrections SET track = NULL WHERE source = ?", (number,))
                connection.execute("DELETE FROM corrections WHERE coalesce(class_id, deleted, verified) IS NULL")
                connection.execute("DELETE FROM edits WHERE edit NOT IN (SELECT edit FROM edited)")
                before = "frame < (SELECT max(frame) FROM segments WHERE source = ? AND segment >= 0 AND frame <= ?)"
                connection.execute(f"DELETE FROM segments WHERE source = ? AND segment >= 0 AND {before}", (number, number, last + 1))


def main(connection: Connection[list[Path] | Notice, None], database: Path, minutes: int) -> None:
    """Move what is past, and send the new parts, or why it cannot be moved: the main function of the process."""
    try:
        answer: list[Path] | Notice = move_past(database, minutes, datetime.now().astimezone())
    except file_lock.LockedError:
        answer = []
    except FramefleetError as error:
        answer = error.notice
    connection.send(answer)
    child_main.leave(0)


class PartMover:
    """Has past intervals moved by a child process, which ends afterwards. Use it from one thread.

    database: the session. minutes: the length of an interval. past: whether the session may have frames of an earlier interval.
    """

    def __init__(self, database: Path, minutes: int, past: bool) -> None:
        self._database, self._minutes = database, minutes
        self._child: child.ChildProcess | None = None
        self._due = time.time() + SETTLE_SECONDS if past else self._next()

    def _next(self) -> float:
        begin = begin_of_interval(datetime.now().astimezone(), self._minutes)
        return (begin + timedelta(minutes=self._minutes)).timestamp() + SETTLE_SECONDS

    def look(self) -> Iterator[list[Path] | Notice]:
        """Begin when an interval is over. Yields the new parts, or why there are none."""
        if self._child is not None and (self._child.connection.poll() or self._child.ended):
            answer = self._child.receive() if self._child.connection.poll() else None
            outcome = self._child.end()
            self._child = None
            yield answer if answer is not None else Notice("store.parts_not_moved", why=outcome.reason)
        if self._child is None and time.time() >= self._due:
            self._due = self._next()
            with suppress(OSError):  # no process can be started now
                self._child = child.ChildProcess("session parts", main, self._database, self._minutes, words=Notice("store.moves_parts"))

    def close(self) -> None:
        """End the process. Another run completes its work."""
        if self._child is not None:
            self._child.kill()
            self._child.end()
            self._child = None
