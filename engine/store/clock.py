"""The clock time of stored frames, computed from the time when their source began."""

from datetime import datetime, timedelta
from typing import Self

from engine.store.session import SessionReader, StoredSource


class Clock:
    """Converts times of one source to clock times.

    started: when the source began, with time zone; None if unknown. first: pts of the source's first frame, seconds.
    """

    def __init__(self, started: datetime | None, first: float = 0.0) -> None:
        self.started = started
        self._first = first

    @classmethod
    def of(cls, reader: SessionReader, source: StoredSource) -> Self:
        """Return the clock of a stored source. A source whose first frame is unknown is taken to begin at 0 s."""
        if source.started is None:
            return cls(None)
        first = reader.first_pts(source.number)
        return cls(source.started, (source.origin or 0.0) if first is None else first)

    def at(self, pts: float) -> datetime | None:
        """Return the clock time of a frame. pts: seconds."""
        return None if self.started is None else self.started + timedelta(seconds=round(pts - self._first, 6))

    def text(self, pts: float) -> str:
        """Return the clock time of a frame in ISO 8601 with milliseconds and the offset from UTC; "" if unknown."""
        moment = self.at(pts)
        return "" if moment is None else moment.isoformat(timespec="milliseconds")

    @property
    def start(self) -> str:
        """The time when the source began, as ``text`` writes it."""
        return self.text(self._first)

    def since_midnight(self) -> float:
        """Return the seconds from midnight, on the day when the source began, to pts 0. 0 if the clock time is unknown."""
        moment = self.at(0.0)
        if moment is None or self.started is None:
            return 0.0
        midnight = self.started.replace(hour=0, minute=0, second=0, microsecond=0)
        return (moment - midnight).total_seconds()
