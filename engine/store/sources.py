"""The sources of a session as it stores them, and names of files as text that every program can read."""

import json
import math
import os
import re
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from framefleet.engine.media.sources import Stamp, has_same_content, stamp_of
from framefleet.engine.media.types import SourceInfo, SourceKind
from framefleet.engine.notices import Notice
from framefleet.engine.pool.events import Ledger
from framefleet.engine.settings.clock import ClockSettings

_ESCAPED = re.compile(rb"\\x([0-9A-F]{2})")


def readable(text: str) -> str:
    r"""Write each byte of file names that is not UTF-8 as ``\xHH``, with upper-case digits, since JSON and Qt accept valid text only."""
    return re.sub("[\udc80-\udcff]", lambda byte: f"\\x{ord(byte[0]) - 0xDC00:02X}", text).encode("utf-8", "replace").decode()


def readable_name(name: str) -> str:
    r"""Like ``readable`` for one name, which ``exact_name`` turns back. A backslash of the name becomes ``\x5C`` if ``xHH`` follows it."""
    return readable(re.sub(r"\\(?=x[0-9A-F]{2})", r"\\x5C", name))


def exact_name(text: str) -> str:
    """The file name that ``readable_name`` has written as this text."""
    return os.fsdecode(_ESCAPED.sub(lambda byte: bytes([int(byte[1], 16)]), os.fsencode(text)))


def name_key(name: str) -> str:
    """A text that is equal for names which some file systems take for the same: those that differ in case or in Unicode's form only."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFD", name).casefold())


def label_of(labels: Sequence[str], class_id: int) -> str:
    """Return the label of a class, or its number if there is no label."""
    return labels[class_id] if 0 <= class_id < len(labels) else str(class_id)


def source_names(files: Sequence[Path]) -> list[str]:
    """A readable name for each source of a run: its base name, after the fewest folders that tell it from the others.

    files: absolute paths. The same file twice has the same name twice.
    """
    files = [Path(os.path.abspath(file)) for file in files]  # noqa: PTH100 (it removes "..", and "resolve" would follow links)
    parts = {file: file.parts for file in files}
    depths = dict.fromkeys(parts, 1)
    while True:
        names = {file: parts[file][-depth:] for file, depth in depths.items()}
        count = Counter(names.values())
        longer = [file for file, name in names.items() if count[name] > 1 and depths[file] < len(parts[file])]
        if not longer:
            return [readable_name(Path(*names[file]).as_posix()) for file in files]
        for file in longer:
            depths[file] += 1


SOURCE_COLUMNS = (
    "source, path, kind, codec, width, height, frames, duration, rate,"
    " decoded, inferred, dropped, failed, skipped, finished, cancelled, seconds, error, size, modified, digest, decoder,"
    " started, created, origin"
)


_MAX_COUNT = 1 << 53


@dataclass(frozen=True)
class StoredSource:
    """One source of a session.

    path: as the user entered it, see ``readable_name``. name: the shortest name that tells it from the others, see ``source_names``.
    file: the absolute path. info: without segments; None if the source could not be opened. finished: whether the run has finished it,
    completely or not. cancelled: whether the run ended it early. seconds: processing time; None until it is finished. error: why it could
    not be opened or read to its end. stamp: of the content, when the source was opened. decoder: what decoded the frames. started: clock
    time at which the video begins, with time zone. created: the time in its metadata, as text. origin: as in ``SourceInfo``. The last five
    are None if unknown. picture_clock: for pictures, settings that replace the stored clock times; None: they stay. address: of a
    stream, without user and password; None if unknown.
    """

    number: int
    path: str
    file: Path
    info: SourceInfo | None
    ledger: Ledger
    finished: bool
    cancelled: bool
    seconds: float | None
    error: Notice | None
    stamp: Stamp | None = None
    decoder: Notice | None = None
    started: datetime | None = None
    created: str | None = None
    origin: float | None = None
    name: str = ""
    picture_clock: ClockSettings | None = None
    address: str | None = None

    @property
    def kind(self) -> SourceKind | None:
        """The kind of the source, None if it could not be opened."""
        return None if self.info is None else self.info.kind

    @property
    def title(self) -> str:
        """The name for people: of a stream, its address without the scheme."""
        if self.address is not None:
            return self.address.rpartition("://")[2]
        return self.name or self.file.name or self.path

    @property
    def size(self) -> tuple[int, int]:
        """Width and height of the pictures, pixels; the first ones of a video, in which the size may change. 0 if it was not opened."""
        return (0, 0) if self.info is None else (self.info.width, self.info.height)

    @property
    def timed(self) -> bool:
        """Whether its frames follow each other in time: a video or a live source."""
        return self.kind is not None and self.kind.timed

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
    """Convert a row of ``SOURCE_COLUMNS``. folder: the folder that relative paths refer to.

    Raises ValueError, TypeError or another error of a conversion if no run writes such values.
    """
    codec, width, height, frames, duration, rate, decoded, inferred, dropped, failed, skipped, *others = columns
    finished, cancelled, seconds, error, size, modified, digest, decoder, started, created, origin = others
    name = os.fsdecode(exact)
    if "\0" in name:
        raise ValueError(f"path {readable(name)!r:.60}")
    for value in (duration, rate, seconds, origin):
        if value is not None and not math.isfinite(value):
            raise ValueError(str(value))
    for value in (width, height, frames, decoded, inferred, skipped):
        if value is not None and not 0 <= int(value) <= _MAX_COUNT:
            raise ValueError(str(value))
    for text in (codec, created):
        if not isinstance(text, str | None):
            raise TypeError(repr(text))
    path = readable_name(name)
    info = None if kind is None else SourceInfo(path, SourceKind(kind), codec, width, height, frames, duration, rate, (), origin=origin)
    losses = _counts(dropped), _counts(failed)
    received = inferred + sum(map(sum, (each.values() for each in losses))) if kind == SourceKind.LIVE else None
    ledger = Ledger(decoded, inferred, *losses, skipped, received)
    stamp = None if digest is None else Stamp(size, modified, digest)
    begun = None if started is None else datetime.fromisoformat(started)
    if begun is not None and not 1 < begun.year < 9000:  # its frames are shown at later times, in other time zones
        raise ValueError(started)
    problem, use = (None if text is None else reason_of(text) for text in (error, decoder))
    ended = bool(finished), bool(cancelled), seconds, problem
    return StoredSource(number, path, folder / name, info, ledger, *ended, stamp, use, begun, created, origin)


def _counts(text: str) -> dict[Notice, int]:
    """The counts of a ledger by reason, as ``counts_text`` wrote them."""
    return {reason_of(reason): int(count) for reason, count in json.loads(text).items()}


def counts_text(counts: Mapping[Notice, int]) -> str:
    """Counts of a ledger by reason, as text."""
    return json.dumps({reason_text(reason): count for reason, count in counts.items()})


def reason_text(reason: Notice | None) -> str | None:
    """Why a frame or source failed, as the session stores it: the notice in JSON, so that a reader can show it in another language."""
    return None if reason is None else json.dumps(reason.map(_readable_value).as_json())


def _readable_value(value: object) -> object:
    """A value of a notice, with names of files as valid text."""
    match value:
        case Path():
            return Path(readable(str(value)))
        case str():
            return readable(value)
    return value


def reason_of(text: str) -> Notice:
    """What ``reason_text`` wrote. Raises ValueError if it is something else."""
    return Notice.from_json(json.loads(text))
