"""Measures devices' throughput and derives chunk sizes and work stealing from it, so that a slow device does not delay the others.

Results of a source are handed on in order, and only a limited number of them may wait for earlier ones. A much slower device therefore
gets a chunk of a segment that it can finish before the others reach that limit. An idle device takes over queued frames from a slower one
if it can finish them earlier.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from framefleet.engine.pool.scheduling.strategies.base import WINDOW_FRAMES, SegmentKey
from framefleet.engine.types import DeviceId

RECENT_SECONDS = 4.0

MAX_DELAY_SECONDS = 2.0
"""Longest time that a slow device may spend on the oldest frames: later results appear only after them."""

MIN_CHUNK = 4
"""Fewest frames for which opening a segment is worthwhile."""

TAKEOVER_SECONDS = 0.5
"""Approximate time to end a segment on one device and open it on another."""


class Throughput:
    """Throughput of a device while it has work, frames/s. Older frames have less weight. Times are seconds of one clock."""

    def __init__(self) -> None:
        self._frames = 0.0
        self._seconds = 0.0
        self._since: float | None = None

    def start(self, now: float) -> None:
        """Note that the device has work."""
        self._since = now if self._since is None else self._since

    def done(self, frames: int, now: float) -> None:
        """Count finished frames."""
        self._pass(now)
        self._frames += frames

    def stop(self, now: float) -> None:
        """Note that the device has no work."""
        self._pass(now)
        self._since = None

    def rate(self, now: float) -> float | None:
        """The throughput, frames/s; None until the first frame is done."""
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
    """The number of remaining frames of a segment. done: number of earlier frames, which another device has to decode again."""

    frames: int
    done: int


@dataclass(frozen=True)
class Load:
    """The work of one device.

    rate: its throughput in frames/s, None = not known. remaining: the device's segments that are not revoked. taken_over: number of frames
    that the device will take over.
    """

    rate: float | None
    remaining: Mapping[SegmentKey, Remaining]
    taken_over: int = 0

    @property
    def frames(self) -> int:
        """Number of frames that the device has to do."""
        return self.taken_over + sum(remaining.frames for remaining in self.remaining.values())


def chunk_size(
    frames: int, load: Load, decode_threads: int, others: Collection[Load], window: int, unassigned: float, slow_kind: bool
) -> int | None:
    """The number of frames of a segment that a device should do before its next request. None = all, 0 = none now.

    frames: number of remaining frames of the segment; later segments are assumed to be as long. load: of the device; its decode
    threads share the rate. others: those of the other devices. window: number of segments that may be under way at once. unassigned:
    number of frames that no device has, including these. slow_kind: whether another device is of a kind that is usually much faster.
    """
    together = sum(other.rate or 0.0 for other in others)
    if load.rate is None:
        return None if not slow_kind else 0 if load.frames else 1  # one frame shows how slow it is
    if not together and not slow_kind:
        return None
    seconds_allowed = min(WINDOW_FRAMES / together, MAX_DELAY_SECONDS) if together else MAX_DELAY_SECONDS
    if not slow_kind or load.rate > together > 0:
        seconds_allowed = max(seconds_allowed, window * frames / together)
    size, most = frames, seconds_allowed * load.rate
    if frames * decode_threads > most:
        # an engine with many slots has a high latency: allow half of the time for the frames, half until their results have arrived
        size, most = min(frames, max(MIN_CHUNK, int(most / 4 / decode_threads))), most / 2
    if load.frames and load.frames + size > most:
        return 0
    seconds = (load.frames + size) / load.rate
    if any(other.rate and (other.frames + max(unassigned, frames)) / other.rate < seconds for other in others):
        return 0  # another device finishes everything earlier
    return size if size < frames else None


def choose_revoke(idle: Load, others: Mapping[DeviceId, Load]) -> tuple[DeviceId, SegmentKey] | None:
    """The segment that an idle device should take over, and its device: the longest one of the device that needs the most time.

    None if the idle device would finish no segment earlier. An unknown rate is assumed to equal the other device's.
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
