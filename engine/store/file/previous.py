"""Keeps the sessions that a new one replaces: NAME.previous.sqlite, NAME.previous-2.sqlite, …, beside NAME.sqlite.

No run destroys results that nothing else holds. A session is deleted only if another one covers it: it has the same model, settings and
sources, all complete or at least as far.
"""

import os
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from glob import escape
from itertools import count
from pathlib import Path

from framefleet.engine.errors import ExportError
from framefleet.engine.store import schema
from framefleet.engine.store.facts import DECIDING
from framefleet.engine.store.objects.corrected import has_corrections


@dataclass(frozen=True)
class Holding:
    """What a session holds of a source. complete: all frames, without an error. frames: their number."""

    complete: bool
    frames: int


@dataclass(frozen=True)
class Contents:
    """What a session holds. facts: what decided its results, labels included. sources: by absolute path, only those with frames."""

    facts: Mapping[str, object]
    sources: Mapping[str, Holding]


def previous_sessions(path: Path) -> list[Path]:
    """Return the sessions that were replaced at ``path`` and are kept."""
    start = f"{escape(path.stem)}.previous"
    return [*path.parent.glob(f"{start}{path.suffix}"), *path.parent.glob(f"{start}-*{path.suffix}")]


def set_aside(path: Path) -> tuple[Path | None, list[tuple[object, ...]]]:
    """Rename a session to make room for another one. Returns its new path, and its table of written files.

    The path is None if the session had no frames and is deleted.

    Raises:
        ExportError, OSError, sqlite3.Error: it is damaged, of another kind, in use, or cannot be renamed.
    """
    with schema.reading(path), closing(schema.open_existing(path, "rw")) as old:
        old.execute("PRAGMA journal_mode = DELETE")  # merges the log into the file; fails while another process has it open
        held = _contents(old)
        outputs = [] if schema.is_empty(old) else old.execute("SELECT * FROM outputs").fetchall()
    if not held.sources:
        path.unlink()
        return None, outputs
    kept = _free_name(path)
    path.rename(kept)
    _delete_covered(path, held, keep=kept)
    return kept, outputs


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


def _delete_covered(path: Path, held: Contents, keep: Path, only_unfinished: bool = False) -> None:
    for kept, other in _other_sessions(path, keep):
        if _covers(held, other) and not (only_unfinished and all(source.complete for source in other.sources.values())):
            kept.unlink()


def _other_sessions(path: Path, keep: Path) -> Iterator[tuple[Path, Contents]]:
    for kept in previous_sessions(path):
        if kept == keep:
            continue
        try:
            with closing(schema.open_existing(kept, "ro")) as connection:
                if has_corrections(connection):
                    continue  # no other session holds what a person corrected
                other = _contents(connection)
        except (sqlite3.Error, ExportError, OSError):
            continue  # a file that cannot be read is not ours to delete
        yield kept, other


def _covers(held: Contents, other: Contents) -> bool:
    """Whether a session holds all that another one holds."""

    def holds(path: str, needed: Holding) -> bool:
        found = held.sources.get(path, Holding(False, 0))
        return found.frames > 0 and (found.complete or (not needed.complete and found.frames >= needed.frames))

    return held.facts == other.facts and all(holds(path, needed) for path, needed in other.sources.items())


def _contents(connection: sqlite3.Connection) -> Contents:
    if schema.is_empty(connection):
        return Contents({}, {})
    facts = dict(connection.execute("SELECT key, value FROM session"))
    decided: dict[str, object] = {name: facts.get(name) for name in DECIDING}
    decided["labels"] = connection.execute("SELECT label FROM labels ORDER BY class_id").fetchall()
    rows = connection.execute(
        f"SELECT path, {schema.COMPLETE}, (SELECT max(frame) + 1 FROM frames WHERE frames.source = sources.source) FROM sources"
    )
    folder = facts.get("folder", "")
    return Contents(decided, {schema.absolute(folder, path): Holding(bool(complete), frames) for path, complete, frames in rows if frames})
