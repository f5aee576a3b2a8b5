"""Says which frames of a source are wanted. Loads no media library, so the window may import it."""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from framefleet.engine.settings.kinds import Moment


@dataclass(frozen=True)
class Sampling:
    """The part of each source that the user wants.

    begin, end: the first frame, and the first one after the part; None: the start or end of the source. every: take one frame in this
    time or number of frames; None: take all. Times count from the first frame of a source.
    """

    begin: Moment | None = None
    end: Moment | None = None
    every: Moment | None = None

    @property
    def timed(self) -> bool:
        """Whether it contains a time."""
        return any(moment is not None and moment.seconds is not None for moment in (self.begin, self.end, self.every))


@dataclass(frozen=True)
class Wanted:
    """Which frames of a segment are wanted, in units of the stream's time base. A frame is shown from its pts until the next frame's.

    first, frames: index of the segment's first frame in the source, and number of its frames.
    begin, end: the wanted range of indices; end None: no limit. step: only each ``step``-th frame from ``begin`` on.
    begin_pts, end_pts: the frames that are shown between these times; None: no limit.
    interval: only the frames that are shown at ``begin_pts`` and at multiples of this time after it; None: no such condition.
    """

    first: int
    frames: int
    begin: int = 0
    end: int | None = None
    step: int = 1
    begin_pts: Fraction | None = None
    end_pts: Fraction | None = None
    interval: Fraction | None = None

    def includes(self, index: Any, pts: Any, after: Any) -> Any:
        """Whether frames are wanted: whole numbers, or int64 arrays of one shape.

        index: of the frame in the source. pts: of the frame. after: pts of the frame shown next.
        """
        wanted = (index >= self.begin) & ((index - self.begin) % self.step == 0)
        if self.end is not None:
            wanted &= index < self.end
        if self.begin_pts is not None:
            wanted &= after > math.floor(self.begin_pts)
        if self.end_pts is not None:
            wanted &= pts < math.ceil(self.end_pts)
        if self.interval is None or self.begin_pts is None:
            return wanted
        parts = math.lcm(self.interval.denominator, self.begin_pts.denominator, (self.end_pts or Fraction()).denominator)
        origin, interval = int(self.begin_pts * parts), int(self.interval * parts)
        count = -((origin - pts * parts) // interval)  # times from the origin to the frame's pts, rounded up
        time = origin + count * (count > 0) * interval
        wanted &= time < after * parts
        return wanted if self.end_pts is None else wanted & (time < int(self.end_pts * parts))

    def estimate(self, start: int, end: int) -> int:
        """Return about how many frames of the segment are wanted, at most all. start, end: the segment's pts.

        0 is exact: no frame is wanted.
        """
        first, last = max(self.first, self.begin), self.first + self.frames
        if self.end is not None:
            last = min(last, self.end)
        count = len(range(self.begin + -(-(first - self.begin) // self.step) * self.step, last, self.step))
        if self.begin_pts is None and self.end_pts is None:
            return count
        if not count or not Wanted(0, 1, 0, None, 1, self.begin_pts, self.end_pts, self.interval).includes(0, start, end):
            return 0
        begin, stop = max(start, self.begin_pts or start), min(end, self.end_pts or end)
        by_time = math.ceil((stop - begin) / max(1, end - start) * count)
        if self.interval is not None and self.begin_pts is not None:
            # the number of wanted times within the segment: rounding up a share of it would count about half a frame too many
            times = math.ceil((stop - self.begin_pts) / self.interval) - math.ceil((begin - self.begin_pts) / self.interval)
            by_time = math.ceil(times * count / self.frames)
        return max(1, min(count, by_time))
