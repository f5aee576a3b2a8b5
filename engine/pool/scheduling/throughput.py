"""How fast devices get on, and what follows from it: a slow one must not hold the others up.

Work is given out a segment at a time, and only so many later ones are done before it. So a device that is much slower than the others
gets as much of a segment as it can do until they would have to wait; and what a device has not got to, one that has nothing to do takes
over, if it is done with it sooner.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from engine.pool.scheduling.strategies.source_queue import WINDOW_FRAMES
from engine.types import DeviceId

LATELY_SECONDS = 4.0

HELD_UP_SECONDS = 2.0
"""Others could go on for longer than that while a slow device is at the oldest work, but what they have found would be seen as late."""

LEAST_PIECE = 4
"""Frames that are worth opening a segment."""

TAKING_SECONDS = 0.5
"""About what it takes until a segment is given up here and opened there."""

Place: TypeAlias = tuple[int, int]
"""Source and segment."""


class Pace:
    """Frames/s of a device while it has work, lately: what is older counts less and less. Times are of one clock, seconds."""

    def __init__(self) -> None:
        self._frames = 0.0
        self._seconds = 0.0
        self._since: float | None = None

    def work(self, now: float) -> None:
        """It has something to do."""
        self._since = now if self._since is None else self._since

    def done(self, frames: int, now: float) -> None:
        """So many frames of it are done."""
        self._pass(now)
        self._frames += frames

    def rest(self, now: float) -> None:
        """It has nothing to do."""
        self._pass(now)
        self._since = None

    def rate(self, now: float) -> float | None:
        """Frames/s; None until the first is done."""
        self._pass(now)
        return self._frames / self._seconds if self._frames and self._seconds else None

    def _pass(self, now: float) -> None:
        if self._since is None:
            return
        self._seconds += now - self._since
        self._since = now
        if self._seconds > LATELY_SECONDS:
            self._frames *= LATELY_SECONDS / self._seconds
            self._seconds = LATELY_SECONDS


class Left(NamedTuple):
    """What is to be done of a segment. done: frames before, which another device has to decode again."""

    frames: int
    done: int


@dataclass(frozen=True)
class Load:
    """What a device has to do. rate: frames/s, None = not known. left: of what it was given and keeps. promised: frames that it is about
    to take over."""

    rate: float | None
    left: Mapping[Place, Left]
    promised: int = 0

    @property
    def frames(self) -> int:
        """All that is left."""
        return self.promised + sum(left.frames for left in self.left.values())


def piece(frames: int, own: Load, decode_threads: int, others: Collection[Load], ahead: int, left: float, lesser: bool) -> int | None:
    """How much of a segment a device should do before it asks again. None = all of it, 0 = nothing for now.

    frames: what is left of the segment, which stands for the following ones, too. own: of the device, whose decode threads share its rate.
    others: of the other devices. ahead: segments that may be under way at once. left: frames of all that nobody has yet, these
    included. lesser: whether the device is of a kind that is much slower than another one's.
    """
    together = sum(other.rate or 0.0 for other in others)
    if own.rate is None:
        return None if not lesser else 0 if own.frames else 1
    if not together and not lesser:
        return None
    until_blocked = min(WINDOW_FRAMES / together, HELD_UP_SECONDS) if together else HELD_UP_SECONDS
    if not lesser or own.rate > together > 0:
        until_blocked = max(until_blocked, ahead * frames / together)
    some, most = frames, until_blocked * own.rate
    if frames * decode_threads > most:
        # an engine with many slots takes long for each frame: half of the time for what it has, the rest until the others get to know
        some, most = min(frames, max(LEAST_PIECE, int(most / 4 / decode_threads))), most / 2
    if own.frames and own.frames + some > most:
        return 0
    seconds = (own.frames + some) / own.rate
    if any(other.rate and (other.frames + max(left, frames)) / other.rate < seconds for other in others):
        return 0  # that one does all that is left sooner
    return some if some < frames else None


def relief(idle: Load, others: Mapping[DeviceId, Load]) -> tuple[DeviceId, Place] | None:
    """What a device that waits for work should take over: the most that the one that has longest to go has left of a segment.

    None if nothing would be done sooner. A rate that nobody knows is taken to be like the other one's.
    """
    best, longest = None, 0.0
    for device, load in others.items():
        place = max(load.left, key=lambda place: load.left[place].frames, default=None)
        if place is None:
            continue
        theirs = load.rate or idle.rate or 1.0
        ours = idle.rate or theirs
        seconds = load.frames / theirs
        taken = load.left[place]
        if TAKING_SECONDS + (idle.frames + taken.frames + taken.done) / ours < seconds and seconds > longest:
            best, longest = (device, place), seconds
    return best
