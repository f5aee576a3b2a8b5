"""The clock of the player: when each picture is due, in plain seconds."""

from __future__ import annotations

LATE = 0.25  # seconds of delay at which the clock is set back, instead of hurrying


class Pacer:
    """Maps pts to due times on a monotonic clock, at a speed that may change."""

    def __init__(self) -> None:
        self.speed = 1.0
        self._anchor: tuple[float, float] | None = None

    def stop(self) -> None:
        """Stop the clock; the next ``due`` starts it again."""
        self._anchor = None

    def set_speed(self, speed: float) -> None:
        """Play ``speed`` seconds of video per second."""
        self.speed = speed
        self._anchor = None

    def due(self, pts: float, now: float) -> float:
        """The time to show a picture, on the clock of ``now``. A picture that is far too late sets the clock back."""
        if self._anchor is None:
            self._anchor = (now, pts)
        start, first = self._anchor
        due = start + (pts - first) / self.speed
        if due < now - LATE:
            self._anchor = (now, pts)
            return now
        return due

    def reached(self, now: float) -> float | None:
        """The pts that is due now; None while the clock is stopped."""
        if self._anchor is None:
            return None
        start, first = self._anchor
        return first + (now - start) * self.speed
