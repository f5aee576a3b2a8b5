"""Opens the database of a run: a new one, or that of an earlier run with the same model and settings."""

import os
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from framefleet.engine.store import schema
from framefleet.engine.store.facts import CREATED, REPLACED, differences
from framefleet.engine.store.file.previous import set_aside
from framefleet.engine.store.names import readable


class Opened(NamedTuple):
    """A database for writing. continued: whether an earlier session is used. notes: sentences for the user about an earlier session."""

    connection: sqlite3.Connection
    continued: bool
    notes: list[str]


def open_session(path: Path, labels: Sequence[str], facts: Mapping[str, str], go_on: bool) -> Opened:
    """Create the session at ``path``, or open the one there. Parameters: see ``SessionWriter``. Raises ExportError as ``SessionWriter``."""
    outputs: list[tuple[object, ...]] = []
    notes: list[str] = []
    if path.exists():
        reasons = _reasons(path, labels, facts) if go_on else []
        if go_on and not reasons:
            connection = schema.open_existing(path, "rw")
            schema.prepare_writing(connection)
            rows = [(key, schema.exact(value)) for key, value in facts.items() if key in REPLACED]
            connection.executemany("INSERT OR REPLACE INTO session VALUES (?, ?)", rows)
            return Opened(connection, True, notes)
        kept, outputs = set_aside(path)
        if kept is not None:
            why = f"all is detected again: {', '.join(reasons)}; " if reasons else ""
            notes.append(f"{why}the earlier results are kept in {kept}")
    created = datetime.now(UTC).isoformat(timespec="seconds")
    connection = schema.create(path)
    connection.execute("BEGIN")
    connection.executemany(
        "INSERT INTO session VALUES (?, ?)", ((key, schema.exact(value)) for key, value in {**facts, CREATED: created}.items())
    )
    connection.executemany("INSERT INTO labels VALUES (?, ?)", enumerate(map(readable, labels)))
    connection.executemany("INSERT OR IGNORE INTO outputs VALUES (?, ?, ?, ?, ?, ?, ?)", outputs)
    connection.execute("COMMIT")
    return Opened(connection, False, notes)


def _reasons(path: Path, labels: Sequence[str], facts: Mapping[str, str]) -> list[str]:
    """Why a run with these labels and facts cannot continue the session at ``path``, in words; empty if it can."""
    with schema.reading(path), closing(schema.open_existing(path, "rw")) as connection:
        if schema.is_empty(connection):
            return ["nothing was stored"]
        stored = {key: os.fsdecode(value) for key, value in connection.execute("SELECT key, value FROM session")}
        known = tuple(label for (label,) in connection.execute("SELECT label FROM labels ORDER BY class_id"))
    other_labels = ["the labels have changed"] if known != tuple(map(readable, labels)) else []
    return differences(stored, facts) + other_labels
