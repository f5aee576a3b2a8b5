"""The tables of corrections in a session, and the view through which readers see corrected detections.

The tables exist only in sessions in which somebody corrected something. The model's results stay as they are.
"""

import sqlite3

from framefleet.engine.store.schema import has_table

TABLES = """
CREATE TABLE IF NOT EXISTS corrections (
    source INTEGER NOT NULL, frame INTEGER NOT NULL, ordinal INTEGER NOT NULL,
    class_id INTEGER, track INTEGER, deleted INTEGER, verified INTEGER, PRIMARY KEY (source, frame, ordinal)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS edits (edit INTEGER PRIMARY KEY, made TEXT NOT NULL, words TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS edited (
    edit INTEGER NOT NULL, source INTEGER NOT NULL, frame INTEGER NOT NULL, ordinal INTEGER NOT NULL,
    class_id INTEGER, track INTEGER, deleted INTEGER, verified INTEGER, PRIMARY KEY (edit, source, frame, ordinal)
) WITHOUT ROWID;
"""
"""corrections: what differs from the model's results, NULL = nothing. edits: what the user did; the number of an undone edit is below 0.
edited: what ``corrections`` said before each edit, for undo, and what an undone edit makes of it, for redo."""

VIEW = """
CREATE TEMP VIEW detections AS
SELECT d.source AS source, d.frame AS frame, d.ordinal AS ordinal, coalesce(c.class_id, d.class_id) AS class_id, d.confidence AS confidence,
    d.x1 AS x1, d.y1 AS y1, d.x2 AS x2, d.y2 AS y2, coalesce(c.track, d.track) AS track, coalesce(c.verified, 0) AS verified
FROM main.detections AS d
LEFT JOIN main.corrections AS c ON c.source = d.source AND c.frame = d.frame AND c.ordinal = d.ordinal
WHERE c.deleted IS NOT 1
"""

TRACKS = """
WITH votes AS (
    SELECT track, class_id, sum(confidence) AS votes, min(frame) AS first, max(frame) AS last, count(*) AS number
    FROM detections WHERE source = ? AND track IS NOT NULL GROUP BY track, class_id
), ranked AS (SELECT *, row_number() OVER (PARTITION BY track ORDER BY votes DESC, class_id) AS place FROM votes)
SELECT track, max(CASE place WHEN 1 THEN class_id END), min(first), max(last), sum(number) FROM ranked GROUP BY track ORDER BY track
"""
"""The tracks of a source as corrected: number, class id, first and last frame, number of detections."""


def has_corrections(connection: sqlite3.Connection) -> bool:
    """Whether a session contains corrections."""
    return has_table(connection, "corrections") and connection.execute("SELECT 1 FROM main.corrections LIMIT 1").fetchone() is not None


def show_corrected(connection: sqlite3.Connection) -> bool:
    """Let queries for ``detections`` see corrected detections, with the column ``verified``, if there are corrections. Returns whether."""
    if not has_corrections(connection):
        return False
    connection.execute("PRAGMA temp_store = MEMORY")
    connection.execute(VIEW)
    return True


def affected_by_forgetting(connection: sqlite3.Connection, source: int, behind: int = 0) -> int:
    """Return the number of corrected detections that ``forget`` would change."""
    if not has_table(connection, "corrections"):
        return 0
    query = "SELECT count(*) FROM main.corrections WHERE source = ? AND (frame >= ? OR track IS NOT NULL)"
    return int(connection.execute(query, (source, behind)).fetchone()[0])


def forget(connection: sqlite3.Connection, source: int, behind: int = 0) -> None:
    """Delete the corrections of a source's frames from index ``behind`` on, because these frames are detected again.

    Those before them that join or split tracks go as well, because the source is tracked again.
    """
    if has_table(connection, "corrections"):
        for table in ("corrections", "edited"):
            connection.execute(f"DELETE FROM {table} WHERE source = ? AND frame >= ?", (source, behind))
            connection.execute(f"UPDATE {table} SET track = NULL WHERE source = ?", (source,))
        connection.execute("DELETE FROM corrections WHERE coalesce(class_id, deleted, verified) IS NULL")
        connection.execute("DELETE FROM edits WHERE edit NOT IN (SELECT edit FROM edited)")  # nothing of them can be undone


def forget_undone(connection: sqlite3.Connection) -> None:
    """Delete what ``redo`` would make again."""
    if has_table(connection, "corrections"):
        for table in ("edited", "edits"):
            connection.execute(f"DELETE FROM {table} WHERE edit < 0")


def undoable(connection: sqlite3.Connection) -> tuple[bool, bool]:
    """Whether there is something to undo, and something to do again."""
    if not has_table(connection, "edits"):
        return False, False
    undo, redo = connection.execute("SELECT max(edit) > 0, min(edit) < 0 FROM edits").fetchone()
    return bool(undo), bool(redo)


def has_track_corrections(connection: sqlite3.Connection) -> bool:
    """Whether a person joined or split tracks."""
    query = "SELECT 1 FROM corrections WHERE track IS NOT NULL LIMIT 1"
    return has_corrections(connection) and connection.execute(query).fetchone() is not None


def drop_track_corrections(connection: sqlite3.Connection) -> None:
    """Forget which tracks a person joined and split. Earlier edits cannot be undone afterwards."""
    if not has_corrections(connection):
        return
    connection.execute("UPDATE corrections SET track = NULL")
    connection.execute("DELETE FROM corrections WHERE coalesce(class_id, deleted, verified) IS NULL")
    connection.execute("DELETE FROM edited")
    connection.execute("DELETE FROM edits")


def last_edit(connection: sqlite3.Connection) -> str:
    """A text that changes with each edit, undo and redo, "" without corrections."""
    if not has_corrections(connection):
        return ""
    edit, made = connection.execute("SELECT max(edit), max(made) FROM edits WHERE edit > 0").fetchone()
    return f"{edit} {made}"
