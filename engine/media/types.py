"""Types for sources, segments and decoded frames. Loads no media library, so the window may import it."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Generic, TypeVar

from framefleet.engine.detection.frame_format import FrameFormat, HostImage, Planes
from framefleet.engine.media.sampling import Wanted
from framefleet.engine.notices import Notice
from framefleet.engine.types import FrameRef


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
    """

    number: int
    start: int | None
    end: int | None
    frames: int
    names: tuple[str, ...] = ()
    wanted: Wanted | None = None


@dataclass(frozen=True)
class SourceInfo:
    """The result of probing a source.

    width, height: size of the upright picture with square pixels; for a folder, of the first picture. frames: the number of frames that
    the container announces. duration: seconds, None: unknown. rate: average frames/s, None: unknown. segments: cover the source without
    gap or overlap; segments without wanted frames are left out. seekable: whether seeking by time works; False if the clock of an MPEG-TS
    restarts. wanted: about how many frames are wanted; None: all. created: when it was recorded, as its metadata state it; None: they do
    not. origin: time of the first frame of a video, from which times count, seconds; None: unknown. number: of the source in its run, 0
    if it is alone. note: what a person has to know about the file although it can be read, None: nothing.
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
