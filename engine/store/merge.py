"""Joins sessions of the same model and settings into one, such as those of several machines."""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from framefleet.engine.media.live.messages import RecordedFile
from framefleet.engine.media.types import SourceKind
from framefleet.engine.notices import Notice, Option, UsageError
from framefleet.engine.pool.events import Ledger
from framefleet.engine.store import schema
from framefleet.engine.store.facts import CREATED, DECIDING, MAX_CHANGES, OF_SOURCE, SHARD, LiveChange, LiveRecord, RecordedFiles
from framefleet.engine.store.files import lock_session, replace_session, whole_session
from framefleet.engine.store.session import SessionReader, SessionWriter, StoredSource
from framefleet.engine.store.sources import counts_text, reason_of, reason_text

CHUNK = 1000
"""Number of rows in memory at once."""


@dataclass(frozen=True)
class Merged:
    """What ``merge_sessions`` wrote. sources: their number. incomplete: number of sources without all frames.

    notes: for the user, about an earlier session at the same place, different files at one path, and different precisions.
    left_out: sources of which another session holds more, that session, and whether the results that are left out were corrected.
    """

    sources: int
    incomplete: int
    left_out: tuple[tuple[Path, Path, bool], ...]
    notes: tuple[Notice, ...]


def merge_sessions(paths: Sequence[Path], target: Path) -> Merged:
    """Join sessions into a new one at ``target``, in their order. Of a source that several hold, the one with the most frames is taken.

    Files, but not folders, with the same path and different content are different sources.

    If they have the same number of frames, the one that a person corrected is taken, then the one with tracks.

    If all sessions are shards of a run, the sources get the order that they have in the undivided run.

    Raises
    ------
    UsageError
        The sessions come from different models, labels or settings, or the target is one of them.
    ExportError
        A session cannot be read, or the target cannot be written.
    """
    if any(target.exists() and path.exists() and target.samefile(path) for path in paths):
        raise UsageError(Notice("store.merge_into_itself", target=target))
    sessions = [_read(path) for path in paths]
    for session in sessions[1:]:
        _check_same(sessions[0], session)
    chosen, left_out, notes = _choose(sessions)
    if all(SHARD in session.facts for session in sessions):
        chosen.sort(key=lambda parts: parts[0][1].number)
    same_folder = len({session.facts.get("folder") for session in sessions}) == 1
    facts = _facts(sessions, chosen)
    incomplete = sum(not parts[-1][1].succeeded for parts in chosen)
    with closing(lock_session(target)) as lock:
        part = target.with_name(f".{target.name}.part")
        for suffix in ("", "-wal", "-shm", "-journal"):  # of a merge that was killed
            part.with_name(part.name + suffix).unlink(missing_ok=True)
        try:
            writer = SessionWriter(part, sessions[0].labels, facts, lock=lock, named=target)
            try:
                precisions = _copy(chosen, part, target, same_folder)
            finally:
                writer.close(complete=False)
            with schema.explained(target, "write"):
                kept = replace_session(part, target)
        finally:
            part.unlink(missing_ok=True)
    if kept is not None:
        notes.insert(0, Notice("store.kept", kept=kept))
    if len(precisions) > 1:
        notes.append(Notice("store.precisions_differ", precisions=tuple(sorted(precisions)), option=Option("precision")))
    return Merged(len(chosen), incomplete, left_out, tuple(notes))


Parts = list[tuple[Path, StoredSource]]
"""A source of the new session, with its session: one, or the parts of a live source in the order of time."""


def _facts(sessions: Sequence[_Session], chosen: Sequence[Parts]) -> dict[str, str]:
    """The facts of the new session: those of the first one, and those of each source by its new number."""
    of_sources = {key(source.number) for session in sessions for source, _ in session.sources for key in OF_SOURCE}
    facts = {key: value for key, value in sessions[0].facts.items() if key not in (CREATED, SHARD) and key not in of_sources}
    known = {session.path: session.facts for session in sessions}
    for number, parts in enumerate(chosen):
        changes, files, address = dict[LiveChange, None](), dict[str, RecordedFile](), ""
        for path, source in parts:
            if (text := known[path].get(LiveRecord.key(source.number))) is not None:
                with schema.reading(path):
                    record = LiveRecord.read(text)
                    files |= {file.path: file for file in RecordedFiles.of(known[path], source.number).files}
                changes |= dict.fromkeys(record.changes)
                address = record.address
        if address:
            ordered = tuple(sorted(changes, key=lambda change: change.seconds))
            facts[LiveRecord.key(number)] = LiveRecord(address, ordered[-MAX_CHANGES:]).text()
        if files:
            facts[RecordedFiles.key(number)] = RecordedFiles(tuple(sorted(files.values(), key=lambda file: file.begin))).text()
    return facts


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
        raise UsageError(Notice("store.merge_differs", other=other.path, first=first.path, differing=tuple(differing)))


def _choose(sessions: Iterable[_Session]) -> tuple[list[Parts], tuple[tuple[Path, Path, bool], ...], list[Notice]]:
    """Choose the sources to copy. Returns them, each with its session, ``left_out`` of ``Merged``, and notes about equal paths."""
    joined: dict[str, Parts] = {}
    found = []
    contents = defaultdict[str, dict[_Content, Path]](dict)  # of each path, and the first session of each
    for session in sessions:
        for source, worth in session.sources:
            key = schema.absolute("", str(source.file))
            if source.kind is SourceKind.LIVE:  # what a camera shows at another time
                key = f"{source.number} of {whole_session(session.path)}"
                if all(path != session.path for path, _ in joined.setdefault(key, [])):
                    joined[key].append((session.path, source))
                joined[key].sort(key=lambda part: (part[0] == whole_session(part[0]), part[1].origin or 0.0))
                continue
            folder = source.kind is SourceKind.IMAGES  # pictures may have been added, or copied with other times
            content = None if source.stamp is None or folder else (source.stamp.size, source.stamp.digest)
            if content is not None:
                contents[key].setdefault(content, session.path)
            found.append((key, content, worth, session.path, source))
    best: dict[tuple[str, _Content | None], tuple[tuple[bool, int, bool, bool], Path, StoredSource]] = {}
    files = []
    for key, content, worth, path, source in found:
        file = key, content or next(iter(contents[key]), None)  # of a source that could not be opened, the content is unknown
        files.append(file)
        if file not in best or worth > best[file][0]:
            best[file] = worth, path, source
    chosen = [[(path, source)] for _, path, source in best.values()] + [*joined.values()]
    left_out = [
        (source.file, best[file][1], worth[2])
        for file, (_, _, worth, _, source) in zip(files, found, strict=True)
        if best[file][2] is not source
    ]
    notes = [
        Notice("store.merge_same_path", path=key, sessions=tuple(of_path.values())) for key, of_path in contents.items() if len(of_path) > 1
    ]
    return chosen, tuple(left_out), notes


_Content = tuple[int, str]
"""Size and digest of a file, as in ``Stamp``."""


def _copy(chosen: Sequence[Parts], part: Path, shown: Path, keep_paths: bool) -> set[str]:
    """Copy sources in one transaction. Returns the precisions of their sessions. What was corrected cannot be undone in the new session.

    shown: the file that errors name. keep_paths: whether their paths stay as they are stored, else they become absolute.
    """
    numbers: dict[Path, dict[int, tuple[int, StoredSource]]] = defaultdict(dict)
    for number, parts in enumerate(chosen):
        for path, source in parts:
            numbers[path][source.number] = number, source
    several = {number for number, parts in enumerate(chosen) if len(parts) > 1}
    precisions = set[str]()
    with schema.explained(shown, "write"), closing(schema.open_existing(part, "rw")) as target, schema.transaction(target):
        for path, sources in numbers.items():
            with schema.reading(path), closing(schema.open_existing(path, "ro")) as stored:
                devices = {old: _device(target, *row) for old, *row in stored.execute(f"SELECT number, {_DEVICE} FROM devices")}
                for table in schema.OF_SOURCE:
                    for old, (number, source) in sources.items():
                        if number in several and table in _OF_TRACKS:
                            continue  # an object may go on in the next part: the user tracks them again
                        changed: dict[str, object] = {"source": number}
                        if table == "sources" and not keep_paths and source.kind is not SourceKind.LIVE:
                            changed["path"] = schema.exact(str(source.file))
                        copy_rows(stored, target, table, "source = ?", (old,), changed, devices)
                if schema.has_drawn(stored):
                    copy_drawn(stored, target, {old: number for old, (number, _) in sources.items()})
                precisions |= {each for (each,) in stored.execute("SELECT precision FROM devices WHERE precision IS NOT NULL")}
        for number in several:
            _join(target, number, [source for _, source in chosen[number]])
    return precisions


_OF_TRACKS = ("tracks", "frame_tracks", "trackers")


def _join(target: sqlite3.Connection, number: int, parts: Sequence[StoredSource]) -> None:
    """Make one source of the parts of a live source that were copied."""
    last, origin = parts[-1], min(part.origin or 0.0 for part in parts)
    ledger = last.ledger  # the run counts all of its frames there when it ends
    stored = target.execute("SELECT failure, count(*) FROM frames WHERE source = ? GROUP BY failure", (number,)).fetchall()
    if ledger.decoded < (frames := sum(count for _, count in stored)):
        failed = {reason_of(failure): count for failure, count in stored if failure is not None}
        ledger = Ledger(frames, frames - sum(failed.values()), {}, failed)
    started = next((part.started.isoformat() for part in parts if part.started is not None), None)
    target.execute("UPDATE corrections SET track = NULL WHERE source = ?", (number,))
    target.execute("DELETE FROM corrections WHERE coalesce(class_id, deleted, verified) IS NULL")
    target.execute(
        "UPDATE sources SET finished = ?, cancelled = ?, error = ?, decoded = ?, inferred = ?, dropped = ?, failed = ?, started = ?,"
        " origin = ? WHERE source = ?",
        (
            *(last.finished, last.cancelled, reason_text(last.error), ledger.decoded, ledger.inferred),
            *(counts_text(ledger.dropped), counts_text(ledger.failed), started, origin, number),
        ),
    )


def copy_rows(
    stored: sqlite3.Connection,
    target: sqlite3.Connection,
    table: str,
    where: str,
    values: tuple[object, ...],
    changed: Mapping[str, object] = MappingProxyType({}),
    devices: Mapping[int, int] | None = None,
) -> None:
    """Copy rows of a table from one session into another. Those that are there stay.

    Parameters
    ----------
    where, values : str and tuple
        The condition in SQL, and its values.
    changed : mapping
        Columns that get another value.
    devices : mapping
        The new number of each device; None: they stay.
    """
    rows = stored.execute(f"SELECT * FROM {table} WHERE {where}", values)
    columns = [column for column, *_ in rows.description]
    statement = f"INSERT OR IGNORE INTO {table} ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})"
    device = columns.index("device") if table == "frames" and devices is not None else None
    places = [(columns.index(name), value) for name, value in changed.items()]
    while chunk := [list(row) for row in rows.fetchmany(CHUNK)]:
        for row in chunk:
            for place, value in places:
                row[place] = value
            if device is not None and devices is not None:
                row[device] = devices[row[device]]
        target.executemany(statement, chunk)


def copy_drawn(stored: sqlite3.Connection, target: sqlite3.Connection, numbers: Mapping[int, int], last: int = 1 << 62) -> None:
    """Copy the boxes that a person drew. numbers: of the sources, the old and the new ones. last: the last frame."""
    if not schema.has_drawn(target):
        target.execute(schema.DRAWN)
    for old, number in numbers.items():
        rows = stored.execute("SELECT frame, place, x1, y1, x2, y2 FROM drawn WHERE edit = 0 AND source = ? AND frame <= ?", (old, last))
        target.executemany("INSERT INTO drawn VALUES (0, ?, ?, ?, ?, ?, ?, ?)", ((number, *row) for row in rows))


_DEVICE = "device, name, backend, precision, reason, batch"


def _device(target: sqlite3.Connection, device: str, *facts: object) -> int:
    """Store a device unless it is stored already. Returns its number."""
    known = target.execute("SELECT number FROM devices WHERE device = ?", (device,)).fetchone()
    if known is not None:
        return int(known[0])
    return int(target.execute(f"INSERT INTO devices ({_DEVICE}) VALUES (?, ?, ?, ?, ?, ?)", (device, *facts)).lastrowid or 0)
