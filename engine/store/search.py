"""Searches the stored results of all sessions: the moments at which several objects of some classes are visible at once.

An index holds, for each class of a source and each part of ``PART`` seconds, the largest number of objects at once. A search reads only
the index. If several classes count together, it also reads the frames of the parts that may match.
"""

import math
import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from threading import Event
from typing import Any

import numpy as np
from numpy.typing import NDArray

from framefleet.engine.media.types import SourceKind
from framefleet.engine.notices import ExportError, Notice
from framefleet.engine.store import facts, files, schema
from framefleet.engine.store.clock import Clock
from framefleet.engine.store.session import Block, SessionReader, StoredSource
from framefleet.engine.store.sources import label_of, readable_name

INDEX = "search.index"
"""Name of the index in the folder of the sessions."""

LEVELS = (0.1, 0.25, 0.5, 0.7, 0.9)
"""The confidences from which on detections can count."""

PART = 10.0
"""Length of a part, seconds. A picture of a folder is a part of its own."""

MAX_CHECKED = 100
"""The largest number of parts whose frames one search reads."""

EVERY_CLASS = ""
"""The label under which the index counts the objects of all classes together."""

_PEAK = np.dtype(
    [("part", "<i4"), ("first", "<i8"), ("last", "<i8"), ("offset", "<f8"), ("counts", "<u2", len(LEVELS)), ("pts", "<f8", len(LEVELS))]
)
"""A part of a source. first, last: frames. offset: from pts to Unix time, NaN: unknown. counts, pts: of its fullest frame, by level."""

_VERSION = 1
_TABLES = (
    """CREATE TABLE sessions (
    session INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, stamp TEXT NOT NULL, created REAL NOT NULL, fact TEXT NOT NULL
)""",
    """CREATE TABLE sources (
    session INTEGER NOT NULL, source INTEGER NOT NULL, file TEXT NOT NULL, name TEXT NOT NULL, pictures INTEGER NOT NULL,
    begin REAL NOT NULL, PRIMARY KEY (session, source)
) WITHOUT ROWID""",
    """CREATE TABLE peaks (
    label TEXT NOT NULL, session INTEGER NOT NULL, source INTEGER NOT NULL, most INTEGER NOT NULL, parts BLOB NOT NULL,
    PRIMARY KEY (label, session, source)
) WITHOUT ROWID""",
    "CREATE INDEX peaks_by_session ON peaks (session)",
    f"PRAGMA user_version = {_VERSION}",
)


@dataclass(frozen=True)
class Query:
    """What to search for.

    Parameters
    ----------
    labels : tuple of str
        Objects of these classes count together. Empty: of all classes.
    count : int
        The smallest number of objects at once.
    confidence : float
        Objects count from this confidence on, one of ``LEVELS``.
    begin, end : datetime, optional
        Only moments from ``begin`` on and before ``end``, with time zone. A moment without a known clock time counts as the time at which
        its session began.
    """

    labels: tuple[str, ...] = ()
    count: int = 1
    confidence: float = 0.25
    begin: datetime | None = None
    end: datetime | None = None


@dataclass(frozen=True)
class Hit:
    """Consecutive parts of a source in which enough objects are visible at once.

    database, created: the session and its fact ``CREATED``. source, file, name: the source. pictures: it is a folder of pictures.
    count: objects in the fullest frame. pts: of this frame, seconds. origin: pts at which the source begins. begin, end: pts of the fullest
    frames of the first and the last part. time: clock time of the fullest frame, None: unknown. detected: when the session began.
    """

    database: Path
    created: str
    source: int
    file: Path
    name: str
    pictures: bool
    count: int
    pts: float
    origin: float
    begin: float
    end: float
    time: datetime | None
    detected: datetime


@dataclass(frozen=True)
class Found:
    """The result of a search. hits: the latest first. total: number of all hits, None: unknown, because not all parts were read."""

    hits: tuple[Hit, ...] = ()
    total: int | None = 0


class SearchIndex:
    """The index of the sessions in a folder. Any thread may use it; each call opens the file.

    Parameters
    ----------
    folder : Path
        The folder of the sessions. It also lists sessions in other folders.

    Raises
    ------
    ExportError
        From all methods: the index cannot be read or written. A damaged index is made again.
    """

    def __init__(self, folder: Path) -> None:
        self._folder, self.path = folder, folder / INDEX

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        with schema.explained(self.path, "write"):
            self._folder.mkdir(parents=True, exist_ok=True)
            with closing(self._connect()) as connection:
                yield connection

    def _connect(self) -> sqlite3.Connection:
        for _ in range(2):
            connection = sqlite3.connect(self.path, timeout=schema.WAIT, isolation_level=None)
            try:
                connection.execute("PRAGMA synchronous = OFF")  # what a crash damages is made again
                if _version(connection) != _VERSION:
                    with schema.transaction(connection):
                        if _version(connection) != _VERSION:  # another thread did not create the tables meanwhile
                            for statement in _TABLES:
                                connection.execute(statement)
                return connection
            except sqlite3.OperationalError as error:
                connection.close()
                if error.sqlite_errorname != "SQLITE_ERROR":  # the tables of another version are in the way
                    raise
            except sqlite3.DatabaseError:
                connection.close()
            self.path.unlink(missing_ok=True)
        raise ExportError(Notice("store.cannot_write", path=self.path, value=Notice("store.damaged")))

    def outdated(self) -> list[Path]:
        """Return the sessions that the index lacks or knows in another state, and forget those that are gone. Reads no session.

        A session that a run writes is in another state after each frame.
        """
        paths = dict.fromkeys([*self._folder.glob("*.sqlite"), *files.noted_sessions(self._folder)])
        with self._open() as connection:
            known = {os.fsdecode(path): stamp for path, stamp in connection.execute("SELECT path, stamp FROM sessions")}
            there = {str(path): path for path in paths}
            gone = known.keys() - there.keys()
            if gone:
                with schema.transaction(connection):
                    for path in gone:
                        _forget(connection, path)
        return [path for text, path in there.items() if (stamp := _stamp(path)) and stamp != known.get(text)]

    def update(self, path: Path, stop: Event | None = None) -> None:
        """Index one session. A session that cannot be read has no hits. stop: any thread sets it to end this early."""
        stamp = _stamp(path)
        if not stamp:
            return
        try:
            with SessionReader(path) as reader:
                reader.stop = stop or reader.stop
                created = _created(reader, path)
                sources = [(source, _peaks(reader, source)) for source in reader.sources()]
                fact = reader.facts.get(facts.CREATED, "")
        except ExportError:
            sources, created, fact = [], 0.0, ""
        if stop is not None and stop.is_set():
            return
        with self._open() as connection, schema.transaction(connection):
            _forget(connection, str(path))
            added = connection.execute(
                "INSERT INTO sessions (path, stamp, created, fact) VALUES (?, ?, ?, ?)", (schema.exact(str(path)), stamp, created, fact)
            )
            for source, by_label in sources:
                pictures, begin = source.kind is SourceKind.IMAGES, source.info.begin if source.info is not None else 0.0
                about = (schema.exact(str(source.file)), source.title, pictures, begin)
                connection.execute("INSERT INTO sources VALUES (?, ?, ?, ?, ?, ?)", (added.lastrowid, source.number, *about))
                rows = ((text, added.lastrowid, source.number, int(peaks["counts"].max()), peaks.tobytes()) for text, peaks in by_label)
                connection.executemany("INSERT INTO peaks VALUES (?, ?, ?, ?, ?)", rows)

    def labels(self) -> list[tuple[str, int]]:
        """Return the classes that occur, and in how many sources each, the most frequent first."""
        query = "SELECT label, count(*) FROM peaks WHERE label != ? GROUP BY label ORDER BY 2 DESC, 1"
        with self._open() as connection:
            return connection.execute(query, (EVERY_CLASS,)).fetchall()

    def sessions_with(self, file: Path) -> list[Path]:
        """Return the sessions with results of a file, or of a file with the same name."""
        query = "SELECT DISTINCT path FROM sessions JOIN sources USING (session) WHERE file = ? OR name = ? ORDER BY session DESC"
        with self._open() as connection:
            rows = connection.execute(query, (schema.exact(str(file)), readable_name(file.name))).fetchall()
        return [Path(os.fsdecode(path)) for (path,) in rows]

    def sources(self) -> int:
        """Return the number of sources in the index."""
        with self._open() as connection:
            return int(connection.execute("SELECT count(*) FROM sources").fetchone()[0])

    def search(self, query: Query, limit: int = 100, stop: Event | None = None) -> Found:
        """Return where enough objects are visible at once.

        Parameters
        ----------
        query : Query
            What to search for.
        limit : int
            The largest number of hits.
        stop : threading.Event, optional
            Any thread sets it to end the search early.
        """
        labels = query.labels or (EVERY_CLASS,)
        sums = len(labels) > 1
        with self._open() as connection:
            connection.execute("BEGIN")  # sessions that are indexed meanwhile change nothing
            table = _Table.read(connection, labels, 1 if sums else query.count, LEVELS.index(query.confidence))
            keep = table.counts >= query.count
            for bound, compare in ((query.begin, np.greater_equal), (query.end, np.less)):
                if bound is not None:
                    keep &= compare(table.times, bound.timestamp())
            table = table.select(keep)
            complete = True
            if sums:
                table, complete = table.checked(connection, query, limit, stop or Event())
            return table.hits(connection, limit, complete)


@dataclass(frozen=True, eq=False)
class _Table:
    """Parts of sources, in order of session, source and part.

    keys: session, source and part, int64 (n, 3). frames: first and last frame, int64 (n, 2). counts: objects at once, or an upper bound.
    pts: seconds. times: Unix time. known: whether that is the clock time of the frame.
    """

    keys: NDArray[np.int64]
    frames: NDArray[np.int64]
    counts: NDArray[np.int64]
    pts: NDArray[np.float64]
    times: NDArray[np.float64]
    known: NDArray[np.bool_]

    @classmethod
    def read(cls, connection: sqlite3.Connection, labels: Sequence[str], count: int, level: int) -> "_Table":
        """The parts of the sources that have at least ``count`` objects of one of the labels at once. Several labels are added."""
        marks = ", ".join("?" * len(labels))
        query = (
            "SELECT p.session, p.source, created, parts FROM peaks p JOIN sessions USING (session)"
            f" WHERE label IN ({marks}) AND most >= ? ORDER BY p.session, p.source"
        )
        rows = connection.execute(query, (*labels, count)).fetchall()
        peaks = np.frombuffer(b"".join([row[3] for row in rows]), _PEAK)
        lengths = np.fromiter((len(row[3]) // _PEAK.itemsize for row in rows), np.int64, len(rows))
        whose = np.repeat(np.array([row[:2] for row in rows], np.int64).reshape(-1, 2), lengths, axis=0)
        created = np.repeat(np.fromiter((row[2] for row in rows), np.float64, len(rows)), lengths)
        keys = np.column_stack((whose, peaks["part"].astype(np.int64)))
        counts, pts = peaks["counts"][:, level].astype(np.int64), peaks["pts"][:, level]
        times = pts + peaks["offset"]
        known = np.isfinite(times)
        table = cls(keys, np.column_stack((peaks["first"], peaks["last"])), counts, pts, np.where(known, times, created), known)
        return table._added() if len(labels) > 1 and len(keys) else table

    def _added(self) -> "_Table":
        """The parts with the sums of their counts over all labels, as upper bounds of the number at once."""
        order = np.lexsort((-self.counts, *self.keys.T[::-1]))
        table = self.select(order)
        starts = np.flatnonzero(np.any(np.diff(table.keys, axis=0, prepend=-1), axis=1))
        frames = np.column_stack((np.minimum.reduceat(table.frames[:, 0], starts), np.maximum.reduceat(table.frames[:, 1], starts)))
        first = table.select(starts)
        return _Table(first.keys, frames, np.add.reduceat(table.counts, starts), first.pts, first.times, first.known)

    def select(self, keep: NDArray[Any]) -> "_Table":
        """The parts that a boolean mask or an index array keeps."""
        columns = (self.keys, self.frames, self.counts, self.pts, self.times, self.known)
        return _Table(*(column[keep] for column in columns))

    def checked(self, connection: sqlite3.Connection, query: Query, limit: int, stop: Event) -> tuple["_Table", bool]:
        """The parts with what their frames really hold, and whether all were read. Those that may hold most are read first."""
        paths = {
            session: (Path(os.fsdecode(path)), fact)
            for session, path, fact in connection.execute("SELECT session, path, fact FROM sessions")
        }
        order, kept = np.lexsort((-self.times, -self.counts)).tolist(), []
        counts, pts, times = self.counts.copy(), self.pts.copy(), self.times.copy()
        reader: SessionReader | None = None
        number = 0
        try:
            for number, at in enumerate(order, 1):
                session, source, _ = self.keys[at].tolist()
                path, fact = paths[session]
                try:
                    if reader is None or reader.path != path:
                        if reader is not None:
                            reader.close()
                        reader = None
                        reader = SessionReader(path, created=fact)
                        reader.confidence = query.confidence
                        reader.classes = frozenset(number for number, label in enumerate(reader.labels) if label in query.labels)
                    most, when = _fullest(reader, source, *self.frames[at].tolist())
                except ExportError:  # removed or damaged since
                    continue
                if most >= query.count:
                    times[at] += (when - pts[at]) * self.known[at]
                    counts[at], pts[at] = most, when
                    kept.append(at)
                if number == MAX_CHECKED or len(kept) == limit or stop.is_set():
                    break
        finally:
            if reader is not None:
                reader.close()
        table = _Table(self.keys, self.frames, counts, pts, times, self.known)
        return table.select(np.sort(np.array(kept, np.int64))), number == len(order)

    def hits(self, connection: sqlite3.Connection, limit: int, complete: bool) -> Found:
        """Consecutive parts as hits, the latest first. complete: whether these are all parts."""
        if not len(self.keys):
            return Found((), 0 if complete else None)
        steps = np.diff(self.keys, axis=0, prepend=-2)
        starts = np.flatnonzero(np.any(steps[:, :2], axis=1) | (steps[:, 2] > 1))
        ends = np.append(starts[1:], len(self.keys)) - 1
        group = np.repeat(np.arange(len(starts)), np.diff(np.append(starts, len(self.keys))))
        fullest = np.lexsort((self.pts, -self.counts, group))[starts]
        latest = np.argsort(-self.times[fullest], kind="stable")[:limit]
        chosen = zip(*(column[latest].tolist() for column in (fullest, starts, ends)), strict=True)
        hits = tuple(self._hit(connection, *places) for places in chosen)
        return Found(hits, len(starts) if complete else None)

    def _hit(self, connection: sqlite3.Connection, at: int, first: int, last: int) -> Hit:
        session, source, _ = self.keys[at].tolist()
        columns = "path, fact, created, file, name, pictures, begin"
        query = f"SELECT {columns} FROM sources JOIN sessions USING (session) WHERE session = ? AND source = ?"
        path, fact, created, file, name, pictures, begin = connection.execute(query, (session, source)).fetchone()
        detected = datetime.fromtimestamp(created, UTC)
        time = datetime.fromtimestamp(self.times[at], UTC) if self.known[at] else None
        pts, start, end = (float(self.pts[place]) for place in (at, first, last))
        about = (Path(os.fsdecode(path)), fact, source, Path(os.fsdecode(file)), name, bool(pictures))
        return Hit(*about, int(self.counts[at]), pts, begin, start, end, time, detected)


def _version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def _forget(connection: sqlite3.Connection, path: str) -> None:
    for (session,) in connection.execute("SELECT session FROM sessions WHERE path = ?", (schema.exact(path),)).fetchall():
        for table in ("sessions", "sources", "peaks"):
            connection.execute(f"DELETE FROM {table} WHERE session = ?", (session,))


def _stamp(path: Path) -> str:
    """A text that changes with the content of a session, "" if it is gone."""
    states = []
    for end in ("", "-wal"):
        with suppress(OSError):
            state = path.with_name(path.name + end).stat()
            states.append(f"{end}{state.st_size} {state.st_mtime_ns}")
    return " ".join(states)


def _created(reader: SessionReader, path: Path) -> float:
    with suppress(ValueError):
        return datetime.fromisoformat(reader.facts.get(facts.CREATED, "")).timestamp()
    return path.stat().st_mtime


def _peaks(reader: SessionReader, source: StoredSource) -> list[tuple[str, NDArray[Any]]]:
    """The peaks of a source by label, and of all classes together."""
    pictures, clock = source.kind is SourceKind.IMAGES, Clock.of(reader, source)
    begin = source.info.begin if source.info is not None else 0.0
    found: dict[str, list[NDArray[Any]]] = {}
    for block in reader.blocks(source.number):
        if len(block.frame):
            for label, peaks in _block_peaks(reader, block, lambda pts: _offset(clock, pts), 1.0 if pictures else PART, begin):
                found.setdefault(label, []).append(peaks)
    return [(label, np.concatenate(parts)) for label, parts in found.items()]


def _offset(clock: Clock, pts: float) -> float:
    moment = clock.at(pts)
    return math.nan if moment is None else moment.timestamp() - pts


def _block_peaks(
    reader: SessionReader, block: Block, offset: Callable[[float], float], length: float, begin: float
) -> Iterable[tuple[str, NDArray[Any]]]:
    """The peaks of a block by label. offset: of a pts, see ``_PEAK``. length: of a part. begin: of the source."""
    ids, classes = np.unique(block.class_ids, return_inverse=True)
    labels = [label_of(reader.labels, class_id) for class_id in ids.tolist()]
    names = [EVERY_CLASS, *dict.fromkeys(labels)]
    row_of = np.array([names.index(label) for label in labels], np.int64)[classes]
    size = len(names) * len(block.frames)
    levels = np.zeros((len(LEVELS), len(names), len(block.frames)), np.int64)
    for level, confidence in enumerate(LEVELS):
        strong = block.confidences >= np.float32(confidence)
        places = row_of[strong] * len(block.frames) + block.frame[strong]
        levels[level] = np.bincount(places, minlength=size).reshape(len(names), -1)
    levels[:, 0] = levels.sum(axis=1)
    parts = np.floor((block.pts - begin) / length).astype(np.int64)
    starts = np.flatnonzero(np.diff(parts, prepend=parts[0] - 1))
    peaks = np.zeros((len(names), len(starts)), _PEAK)
    for place, (first, end) in enumerate(zip(starts, [*starts[1:], len(parts)], strict=True)):
        column, at = peaks[:, place], levels[:, :, first:end].argmax(axis=2)
        column["part"], column["first"], column["last"] = parts[first], block.numbers[first], block.numbers[end - 1]
        column["offset"] = offset(float(block.pts[first]))
        column["counts"] = np.minimum(levels[:, :, first:end].max(axis=2), np.iinfo(np.uint16).max).T
        column["pts"] = block.pts[first + at].T
    for name, row in zip(names, peaks, strict=True):
        seen = row[row["counts"][:, 0] > 0]
        if len(seen):
            yield name, seen


def _fullest(reader: SessionReader, source: int, first: int, last: int) -> tuple[int, float]:
    """The largest number of detections in a frame that the reader shows from frame ``first`` to ``last``, and the pts of that frame."""
    most, when = 0, 0.0
    for block in reader.blocks(source, first=first, last=last):
        counts = np.bincount(block.frame, minlength=len(block.frames))
        at = int(counts.argmax())
        if counts[at] > most:
            most, when = int(counts[at]), float(block.pts[at])
    return most, when
