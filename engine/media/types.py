"""Types for sources, their wanted frames, segments and decoded frames. Loads no media library, so the window may import it."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import Any, Generic, TypeVar

from framefleet.engine.detection.frame_format import FrameFormat, HostImage, Planes
from framefleet.engine.notices import Notice
from framefleet.engine.settings.kinds import Moment
from framefleet.engine.types import FrameRef


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


class SourceKind(StrEnum):
    """The kind of a source: one video file, one picture or all pictures of one folder, or a live source."""

    VIDEO = "video"
    IMAGES = "images"
    LIVE = "live"

    @property
    def timed(self) -> bool:
        """Whether the frames follow each other in time, so that objects can be tracked and events have times."""
        return self is not SourceKind.IMAGES


@dataclass(frozen=True)
class Segment:
    """Consecutive frames of a source that can be decoded independently of the others.

    number: 0, 1, … in display order.
    start, end: the first frame and the end (exclusive); None: the start or end of the source. For a video, pts in the stream's time
    base, and ``start`` is the pts of a keyframe. For pictures, positions in the folder.
    frames: the number of frames that decoding should return, according to the container; it may return fewer or more.
    names: the pictures' file names if the source is a folder, because a folder may change during a run.
    wanted: which of the segment's frames decoding should return; None: all.
    leading: of a file that begins within a group of pictures, the number of packets after its first keyframe that cannot be decoded; None:
    all packets count. See ``LeadIn``.
    """

    number: int
    start: int | None
    end: int | None
    frames: int
    names: tuple[str, ...] = ()
    wanted: Wanted | None = None
    leading: int | None = None


@dataclass(frozen=True)
class SourceInfo:
    """The result of probing a source.

    width, height: size of the upright picture with square pixels; for a folder, of the first picture. frames: the number of frames that
    the container announces. duration: seconds, None: unknown. rate: average frames/s, None: unknown. segments: cover the source without
    gap or overlap; segments without wanted frames are left out. seekable: whether seeking by time works; False if the clock of an MPEG-TS
    restarts. wanted: about how many frames are wanted; None: all. created: when it was recorded, as its metadata state it; None: they do
    not. origin: time of the first frame of a video, from which times count, seconds; None: unknown. number: of the source in its run, 0
    if it is alone. unit: what one unit of the segments' starts and ends is, seconds or pictures. note: what a person has to know about the
    file although it can be read, None: nothing.
    """

    path: str
    kind: SourceKind
    codec: str
    width: int
    height: int
    frames: int
    duration: float | None
    rate: float | None
    segments: tuple[Segment, ...]
    seekable: bool = True
    wanted: int | None = None
    created: str | None = None
    origin: float | None = None
    number: int = 0
    unit: float = 1.0
    note: Notice | None = None

    @property
    def to_do(self) -> int:
        """The number of frames to detect in."""
        return self.frames if self.wanted is None else self.wanted

    @property
    def begin(self) -> float:
        """The pts from which times of the source count: that of the first frame, seconds, or 0 if it is unknown."""
        return self.origin or 0.0


@dataclass(eq=False, slots=True)  # one for every frame: freezing would make that three times as slow
class DeviceFrame:
    """A decoded frame in a GPU's memory.

    address: its device address. written_on: the ``cuda.core.Stream`` that writes the frame; work that follows on it finds the frame
    complete. release: frees its memory; thread-safe, repeated calls have no effect.
    """

    format: FrameFormat
    address: int
    written_on: Any
    release: Callable[[], None]


_WITH_FORMAT = DeviceFrame, Planes  # ``isinstance`` with a union would make it for every frame

Pixels = TypeVar("Pixels", covariant=True, bound=HostImage | DeviceFrame)


@dataclass(eq=False, slots=True)
class DecodedFrame(Generic[Pixels]):
    """A decoded frame.

    Parameters
    ----------
    ref : FrameRef
        The frame. Its index is ``UNNUMBERED`` unless the segment names the wanted frames.
    image : Image, Planes or DeviceFrame
        The pixels: RGB or planes in host memory, or planes in a GPU's memory. The owner of a ``DeviceFrame`` has to release it.
    """

    ref: FrameRef
    image: Pixels

    @property
    def size(self) -> tuple[int, int]:
        """Width and height of the upright picture with square pixels."""
        if isinstance(self.image, _WITH_FORMAT):
            return self.image.format.width, self.image.format.height
        return self.image.shape[1], self.image.shape[0]


@dataclass(frozen=True)
class DecodeFailure:
    """Frames that could not be decoded.

    Parameters
    ----------
    ref : FrameRef
        The first of them.
    count : int
        Their number.
    reason : Notice
        The cause, and what to do.
    """

    ref: FrameRef
    count: int
    reason: Notice


@dataclass(frozen=True)
class Chapter:
    """A chapter of a video. start, end: seconds."""

    title: str
    start: float
    end: float
