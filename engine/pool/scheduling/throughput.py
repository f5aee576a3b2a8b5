"""Throughput of devices, and what follows from it: chunk sizes and work stealing, so that a slow device does not hold up the others.

Results of a source are handed on in order, and those that wait for earlier ones are limited in number. A device that is much slower than
the others therefore gets a chunk of a segment: what it can do before the others reach that limit. An idle device takes over queued
frames from a slower one if it can finish them earlier.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from engine.pool.scheduling.strategies.source_queue import WINDOW_FRAMES, SegmentKey
from engine.types import DeviceId

RECENT_SECONDS = 4.0

MAX_DELAY_SECONDS = 2.0
"""Longest time that a slow device may spend on the oldest frames where the others could go on for longer: their results appear late."""

MIN_CHUNK = 4
"""Fewest frames that are worth opening a segment."""

TAKEOVER_SECONDS = 0.5
"""About the time until a segment is given up on one device and open on another."""


class Throughput:
    """Frames/s of a device while it has work, where old frames count less and less. Times are seconds of one clock."""

    def __init__(self) -> None:
        self._frames = 0.0
        self._seconds = 0.0
        self._since: float | None = None

    def start(self, now: float) -> None:
        """The device has work."""
        self._since = now if self._since is None else self._since

    def done(self, frames: int, now: float) -> None:
        """Some frames are done."""
        self._pass(now)
        self._frames += frames

    def stop(self, now: float) -> None:
        """The device has no work."""
        self._pass(now)
        self._since = None

    def rate(self, now: float) -> float | None:
        """Frames/s; None until the first frame is done."""
        self._pass(now)
        return self._frames / self._seconds if self._frames and self._seconds else None

    def _pass(self, now: float) -> None:
        if self._since is None:
            return
        self._seconds += now - self._since
        self._since = now
        if self._seconds > RECENT_SECONDS:
            self._frames *= RECENT_SECONDS / self._seconds
            self._seconds = RECENT_SECONDS


class Remaining(NamedTuple):
    """What remains of a segment, in frames. done: earlier frames, which another device has to decode again."""

    frames: int
    done: int


@dataclass(frozen=True)
class Load:
    """The work of one device.

    rate: its throughput in frames/s, None = not known. remaining: of the segments that the device has and keeps. promised: frames that
    the device is about to take over.
    """

    rate: float | None
    remaining: Mapping[SegmentKey, Remaining]
    promised: int = 0

    @property
    def frames(self) -> int:
        """All frames that the device has to do."""
        return self.promised + sum(remaining.frames for remaining in self.remaining.values())


def chunk_size(
    frames: int, own: Load, decode_threads: int, others: Collection[Load], window: int, unassigned: float, slow_kind: bool
) -> int | None:
    """How many frames of a segment a device should do before it asks again. None = all, 0 = none now.

    frames: those that remain of the segment; the following segments are taken to be as long. own: the load of the device, whose decode
    threads share its rate. others: loads of the other devices. window: segments that may be under way at once. unassigned: frames that
    no device has, these included. slow_kind: another device is of a kind that is usually much faster.
    """
    together = sum(other.rate or 0.0 for other in others)
    if own.rate is None:
        return None if not slow_kind else 0 if own.frames else 1  # one frame shows how slow it is
    if not together and not slow_kind:
        return None
    seconds_allowed = min(WINDOW_FRAMES / together, MAX_DELAY_SECONDS) if together else MAX_DELAY_SECONDS
    if not slow_kind or own.rate > together > 0:
        seconds_allowed = max(seconds_allowed, window * frames / together)
    size, most = frames, seconds_allowed * own.rate
    if frames * decode_threads > most:
        # an engine with many slots takes long for each frame: half of the time for the frames in its slots, the rest until the results
        # have arrived
        size, most = min(frames, max(MIN_CHUNK, int(most / 4 / decode_threads))), most / 2
    if own.frames and own.frames + size > most:
        return 0
    seconds = (own.frames + size) / own.rate
    if any(other.rate and (other.frames + max(unassigned, frames)) / other.rate < seconds for other in others):
        return 0  # another device finishes everything earlier
    return size if size < frames else None


def choose_revoke(idle: Load, others: Mapping[DeviceId, Load]) -> tuple[DeviceId, SegmentKey] | None:
    """Which segment an idle device should take over, and from which device: the longest of the device that would take longest.

    None if the idle device would finish none earlier. A rate that is not known is taken to be like the other device's.
    """
    best, longest = None, 0.0
    for device, load in others.items():
        key = max(load.remaining, key=lambda key: load.remaining[key].frames, default=None)
        if key is None:
            continue
        theirs = load.rate or idle.rate or 1.0
        ours = idle.rate or theirs
        seconds = load.frames / theirs
        taken = load.remaining[key]
        if TAKEOVER_SECONDS + (idle.frames + taken.frames + taken.done) / ours < seconds and seconds > longest:
            best, longest = (device, key), seconds
    return best
