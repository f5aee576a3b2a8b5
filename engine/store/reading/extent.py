"""How much of each source is stored: numbers of frames, their times, and the place where an earlier run stopped."""

from engine.pool.position import Position
from engine.store import schema
from engine.store.reading.connection import ReadingConnection


class StoredExtent(ReadingConnection):
    """Part of ``SessionReader``."""

    def count(self, source: int) -> int:
        """Return the number of stored frames of a source, failed ones included."""
        return int(self._value("SELECT count(*) FROM frames WHERE source = ?", source))

    def length(self, source: int) -> int:
        """Return the number of frames of a source up to the last one that the run took, or up to its end if the run has finished it."""
        last = "coalesce((SELECT max(frame) + 1 FROM main.frames f WHERE f.source = s.source), 0)"
        return int(self._value(f"SELECT max({last}, decoded + skipped) FROM sources s WHERE source = ?", source))

    def extent(self, source: int) -> int:
        """Return the number of frames up to the last stored one, also missing ones: from the first one of ``span``, or from the begin."""
        first = "0" if self.span is None else "min(frame)"
        return int(self._value(f"SELECT coalesce(max(frame) - {first} + 1, 0) FROM frames WHERE source = ?", source))

    def first_pts(self, source: int) -> float | None:
        """Return the pts (seconds) of a source's first frame, None if it is not stored."""
        rows = self._query("SELECT pts FROM main.frames WHERE source = ? AND frame = 0", source)
        with schema.reading(self.path):
            return float(rows[0][0]) if rows else None

    def last_pts(self, source: int) -> float | None:
        """Return the highest pts (seconds) of a source's stored frames, None if there are none."""
        last: float | None = self._value("SELECT max(pts) FROM frames WHERE source = ?", source)
        return last

    def failed(self, source: int) -> int:
        """Return the number of stored frames of a source that have no detections because something failed."""
        return int(self._value("SELECT count(failure) FROM frames WHERE source = ?", source))

    def failed_times(self, source: int) -> list[float]:
        """Return the times (seconds) of the frames that ``failed`` counts."""
        return [pts for (pts,) in self._query("SELECT pts FROM frames WHERE source = ? AND failure IS NOT NULL ORDER BY frame", source)]

    def position(self, source: int) -> Position | None:
        """Return the place behind the stored frames of a source, before the first gap. None: it is unknown, or there are no frames."""
        end = self._end(source)
        for (gap,) in self._query("SELECT frame FROM segments WHERE source = ? AND segment = ?", source, schema.BEHIND_GAP):
            end = min(end, gap)
        query = "SELECT segment, start, frame FROM segments WHERE source = ? AND segment >= 0 AND frame < ? ORDER BY segment DESC LIMIT 1"
        parts = self._query(query, source, end)
        if not parts:
            return None
        pts = self._value("SELECT pts FROM frames WHERE source = ? AND frame = ?", source, end - 1)
        failed = self._query(
            "SELECT failure, count(*) FROM frames WHERE source = ? AND frame < ? AND failure IS NOT NULL GROUP BY failure"
            " ORDER BY min(frame)",
            *(source, end),
        )
        segment, start, first = parts[0]
        return Position(end, pts, segment, start, end - first, dict(failed))

    def _end(self, source: int) -> int:
        """Return the index of the first frame that is missing, or of the one behind the last frame."""
        ((last, count),) = self._query("SELECT max(frame), count(*) FROM frames WHERE source = ?", source)
        if count and last == count - 1:
            return int(count)
        next_one = "SELECT 1 FROM frames WHERE source = ? AND frame = f.frame + 1"
        query = f"SELECT frame + 1 FROM frames f WHERE source = ? AND NOT EXISTS ({next_one}) ORDER BY frame LIMIT 1"
        first = self._query("SELECT 1 FROM frames WHERE source = ? AND frame = 0", source)
        return int(self._value(query, source, source)) if first else 0
