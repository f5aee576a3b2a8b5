"""The clock time of stored frames: computed from the time when their video began, or the time when a picture was taken."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from pathlib import PurePath
from typing import Self

from framefleet.engine.media.types import SourceKind
from framefleet.engine.store.schema import reading
from framefleet.engine.store.session import SessionReader, StoredSource

MONDAY = datetime(1970, 1, 5)
"""From which intervals count, so that weeks begin on Mondays; local time, as cameras have it."""


class Clock:
    """Converts times of one source to clock times.

    started: when the source began, with time zone; None if unknown. first: pts of the source's first frame, seconds. taken: when each
    picture was taken, by its pts.
    """

    def __init__(self, started: datetime | None, first: float = 0.0, taken: Mapping[float, datetime] | None = None) -> None:
        self.started = started
        self._first = first
        self.taken = taken or {}

    @classmethod
    def of(cls, reader: SessionReader, source: StoredSource) -> Self:
        """Return the clock of a stored source. A source whose first frame is unknown is taken to begin at 0 s."""
        if source.kind is SourceKind.IMAGES:
            return cls(None, taken=_times_of_pictures(reader, source))
        if source.started is None:
            return cls(None)
        first = reader.first_pts(source.number)
        return cls(source.started, (source.origin or 0.0) if first is None else first)

    def at(self, pts: float) -> datetime | None:
        """Return the clock time of a frame. pts: seconds."""
        return self.taken.get(pts) if self.started is None else self.started + timedelta(seconds=round(pts - self._first, 6))

    @property
    def known(self) -> bool:
        """Whether any frame has a clock time."""
        return self.started is not None or bool(self.taken)

    def text(self, pts: float) -> str:
        """Return the clock time of a frame in ISO 8601 with milliseconds and the offset from UTC; "" if unknown."""
        moment = self.at(pts)
        return "" if moment is None else moment.isoformat(timespec="milliseconds")

    @property
    def start(self) -> str:
        """The time when the video began, as ``text`` writes it; "" if unknown, and for pictures."""
        return "" if self.started is None else self.text(self._first)

    def offset(self, length: float = 0.0) -> float:
        """Return the seconds from the begin of an interval to pts 0. 0 if the clock time is unknown.

        length: of an interval, seconds. Intervals of up to a day begin at midnight of the day when the source began; longer ones count from
        ``MONDAY``.
        """
        moment = self.at(0.0)
        if moment is None or self.started is None:
            return 0.0
        if length > timedelta(days=1).total_seconds():
            return (moment.replace(tzinfo=None) - MONDAY).total_seconds() % length
        midnight = self.started.replace(hour=0, minute=0, second=0, microsecond=0)
        return (moment - midnight).total_seconds()


def _times_of_pictures(reader: SessionReader, source: StoredSource) -> dict[float, datetime]:
    times = {}
    for pts, name, created, stored in reader.picture_times(source.number):
        if source.picture_clock is not None:
            moment = source.picture_clock.started(PurePath(name or source.file.name), created)
        else:
            with reading(reader.path):
                moment = None if stored is None else datetime.fromisoformat(stored)
        if moment is not None:
            times[pts] = moment
    return times
