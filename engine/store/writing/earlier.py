"""Frames behind a gap that an interrupted run stored. They stay until the run that goes on stores the same frames again.

Their indices may be wrong, because they come from the container's frame counts (docs/adr/0018-interrupted-runs.md). Their times are exact.
"""

import sqlite3
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from framefleet.engine.pool.events import Ledger
from framefleet.engine.store import schema


class EarlierFrames:
    """The frames of a source from index ``end`` on.

    Attributes: end: index of the first frame that no run has stored in order. gap: index from which on the new frames are not in order,
    None = all are. left: pts and failure, by index of each earlier frame that is still stored.
    """

    def __init__(self, connection: sqlite3.Connection, source: int, end: int) -> None:
        self._source = source
        self.end = end
        self.gap: int | None = None
        rows = connection.execute("SELECT frame, pts, failure FROM frames WHERE source = ? AND frame >= ?", (source, end))
        self.left = {frame: (pts, failure) for frame, pts, failure in rows}
        self._by_pts = {pts: frame for frame, (pts, _) in self.left.items()}

    def counted(self, ledger: Ledger) -> Ledger:
        """The ledger with the earlier frames that are still stored."""
        failed = Counter(reason for _, reason in self.left.values() if reason is not None)
        inferred = ledger.inferred + len(self.left) - failed.total()
        return replace(ledger, decoded=ledger.decoded + len(self.left), inferred=inferred, failed=dict(failed + Counter(ledger.failed)))

    def replace(self, connection: sqlite3.Connection, rows: Iterable[tuple[Any, ...]]) -> None:
        """Delete the earlier ones of frames that are about to be stored, within a transaction. rows: of the table ``frames``."""
        gone = set[int]()
        for _, index, pts, *_ in rows:
            gone |= {index, self._by_pts.get(pts, index)}
            if self.gap is None or index < self.gap:
                self.end = max(self.end, index + 1)
        self._delete(connection, gone & self.left.keys())
        connection.execute("INSERT OR REPLACE INTO segments VALUES (?, ?, NULL, ?)", (self._source, schema.BEHIND_GAP, self.end))

    def delete(self, connection: sqlite3.Connection) -> None:
        """Delete those that are left: the source is complete without them."""
        self._delete(connection, set(self.left))
        connection.execute("DELETE FROM segments WHERE source = ? AND segment = ?", (self._source, schema.BEHIND_GAP))

    def _delete(self, connection: sqlite3.Connection, frames: set[int]) -> None:
        for table in ("detections", "frames"):
            connection.executemany(f"DELETE FROM {table} WHERE source = ? AND frame = ?", [(self._source, frame) for frame in frames])
        for frame in frames:
            del self.left[frame]
