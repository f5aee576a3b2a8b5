"""The clock of a player that follows another player."""

from app.window.player.playback_clock import PlaybackClock

WAIT = 0.05
"""Time until the next look while the other clock stands, seconds."""


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
