"""Reads sessions, also while they are being written."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from framefleet.engine.pool.position import Position
from framefleet.engine.store import schema
from framefleet.engine.store.names import source_names
from framefleet.engine.store.objects.corrected import TRACKS as CORRECTED_TRACKS
from framefleet.engine.store.objects.corrected import has_track_corrections, last_edit
from framefleet.engine.store.reading.columns import FRAME_COLUMNS, StoredColumns
from framefleet.engine.store.stored_source import SOURCE_COLUMNS, StoredSource, stored_source
from framefleet.engine.types import Detections, DeviceId, FrameRef, FrameResult

CHUNK = 500  # frames in memory at once


class DeviceUse(NamedTuple):
    """The work of a device for one source. name: of the hardware. frames: number that it inferred."""

    device: str
    name: str
    precision: str
    frames: int


class SessionReader(StoredColumns):
    """Reads a session, also while it is being written. Use it from one thread at a time. Each call reads what is committed by then.

    labels: one per class id. facts: properties of the run. confidence, classes: frames contain only detections of at least this
    confidence and, unless None, of these class ids. corrected: apply what a person corrected before this reader was opened. span: only
    frames in this part of each source; None: all. tracks: see ``View``. created: the fact ``CREATED`` of the expected session, "" = any.

    Attributes: corrected: whether there are corrections and this reader applies them. stop: any thread sets it to end the reading of many
    frames early.

    Raises (all methods):
        UsageError: ``span`` does not fit a source.
        ExportError: the file is missing, damaged or of another kind, a newer Framefleet wrote it, or another run has replaced it.
    """

    def sources(self) -> list[StoredSource]:
        """Return the sources in order. The ledgers of unfinished sources are empty."""
        rows = self._query(f"SELECT {SOURCE_COLUMNS} FROM sources ORDER BY source")
        with schema.reading(self.path):
            sources = [stored_source(Path(self.facts.get("folder", "")), *row) for row in rows]
        names = source_names([source.file for source in sources])
        return [replace(source, name=name) for source, name in zip(sources, names, strict=True)]

    def source(self, number: int) -> StoredSource:
        """Return the source of this number. Raises KeyError if there is none."""
        return {source.number: source for source in self.sources()}[number]

    def tracks(self, source: int) -> list[tuple[int, int, int, int, int]]:
        """Return the tracks of a source: number, class id, first and last frame, number of detections. Empty if it was not tracked."""
        if self.corrected:
            return self._query(CORRECTED_TRACKS, source)
        columns = "track, class_id, first_frame, last_frame, detections"
        return self._query(f"SELECT {columns} FROM tracks WHERE source = ? ORDER BY track", source)

    def frames(self, source: int, last: int = -1) -> Iterator[FrameResult]:
        """Yield the frames of a source behind the frame ``last``, in order. Keeps at most ``CHUNK`` frames in memory."""
        while chunk := self._frames("frame > ? ORDER BY frame LIMIT ?", source, last, CHUNK):
            yield from chunk
            last = chunk[-1].ref.index

    def frame_at(self, source: int, pts: float) -> FrameResult | None:
        """Return the first frame with exactly this pts (seconds), None if there is none yet."""
        return next(iter(self._frames("pts = ? ORDER BY pts, frame LIMIT 1", source, pts)), None)

    def frame_before(self, source: int, pts: float) -> FrameResult | None:
        """Return the last frame that is shown before this time (seconds), None if there is none."""
        return next(iter(self._frames("pts < ? ORDER BY pts DESC, frame DESC LIMIT 1", source, pts)), None)

    def _frames(self, where: str, source: int, *values: object) -> list[FrameResult]:
        rows = self._query(f"SELECT {FRAME_COLUMNS} FROM frames WHERE source = ? AND {where}", source, *values)
        if not rows:
            return []
        with schema.reading(self.path):
            boxes: dict[int, list[list[float]]] = {}
            condition, chosen = self._passing()
            for frame, *box in self._query(
                "SELECT frame, class_id, confidence, x1, y1, x2, y2, coalesce(track, -1)"
                f", {'verified' if self.corrected else '0'} FROM detections"
                f" WHERE source = ? AND frame BETWEEN ? AND ? AND {condition} ORDER BY frame, ordinal",
                *(source, min(row[0] for row in rows), max(row[0] for row in rows), *chosen),
            ):
                boxes.setdefault(frame, []).append(box)
            ids = {number: DeviceId.parse(device) for number, device in self.device_names().items()}
            results = []
            for frame, pts, width, height, failure, name, device in rows:
                found = _detections(boxes.get(frame, []), self.corrected) if failure is None else None
                results.append(FrameResult(FrameRef(source, frame, pts), ids[device], width, height, found, failure, name))
            return results

    def count(self, source: int) -> int:
        """Return the number of stored frames of a source, failed ones included."""
        return int(self._value("SELECT count(*) FROM frames WHERE source = ?", source))

    def length(self, source: int) -> int:
        """Return the number of frames of a source up to the last one that the run took, or up to its end if the run has finished it."""
        last = "coalesce((SELECT max(frame) + 1 FROM main.frames f WHERE f.source = s.source), 0)"
        return int(self._value(f"SELECT max({last}, decoded + skipped) FROM sources s WHERE source = ?", source))

    def extent(self, source: int) -> int:
        """Return the number of frames up to the last stored one, also missing ones: counted from the start of ``span`` or of the source."""
        first = "0" if self.span is None else "min(frame)"
        return int(self._value(f"SELECT coalesce(max(frame) - {first} + 1, 0) FROM frames WHERE source = ?", source))

    def first_pts(self, source: int) -> float | None:
        """Return the pts (seconds) of a source's first frame, None if it is not stored."""
        rows = self._query("SELECT pts FROM main.frames WHERE source = ? AND frame = 0", source)
        with schema.reading(self.path):
            return float(rows[0][0]) if rows else None

    def last_pts(self, source: int) -> float | None:
        """Return the highest pts (seconds) of a source's stored frames, None if there are none."""
        last: float | None = self._value("SELECT max(pts) FROM frames WHERE source = ?", source)
        return last

    def failed(self, source: int) -> int:
        """Return the number of stored frames of a source that have no detections because something failed."""
        return int(self._value("SELECT count(failure) FROM frames WHERE source = ?", source))

    def failed_times(self, source: int) -> list[float]:
        """Return the times (seconds) of the frames that ``failed`` counts."""
        return [pts for (pts,) in self._query("SELECT pts FROM frames WHERE source = ? AND failure IS NOT NULL ORDER BY frame", source)]

    def position(self, source: int, before_failed: bool = False) -> Position | None:
        """Return the place behind the stored frames of a source, before the first gap. None: it is unknown, or there are no frames.

        before_failed: before the last frames if they failed, such as those behind the moment when the file was removed.
        """
        end = self._end(source)
        if before_failed:
            query = "SELECT coalesce(max(frame) + 1, 0) FROM frames WHERE source = ? AND frame < ? AND failure IS NULL"
            end = int(self._value(query, source, end))
        for (gap,) in self._query("SELECT frame FROM segments WHERE source = ? AND segment = ?", source, schema.BEHIND_GAP):
            end = min(end, gap)
        query = "SELECT segment, start, frame FROM segments WHERE source = ? AND segment >= 0 AND frame < ? ORDER BY segment DESC LIMIT 1"
        parts = self._query(query, source, end)
        if not parts:
            return None
        pts = self._value("SELECT pts FROM frames WHERE source = ? AND frame = ?", source, end - 1)
        failed = self._query(
            "SELECT failure, count(*) FROM frames WHERE source = ? AND frame < ? AND failure IS NOT NULL GROUP BY failure"
            " ORDER BY min(frame)",
            *(source, end),
        )
        segment, start, first = parts[0]
        return Position(end, pts, segment, start, end - first, dict(failed))

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

    def class_ids(self) -> list[int]:
        """Return the ids of the classes that occur among the detections that pass the filter, in ascending order."""
        condition, values = self._passing(in_span=True)
        rows = self._query(f"SELECT DISTINCT class_id FROM detections WHERE {condition} ORDER BY class_id", *values)
        with schema.reading(self.path):
            return [int(number) for (number,) in rows]

    def frames_by_device(self, source: int) -> list[DeviceUse]:
        """Return the devices that inferred frames of a source."""
        query = (
            "SELECT devices.device, coalesce(devices.name, ''), coalesce(precision, ''), count(*)"
            " FROM frames JOIN devices ON frames.device = number WHERE source = ? AND failure IS NULL GROUP BY number ORDER BY number"
        )
        return [DeviceUse(*row) for row in self._query(query, source)]

    @property
    def has_track_corrections(self) -> bool:
        """Whether this reader applies corrections that join or split tracks."""
        with self._reading():
            return self.corrected and has_track_corrections(self._connection)

    def is_corrected(self, source: int, tracks: bool = False) -> bool:
        """Whether this reader applies corrections of a source. tracks: only those that join or split tracks count."""
        condition = " AND track IS NOT NULL" * tracks
        return self.corrected and bool(self._query(f"SELECT 1 FROM main.corrections WHERE source = ?{condition} LIMIT 1", source))

    @property
    def last_edit(self) -> str:
        """A text that changes with each correction, "" if this reader applies none."""
        with self._reading():
            return last_edit(self._connection) if self.corrected else ""

    def frame_of_picture(self, source: int, name: str) -> int | None:
        """Return the frame number of a folder's picture, or None if the source has no picture with this name."""
        rows = self._query("SELECT frame FROM frames WHERE source = ? AND name = ?", source, name)
        return int(rows[0][0]) if rows else None

    def picture_times(self, source: int) -> list[tuple[float, str | None, str | None, str | None]]:
        """Return what is known of the times of a source's pictures: pts, name, time in the metadata, and stored clock time of each."""
        return self._query("SELECT pts, name, created, clock FROM frames WHERE source = ?", source)

    def ordinals(self, source: int, frame: int) -> list[int]:
        """Return for each detection of a frame that passes the filter its number as the model found it, in the order of ``frame_at``."""
        condition, values = self._passing()
        query = f"SELECT ordinal FROM detections WHERE source = ? AND frame = ? AND {condition} ORDER BY ordinal"
        return [ordinal for (ordinal,) in self._query(query, source, frame, *values)]


def _detections(rows: list[list[float]], corrected: bool) -> Detections:
    """Convert rows of class id, confidence, box (x1 y1 x2 y2), track (-1: none) and whether it is verified."""
    if not rows:
        return Detections()
    table = np.array(rows)
    with np.errstate(invalid="raise", over="raise"):  # only a damaged file contains such numbers
        tracks = table[:, 6].astype(np.int32)
        boxes, scores, class_ids = table[:, 2:6].astype(np.float32), table[:, 1].astype(np.float32), table[:, 0].astype(np.int32)
        verified = table[:, 7] != 0 if corrected else None
        return Detections(boxes, scores, class_ids, tracks if tracks.max() >= 0 else None, verified)
