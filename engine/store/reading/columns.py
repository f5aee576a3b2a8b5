"""Many frames and detections as arrays and rows, for tables of millions: an object for each would take too long."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from framefleet.engine.store import schema
from framefleet.engine.store.reading.connection import ReadingConnection

FRAME_COLUMNS = "frame, pts, width, height, failure, name, device"

_SCALE = 1 << 40  # makes whole numbers of confidences and coordinates from 1/65536 on, without rounding a float32

_CLASSES = 1 << 20  # above all class ids: makes one number of a frame and a class
_VERIFIED = 1 << 40  # above all tracks


class DetectionTable(NamedTuple):
    """Detections as columns, in order.

    frames, class_ids, tracks: int64 (n,); track -1: none. verified: bool (n,). scores: float64 (n,). boxes: float64 (n, 4), x1, y1, x2, y2
    in pixels. scores and boxes are empty if they were not asked for.
    """

    frames: NDArray[np.int64]
    class_ids: NDArray[np.int64]
    tracks: NDArray[np.int64]
    verified: NDArray[np.bool_]
    scores: NDArray[np.float64]
    boxes: NDArray[np.float64]


class StoredColumns(ReadingConnection):
    """Base class of ``SessionReader``: reads many frames and detections at once, as arrays."""

    @property
    def has_tracks(self) -> bool:
        """Whether detections are joined to tracks."""
        return bool(self._query("SELECT 1 FROM tracks LIMIT 1"))

    def scores(self, source: int, first: int, last: int) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
        """Return the class ids and confidences of the detections from frame ``first`` to ``last``, int32 (n,) and float32 (n,).

        SQLite puts them into one text, which is five times as fast as a row for each.
        """
        numbers = f"group_concat(class_id || ',' || CAST(confidence * {_SCALE} AS INTEGER))"
        query = f"SELECT {numbers} FROM detections WHERE source = ? AND frame BETWEEN ? AND ?"
        text = self._value(query, source, first, last)
        with schema.reading(self.path):
            table = np.fromstring(text or "", np.int64, sep=",").reshape(-1, 2)
            return table[:, 0].astype(np.int32), (table[:, 1] / _SCALE).astype(np.float32)

    def indices(self, source: int) -> NDArray[np.int64]:
        """Return the indices of a source's frames, in order, int64 (n,). Those of a part of a video do not begin with 0."""
        text = self._value("SELECT group_concat(frame) FROM (SELECT frame FROM frames WHERE source = ? ORDER BY frame)", source)
        with schema.reading(self.path):
            return np.fromstring(text or "", np.int64, sep=",")

    def times(self, source: int, count: int) -> NDArray[np.float64]:
        """Return the times (seconds) of a source's first ``count`` frames, float64 (n,).

        SQLite puts them into one text. With a row for each, other threads would wait too often for Python's lock.
        """
        rows = "SELECT pts FROM frames WHERE source = ? ORDER BY frame LIMIT ?"
        text = self._value(f"SELECT group_concat(printf('%!.17g', pts)) FROM ({rows})", source, count)
        with schema.reading(self.path):
            return np.fromstring(text or "", np.float64, sep=",")

    def detection_table(self, source: int, first: int, last: int, boxes: bool = True) -> DetectionTable:
        """Return the detections of the frames from ``first`` to ``last`` that pass the filter. boxes: whether to read scores and boxes.

        SQLite puts them into one text. With a row for each, other threads would wait too often for Python's lock, and so would two readers
        for each other. While NumPy parses the text, other threads wait, too, so a few thousand detections at once are enough.
        """
        marked = self.corrected or self.has_tracks
        columns = [f"frame * {_CLASSES} + class_id"]  # each column takes time, so frame and class share one
        columns += [f"{number} * {_SCALE}" for number in ("confidence", "x1", "y1", "x2", "y2")] * boxes
        columns += ["coalesce(track, -1)" + f" + {_VERIFIED} * verified" * self.corrected] * marked
        condition, values = self._passing()
        numbers = f"printf('{','.join(['%d'] * len(columns))}', {', '.join(columns)}) AS numbers"
        rows = f"SELECT {numbers} FROM detections WHERE source = ? AND frame BETWEEN ? AND ? AND {condition} ORDER BY frame, ordinal"
        text = self._value(f"SELECT group_concat(numbers) FROM ({rows})", source, first, last, *values)
        with schema.reading(self.path):
            table = np.fromstring(text or "", np.int64, sep=",").reshape(-1, len(columns))
        frames, class_ids = np.divmod(table[:, 0], _CLASSES)
        marks = table[:, -1] if marked else np.full(len(table), -1)
        verified, tracks = np.divmod(marks + 1, _VERIFIED)
        scores, corners = (table[:, 1] / _SCALE, table[:, 2:6] / _SCALE) if boxes else (np.zeros(0), np.zeros((0, 4)))
        return DetectionTable(frames, class_ids, tracks - 1, verified != 0, scores, corners)

    def frame_rows(self, source: int, most: int) -> Iterator[list[tuple[Any, ...]]]:
        """Yield the frames of a source in order, in lists of at most ``most``, until ``stop`` is set.

        A frame is a tuple: index, pts (seconds), width, height (pixels), failure, name, number of the device.
        """
        last, query = -1, f"SELECT {FRAME_COLUMNS} FROM frames WHERE source = ? AND frame > ? ORDER BY frame LIMIT ?"
        while not self.stop.is_set() and (rows := self._query(query, source, last, most)):
            yield rows
            last = rows[-1][0]

    def frames_with_detections(self, source: int) -> NDArray[np.int64]:
        """Return the indices of a source's frames that have detections which pass the filter, in order, int64 (n,)."""
        condition, values = self._passing(in_span=True)
        query = f"SELECT DISTINCT frame FROM detections WHERE source = ? AND {condition} ORDER BY frame"
        return np.array([frame for (frame,) in self._query(query, source, *values)], np.int64)
