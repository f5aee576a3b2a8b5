"""Types for sources, segments and decoded frames. Loads no media library, so the window may import it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.media.wanted import Wanted
from engine.types import Image


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
    not. origin: time of the first frame of a video that can be decoded, seconds; None: unknown.
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


class PixelFormat(StrEnum):
    """The layout of a frame in a GPU's memory.

    NV12: a plane of 8-bit luma, then a plane with a U and V pair for every 2 × 2 pixels. P016: the same layout with 16-bit samples,
    whose upper bits hold the value.
    """

    NV12 = "nv12"
    P016 = "p016"


@dataclass(frozen=True)
class FrameFormat:
    """The format of a stream's frames in a GPU's memory.

    depth: bits of a sample. stored_width, stored_height: size in memory, pixels. width, height: size of the upright picture with square
    pixels. orientation: whether to transpose the stored picture, then the code for ``cv2.flip`` or None, as in
    ``Converter.orientation``. matrix: the colour matrix, "bt601", "bt709" or "bt2020". full_range: whether samples use all values.
    """

    format: PixelFormat
    depth: int
    stored_width: int
    stored_height: int
    width: int
    height: int
    orientation: tuple[bool, int | None]
    matrix: str
    full_range: bool

    @cached_property
    def pitch(self) -> int:
        """Bytes from one row to the next."""
        return -(-self.stored_width // 2) * 2 * (1 if self.format is PixelFormat.NV12 else 2)

    @cached_property
    def chroma_offset(self) -> int:
        """Bytes from the start of the frame to its chroma: the size of the luma plane."""
        return self.pitch * self.stored_height

    @cached_property
    def nbytes(self) -> int:
        """Size of a frame in bytes: luma, then chroma of half the height."""
        return self.pitch * (self.stored_height + -(-self.stored_height // 2))

    def planes(self, content: NDArray[np.uint8]) -> list[NDArray[np.uint8] | NDArray[np.uint16]]:
        """Return luma, U and V as (height, width) views of a frame's bytes. content: uint8 (nbytes,)."""
        samples = content.view(np.uint8 if self.format is PixelFormat.NV12 else np.uint16).reshape(-1, -(-self.stored_width // 2) * 2)
        luma, chroma = np.split(samples, [self.stored_height])
        return [luma[:, : self.stored_width], chroma[:, ::2], chroma[:, 1::2]]


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

    index: the frame's number in the source, if only some frames are wanted; else None.
    """

    pts: float
    image: Image
    name: str | None = None
    index: int | None = None


@dataclass(eq=False, slots=True)
class DecodedOnDevice:
    """A frame of a video that a GPU decoded. pts: seconds. index: as in ``DecodedFrame``."""

    pts: float
    image: DeviceFrame
    name: None = None
    index: int | None = None


@dataclass(frozen=True)
class DecodeFailure:
    """Frames that could not be decoded. count: their number. reason: the cause, and what to do. Other fields: as in ``DecodedFrame``."""

    pts: float
    count: int
    reason: str
    name: str | None = None
    index: int | None = None
