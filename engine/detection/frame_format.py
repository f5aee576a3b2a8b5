"""Layouts of decoded frames that preprocessing takes: planes in host memory or in a GPU's memory."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property, lru_cache
from typing import Any, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from framefleet.engine.types import Image


class PixelFormat(StrEnum):
    """The layout of a frame in memory.

    I420: a plane of 8-bit luma, then a plane of U and one of V, each with a sample for every 2 × 2 pixels. NV12: luma likewise, then a
    plane with U and V in pairs. P016: like NV12 with 16-bit samples, whose upper bits hold the value. RGB8: red, green and blue of a pixel
    side by side, 8 bits each.
    """

    I420 = "i420"
    NV12 = "nv12"
    P016 = "p016"
    RGB8 = "rgb8"


@dataclass(frozen=True)
class FrameFormat:
    """The format of a stream's frames in host memory (I420), or of frames and pictures (RGB8) in a GPU's memory.

    Attributes
    ----------
    depth
        Bits of a sample.
    stored_width, stored_height
        Size in memory, pixels.
    width, height
        Size of the upright picture with square pixels.
    orientation
        Whether to transpose the stored picture, then the code for ``cv2.flip`` or None, as in ``Converter.orientation``.
    matrix
        The colour matrix, a key of ``plugins.colour.MATRICES``.
    full_range
        Whether samples use all values.
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

    @classmethod
    @lru_cache(64)  # the pictures of a folder often have one size
    def rgb(cls, width: int, height: int, orientation: tuple[bool, int | None] = (False, None)) -> Self:
        """Return the format of a picture of red, green and blue, without gaps between its rows. width, height: as stored."""
        shown = (height, width) if orientation[0] else (width, height)
        return cls(PixelFormat.RGB8, 8, width, height, *shown, orientation, "bt601", True)

    @cached_property
    def chroma_size(self) -> tuple[int, int]:
        """Width and height of U and V, samples."""
        return -(-self.stored_width // 2), -(-self.stored_height // 2)

    @cached_property
    def pitch(self) -> int:
        """Bytes from one row of luma, or of pixels, to the next."""
        if self.format is PixelFormat.RGB8:
            return 3 * self.stored_width
        return self.chroma_size[0] * 2 * (2 if self.format is PixelFormat.P016 else 1)

    @cached_property
    def chroma_offset(self) -> int:
        """Bytes from the start of the frame to its chroma: the size of the luma plane."""
        return self.pitch * self.stored_height

    @cached_property
    def nbytes(self) -> int:
        """Size of a frame in bytes: luma, then chroma of half the height; or all pixels."""
        if self.format is PixelFormat.RGB8:
            return self.pitch * self.stored_height
        return self.pitch * (self.stored_height + self.chroma_size[1])

    def planes(self, content: NDArray[np.uint8]) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
        """Return luma, U and V as (height, width) views of a frame's bytes.

        Parameters
        ----------
        content : ndarray
            uint8 (nbytes,).
        """
        if self.format is PixelFormat.I420:
            middle = (self.chroma_offset + self.nbytes) // 2
            u, v = (part.reshape(-1, self.pitch // 2) for part in (content[self.chroma_offset : middle], content[middle:]))
            return content[: self.chroma_offset].reshape(-1, self.pitch)[:, : self.stored_width], u, v
        samples = content.view(np.uint8 if self.format is PixelFormat.NV12 else np.uint16).reshape(-1, self.chroma_size[0] * 2)
        height = self.stored_height
        return samples[:height, : self.stored_width], samples[height:, ::2], samples[height:, 1::2]


@dataclass(eq=False, slots=True)  # one for every frame: freezing would make that three times as slow
class Planes:
    """A decoded frame in host memory, not converted to RGB.

    Attributes
    ----------
    format
        I420 if FFmpeg decoded it, NV12 or P016 if a GPU did.
    luma, u, v : ndarray
        uint8, or uint16 for P016, (height, width); rows may be padded. They are views of one block if ``of`` made them.
    """

    format: FrameFormat
    luma: NDArray[Any]
    u: NDArray[Any]
    v: NDArray[Any]

    @classmethod
    def of(cls, layout: FrameFormat, block: NDArray[np.uint8]) -> Self:
        """Return a frame whose planes are views of a block, uint8 (layout.nbytes,)."""
        return cls(layout, *layout.planes(block))

    @property
    def nbytes(self) -> int:
        """Size in bytes, without padding of rows."""
        return self.format.nbytes

    def copy_to(self, block: NDArray[np.uint8]) -> Planes:
        """Copy the planes into a block, uint8 (nbytes,).

        Returns
        -------
        Planes
            The copy.
        """
        copy = Planes.of(self.format, block)
        for target, plane in ((copy.luma, self.luma), (copy.u, self.u), (copy.v, self.v)):
            np.copyto(target, plane)
        return copy


HostImage: TypeAlias = Image | Planes
"""A picture or a frame in host memory."""
