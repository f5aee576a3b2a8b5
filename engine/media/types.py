"""What a source is, how it is cut, and what decoding yields. Imports no media library: the GUI process may use it."""

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
    """VIDEO: one video file. IMAGES: one picture, or the pictures of one folder in name order."""

    VIDEO = "video"
    IMAGES = "images"


@dataclass(frozen=True)
class Segment:
    """A run of frames that can be decoded on its own.

    number: 0, 1, … in display order. start, end: for a video pts in the stream's time base, start a keyframe's, end
    exclusive; for images positions in the list. None = the source's own start or end. frames: how many the container
    announces (the truth is what decoding gives).
    """

    number: int
    start: int | None
    end: int | None
    frames: int


@dataclass(frozen=True)
class SourceInfo:
    """What probing found out about a source.

    width, height: pixels of the upright picture with square pixels (of the first, for images). frames: announced by the
    container. duration: seconds. rate: average frames/s; None where unknown. segments: cover the source without gap or overlap.
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


class PixelFormat(StrEnum):
    """NV12: a plane of 8-bit luma, then one of U and V pairs for every 2 × 2. P016: the same in 16 bits, the value in the upper ones."""

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
    """One picture. pts: seconds; for images the position in the list. name: the file, where a source is a folder."""

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
    """``count`` frames that could not be decoded, where they should have been, and why (with what to do). name: as in ``DecodedFrame``."""

    pts: float
    count: int
    reason: str
    name: str | None = None
