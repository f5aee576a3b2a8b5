"""The work left of one source: the part that all strategies share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate

from engine.media.types import Segment
from engine.pool.scheduling.strategies.base import Piece, Work
from engine.types import DeviceId

AHEAD_FRAMES = 1024
"""The most frames done of a segment while an earlier one is still under way on another device: they wait in memory."""

WINDOW_FRAMES = 16_384
"""So many frames after the oldest one that is not done yet may be under way, however short the segments: what a fast GPU does in some
seconds. A frame that waits takes some hundred bytes, 7 KB at the worst."""

CAREFUL_FRAMES = 256
"""The most frames done carefully in one go: more than a worker has under way, so the one that kills it is among them."""


def ahead(*decode_threads: int) -> int:
    """The window for devices with these numbers of decode threads: two segments for each thread, and two for a slow first segment."""
    return 2 * sum(decode_threads) + 2


class SourceQueue:
    """Segments of one source, handed out in order, lost ones first."""

    def __init__(self, source: int, segments: Sequence[Segment]) -> None:
        self._source = source
        self._segments = segments
        self._starts = list(accumulate((segment.frames for segment in segments), initial=0))
        self._fresh = 0
        self._returned: dict[int, Work] = {}
        self._under_way: dict[int, tuple[DeviceId, Work]] = {}

    @property
    def head(self) -> int:
        """Number of the oldest unfinished segment."""
        return min((*self._under_way, *self._returned), default=self._fresh)

    @property
    def exhausted(self) -> bool:
        """Whether nothing is left to hand out, unless something is given back."""
        return not self._returned and self._fresh == len(self._segments)

    def take(self, device: DeviceId, decode_threads: int, window: int, piece: Piece | None = None) -> Work | None:
        """The next work that this device may do, None if there is none now.

        decode_threads: segments that it works on at once. piece: None =
        whatever is left of a segment; who gets less than all of a new one comes last for what others wait for.

        window: how many segments ahead of the oldest unfinished one may be under way when that one is in another decode thread or on
        another device (more if they are short: see ``WINDOW_FRAMES``). This bounds the results that wait for their turn, whatever
        the video's length.
        """
        for number in self._order(piece):
            work = self._returned.get(number) or Work(self._source, self._segments[number])
            limit = self._limit(work, device if decode_threads == 1 else None, window)
            if limit == 0:
                continue
            # what is suspect is not cut: the frame that a worker died of has to be among those that are done carefully
            most = None if piece is None or work.suspect else piece(max(0, work.segment.frames - work.skip))
            if most is not None:
                if most == 0:
                    continue
                limit = most if limit is None else min(limit, most)
            if self._returned.pop(number, None) is None:
                self._fresh += 1
            work = replace(work, limit=limit)
            self._under_way[number] = device, work
            return work
        return None

    def give_back(self, work: Work) -> None:
        """See ``Strategy.give_back``."""
        del self._under_way[work.segment.number]
        self._returned[work.segment.number] = work

    def done(self, work: Work) -> None:
        """See ``Strategy.done``."""
        del self._under_way[work.segment.number]

    def _order(self, piece: Piece | None) -> list[int]:
        """Segments in the order in which a device should take them: the oldest first."""
        fresh = [self._fresh] if self._fresh < len(self._segments) else []
        slow = piece is not None and any(piece(self._segments[number].frames) is not None for number in fresh)
        return fresh + sorted(self._returned) if slow else sorted(self._returned) + fresh

    def _limit(self, work: Work, in_order: DeviceId | None, window: int) -> int | None:
        """Frames of this work that may be done now, None = all. in_order: the device, if it does one segment after the other."""
        number = work.segment.number
        # such a device keeps its tasks in order: results only wait for an earlier segment that is on another one, on none,
        # or done in part only
        waits = any(before < number for before in self._returned) or any(
            before < number and (other != in_order or earlier.limit is not None) for before, (other, earlier) in self._under_way.items()
        )
        limits = [CAREFUL_FRAMES] if work.suspect else []
        if waits:
            limits.append(max(0, AHEAD_FRAMES - work.skip) if self._near(number, window) else 0)
        return min(limits, default=None)

    def _near(self, number: int, window: int) -> bool:
        head = self.head
        return number < head + window or self._starts[number] - self._starts[head] < WINDOW_FRAMES
