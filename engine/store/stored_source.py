"""One source of a session, as the session stores it."""

import json
import os
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from framefleet.engine.media.stamp import Stamp, has_same_content, stamp_of
from framefleet.engine.media.types import SourceInfo, SourceKind
from framefleet.engine.pool.events import Ledger
from framefleet.engine.settings.clock import ClockSettings
from framefleet.engine.store.names import readable_name

SOURCE_COLUMNS = (
    "source, path, kind, codec, width, height, frames, duration, rate,"
    " decoded, inferred, dropped, failed, skipped, finished, cancelled, seconds, error, size, modified, digest, decoder,"
    " started, created, origin"
)


@dataclass(frozen=True)
class StoredSource:
    """One source of a session.

    path: as the user entered it, see ``readable_name``. name: the shortest name that tells it from the others, see ``source_names``.
    file: the absolute path. info: without segments; None if the source could not be opened. finished: whether the run has finished it,
    completely or not. cancelled: whether the run ended it early. seconds: processing time; None until it is finished. error: why it could
    not be opened or read to its end. stamp: of the content, when the source was opened. decoder: name of the decoder in use. started: clock
    time at which the video begins, with time zone. created: the time in its metadata, as text. origin: as in ``SourceInfo``. The last five
    are None if unknown. picture_clock: for pictures, settings that replace the stored clock times; None: they stay.
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
    created: str | None = None
    origin: float | None = None
    name: str = ""
    picture_clock: ClockSettings | None = None

    @property
    def kind(self) -> SourceKind | None:
        """The kind of the source, None if it could not be opened."""
        return None if self.info is None else self.info.kind

    def changed(self) -> bool:
        """Whether the file has other content than when it was opened. Reads a part of it. False if it is missing or nothing is known."""
        now = stamp_of(self.file) if self.stamp is not None else None
        return now is not None and not has_same_content(now, self.stamp)

    @property
    def complete(self) -> bool:
        """Whether the run has processed the source to its end. If that failed, ``error`` says why."""
        return self.finished and not self.cancelled

    @property
    def succeeded(self) -> bool:
        """Whether the run has processed the source to its end without an error."""
        return self.complete and self.error is None


def stored_source(folder: Path, number: int, exact: str | bytes, kind: str | None, *columns: Any) -> StoredSource:
    """Convert a row of ``SOURCE_COLUMNS``. folder: the folder that relative paths refer to."""
    codec, width, height, frames, duration, rate, decoded, inferred, dropped, failed, skipped, *others = columns
    finished, cancelled, seconds, error, size, modified, digest, decoder, started, created, origin = others
    name = os.fsdecode(exact)
    path = readable_name(name)
    info = None if kind is None else SourceInfo(path, SourceKind(kind), codec, width, height, frames, duration, rate, (), origin=origin)
    ledger = Ledger(decoded, inferred, dict(json.loads(dropped)), dict(json.loads(failed)), skipped)
    stamp = None if digest is None else Stamp(size, modified, digest)
    begun = None if started is None else datetime.fromisoformat(started)
    ended = bool(finished), bool(cancelled), seconds, error
    return StoredSource(number, path, folder / name, info, ledger, *ended, stamp, decoder, begun, created, origin)
