"""When each picture is due: the clock of the player, in plain seconds."""

from __future__ import annotations

LATE = 0.25  # seconds behind at which the clock gives in, instead of racing to catch up


class Pacer:
    """Maps pts to due times on a monotonic clock, at a speed that may change."""

    def __init__(self) -> None:
        self.speed = 1.0
        self._anchor: tuple[float, float] | None = None

    def stop(self) -> None:
        """The clock stands; the next ``due`` starts it anew."""
        self._anchor = None

    def set_speed(self, speed: float) -> None:
        """Play ``speed`` seconds of video per second."""
        self.speed = speed
        self._anchor = None

    def due(self, pts: float, now: float) -> float:
        """When a picture should be shown, in the time of ``now``; pictures far too late move the clock."""
        if self._anchor is None:
            self._anchor = (now, pts)
        start, first = self._anchor
        due = start + (pts - first) / self.speed
        if due < now - LATE:
            self._anchor = (now, pts)
            return now
        return due

    def reached(self, now: float) -> float | None:
        """The pts whose time has come; None while the clock stands."""
        if self._anchor is None:
            return None
        start, first = self._anchor
        return first + (now - start) * self.speed
