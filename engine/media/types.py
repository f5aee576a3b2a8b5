"""Describes sources, their segments, and decoded frames. Imports no media library, so the GUI process may use it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

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


@dataclass(frozen=True, eq=False)
class DeviceFrame:
    """A decoded frame in a GPU's memory.

    luma, chroma: device addresses. pitch: bytes from row to row. stored_width, stored_height: pixels in memory. width, height:
    of the upright picture with square pixels, as for an ``Image``. orientation: whether to transpose the stored picture, then how to
    flip it (``cv2.flip``'s code, None: not). matrix: "bt601", "bt709" or "bt2020". ready: the ``cuda.core.Event`` after which the
    memory holds the frame. nbytes: size in memory. release: gives the memory back; callable from any thread, repeatable.
    """

    luma: int
    chroma: int
    pitch: int
    format: PixelFormat
    stored_width: int
    stored_height: int
    width: int
    height: int
    orientation: tuple[bool, int | None]
    matrix: str
    full_range: bool
    ready: Any
    nbytes: int
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
