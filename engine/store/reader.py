"""Reads sessions, also while they are being written."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np

from engine.errors import ExportError, UsageError
from engine.media.stamp import Stamp
from engine.media.types import SourceInfo, SourceKind
from engine.pool.events import Ledger
from engine.store import schema
from engine.store.names import readable_name, source_names
from engine.types import Closing, Detections, DeviceId, FrameRef, FrameResult

CHUNK = 500  # frames in memory at once

_SOURCE_COLUMNS = (
    "source, path, kind, codec, width, height, frames, duration, rate,"
    " decoded, inferred, dropped, failed, skipped, finished, cancelled, seconds, error, size, modified, digest, decoder, started"
)


@dataclass(frozen=True)
class StoredSource:
    """One source of a session.

    path: as the user entered it, see ``readable_name``. name: the shortest name that tells it from the others, see ``source_names``.
    file: the absolute path. info: without segments; None if the source could not be
    opened. finished: whether the run has finished it, completely or not. cancelled: whether the run ended it early.
    seconds: processing time; None until it is finished. stamp: of the content, when the source was opened; None if unknown.
    decoder: name of the decoder in use. started: clock time at which the video begins, with time zone. Both None if unknown.
    """

    number: int
    path: str
    file: Path
    info: SourceInfo | None
    ledger: Ledger
    finished: bool
    cancelled: bool
    seconds: float | None
    error: str | None
    stamp: Stamp | None = None
    decoder: str | None = None
    started: datetime | None = None
    name: str = ""

    @property
    def kind(self) -> SourceKind | None:
        """The kind of the source, None if it could not be opened."""
        return None if self.info is None else self.info.kind

    @property
    def complete(self) -> bool:
        """Whether all frames of the source are stored."""
        return self.finished and not self.cancelled


class SessionReader(Closing):
    """Reads a session, also while it is being written. Use it from one thread at a time. Each call reads what is committed by then.

    labels: one per class id. facts: properties of the run. confidence, classes: frames contain only detections of at least this
    confidence and, unless None, of these class ids.

    Raises (all methods):
        ExportError: the file is missing, damaged or of another kind, or a newer Framefleet wrote it.
    """

    def __init__(self, path: Path, confidence: float = 0.0, classes: frozenset[int] | None = None) -> None:
        self.path = path
        self.confidence, self.classes = confidence, classes
        with self._explained():
            self._connection = schema.open_existing(path, "ro")
        self.labels = tuple(str(label) for (label,) in self._query("SELECT label FROM labels ORDER BY class_id"))
        with self._explained():
            self.facts: dict[str, str] = {key: os.fsdecode(value) for key, value in self._query("SELECT key, value FROM session")}

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Convert the errors that a damaged file causes to ExportError."""
        try:
            with schema.explained(self.path, "read"):
                yield
        except (ValueError, TypeError, LookupError, ArithmeticError, UsageError) as error:
            raise ExportError(f"cannot read {self.path}: {schema.REMEDIES['SQLITE_CORRUPT']}") from error

    def _query(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        with schema.explained(self.path, "read"):
            return self._connection.execute(sql, values).fetchall()

    def sources(self) -> list[StoredSource]:
        """Return the sources in order. The ledgers of unfinished sources are empty."""
        rows = self._query(f"SELECT {_SOURCE_COLUMNS} FROM sources ORDER BY source")
        with self._explained():
            sources = [_source(Path(self.facts.get("folder", "")), *row) for row in rows]
        names = source_names([source.file for source in sources])
        return [replace(source, name=name) for source, name in zip(sources, names, strict=True)]

    def count(self, source: int) -> int:
        """Return the number of stored frames of a source, failed ones included."""
        return int(self._query("SELECT count(*) FROM frames WHERE source = ?", source)[0][0])

    def last_pts(self, source: int) -> float | None:
        """Return the highest pts (seconds) of a source's stored frames, None if there are none."""
        last: float | None = self._query("SELECT max(pts) FROM frames WHERE source = ?", source)[0][0]
        return last

    def frames(self, source: int) -> Iterator[FrameResult]:
        """Yield the frames of a source in order. Keeps at most ``CHUNK`` frames in memory."""
        last = -1
        while chunk := self._frames("frame > ? ORDER BY frame LIMIT ?", source, last, CHUNK):
            yield from chunk
            last = chunk[-1].ref.index

    def frame_at(self, source: int, pts: float) -> FrameResult | None:
        """Return the first frame with exactly this pts (seconds), None if there is none yet."""
        return next(iter(self._frames("pts = ? ORDER BY pts, frame LIMIT 1", source, pts)), None)

    def _frames(self, condition: str, source: int, *values: object) -> list[FrameResult]:
        columns = "SELECT frame, pts, width, height, failure, name, device FROM frames WHERE source = ? AND "
        rows = self._query(columns + condition, source, *values)
        if not rows:
            return []
        devices = dict(self._query("SELECT number, device FROM devices"))
        boxes: dict[int, list[list[float]]] = {}
        for frame, *box in self._query(
            "SELECT frame, class_id, confidence, x1, y1, x2, y2 FROM detections"
            " WHERE source = ? AND frame BETWEEN ? AND ? ORDER BY frame, ordinal",
            *(source, min(row[0] for row in rows), max(row[0] for row in rows)),
        ):
            boxes.setdefault(frame, []).append(box)
        with self._explained():
            ids = {number: DeviceId.parse(device) for number, device in devices.items()}
            results = []
            for frame, pts, width, height, failure, name, device in rows:
                found = _detections(boxes.get(frame, [])).filter(self.confidence, self.classes) if failure is None else None
                results.append(FrameResult(FrameRef(source, frame, pts), ids[device], width, height, found, failure, name))
            return results

    def close(self) -> None:
        """Close the file. Repeated calls have no effect."""
        self._connection.close()


def _source(folder: Path, number: int, exact: str | bytes, kind: str | None, *columns: Any) -> StoredSource:
    """Convert a row of ``_SOURCE_COLUMNS``. folder: the folder that relative paths refer to."""
    codec, width, height, frames, duration, rate, decoded, inferred, dropped, failed, skipped, *others = columns
    finished, cancelled, seconds, error, size, modified, digest, decoder, started = others
    name = os.fsdecode(exact)
    path = readable_name(name)
    info = None if kind is None else SourceInfo(path, SourceKind(kind), codec, width, height, frames, duration, rate, ())
    ledger = Ledger(decoded, inferred, dict(json.loads(dropped)), dict(json.loads(failed)), skipped)
    stamp = None if digest is None else Stamp(size, modified, digest)
    begun = None if started is None else datetime.fromisoformat(started)
    return StoredSource(number, path, folder / name, info, ledger, bool(finished), bool(cancelled), seconds, error, stamp, decoder, begun)


def _detections(rows: list[list[float]]) -> Detections:
    """Convert rows of class id, confidence and box (x1 y1 x2 y2)."""
    if not rows:
        return Detections()
    table = np.array(rows)
    with np.errstate(invalid="raise", over="raise"):  # only a damaged file contains such numbers
        return Detections(table[:, 2:].astype(np.float32), table[:, 1].astype(np.float32), table[:, 0].astype(np.int32))
