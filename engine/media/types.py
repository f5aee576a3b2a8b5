"""Describes sources, their segments, and decoded frames. Imports no media library, so the GUI process may use it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.types import Image


class SourceKind(StrEnum):
    """VIDEO: one video file. IMAGES: one picture, or the pictures of one folder in natural order of their names."""

    VIDEO = "video"
    IMAGES = "images"


@dataclass(frozen=True)
class Segment:
    """Consecutive frames that can be decoded on their own.

    number: 0, 1, … in display order. start, end (exclusive): of a video pts in the stream's time base, ``start`` that of a keyframe; of
    images positions in the folder; None: the start or end of the source. frames: the number that the container announces; decoding
    may give fewer or more. names: the file names of the images, if the source is a folder: a folder may change during a run.
    """

    number: int
    start: int | None
    end: int | None
    frames: int
    names: tuple[str, ...] = ()


@dataclass(frozen=True)
class SourceInfo:
    """The result of probing a source.

    width, height: pixels of the upright picture with square pixels; of the first one, for images. frames: the number that the container
    announces. duration: seconds. rate: average frames/s. None: unknown. segments: cover the source without gap or overlap.
    seekable: whether seeking by time works; not if the clock of an MPEG-TS restarts.
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


class PixelFormat(StrEnum):
    """NV12: a plane of 8-bit luma, then a plane with a U and V pair for every 2 × 2 pixels. P016: the same in the upper bits of 16."""

    NV12 = "nv12"
    P016 = "p016"


@dataclass(frozen=True)
class FrameFormat:
    """The format of a stream's frames in a GPU's memory.

    depth: bits of a sample. stored_width, stored_height: pixels in memory. width, height: of the upright picture with square pixels, as
    for an ``Image``. orientation: whether the stored picture is transposed for showing, and how it is flipped then (``cv2.flip``'s
    code). matrix: the colour matrix, "bt601", "bt709" or "bt2020".
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
        """Bytes from row to row."""
        return -(-self.stored_width // 2) * 2 * (1 if self.format is PixelFormat.NV12 else 2)

    @cached_property
    def chroma_offset(self) -> int:
        """Bytes of luma, behind which chroma lies."""
        return self.pitch * self.stored_height

    @cached_property
    def nbytes(self) -> int:
        """Bytes of a frame: luma, then chroma of half its height."""
        return self.pitch * (self.stored_height + -(-self.stored_height // 2))

    def planes(self, content: NDArray[np.uint8]) -> list[NDArray[np.uint8] | NDArray[np.uint16]]:
        """Luma, U and V of a frame's bytes, uint8 (nbytes,); (height, width) each."""
        samples = content.view(np.uint8 if self.format is PixelFormat.NV12 else np.uint16).reshape(-1, -(-self.stored_width // 2) * 2)
        luma, chroma = np.split(samples, [self.stored_height])
        return [luma[:, : self.stored_width], chroma[:, ::2], chroma[:, 1::2]]


@dataclass(frozen=True, eq=False)
class DeviceFrame:
    """A decoded frame in a GPU's memory.

    address: where it begins on the device. ready: a ``cuda.core.Event`` after which it is written. release: gives its memory back; from
    any thread, harmless when repeated.
    """

    format: FrameFormat
    address: int
    ready: Any
    release: Callable[[], None]


@dataclass(frozen=True, eq=False)
class DecodedFrame:
    """One picture. pts: seconds; of images the position in the folder. name: the file's name if the source is a folder."""

    pts: float
    image: Image
    name: str | None = None


@dataclass(frozen=True, eq=False)
class DecodedOnDevice:
    """One picture that a GPU decoded. pts: seconds."""

    pts: float
    image: DeviceFrame
    name: None = None


@dataclass(frozen=True)
class DecodeFailure:
    """Frames that could not be decoded. pts, name: as in ``DecodedFrame``. count: their number. reason: why, and what to do."""

    pts: float
    count: int
    reason: str
    name: str | None = None
