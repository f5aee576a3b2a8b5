"""The files of sessions: locked while a run writes them, kept when a new session replaces them, found again after a crash.

A session that another one replaces is renamed to ``NAME.previous.sqlite``, ``NAME.previous-2.sqlite``, … beside ``NAME.sqlite``. No run
destroys results that nothing else holds: a session is deleted only if another one covers it, with the same model, settings and sources, all
complete or at least as far.
"""

import os
import re
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from glob import escape
from itertools import count
from pathlib import Path
from typing import NamedTuple

from framefleet.engine.notices import ExportError, Notice
from framefleet.engine.processes.file_lock import FileLock, LockedError, held_here
from framefleet.engine.settings.folders import Folder
from framefleet.engine.store import schema
from framefleet.engine.store.facts import CREATED, DECIDING, REPLACED, differences
from framefleet.engine.store.sources import readable

MAX_EXAMINED = 20
"""Number of sessions that ``find_interrupted`` examines, the newest ones."""

_PART = re.compile(r"(.+)_(\d{4}-\d\d-\d\d_\d\d-\d\d-\d\d)(?:-\d+)?")
"""The name of a part of a session, see ``engine.store.parts``: the name of the session, and when the part begins."""

LIST = "elsewhere.txt"
"""A file in the folder of the window's sessions: the paths of sessions in other folders, one a line."""
MAX_LISTED = 200
"""The largest number of sessions in other folders that are listed."""


def lock_session(path: Path) -> FileLock:
    """Lock the session at ``path`` until the lock is closed. Creates its folder if necessary.

    Raises ExportError if another process writes the session, or the folder cannot be written.
    """
    with schema.explained(path, "write"):
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            return FileLock(_lock_of(path))
        except LockedError as error:
            raise ExportError(Notice("store.locked", path=path, holder=error.holder)) from error


def written_here(path: Path) -> bool:
    """Whether a run of this process has locked the session at ``path``."""
    return held_here(_lock_of(path))


def _lock_of(path: Path) -> Path:
    return path.with_name(f".{path.name}.lock")


def session_parts(database: Path) -> list[Path]:
    """The parts of a session beside it, in the order of time.

    Parameters
    ----------
    database : Path
        The session that streams write, or wrote.
    """
    found = [path for path in database.parent.glob(f"{escape(database.stem)}_*{database.suffix}") if stamp_of_part(path, database)]
    return sorted(found, key=lambda path: (stamp_of_part(path, database), len(path.name), path.name))


def stamp_of_part(path: Path, database: Path) -> str:
    """The local time in the name of a part, such as ``2026-11-26_14-00-00``; "" if a file is no part of the session."""
    found = _PART.fullmatch(path.stem)
    return found[2] if found is not None and found[1] == database.stem else ""


def whole_session(path: Path) -> Path:
    """The session that a part belongs to; the same path if it is no part."""
    found = _PART.fullmatch(path.stem)
    return path if found is None else path.with_name(f"{found[1]}{path.suffix}")


def is_locked(path: Path) -> bool:
    """Whether another process writes the session at ``path``."""
    try:
        lock_session(path).close()
    except ExportError as error:
        if error.notice.code != "store.locked":
            raise
        return True
    return False


def tracking_lock(path: Path) -> Path:
    """The lock file of what tracks or moves frames of the session at ``path`` while a run writes the session."""
    return path.with_name(f".{path.name}.tracks.lock")


@dataclass(frozen=True)
class Interrupted:
    """A run that did not end in order. sources: number of its sources. unfinished: files that are not finished, by source number."""

    database: Path
    sources: int
    unfinished: Mapping[int, Path]


def find_interrupted(folder: Path, listed: bool = False) -> list[Interrupted]:
    """Return the interrupted runs whose sessions are in ``folder``, newest first, without those that another process continues.

    listed: also those in the list of sessions in other folders.
    """
    with suppress(OSError):
        there = [*folder.glob("*.sqlite"), *(noted_sessions(folder) if listed else ())]
        sessions = sorted(there, key=lambda path: path.stat().st_mtime_ns, reverse=True)
        return [found for path in sessions[:MAX_EXAMINED] if (found := _examine(path)) is not None]
    return []


def _examine(database: Path) -> Interrupted | None:
    try:
        with (
            FileLock(_lock_of(database)),
            schema.reading(database),
            closing(schema.open_existing(database, "ro")) as connection,
        ):
            facts = dict(connection.execute("SELECT key, value FROM session"))
            rows = connection.execute("SELECT source, path, finished FROM sources ORDER BY source").fetchall()
            folder = facts.get("folder", "")
            unfinished = {source: Path(schema.absolute(folder, path)) for source, path, finished in rows if not finished}
    except (ExportError, LockedError, OSError):
        return None
    return Interrupted(database, len(rows), unfinished) if unfinished else None


def note_session(database: Path) -> None:
    """Add a session in another folder to the list, so that the window can offer it. A folder that cannot be written is left as it is."""
    folder = Folder.SESSIONS.path
    with suppress(OSError, UnicodeError):
        folder.mkdir(parents=True, exist_ok=True)
        with (folder / LIST).open("a", encoding="utf-8") as file:
            file.write(f"{database.resolve()}\n")


def noted_sessions(folder: Path) -> list[Path]:
    """Return the sessions in the list of a folder that still exist, the last one first."""
    try:
        lines = (folder / LIST).read_text("utf-8", errors="replace").splitlines()
    except OSError:
        return []
    known = [path for line in dict.fromkeys(reversed(lines)) if (path := Path(line)).is_file()][:MAX_LISTED]
    if len(lines) > 2 * MAX_LISTED:
        with suppress(OSError, UnicodeError):
            (folder / LIST).write_text("".join(f"{path}\n" for path in reversed(known)), "utf-8")
    return known


class Opened(NamedTuple):
    """A database for writing.

    continued: whether an earlier session is used. notes: for the user, about an earlier session. kept: where the session is that this one
    replaces, None = there was none with frames.
    """

    connection: sqlite3.Connection
    continued: bool
    notes: list[Notice]
    kept: Path | None = None


def open_session(path: Path, labels: Sequence[str], facts: Mapping[str, str], go_on: bool) -> Opened:
    """Create the session at ``path``, or open the one there. Parameters: see ``SessionWriter``. Raises ExportError as ``SessionWriter``."""
    outputs: list[tuple[object, ...]] = []
    notes: list[Notice] = []
    kept: Path | None = None
    if path.exists():
        reasons = reasons_against(path, labels, facts) if go_on else ()
        if go_on and not reasons:
            connection = schema.open_existing(path, "rw")
            schema.prepare_writing(connection)
            rows = [(key, schema.exact(value)) for key, value in facts.items() if key in REPLACED]
            connection.executemany("INSERT OR REPLACE INTO session VALUES (?, ?)", rows)
            return Opened(connection, True, notes)
        kept, outputs = keep_replaced(path)
        if kept is not None:
            notes.append(Notice("store.detected_again", reasons=reasons, kept=kept) if reasons else Notice("store.kept", kept=kept))
    created = datetime.now(UTC).isoformat(timespec="seconds")
    connection = schema.create(path)
    connection.execute("BEGIN")
    connection.executemany(
        "INSERT INTO session VALUES (?, ?)", ((key, schema.exact(value)) for key, value in {**facts, CREATED: created}.items())
    )
    connection.executemany("INSERT INTO labels VALUES (?, ?)", enumerate(map(readable, labels)))
    connection.executemany("INSERT OR IGNORE INTO outputs VALUES (?, ?, ?, ?, ?, ?, ?)", outputs)
    connection.execute("COMMIT")
    return Opened(connection, False, notes, kept)


def reasons_against(path: Path, labels: Sequence[str], facts: Mapping[str, str]) -> tuple[Notice, ...]:
    """Why a run with these labels and facts cannot continue the session at ``path``; empty if it can."""
    with schema.reading(path), closing(schema.open_existing(path, "rw")) as connection:
        if schema.is_empty(connection):
            return (Notice("store.nothing_stored"),)
        stored = {key: os.fsdecode(value) for key, value in connection.execute("SELECT key, value FROM session")}
        known = tuple(label for (label,) in connection.execute("SELECT label FROM labels ORDER BY class_id"))
    other_labels = (Notice("store.labels_changed"),) if known != tuple(map(readable, labels)) else ()
    return differences(stored, facts) + other_labels


@dataclass(frozen=True)
class _Contents:
    """What a session holds. facts: what decided its results, labels included. corrected: whether a person corrected it.

    sources: for each source with frames, by absolute path: whether it has all of them, and their number.
    """

    facts: Mapping[str, object]
    sources: Mapping[str, tuple[bool, int]]
    corrected: bool

    def covers(self, other: "_Contents") -> bool:
        """Whether this session holds all that another one holds."""

        def holds(path: str, complete: bool, frames: int) -> bool:
            done, stored = self.sources.get(path, (False, 0))
            return stored > 0 and (done or (not complete and stored >= frames))

        same = self.facts == other.facts and not other.corrected  # no other session holds what a person corrected
        return same and all(holds(path, *held) for path, held in other.sources.items())

    @property
    def unfinished(self) -> bool:
        return not all(complete for complete, _ in self.sources.values())


def _contents(connection: sqlite3.Connection) -> _Contents:
    if schema.is_empty(connection):
        return _Contents({}, {}, False)
    facts = dict(connection.execute("SELECT key, value FROM session"))
    decided: dict[str, object] = {name: facts.get(name) for name in DECIDING}
    decided["labels"] = connection.execute("SELECT label FROM labels ORDER BY class_id").fetchall()
    rows = connection.execute(
        f"SELECT path, {schema.COMPLETE}, (SELECT max(frame) + 1 FROM frames WHERE frames.source = sources.source) FROM sources"
    )
    folder = facts.get("folder", "")
    sources = {schema.absolute(folder, path): (bool(complete), frames) for path, complete, frames in rows if frames}
    return _Contents(decided, sources, connection.execute("SELECT 1 FROM corrections LIMIT 1").fetchone() is not None)


def previous_sessions(path: Path) -> list[Path]:
    """Return the sessions that were replaced at ``path`` and are kept."""
    start = f"{escape(path.stem)}.previous"
    return [*path.parent.glob(f"{start}{path.suffix}"), *path.parent.glob(f"{start}-*{path.suffix}")]


def keep_replaced(path: Path) -> tuple[Path | None, list[tuple[object, ...]]]:
    """Rename a session to make room for another one. Returns its new path, and its table of written files.

    The path is None if the session had no frames and is deleted.

    Raises ExportError, OSError, sqlite3.Error: it is damaged, of another kind, in use, or cannot be renamed.
    """
    held, outputs = _merged(path)
    if not held.sources:
        path.unlink()
        return None, outputs
    kept = _free_name(path)
    path.rename(kept)
    _delete_covered(path, held, keep=kept)
    return kept, outputs


def replace_session(part: Path, path: Path) -> Path | None:
    """Move a complete session to ``path``. Returns where the session that was there is kept, None if the new one covers it.

    A process that is killed meanwhile leaves the old session or the new one at ``path``, and no copy that is not needed.

    Raises ExportError, OSError, sqlite3.Error: as ``keep_replaced``.
    """
    kept = None
    if path.exists():
        held, outputs = _merged(path)
        with schema.explained(path, "write"), closing(schema.open_existing(part, "rw")) as connection:
            connection.executemany("INSERT OR IGNORE INTO outputs VALUES (?, ?, ?, ?, ?, ?, ?)", outputs)
            covered = _contents(connection).covers(held) and (held.unfinished or not held.sources)
        if not covered:
            kept = _free_name(path)
            try:
                os.link(path, kept)
            except OSError:  # a file system without links
                path.rename(kept)
    part.replace(path)
    return kept


def _merged(path: Path) -> tuple[_Contents, list[tuple[object, ...]]]:
    """What a session holds, and its table of written files. Its log becomes part of the file; fails while another process has it open."""
    with schema.reading(path), closing(schema.open_existing(path, "rw")) as connection:
        connection.execute("PRAGMA journal_mode = DELETE")
        outputs = [] if schema.is_empty(connection) else connection.execute("SELECT * FROM outputs").fetchall()
        return _contents(connection), outputs


def keep_copy(path: Path, connection: sqlite3.Connection) -> Path:
    """Copy a session before some of its results are deleted. Returns the path of the copy, which appears complete or not at all."""
    kept = _free_name(path)
    part = kept.with_name(f".{kept.name}.part")
    part.unlink(missing_ok=True)
    try:
        with closing(sqlite3.connect(part)) as copy:
            connection.backup(copy)
            copy.execute("PRAGMA journal_mode = DELETE")
        part.rename(kept)
    finally:
        part.unlink(missing_ok=True)
    _delete_covered(path, _contents(connection), keep=kept)
    return kept


def delete_unfinished(path: Path, connection: sqlite3.Connection) -> None:
    """Delete kept sessions that are unfinished and that the session at ``path`` covers."""
    _delete_covered(path, _contents(connection), keep=path, only_unfinished=True)


def _free_name(path: Path) -> Path:
    names = (f"{path.stem}.previous{'' if number == 1 else f'-{number}'}{path.suffix}" for number in count(1))
    return next(kept for name in names if not os.path.lexists(kept := path.with_name(name)))


def _delete_covered(path: Path, held: _Contents, keep: Path, only_unfinished: bool = False) -> None:
    for kept, other in _other_sessions(path, keep):
        if held.covers(other) and (other.unfinished or not only_unfinished):
            kept.unlink()


def _other_sessions(path: Path, keep: Path) -> Iterator[tuple[Path, _Contents]]:
    for kept in previous_sessions(path):
        if kept == keep:
            continue
        try:
            with closing(schema.open_existing(kept, "ro")) as connection:
                other = _contents(connection)
        except (sqlite3.Error, ExportError, OSError):
            continue  # a file that cannot be read is not ours to delete
        yield kept, other


def save(connection: sqlite3.Connection, path: Path) -> tuple[sqlite3.Connection, Path]:
    """Write the content of a session whose file at ``path`` was removed to a new file there.

    If another file has taken the path, the new file is ``NAME.saved.sqlite``. Returns the connection to the new file, and its path.

    Raises ExportError if the file cannot be written.
    """
    target = path.with_name(f"{path.stem}.saved{path.suffix}") if path.exists() else path
    with schema.explained(target, "write"):
        target.parent.mkdir(parents=True, exist_ok=True)
        saved = sqlite3.connect(target, isolation_level=None, check_same_thread=False)
        try:
            connection.backup(saved)
        except BaseException:
            saved.close()
            raise
    connection.close()
    return saved, target
