"""The clock of a player: the time at which each picture is due. A second one follows another clock. Also whether the player plays."""

from dataclasses import dataclass

LATE = 0.25
"""Delay from which the clock is set back, seconds; smaller delays are caught up."""
WAIT = 0.05
"""Time until the next look while the followed clock is stopped, seconds."""


@dataclass(frozen=True)
class Playback:
    """Whether the player plays. waiting: it has stopped at a picture until the next one has its detections."""

    playing: bool = False
    waiting: bool = False


class PlaybackClock:
    """Maps pts to times of a monotonic clock, all in seconds, at a speed that may change."""

    skips = False
    """Whether pictures that are late are left out also at normal speed."""

    def __init__(self) -> None:
        self.speed = 1.0
        self._anchor: tuple[float, float] | None = None

    @property
    def anchor(self) -> tuple[float, float] | None:
        """A time and the pts that is due then, None while the clock is stopped."""
        return self._anchor

    def stop(self) -> None:
        """Stop the clock; the next ``due`` starts it again."""
        self._anchor = None

    def set_speed(self, speed: float) -> None:
        """Play ``speed`` seconds of video per second."""
        self.speed = speed
        self._anchor = None

    def due(self, pts: float, now: float) -> float:
        """The time at which to show a picture. If it is late by more than ``LATE``, the clock is set back and it is due now."""
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
        if self.anchor is None:
            return None
        start, first = self.anchor
        return first + (now - start) * self.speed


class FollowingClock(PlaybackClock):
    """Is ``offset`` seconds ahead of another clock. Pictures that are late are left out, because the other clock does not wait."""

    skips = True

    def __init__(self, leader: PlaybackClock) -> None:
        self._leader = leader
        self.offset = 0.0
        super().__init__()

    @property
    def speed(self) -> float:
        """That of the other clock."""
        return self._leader.speed

    @speed.setter
    def speed(self, _speed: float) -> None: ...

    @property
    def anchor(self) -> tuple[float, float] | None:
        """A time and the pts that is due then."""
        anchor = self._leader.anchor
        return None if anchor is None else (anchor[0], anchor[1] + self.offset)

    def stop(self) -> None:
        """Do nothing: the other player stops the clock."""

    def set_speed(self, speed: float) -> None:
        """Do nothing: the other player sets the speed."""

    def due(self, pts: float, now: float) -> float:
        """The time at which to show a picture."""
        if self.anchor is None:
            return now + WAIT
        start, first = self.anchor
        return max(start + (pts - first) / self.speed, now)
