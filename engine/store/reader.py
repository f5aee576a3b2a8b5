"""Reading a session, also while it is being written."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np

from engine.media.types import SourceInfo, SourceKind
from engine.pool.events import Ledger
from engine.store import schema
from engine.types import Detections, DeviceId, FrameRef, FrameResult

CHUNK = 500  # frames held at once


@dataclass(frozen=True)
class StoredSource:
    """One source of a session.

    path: as it was given, readable. file: where that is, whatever folder is the current one now.
    width, height, kind, codec, info: None if it could not be opened; info without segments. seconds: None until finished.
    finished: nothing more comes.
    """

    number: int
    path: str
    file: Path
    kind: str | None
    codec: str | None
    width: int | None
    height: int | None
    info: SourceInfo | None
    finished: bool
    cancelled: bool
    ledger: Ledger
    seconds: float | None
    error: str | None

    @property
    def complete(self) -> bool:
        """Whether everything that this source could give is stored."""
        return self.finished and not self.cancelled


class SessionReader:
    """Reads a session, also while it is being written. Any thread, one at a time.

    Every call sees what is committed at that moment. ``labels``: one per class id. confidence, classes: frames are given with
    those of their detections only that are at or above this confidence and, unless None, of these class ids.

    Raises:
        ExportError: the file is missing, damaged, something else, or written by a newer Framefleet.
    """

    def __init__(self, path: Path, confidence: float = 0.0, classes: frozenset[int] | None = None) -> None:
        self.path = path
        self.confidence, self.classes = confidence, classes
        with schema.explained(path, "read"):
            self._connection = schema.open_existing(path, "ro")
        self.labels = tuple(str(label) for (label,) in self._query("SELECT label FROM labels ORDER BY class_id"))
        self.facts: dict[str, str] = {key: os.fsdecode(value) for key, value in self._query("SELECT key, value FROM session")}

    def _query(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        with schema.explained(self.path, "read"):
            return self._connection.execute(sql, values).fetchall()

    def sources(self) -> list[StoredSource]:
        """The sources in order, with the ledgers of those that are finished."""
        rows = self._query(
            "SELECT source, path, kind, codec, width, height, frames, duration, rate,"
            " finished, cancelled, seconds, error, decoded, inferred, dropped, failed FROM sources ORDER BY source"
        )
        return [_source(Path(self.facts.get("folder", "")), *row) for row in rows]

    def count(self, source: int) -> int:
        """Frames stored of a source, failed ones included."""
        return int(self._query("SELECT count(*) FROM frames WHERE source = ?", source)[0][0])

    def last_pts(self, source: int) -> float | None:
        """The pts (seconds) of the last frame stored of a source, None if there is none."""
        last: float | None = self._query("SELECT max(pts) FROM frames WHERE source = ?", source)[0][0]
        return last

    def frames(self, source: int) -> Iterator[FrameResult]:
        """The frames of a source in order; memory does not grow with their number."""
        last = -1
        while chunk := self._frames("frame > ? ORDER BY frame LIMIT ?", source, last, CHUNK):
            yield from chunk
            last = chunk[-1].ref.index

    def frame_at(self, source: int, pts: float) -> FrameResult | None:
        """The frame with exactly this pts (seconds), None if there is none yet."""
        return next(iter(self._frames("pts = ? ORDER BY pts, frame LIMIT 1", source, pts)), None)

    def frames_between(self, source: int, start: float, end: float) -> list[FrameResult]:
        """The frames with start <= pts < end (seconds), in order."""
        return self._frames("pts >= ? AND pts < ? ORDER BY pts, frame", source, start, end)

    def _frames(self, condition: str, source: int, *values: object) -> list[FrameResult]:
        columns = "SELECT frame, pts, width, height, failure, name, device FROM frames WHERE source = ? AND "
        rows = self._query(columns + condition, source, *values)
        if not rows:
            return []
        devices = {number: DeviceId.parse(device) for number, device in self._query("SELECT number, device FROM devices")}
        boxes: dict[int, list[list[float]]] = {}
        for frame, *box in self._query(
            "SELECT frame, class_id, confidence, x1, y1, x2, y2 FROM detections"
            " WHERE source = ? AND frame BETWEEN ? AND ? ORDER BY frame, ordinal",
            *(source, min(row[0] for row in rows), max(row[0] for row in rows)),
        ):
            boxes.setdefault(frame, []).append(box)
        results = []
        for frame, pts, width, height, failure, name, device in rows:
            found = _detections(boxes.get(frame, [])).filter(self.confidence, self.classes) if failure is None else None
            results.append(FrameResult(FrameRef(source, frame, pts), devices[device], width, height, found, failure, name))
        return results

    def close(self) -> None:
        """Close the file; harmless when repeated."""
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _source(
    folder: Path, number: int, exact: str | bytes, kind: str | None, codec: str, width: int, height: int, *rest: Any
) -> StoredSource:
    name = os.fsdecode(exact)
    path = str(schema.readable(name))
    frames, duration, rate, finished, cancelled, seconds, error, decoded, inferred, dropped, failed = rest
    info = None if kind is None else SourceInfo(path, SourceKind(kind), codec, width, height, frames, duration, rate, ())
    ledger = Ledger(decoded, inferred, json.loads(dropped), json.loads(failed))
    state = bool(finished), bool(cancelled), ledger, seconds, error
    return StoredSource(number, path, folder / name, kind, codec, width, height, info, *state)


def _detections(rows: list[list[float]]) -> Detections:
    if not rows:
        return Detections()
    table = np.array(rows)
    return Detections(table[:, 2:].astype(np.float32), table[:, 1].astype(np.float32), table[:, 0].astype(np.int32))
