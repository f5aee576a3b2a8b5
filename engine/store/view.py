"""What a reader shows of a session: detections of a confidence, classes and tracks, and the frames of a part of each source."""

import math
import sqlite3
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from framefleet.engine.errors import UsageError
from framefleet.engine.media.types import SourceKind
from framefleet.engine.settings.kinds import Moment
from framefleet.engine.store.schema import COMPLETE, ORIGIN, current_columns


@dataclass(frozen=True)
class Span:
    """A part of each source. begin, end: as ``detect --from`` and ``--to`` understand them; None: the start or end of the source."""

    begin: Moment | None = None
    end: Moment | None = None


@dataclass(frozen=True)
class View:
    """Which results of a session count, for a reader in another process.

    confidence, classes, created: see ``SessionReader``. tracks: detections of these tracks only, of any track if empty; None: all
    detections.
    """

    path: Path
    confidence: float = 0.0
    classes: frozenset[int] | None = None
    corrected: bool = True
    span: Span | None = None
    tracks: frozenset[int] | None = None
    created: str = ""


def passing(confidence: float, classes: frozenset[int] | None, tracks: frozenset[int] | None) -> tuple[str, list[float]]:
    """Return the filter of detections as a condition in SQL, and its values. Confidences are compared as float32."""
    conditions, values = ["confidence >= ?"], [float(np.float32(confidence))]
    for column, chosen in (("class_id", classes), ("track", tracks)):
        if chosen is not None:
            conditions.append(f"{column} IN ({', '.join('?' * len(chosen))})")
            values += sorted(chosen)
    if tracks is not None and not tracks:
        conditions[-1] = "track IS NOT NULL"
    return " AND ".join(conditions), values


IN_SPAN = "EXISTS (SELECT 1 FROM temp.span WHERE span.source = detections.source AND frame BETWEEN first AND last)"
"""The condition for detections in the part that ``restrict`` has chosen."""


_SLACK = 1e-6  # stored times are rounded

_IN_ORDER = """(failure IS NULL OR NOT coalesce((
    SELECT g.pts FROM frames g WHERE g.source = f.source AND g.frame < f.frame AND g.failure IS NULL ORDER BY g.frame DESC LIMIT 1
) > f.pts, 0))"""
"""The condition for frames whose time is certain: failed frames with earlier times may follow the last decoded one."""


def restrict(connection: sqlite3.Connection, span: Span) -> None:
    """Let queries for ``frames`` see those of a part of each source only: the frames that are shown between two times.

    Raises UsageError if the part has times, and a source is a folder of pictures.
    """
    connection.execute("PRAGMA temp_store = MEMORY")
    connection.execute("CREATE TEMP TABLE span (source INTEGER PRIMARY KEY, first INTEGER NOT NULL, last INTEGER NOT NULL)")
    for source, path, kind, origin in connection.execute(f"SELECT source, path, kind, {ORIGIN} FROM sources s").fetchall():
        moments = (span.begin, span.end)
        if kind == SourceKind.IMAGES and any(moment is not None and moment.seconds is not None for moment in moments):
            raise UsageError(f"{path}: pictures have no times; give numbers of pictures, from 0")
        first, last = 0, (1 << 62)
        if span.begin is not None:
            before = f"SELECT max(frame) FROM frames f WHERE source = ? AND pts <= ? AND {_IN_ORDER}"
            first = _frame(connection, before, source, span.begin, origin, 0)
            if span.begin.seconds is not None and origin + float(span.begin.seconds) + _SLACK >= _shown_until(connection, source, origin):
                first = last  # no frame is shown that late
        if span.end is not None:
            behind = f"SELECT min(frame) FROM frames f WHERE source = ? AND pts >= ? AND {_IN_ORDER}"
            last = _frame(connection, behind, source, span.end, origin, last) - 1
        connection.execute("INSERT INTO temp.span VALUES (?, ?, ?)", (source, first, last))
    connection.execute("DROP VIEW IF EXISTS temp.frames")  # that of an older version's file
    connection.execute(
        f"CREATE TEMP VIEW frames AS SELECT {current_columns(connection, 'frames')} FROM main.frames t"
        " JOIN temp.span s ON s.source = t.source WHERE t.frame BETWEEN s.first AND s.last"
    )


def _frame(connection: sqlite3.Connection, query: str, source: int, moment: Moment, origin: float, otherwise: int) -> int:
    if moment.frames is not None:
        return moment.frames
    assert moment.seconds is not None
    slack = _SLACK if "<=" in query else -_SLACK
    found = connection.execute(query, (source, origin + float(moment.seconds) + slack)).fetchone()[0]
    return otherwise if found is None else int(found)


def _shown_until(connection: sqlite3.Connection, source: int, origin: float) -> float:
    """The pts (seconds) at which the last stored frame of a source ends, infinite if it is unknown.

    A sample stands for all frames up to the next one. The last sample, and the last frame of a source, end with the source.
    """
    query = (
        f"SELECT pts, ({COMPLETE}) AND frame + 1 >= decoded + skipped, duration, rate FROM main.frames JOIN sources USING (source)"
        " WHERE source = ? ORDER BY frame DESC LIMIT 1"
    )
    every = connection.execute("SELECT value FROM session WHERE key = 'every' AND value != 'None'").fetchone()
    for pts, is_last, duration, rate in connection.execute(query, (source,)):
        if is_last or every is not None:
            return math.inf if duration is None else float(max(origin + duration, pts + 2 * _SLACK))
        if rate:
            return float(pts + 1 / rate)
    return math.inf
