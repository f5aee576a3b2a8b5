"""Joins sessions of the same model and settings into one, such as those of several machines."""

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from framefleet.engine.errors import UsageError
from framefleet.engine.store import schema
from framefleet.engine.store.facts import CREATED, DECIDING, SHARD
from framefleet.engine.store.objects import corrected
from framefleet.engine.store.reading.reader import SessionReader
from framefleet.engine.store.stored_source import StoredSource
from framefleet.engine.store.tracks import TRACKERS
from framefleet.engine.store.writing.writer import SessionWriter

CHUNK = 10_000

_TABLES = ("sources", "frames", "detections", "segments", "tracks")
"""Tables that hold something of each source. Their first column is its number."""

_LATER = ("corrections", "trackers")
"""The same, but a session has them only if something was corrected or tracked. What was corrected cannot be undone in the new session."""


@dataclass(frozen=True)
class Merged:
    """What ``merge_sessions`` wrote. sources: their number. incomplete: number of sources without all frames.

    notes: sentences for the user about an earlier session at the same place, and about different precisions.
    left_out: sources of which another session holds more, that session, and whether the results that are left out were corrected.
    """

    sources: int
    incomplete: int
    left_out: tuple[tuple[Path, Path, bool], ...]
    notes: tuple[str, ...]


def merge_sessions(paths: Sequence[Path], target: Path) -> Merged:
    """Join sessions into a new one at ``target``, in their order. Of a source that several hold, the one with the most frames is taken.

    If they have the same number of frames, the one that a person corrected is taken, then the one with tracks.

    If all sessions are shards of a run, the sources get the order that they have in the undivided run.

    Raises:
        UsageError: the sessions come from different models, labels or settings, or the target is one of them.
        ExportError: a session cannot be read, or the target cannot be written.
    """
    if any(target.exists() and path.exists() and target.samefile(path) for path in paths):
        raise UsageError(f"{target} is one of the sessions to join: choose another folder")
    sessions = [_read(path) for path in paths]
    for session in sessions[1:]:
        _check_same(sessions[0], session)
    chosen, left_out = _choose(sessions)
    if all(SHARD in session.facts for session in sessions):
        chosen.sort(key=lambda pair: pair[1].number)
    same_folder = len({session.facts.get("folder") for session in sessions}) == 1
    facts = {key: value for key, value in sessions[0].facts.items() if key not in (CREATED, SHARD)}
    precisions = set[str]()
    writer = SessionWriter(target, sessions[0].labels, facts)
    try:
        with schema.explained(target, "write"), closing(schema.open_existing(target, "rw")) as connection:
            connection.executescript(f"{corrected.TABLES} {TRACKERS}")
            with schema.transaction(connection):
                for number, (path, source) in enumerate(chosen):
                    precisions |= _copy(path, source, number, connection, same_folder)
    except BaseException:
        writer.close(complete=False)
        raise
    incomplete = sum(not source.succeeded for _, source in chosen)
    writer.close(complete=not incomplete)
    several = f"their precisions differ ({', '.join(sorted(precisions))}), so boxes differ slightly: give each run the same --precision"
    return Merged(len(chosen), incomplete, left_out, (*writer.notes, *([several] if len(precisions) > 1 else [])))


@dataclass(frozen=True)
class _Session:
    """What a session holds. sources: each with its worth; of several results of a file, those of the highest worth are taken."""

    path: Path
    labels: tuple[str, ...]
    facts: Mapping[str, str]
    sources: Sequence[tuple[StoredSource, tuple[bool, int, bool, bool]]]


def _read(path: Path) -> _Session:
    """Read what is needed to choose. The session is closed again: a thousand of them would be too many open files."""
    with SessionReader(path) as reader:
        sources = []
        for source in reader.sources():
            number = source.number
            sources.append((source, (source.succeeded, reader.count(number), reader.is_corrected(number), bool(reader.tracks(number)))))
        return _Session(path, reader.labels, reader.facts, sources)


def _check_same(first: _Session, other: _Session) -> None:
    differing = [name for name in DECIDING if first.facts.get(name) != other.facts.get(name)]
    if first.labels != other.labels:
        differing.append("labels")
    if differing:
        raise UsageError(f"{other.path} cannot be joined to {first.path}: they differ in {', '.join(differing)}")


def _choose(sessions: Iterable[_Session]) -> tuple[list[tuple[Path, StoredSource]], tuple[tuple[Path, Path, bool], ...]]:
    """Choose the sources to copy. Returns them, each with its session, and ``left_out`` of ``Merged``."""
    best: dict[str, tuple[tuple[bool, int, bool, bool], Path, StoredSource]] = {}
    found = []
    for session in sessions:
        for source, worth in session.sources:
            key = schema.absolute("", str(source.file))
            found.append((key, source, worth[2]))
            if key not in best or worth > best[key][0]:
                best[key] = worth, session.path, source
    chosen = [(path, source) for _, path, source in best.values()]
    left_out = [(source.file, best[key][1], is_corrected) for key, source, is_corrected in found if best[key][2] is not source]
    return chosen, tuple(left_out)


def _copy(path: Path, source: StoredSource, number: int, target: sqlite3.Connection, keep_path: bool) -> set[str]:
    """Copy a source. Returns the precisions of its session. keep_path: whether its path stays as it is stored, else it becomes absolute."""
    with schema.reading(path), closing(schema.open_existing(path, "ro")) as stored:
        devices = {old: _device(target, *row) for old, *row in stored.execute(f"SELECT number, {_DEVICE} FROM devices")}
        for table in _TABLES + tuple(name for name in _LATER if schema.has_table(stored, name)):
            rows = stored.execute(f"SELECT * FROM {table} WHERE source = ?", (source.number,))
            columns = [column for column, *_ in rows.description]
            statement = f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})"
            while chunk := rows.fetchmany(CHUNK):
                changed = [dict(zip(columns, row, strict=True)) | {"source": number} for row in chunk]
                for row in changed:
                    if table == "sources" and not keep_path:
                        row["path"] = schema.exact(str(source.file))
                    elif table == "frames":
                        row["device"] = devices[row["device"]]
                target.executemany(statement, [tuple(row.values()) for row in changed])
        return {precision for (precision,) in stored.execute("SELECT precision FROM devices WHERE precision IS NOT NULL")}


_DEVICE = "device, name, backend, precision, reason, batch"


def _device(target: sqlite3.Connection, device: str, *facts: object) -> int:
    """Store a device unless it is stored already. Returns its number."""
    known = target.execute("SELECT number FROM devices WHERE device = ?", (device,)).fetchone()
    if known is not None:
        return int(known[0])
    return int(target.execute(f"INSERT INTO devices ({_DEVICE}) VALUES (?, ?, ?, ?, ?, ?)", (device, *facts)).lastrowid or 0)
