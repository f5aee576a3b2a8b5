"""Converts 4:2:0 frames to RGB by the integers of ``plugins/colour.py``, so that a GPU can compute the same bytes.

libswscale does this when a frame has 8 bits and an even height. Its converters for other processors than x86 may round differently: then
tables compute the same, in about nine times the time.
"""

import threading
from functools import cache
from typing import TypeAlias

import cv2
import numpy as np
from av.video.frame import VideoFrame
from av.video.reformatter import ColorRange, VideoReformatter
from numpy.typing import NDArray

from framefleet.engine.types import Image
from framefleet.plugins.colour import SHIFT, colour_factors

Plane: TypeAlias = NDArray[np.uint8]
"""One component of a picture, uint8 (height, width)."""

DEPTHS = {"yuv420p": 8, "yuvj420p": 8, "yuv420p10le": 10, "yuv420p12le": 12}
"""FFmpeg's pixel formats for which this module and the kernel ``preprocess`` are written, and the bits of a sample."""

_NUMBERS = {"bt709": 1, "fcc": 4, "bt601": 6, "smpte240m": 7, "bt2020": 9}
"""AVCOL_SPC of each matrix."""

_STRIP = 32
"""Rows that ``by_tables`` converts at once. Intermediate values stay in the caches."""

_LOCAL = threading.local()


def samples_of(frame: VideoFrame) -> list[NDArray[np.uint8] | NDArray[np.uint16]]:
    """Return luma, U and V of a frame, (height, width) each, as views of its memory."""
    found: list[NDArray[np.uint8] | NDArray[np.uint16]] = []
    for plane in frame.planes:
        rows = np.frombuffer(memoryview(plane), np.uint8).reshape(plane.height, -1)
        found.append((rows if DEPTHS[frame.format.name] == 8 else rows.view(np.uint16))[:, : plane.width])
    return found


def bytes_of(frame: VideoFrame) -> list[Plane]:
    """Return luma, U and V of a frame, reduced to 8 bits."""
    return [reduced(samples, DEPTHS[frame.format.name]) for samples in samples_of(frame)]


def reduced(samples: NDArray[np.uint8] | NDArray[np.uint16], depth: int) -> Plane:
    """Reduce samples to 8 bits: min((sample + half) >> (depth - 8), 255).

    OpenCV rounds to the nearest integer. ``beta`` makes sure that no value lies in the middle between two integers.
    """
    if depth == 8:
        return samples.view(np.uint8)
    step = 2.0 ** (8 - depth)
    return np.asarray(cv2.convertScaleAbs(samples, alpha=step, beta=step / 2), np.uint8)


def to_rgb(frame: VideoFrame, matrix: str, full_range: bool) -> Image:
    """Convert a frame in one of ``DEPTHS`` to a picture of its stored size. matrix: see ``colour_factors``."""
    if DEPTHS[frame.format.name] > 8 or frame.height % 2 or not _swscale_is_exact():
        luma, u, v = bytes_of(frame)
        return planes_to_rgb(luma, u, v, matrix, full_range)
    return _by_swscale(frame, matrix, full_range)


def planes_to_rgb(luma: Plane, u: Plane, v: Plane, matrix: str, full_range: bool) -> Image:
    """Convert planes to a picture. u, v: half as large as the luma, rounded up."""
    if not _swscale_is_exact():
        return by_tables(luma, u, v, matrix, full_range)
    return _by_swscale(_frame_of(luma, u, v), matrix, full_range)[: len(luma)]


def _frame_of(luma: Plane, u: Plane, v: Plane) -> VideoFrame:
    """Create a frame with these planes. Its height is rounded up to an even number."""
    height, width = luma.shape
    frame = VideoFrame(width, height + height % 2, "yuv420p")
    for plane, samples in zip(frame.planes, (luma, u, v), strict=True):
        np.frombuffer(memoryview(plane), np.uint8).reshape(plane.height, -1)[: len(samples), : samples.shape[1]] = samples
    return frame


def by_tables(luma: Plane, u: Plane, v: Plane, matrix: str, full_range: bool) -> Image:
    """Compute ``planes_to_rgb`` without libswscale."""
    black, of_y, v_in_r, u_in_g, v_in_g, u_in_b = colour_factors(matrix, full_range)
    height, width = luma.shape
    image: Image = np.empty((height, width, 3), np.uint8)

    def product(samples: Plane, zero: int, factor: int) -> NDArray[np.int16]:
        return np.asarray(cv2.LUT(samples, ((np.arange(256) - zero) * factor >> SHIFT).astype(np.int16)), np.int16)

    for top in range(0, height, _STRIP):
        grey = product(luma[top : top + _STRIP], black, of_y)
        cb, cr = (plane[top // 2 : (top + _STRIP) // 2] for plane in (u, v))
        of_chroma = product(cr, 128, v_in_r), product(cb, 128, u_in_g) + product(cr, 128, v_in_g), product(cb, 128, u_in_b)
        for channel, part in enumerate(of_chroma):
            spread = cv2.resize(part, None, fx=2, fy=2, interpolation=cv2.INTER_NEAREST)[: len(grey), :width]
            image[top : top + _STRIP, :, channel] = cv2.add(grey, spread, dtype=cv2.CV_8U)
    return image


def _by_swscale(frame: VideoFrame, matrix: str, full_range: bool) -> Image:
    if not hasattr(_LOCAL, "reformatter"):
        _LOCAL.reformatter = VideoReformatter()
    source_range = ColorRange.JPEG if full_range else ColorRange.MPEG
    converted = _LOCAL.reformatter.reformat(
        frame, frame.width, frame.height, "rgb24", src_colorspace=_NUMBERS[matrix], src_color_range=source_range, threads=1
    )
    return np.asarray(converted.to_ndarray(), np.uint8)


@cache
def _swscale_is_exact() -> bool:
    """Whether libswscale computes what is defined, tested with all chroma values and random luma."""
    luma = np.random.default_rng(0).integers(0, 256, (512, 512), dtype=np.uint8)
    u, v = (np.ascontiguousarray(each) for each in np.meshgrid(np.arange(256, dtype=np.uint8), np.arange(256, dtype=np.uint8)))
    return np.array_equal(_by_swscale(_frame_of(luma, u, v), "bt709", False), by_tables(luma, u, v, "bt709", False))
