"""Stores the sources and devices of a run."""

import json
import sqlite3
from collections.abc import Callable, Iterable
from datetime import datetime
from pathlib import Path, PurePath

from framefleet.engine.media.stamp import Stamp
from framefleet.engine.media.types import SourceInfo
from framefleet.engine.pool.events import Ledger
from framefleet.engine.settings.clock import ClockSettings
from framefleet.engine.store import schema
from framefleet.engine.store.names import readable
from framefleet.engine.types import DeviceId, EngineInfo

_FOUND = ("kind", "codec", "width", "height", "frames", "duration", "rate", "size", "modified", "digest")
"""What probing a source finds out, as columns of the table ``sources``."""


class SourcesWriter:
    """Base class of ``SessionWriter``, which describes its errors. connection: to the session at ``path``."""

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self.path = path
        self._connection = connection
        self._clocks: dict[int, tuple[str, ClockSettings]] = {}
        self._devices: dict[str, int] = dict(connection.execute("SELECT device, number FROM devices"))

    def _write(self, sql: str, *values: object) -> None:
        with schema.explained(self.path, "write"):
            self._connection.execute(sql, values)

    def add_queued(self, sources: Iterable[tuple[int, str]]) -> None:
        """Store sources that have not been opened, so that they are known after a crash. sources: number and path."""
        with schema.explained(self.path, "write"), schema.transaction(self._connection):
            rows = ((number, schema.exact(path)) for number, path in sources)
            self._connection.executemany("INSERT OR IGNORE INTO sources (source, path) VALUES (?, ?)", rows)

    def add_source(self, number: int, path: str, info: SourceInfo, stamp: Stamp | None = None) -> None:
        """Store the result of probing a source, before its first frame. stamp: of its content, None if unknown.

        If an earlier run stored the source, it becomes unfinished again and keeps its frames.
        """
        facts = (info.kind.value, info.codec, info.width, info.height, info.frames, info.duration, info.rate)
        identity = (None, None, None) if stamp is None else (stamp.size, stamp.modified, stamp.digest)
        again = ", ".join(f"{column} = excluded.{column}" for column in _FOUND)
        self._write(
            f"INSERT INTO sources (source, path, {', '.join(_FOUND)}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
            f" ON CONFLICT (source) DO UPDATE SET {again}, finished = 0, cancelled = 0, seconds = NULL, error = NULL",
            *(number, schema.exact(path), *facts, *identity),
        )

    def describe_source(self, number: int, decoder: str | None = None, info: SourceInfo | None = None) -> None:
        """Store facts of a source that ``add_source`` has stored. Values that are None stay unchanged.

        decoder: name of the decoder in use. info: what tells at which clock time frames were recorded: ``created`` and ``origin``.
        """
        created, origin = (None, None) if info is None else (info.created, info.origin)
        columns = ", ".join(f"{name} = coalesce(?, {name})" for name in ("decoder", "created", "origin"))
        self._write(f"UPDATE sources SET {columns} WHERE source = ?", text_of(decoder), text_of(created), origin, number)

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
        with schema.explained(self.path, "write"), schema.transaction(self._connection):
            rows = self._connection.execute("SELECT frame, name, created FROM frames WHERE source = ?", (number,)).fetchall()
            times = [(self.picture_clock(number, name, created), number, frame) for frame, name, created in rows]
            self._connection.executemany("UPDATE frames SET clock = ? WHERE source = ? AND frame = ?", times)

    def picture_clock(self, number: int, name: str | None, created: str | None) -> str | None:
        """Return the clock time of a picture as the session stores it, None if it is unknown. Parameters as in ``FrameResult``."""
        if number not in self._clocks:
            return None
        file, clock = self._clocks[number]
        moment = clock.started(PurePath(name or file), created)
        return None if moment is None else moment.isoformat()

    def add_device(self, engine: EngineInfo) -> None:
        """Store a device's name, backend, precision and batch."""
        facts = (engine.device_name, engine.backend, engine.precision, str(engine.reason), engine.batch)
        query = "UPDATE devices SET name = ?, backend = ?, precision = ?, reason = ?, batch = ? WHERE number = ?"
        self._write(query, *facts, self._device(engine.device))

    def _device(self, device: DeviceId) -> int:
        name = str(device)  # a group of one device has the same name as the device
        if name not in self._devices:
            number = len(self._devices)
            self._write("INSERT INTO devices (number, device) VALUES (?, ?)", number, name)
            self._devices[name] = number
        return self._devices[name]

    def _finish(self, number: int, path: str, ledger: Ledger, seconds: float, error: str | None, cancelled: bool) -> None:
        """Store a source's final state."""
        counts = (ledger.decoded, ledger.inferred, json.dumps(dict(ledger.dropped)), json.dumps(dict(ledger.failed)), ledger.skipped)
        self._write("INSERT INTO sources (source, path) VALUES (?, ?) ON CONFLICT DO NOTHING", number, schema.exact(path))
        self._write(
            "UPDATE sources SET finished = 1, cancelled = ?, decoded = ?, inferred = ?, dropped = ?, failed = ?,"
            " skipped = ?, seconds = ?, error = ? WHERE source = ?",
            *(cancelled, *counts, seconds, text_of(error), number),
        )


def text_of(text: str | None, convert: Callable[[str], str] = readable) -> str | None:
    """Convert a text to one that every program can read."""
    return None if text is None else convert(text)
