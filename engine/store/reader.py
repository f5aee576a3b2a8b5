"""Reads sessions, also while they are being written: frames as blocks of arrays or one by one, and what is known of each source."""

import math
import os
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import islice, pairwise
from operator import attrgetter
from pathlib import Path
from threading import Event
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from framefleet.engine.media.types import SourceKind
from framefleet.engine.notices import ExportError, Notice, UsageError
from framefleet.engine.pool.events import Position
from framefleet.engine.settings.kinds import Moment
from framefleet.engine.store import schema
from framefleet.engine.store.blocks import COLUMNS, CORRECTION_COLUMNS, DRAWN_COLUMNS, MAX_SECONDS, Block, correct, unpack
from framefleet.engine.store.facts import CREATED, SHOWN, LiveRecord
from framefleet.engine.store.sources import SOURCE_COLUMNS, StoredSource, reason_of, reason_text, source_names, stored_source
from framefleet.engine.tracking.appearances import vote
from framefleet.engine.types import Closing, Detections, DeviceId, EngineChoice, Found, FrameRef, FrameResult, InferenceFailure

BLOCK_FRAMES = 2000
"""Number of frames in memory at once, where arrays are read."""

CHUNK = 500
"""Number of frames in memory at once, where frames are read one by one."""

MANY_FRAMES = 500
"""The largest number of frames of several short sources that ``SessionReader.steady`` reads at once."""

_EVERYTHING = 0, (1 << 62)
_SLACK = 1e-6  # stored times are rounded
_NOT_GIVEN = str(None)


@dataclass(frozen=True)
class Span:
    """A part of each source. begin, end: as ``detect --from`` and ``--to`` understand them; None: the start or end of the source."""

    begin: Moment | None = None
    end: Moment | None = None


@dataclass(frozen=True)
class View:
    """Which results of a session count, for a reader in another process. Parameters as in ``SessionReader``."""

    path: Path
    confidence: float = 0.0
    classes: frozenset[int] | None = None
    corrected: bool = True
    span: Span | None = None
    tracks: frozenset[int] | None = None
    created: str = ""


class DeviceUse(NamedTuple):
    """The work of a device for one source. name: of the hardware. frames: number that it inferred."""

    device: str
    name: str
    precision: str
    frames: int


class FileIdentity:
    """Whether a file is still the one that was at its path at first. The system lets a process use a removed file without an error."""

    def __init__(self, path: Path) -> None:
        self._name = os.fspath(path)
        self._first = self._identity()

    @property
    def lost(self) -> bool:
        """Whether the file was removed, moved or replaced."""
        return self._identity() != self._first

    @property
    def replaced(self) -> bool:
        """Whether another file is at the path now."""
        return self._identity() not in (None, self._first)

    def _identity(self) -> tuple[int, int] | None:
        try:
            status = os.stat(self._name)  # noqa: PTH116 (faster, and each query of a reader needs it)
        except OSError:
            return None
        return status.st_dev, status.st_ino


class SessionReader(Closing):
    """Reads a session, also while it is being written. Use it from one thread at a time. Each call reads what is committed by then.

    Parameters
    ----------
    path : Path
        The database.
    confidence : float
        Frames contain only detections of at least this confidence.
    classes : frozenset of int, optional
        Only detections of these classes. None: all.
    corrected : bool
        Apply what a person corrected before this reader was opened. The attribute says whether there are such corrections.
    span : Span, optional
        Only frames in this part of each source. None: all.
    tracks : frozenset of int, optional
        Only detections of these tracks, of any track if empty. None: all detections.
    created : str
        The fact ``CREATED`` of the expected session. "": any.

    Attributes
    ----------
    labels : tuple of str
        One per class id.
    facts : dict of str
        Properties of the run.
    stop : threading.Event
        Any thread sets it to end the reading of many frames early.

    Raises
    ------
    UsageError
        ``span`` does not fit a source. From all methods:
    ExportError
        The file is missing, damaged or of another kind, another Framefleet wrote it, or another run has replaced it.
    """

    def __init__(
        self,
        path: Path,
        confidence: float = 0.0,
        classes: frozenset[int] | None = None,
        corrected: bool = True,
        span: Span | None = None,
        tracks: frozenset[int] | None = None,
        created: str = "",
    ) -> None:
        self.path, self.stop = path, Event()
        self.confidence, self.classes, self.span, self.tracks_shown = confidence, classes, span, tracks
        self._file_identity = FileIdentity(path)
        with schema.reading(self.path):
            self._connection = schema.open_existing(path, "ro")
        try:
            self.corrected = corrected and bool(self._query("SELECT 1 FROM corrections LIMIT 1"))
            labels = self._query("SELECT class_id, label FROM labels ORDER BY class_id")
            for number, (class_id, _) in enumerate(labels):
                if class_id != number:
                    raise self._wrong("labels, class_id", class_id)
            self.labels = tuple(str(label) for _, label in labels)
            with schema.reading(self.path):
                self.facts: dict[str, str] = {key: os.fsdecode(value) for key, value in self._query("SELECT key, value FROM session")}
            if created not in ("", self.facts.get(CREATED)):
                raise self._replaced()
            self._sources: tuple[int, list[StoredSource]] | None = None
            self._steady = 0  # the number of contexts of ``steady``
            self._short: dict[int, Block] = {}
            self._short_shown: object = None
            self._parts: dict[int, tuple[int, int]] = {} if span is None else self._parts_of(span)
        except BaseException:
            self._connection.close()
            raise

    @classmethod
    def of(cls, view: View) -> Self:
        """Open a reader that shows the same."""
        return cls(view.path, view.confidence, view.classes, view.corrected, view.span, view.tracks, view.created)

    @property
    def view(self) -> View:
        """What this reader shows, for a reader in another process."""
        return View(self.path, self.confidence, self.classes, self.corrected, self.span, self.tracks_shown, self.facts.get(CREATED, ""))

    def close(self) -> None:
        """Close the file. Repeated calls have no effect."""
        self._connection.close()

    @contextmanager
    def unfiltered(self) -> Iterator[None]:
        """Show detections of all confidences and classes, as a context manager."""
        chosen = self.confidence, self.classes
        self.confidence, self.classes = 0.0, None
        try:
            yield
        finally:
            self.confidence, self.classes = chosen

    @contextmanager
    def steady(self) -> Iterator[None]:
        """Read all sources in their order faster, as a context manager: sources are those at its begin, short ones are read together."""
        self.sources()
        self._steady += 1
        try:
            yield
        finally:
            self._steady -= 1
            if not self._steady:
                self._short = {}

    @contextmanager
    def _whole(self) -> Iterator[None]:
        """Show all detections of all frames, as a context manager."""
        chosen = self.tracks_shown, self._parts
        self.tracks_shown, self._parts = None, {}
        try:
            with self.unfiltered():
                yield
        finally:
            self.tracks_shown, self._parts = chosen

    @contextmanager
    def _reading(self) -> Iterator[None]:
        """Convert errors of the file to ExportError, also if another run has replaced the file.

        SQLite finds a log by its path. It would apply the log of the new session to the old one that this connection still has open.
        """
        try:
            with schema.reading(self.path):
                yield
        finally:
            if self._file_identity.replaced:
                raise self._replaced()

    def _replaced(self) -> ExportError:
        return ExportError(Notice("store.replaced", path=self.path))

    def _query(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        try:
            rows = self._connection.execute(sql, values).fetchall()
        except Exception:  # also because SQLite may return any bytes as text from a damaged file
            with self._reading():
                raise
        if self._file_identity.replaced:
            raise self._replaced()
        return rows

    def _value(self, sql: str, *values: object) -> Any:
        """The only value of a query that returns one row."""
        return self._query(sql, *values)[0][0]

    def _wrong(self, where: str, value: object) -> ExportError:
        return schema.wrong_value(self.path, where, value)

    @property
    def shown_confidence(self) -> float:
        """The confidence from which the run exported detections. Raises ExportError if no run writes such a value."""
        text = self.facts.get(SHOWN, "0")
        try:
            value = float(text)
        except ValueError:
            value = -1.0
        if not 0 <= value <= 1:
            raise self._wrong(f"session, {SHOWN}", text)
        return value

    # the sources

    def sources(self) -> list[StoredSource]:
        """Return the sources in order. The ledgers of unfinished sources are empty."""
        if self._sources is None or not self._steady:
            version = self._value("PRAGMA data_version")
            if self._sources is None or self._sources[0] != version:
                self._sources = version, self._read_sources()
        return [*self._sources[1]]

    def _read_sources(self) -> list[StoredSource]:
        rows = self._query(f"SELECT {SOURCE_COLUMNS} FROM sources ORDER BY source")
        sources = [self._source(row) for row in rows]
        names = source_names([source.file for source in sources])
        return [replace(source, name=name) for source, name in zip(sources, names, strict=True)]

    def source(self, number: int) -> StoredSource:
        """Return the source of this number. Raises KeyError if there is none."""
        rows = self._query(f"SELECT {SOURCE_COLUMNS} FROM sources WHERE source = ?", number)
        if not rows:
            raise KeyError(number)
        return replace(self._source(rows[0]), name=self._names[number] if number in self._names else self._named(number))

    def _source(self, row: tuple[Any, ...]) -> StoredSource:
        try:
            source = stored_source(Path(self.facts.get("folder", "")), *row)
            if source.kind is SourceKind.LIVE and (record := self.facts.get(LiveRecord.key(source.number))) is not None:
                with suppress(ValueError):  # the results do not depend on it
                    source = replace(source, address=LiveRecord.read(record).address)
            return source
        except (ValueError, TypeError, LookupError, ArithmeticError, RecursionError, AttributeError) as error:
            raise self._wrong(f"sources, source {row[0]!r:.20}", str(error)) from error

    @cached_property
    def _names(self) -> dict[int, str]:
        return {source.number: source.name for source in self.sources()}

    def _named(self, number: int) -> str:
        """The name of a source that was added after the names were read."""
        del self._names
        return self._names[number]

    def count(self, source: int) -> int:
        """Return the number of stored frames of a source, failed ones included."""
        return int(self._value("SELECT count(*) FROM frames WHERE source = ? AND frame BETWEEN ? AND ?", source, *self._part(source)))

    def length(self, source: int) -> int:
        """Return the number of frames of a source up to the last one that the run took, or up to its end if the run has finished it."""
        last = "coalesce((SELECT max(frame) + 1 FROM frames f WHERE f.source = s.source), 0)"
        return int(self._value(f"SELECT max({last}, decoded + skipped) FROM sources s WHERE source = ?", source))

    def extent(self, source: int) -> int:
        """Return the number of frames up to the last stored one, also missing ones: counted from the start of ``span`` or of the source."""
        first = "0" if self.span is None else "min(frame)"
        query = f"SELECT coalesce(max(frame) - {first} + 1, 0) FROM frames WHERE source = ? AND frame BETWEEN ? AND ?"
        return int(self._value(query, source, *self._part(source)))

    def first_pts(self, source: int) -> float | None:
        """Return the pts (seconds) of a source's first frame, None if it is not stored."""
        rows = self._query("SELECT pts FROM frames WHERE source = ? AND frame = 0", source)
        return self._seconds(source, rows[0][0]) if rows else None

    def last_pts(self, source: int) -> float | None:
        """Return the highest pts (seconds) of a source's stored frames, None if there are none."""
        first, end = self._part(source)
        part = "" if (first, end) == _EVERYTHING else f" AND frame BETWEEN {first} AND {end}"  # without it, the index has the answer
        last = self._value(f"SELECT max(pts) FROM frames WHERE source = ?{part}", source)
        return None if last is None else self._seconds(source, last)

    def first_shown(self, source: int) -> float | None:
        """Return the pts (seconds) of the first frame of a source in ``span``, None if there is none."""
        query = "SELECT pts FROM frames WHERE source = ? AND frame BETWEEN ? AND ? ORDER BY frame LIMIT 1"
        rows = self._query(query, source, *self._part(source))
        return self._seconds(source, rows[0][0]) if rows else None

    def _seconds(self, source: int, value: object) -> float:
        if not isinstance(value, float | int) or not abs(value) <= MAX_SECONDS:  # also NaN
            raise self._wrong(f"frames, source {source}", value)
        return float(value)

    def failed(self, source: int) -> int:
        """Return the number of stored frames of a source that have no detections because something failed."""
        query = "SELECT count(failure) FROM frames WHERE source = ? AND frame BETWEEN ? AND ?"
        return int(self._value(query, source, *self._part(source)))

    def failed_times(self, source: int) -> list[float]:
        """Return the times (seconds) of the frames that ``failed`` counts."""
        query = "SELECT pts FROM frames WHERE source = ? AND frame BETWEEN ? AND ? AND failure IS NOT NULL ORDER BY frame"
        return [self._seconds(source, pts) for (pts,) in self._query(query, source, *self._part(source))]

    def failed_with(self, source: int, reason: Notice) -> tuple[int, int | None]:
        """Return the number of frames of a source that failed for this reason, and the index of the first one, None if there is none."""
        query = "SELECT count(*), min(frame) FROM frames WHERE source = ? AND failure = ?"
        ((count, first),) = self._query(query, source, reason_text(reason))
        return count, first

    def epochs(self, source: int) -> NDArray[np.int64]:
        """Return the indices of the frames with which the epochs of a live source begin, ordered, int64 (n,); none for other sources."""
        if self.source(source).kind is not SourceKind.LIVE:
            return np.zeros(0, np.int64)
        rows = self._query("SELECT frame FROM segments WHERE source = ? AND segment >= 0 ORDER BY frame", source)
        return np.array(rows, np.int64).reshape(-1)

    def position(self, source: int, before_failed: bool = False, before: int | None = None) -> Position | None:
        """Return the place behind the stored frames of a source, before the first gap. None: it is unknown, or there are no frames.

        before_failed: before the last frames if they failed, such as those behind the moment when the file was removed. before: not behind
        this frame, which is to be detected again.
        """
        end = self._end(source) if before is None else min(before, self._end(source))
        if before_failed:
            query = "SELECT coalesce(max(frame) + 1, 0) FROM frames WHERE source = ? AND frame < ? AND failure IS NULL"
            end = int(self._value(query, source, end))
        for (gap,) in self._query("SELECT frame FROM segments WHERE source = ? AND segment = ?", source, schema.BEHIND_GAP):
            end = min(end, gap)
        query = "SELECT segment, start, frame FROM segments WHERE source = ? AND segment >= 0 AND frame < ? ORDER BY segment DESC LIMIT 1"
        parts = self._query(query, source, end)
        last = self._query("SELECT pts FROM frames WHERE source = ? AND frame = ?", source, end - 1)
        if not parts or not last:
            return None
        failed = self._query(
            "SELECT failure, count(*) FROM frames WHERE source = ? AND frame < ? AND failure IS NOT NULL GROUP BY failure"
            " ORDER BY min(frame)",
            *(source, end),
        )
        segment, start, first = parts[0]
        with schema.reading(self.path):
            reasons = {reason_of(failure): count for failure, count in failed}
            return Position(end, self._seconds(source, last[0][0]), segment, start, end - first, reasons)

    def _end(self, source: int) -> int:
        """Return the index of the first frame that is missing, or of the one behind the last frame."""
        ((last, count),) = self._query("SELECT max(frame), count(*) FROM frames WHERE source = ?", source)
        if count and last == count - 1:
            return int(count)
        next_one = "SELECT 1 FROM frames WHERE source = ? AND frame = f.frame + 1"
        query = f"SELECT frame + 1 FROM frames f WHERE source = ? AND NOT EXISTS ({next_one}) ORDER BY frame LIMIT 1"
        first = self._query("SELECT 1 FROM frames WHERE source = ? AND frame = 0", source)
        return int(self._value(query, source, source)) if first else 0

    def device_names(self) -> dict[int, str]:
        """Return the names of devices by their numbers in the database."""
        return {number: str(device) for number, device in self._query("SELECT number, device FROM devices")}

    def engines(self) -> list[EngineChoice]:
        """Return what was chosen for the engines of the run, for a run that continues it."""
        query = "SELECT name, precision, batch, options FROM devices WHERE batch BETWEEN 1 AND 4096 ORDER BY number"
        return [
            EngineChoice(str(name), str(precision), batch, tuple(str(options).split()))
            for name, precision, batch, options in self._query(query)
        ]

    def frames_by_device(self, source: int) -> list[DeviceUse]:
        """Return the devices that inferred frames of a source."""
        query = (
            "SELECT devices.device, coalesce(devices.name, ''), coalesce(precision, ''), count(*) FROM frames JOIN devices"
            " ON frames.device = number WHERE source = ? AND frame BETWEEN ? AND ? AND failure IS NULL GROUP BY number ORDER BY number"
        )
        return [DeviceUse(*row) for row in self._query(query, source, *self._part(source))]

    def frame_of_picture(self, source: int, name: str) -> int | None:
        """Return the frame number of a folder's picture, or None if the source has no picture with this name."""
        rows = self._query("SELECT frame FROM frames WHERE source = ? AND name = ?", source, name)
        return int(rows[0][0]) if rows else None

    def picture_times(self, source: int) -> list[tuple[float, str | None, str | None, str | None]]:
        """Return what is known of the times of a source's pictures: pts, name, time in the metadata, and stored clock time of each."""
        query = "SELECT pts, name, created, clock FROM frames WHERE source = ? AND frame BETWEEN ? AND ?"
        return self._query(query, source, *self._part(source))

    # frames and detections

    def blocks(self, source: int, most: int | None = None, first: int = 0, last: int = _EVERYTHING[1]) -> Iterator[Block]:
        """Yield the frames of a source in order, with the detections that pass the filter, until ``stop`` is set.

        Parameters
        ----------
        source : int
            Number of the source.
        most : int
            Number of frames in a block, ``BLOCK_FRAMES`` if None.
        first, last : int
            Indices of the first and the last frame.
        """
        begin, end = self._part(source)
        begin, end = max(begin, first), min(end, last)
        count = most or BLOCK_FRAMES
        together = self._steady and (begin, end) == _EVERYTHING and count >= MANY_FRAMES and not self.corrected and not self.stop.is_set()
        if together and (short := self._short_source(source)) is not None:
            yield short
            return
        query = f"SELECT {COLUMNS} FROM frames WHERE source = ? AND frame BETWEEN ? AND ? ORDER BY frame LIMIT ?"
        while not self.stop.is_set() and (rows := self._query(query, source, begin, end, count)):
            yield self._block(source, rows)
            if len(rows) < count:
                break
            begin = rows[-1][0] + 1

    def frames(self, source: int, last: int = -1) -> Iterator[FrameResult]:
        """Yield the frames of a source behind the frame ``last``, in order. Keeps at most ``CHUNK`` frames in memory."""
        for block in self.blocks(source, CHUNK, last + 1):
            yield from self._results(source, block)

    def frame_at(self, source: int, pts: float) -> FrameResult | None:
        """Return the first frame with exactly this pts (seconds), None if there is none yet."""
        return self._one_frame("pts = ? ORDER BY pts, frame", source, pts)

    def frame_before(self, source: int, pts: float) -> FrameResult | None:
        """Return the last frame that is shown before this time (seconds), None if there is none."""
        return self._one_frame("pts < ? ORDER BY pts DESC, frame DESC", source, pts)

    def frame_after(self, source: int, pts: float) -> FrameResult | None:
        """Return the first frame that is shown after this time (seconds), None if there is none yet."""
        return self._one_frame("pts > ? ORDER BY pts, frame", source, pts)

    def _one_frame(self, where: str, source: int, pts: float) -> FrameResult | None:
        # "+": SQLite has to search the times, not the frames
        query = f"SELECT {COLUMNS} FROM frames WHERE source = ? AND +frame BETWEEN ? AND ? AND {where} LIMIT 1"
        rows = self._query(query, source, *self._part(source), pts)
        return next(iter(self._results(source, self._block(source, rows))), None) if rows else None

    @property
    def is_sampled(self) -> bool:
        """Whether the run left out frames between those that it took."""
        return self.facts.get("every", _NOT_GIVEN) != _NOT_GIVEN

    def is_skipped(self, source: int, pts: float) -> bool:
        """Whether a run of part of a video has passed this time (seconds), so that a frame without results never gets any."""
        part = any(self.facts.get(name, _NOT_GIVEN) != _NOT_GIVEN for name in ("begin", "end", "every"))
        return part and pts < (self.last_pts(source) or 0.0)

    def result_at(self, source: int, pts: float) -> FrameResult | None:
        """Return the results of the frame at exactly this time (seconds), None if there are none yet.

        Between two samples, these are the results of the first: boxes would flicker otherwise.
        """
        result = self.frame_at(source, pts)
        if result is None and self.is_sampled and self.is_skipped(source, pts):
            held = self.frame_before(source, pts)
            return held if held is not None and held.ref.name is None else None  # the pictures of a folder differ
        return result

    def places(self, source: int, frame: int) -> list[int]:
        """Return the places of a frame's detections, as the model found them. Order and filter are those of ``frame_at``."""
        return next((block.places.tolist() for block in self.blocks(source, 1, frame, frame)), [])

    def scores(self, source: int, first: int, last: int) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
        """Return the class ids and confidences of all detections from frame ``first`` to ``last``, int32 (n,) and float32 (n,)."""
        with self._whole():
            blocks = [(block.class_ids.astype(np.int32), block.confidences) for block in self.blocks(source, first=first, last=last)]
        if not blocks:
            return np.zeros(0, np.int32), np.zeros(0, np.float32)
        class_ids, confidences = zip(*blocks, strict=True)
        return np.concatenate(class_ids), np.concatenate(confidences)

    def indices(self, source: int) -> NDArray[np.int64]:
        """Return the indices of a source's frames, in order, int64 (n,). Those of a part of a video do not begin with 0."""
        query = "SELECT frame FROM frames WHERE source = ? AND frame BETWEEN ? AND ? ORDER BY frame"
        return np.array([frame for (frame,) in self._query(query, source, *self._part(source))], np.int64)

    def times(self, source: int, count: int) -> NDArray[np.float64]:
        """Return the times (seconds) of a source's first ``count`` frames, float64 (n,)."""
        query = "SELECT pts FROM frames WHERE source = ? AND frame BETWEEN ? AND ? ORDER BY frame LIMIT ?"
        rows = self._query(query, source, *self._part(source), count)
        with schema.reading(self.path):
            times = np.array([pts for (pts,) in rows], np.float64)
        if not np.isfinite(times).all():
            raise self._wrong(f"frames, source {source}", math.inf)
        return times

    def class_ids(self, sources: Iterable[int] | None = None) -> list[int]:
        """Return the ids of the classes that occur among the detections that pass the filter, in ascending order.

        sources: numbers of the sources to look at, None = all.
        """
        found = set[int]()
        for source in sources if sources is not None else [number for (number,) in self._query("SELECT source FROM sources")]:
            for block in self.blocks(source):
                found.update(block.class_ids.tolist())
        return sorted(found)

    # tracks and corrections

    @property
    def has_tracks(self) -> bool:
        """Whether detections are joined to tracks."""
        return bool(self._query("SELECT 1 FROM tracks LIMIT 1"))

    def tracks(self, source: int) -> list[tuple[int, int, int, int, int]]:
        """Return the tracks of a source: number, class id, first and last frame, number of detections. Empty if it was not tracked."""
        if not self.is_corrected(source):
            columns = "track, class_id, first_frame, last_frame, detections"
            return self._query(f"SELECT {columns} FROM tracks WHERE source = ? ORDER BY track", source)
        with self._whole():
            parts = [
                (block.numbers[block.frame], block.class_ids, block.tracks, block.confidences.astype(np.float64))
                for block in self.blocks(source)
            ]
        if not parts:
            return []
        frames, class_ids, tracks, scores = (np.concatenate(column) for column in zip(*parts, strict=True))
        mine = tracks >= 0
        frames, class_ids, tracks, scores = frames[mine], class_ids[mine], tracks[mine], scores[mine]
        numbers, first, counts = np.unique(tracks, return_index=True, return_counts=True)
        last = len(tracks) - 1 - np.unique(tracks[::-1], return_index=True)[1]
        classes = vote(tracks, class_ids, scores)[first]
        return [*zip(*(column.tolist() for column in (numbers, classes, frames[first], frames[last], counts)), strict=True)]

    def tracker(self, source: int) -> str | None:
        """Return name and version of what tracked a source, None if nothing did."""
        rows = self._query("SELECT tracker FROM trackers WHERE source = ?", source)
        return str(rows[0][0]) if rows else None

    def is_tracked(self, source: int) -> bool:
        """Whether the objects of a source were tracked, also if none was found."""
        return self.tracker(source) is not None or bool(self.tracks(source))

    @property
    def has_track_corrections(self) -> bool:
        """Whether this reader applies corrections that join or split tracks."""
        return self.corrected and bool(self._query("SELECT 1 FROM corrections WHERE track IS NOT NULL LIMIT 1"))

    def is_corrected(self, source: int, tracks: bool = False) -> bool:
        """Whether this reader applies corrections of a source. tracks: only those that join or split tracks count."""
        condition = " AND track IS NOT NULL" * tracks
        return self.corrected and bool(self._query(f"SELECT 1 FROM corrections WHERE source = ?{condition} LIMIT 1", source))

    def affected_corrections(self, source: int, end: int = 0) -> int:
        """Return the number of corrected detections that are removed if a run continues a source at frame ``end``.

        They are those from this frame on, and those of joined or split tracks.
        """
        query = "SELECT count(*) FROM corrections WHERE source = ? AND (frame >= ? OR track IS NOT NULL)"
        return int(self._value(query, source, end)) if self.corrected else 0

    @property
    def has_drawn(self) -> bool:
        """Whether this reader applies boxes that a person drew or moved."""
        with self._reading():
            return self.corrected and schema.has_drawn(self._connection) and bool(self._query("SELECT 1 FROM drawn WHERE edit = 0 LIMIT 1"))

    @property
    def last_edit(self) -> str:
        """A text that changes with each correction, "" if this reader applies none."""
        if not self.corrected:
            return ""
        ((edit, made),) = self._query("SELECT max(edit), max(made) FROM edits WHERE edit > 0")
        return f"{edit} {made}"

    # rows to arrays

    def _short_source(self, source: int) -> Block | None:
        """The frames of a finished source, which are read with those of the sources behind it. None if it has too many or none."""
        shown = self.confidence, self.classes, self.tracks_shown
        if source not in self._short or self._short_shown != shown:
            self._short, self._short_shown = self._short_sources(source), shown
        return self._short.get(source)

    def _short_sources(self, first: int) -> dict[int, Block]:
        """The frames of consecutive finished sources that have few frames together, by source."""
        assert self._sources is not None
        frames, last, sources = 0, first, self._sources[1]
        for stored in islice(sources, bisect_left(sources, first, key=attrgetter("number")), None):
            frames += stored.ledger.inferred + sum(stored.ledger.failed.values())
            if frames > MANY_FRAMES or not stored.complete:
                break
            last = stored.number
        if last == first:
            return {}  # alone it is not read sooner
        part = "FROM {} WHERE source BETWEEN ? AND ? ORDER BY source, frame LIMIT ?"
        rows = self._query(f"SELECT source, {COLUMNS} {part.format('frames')}", first, last, MANY_FRAMES + 1)
        if not 0 < len(rows) <= MANY_FRAMES:
            return {}
        place_of = {row[:2]: place for place, row in enumerate(rows)}
        tracks = self._query(f"SELECT source, frame, tracks {part.format('frame_tracks')}", first, last, MANY_FRAMES + 1)

        def wrong(frame: int, value: object, table: str = "frames") -> ExportError:
            return self._wrong_frame(rows[frame][0], rows[frame][1], value, table)

        with schema.reading(self.path):
            # until they are divided, the place of a frame among these rows is its number
            packed = ((place_of[source, frame], packed) for source, frame, packed in tracks if (source, frame) in place_of)
            whole = unpack([(place, *row[2:]) for place, row in enumerate(rows)], packed, wrong)
            whole = whole.filtered(self.confidence, self.classes, self.tracks_shown)
        begins = [place for place, row in enumerate(rows) if place == 0 or row[0] != rows[place - 1][0]]
        detections = pairwise([*np.searchsorted(whole.frame, begins).tolist(), len(whole.frame)])
        parts = zip(begins, [*begins[1:], len(rows)], detections, strict=True)
        return {rows[begin][0]: whole.part(begin, slice(*mine), [row[1] for row in rows[begin:end]]) for begin, end, mine in parts}

    def _block(self, source: int, rows: list[tuple[Any, ...]]) -> Block:
        """The frames of rows of ``COLUMNS``, with the detections that pass the filter."""
        part = source, rows[0][0], rows[-1][0]
        with schema.reading(self.path):
            wrong = partial(self._wrong_frame, source)
            tracks = self._query("SELECT frame, tracks FROM frame_tracks WHERE source = ? AND frame BETWEEN ? AND ?", *part)
            block = unpack(rows, tracks, wrong)
            if self.corrected:
                query = f"SELECT {CORRECTION_COLUMNS} FROM corrections WHERE source = ? AND frame BETWEEN ? AND ?"
                corrections, boxes = self._query(query, *part), list[tuple[Any, ...]]()
                if self.has_drawn:
                    query = f"SELECT {DRAWN_COLUMNS} FROM drawn WHERE edit = 0 AND source = ? AND frame BETWEEN ? AND ?"
                    boxes = self._query(query, *part)
                block = correct(block, corrections, boxes, wrong)
            return block.filtered(self.confidence, self.classes, self.tracks_shown)

    def _wrong_frame(self, source: int, frame: int, value: object, table: str = "frames") -> ExportError:
        return self._wrong(f"{table}, source {source}, frame {frame}", value)

    def _results(self, source: int, block: Block) -> Iterator[FrameResult]:
        """The frames of a block one by one."""
        ends = np.searchsorted(block.frame, np.arange(len(block.frames)), "right").tolist()
        class_ids, tracks = block.class_ids.astype(np.int32), block.tracks.astype(np.int32)
        confidences, boxes = np.ascontiguousarray(block.confidences), np.ascontiguousarray(block.stored)
        with schema.reading(self.path):
            devices = {number: DeviceId.parse(device) for number, device in self.device_names().items()}
        tracked, drawn, begin = bool((tracks >= 0).any()), self.has_drawn, 0
        for end, (number, pts, width, height, failure, name, device) in zip(ends, block.frames, strict=True):
            part = slice(begin, end)
            numbers = tracks[part] if tracked else None
            if numbers is not None and not (numbers >= 0).any():
                numbers = None
            verified = block.verified[part] if self.corrected else None
            marked = block.drawn[part] if drawn else None
            found: Found = Detections(boxes[part], confidences[part], class_ids[part], numbers, verified, marked)
            if failure is not None:
                found = InferenceFailure(failure)
            if device not in devices:
                raise self._wrong_frame(source, number, f"device {device}")
            yield FrameResult(FrameRef(source, number, pts, name), devices[device], width, height, found)
            begin = end

    # the part of each source that is shown

    def _part(self, source: int) -> tuple[int, int]:
        """The indices of the first and the last frame that is shown of a source."""
        return self._parts.get(source, _EVERYTHING)

    def _parts_of(self, span: Span) -> dict[int, tuple[int, int]]:
        """The frames of each source that are shown between two times. Raises UsageError if the part has times, and a source has none."""
        parts = {}
        for source, path, kind, origin in self._query(f"SELECT source, path, kind, {schema.ORIGIN} FROM sources s"):
            moments = (span.begin, span.end)
            if kind == SourceKind.IMAGES and any(moment is not None and moment.seconds is not None for moment in moments):
                raise UsageError(Notice("store.pictures_have_no_times", path=os.fsdecode(path)))
            first, last = _EVERYTHING
            if span.begin is not None:
                first = self._frame(True, source, span.begin, origin, first)
                if span.begin.seconds is not None and origin + float(span.begin.seconds) + _SLACK >= self._shown_until(source, origin):
                    first = last  # no frame is shown that late
            if span.end is not None:
                last = self._frame(False, source, span.end, origin, last) - 1
            parts[source] = first, last
        return parts

    def _frame(self, before: bool, source: int, moment: Moment, origin: float, otherwise: int) -> int:
        """The last frame at or before a moment, or the first one from it on.

        The time of a failed frame is certain only if it lies behind those before it.
        """
        if moment.frames is not None:
            return moment.frames
        assert moment.seconds is not None
        in_order = (
            "(failure IS NULL OR NOT coalesce((SELECT g.pts FROM frames g WHERE g.source = f.source AND g.frame < f.frame"
            " AND g.failure IS NULL ORDER BY g.frame DESC LIMIT 1) > f.pts, 0))"
        )
        which, sign = ("max(frame)", "<=") if before else ("min(frame)", ">=")
        time = origin + float(moment.seconds) + (_SLACK if before else -_SLACK)
        found = self._value(f"SELECT {which} FROM frames f WHERE source = ? AND pts {sign} ? AND {in_order}", source, time)
        return otherwise if found is None else int(found)

    def _shown_until(self, source: int, origin: float) -> float:
        """The pts (seconds) at which the last stored frame of a source ends, infinite if it is unknown.

        A sample stands for all frames up to the next one. The last sample, and the last frame of a source, end with the source.
        """
        query = (
            f"SELECT pts, ({schema.COMPLETE}) AND frame + 1 >= decoded + skipped, duration, rate FROM frames JOIN sources USING (source)"
            " WHERE source = ? ORDER BY frame DESC LIMIT 1"
        )
        for pts, is_last, duration, rate in self._query(query, source):
            if is_last or self.is_sampled:
                return math.inf if duration is None else float(max(origin + duration, pts + 2 * _SLACK))
            if rate:
                return float(pts + 1 / rate)
        return math.inf
