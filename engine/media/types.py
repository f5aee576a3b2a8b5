"""Types for sources, segments and decoded frames. Loads no media library, so the window may import it."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from framefleet.engine.detection.frame_format import FrameFormat, Planes
from framefleet.engine.media.sampling.wanted import Wanted
from framefleet.engine.types import Image


class SourceKind(StrEnum):
    """The kind of a source: one video file, or one picture or all pictures of one folder."""

    VIDEO = "video"
    IMAGES = "images"


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
    not. origin: time of the first frame of a video, from which times count, seconds; None: unknown.
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


@dataclass(frozen=True, eq=False)
class DecodedFrame:
    """A decoded frame in host memory. pts: seconds; for pictures the position in the folder. name: the file's name in the folder.

    index: the frame's number in the source, if only some frames are wanted; else None. created: when a picture was taken, as its metadata
    say it, None if they do not.
    """

    pts: float
    image: Image
    name: str | None = None
    index: int | None = None
    created: str | None = None


@dataclass(frozen=True, eq=False, slots=True)
class DecodedPlanes:
    """A frame of a video in host memory, not converted to RGB. Fields: as in ``DecodedFrame``."""

    pts: float
    image: Planes
    name: None = None
    index: int | None = None
    created: None = None


@dataclass(eq=False, slots=True)
class DecodedOnDevice:
    """A frame of a video that a GPU decoded. pts: seconds. index: as in ``DecodedFrame``."""

    pts: float
    image: DeviceFrame
    name: None = None
    index: int | None = None
    created: None = None


@dataclass(frozen=True)
class DecodeFailure:
    """Frames that could not be decoded. count: their number. reason: the cause, and what to do. Other fields: as in ``DecodedFrame``."""

    pts: float
    count: int
    reason: str
    name: str | None = None
    index: int | None = None
