"""Makes decoded frames in memory, and computes the network's input from them by its definition, in NumPy's integers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from framefleet.engine.detection.frame_format import FrameFormat, PixelFormat, Planes
from framefleet.engine.media.picture import reduced
from framefleet.engine.types import Image
from framefleet.plugins.colour import SHIFT, colour_factors


def picture(width: int, height: int, seed: int) -> Image:
    """A picture with edges and smooth areas, under weak noise."""
    random = np.random.default_rng(seed)
    patches = random.integers(0, 256, (3, 4, 3)).astype(np.uint8)
    large = cv2.resize(patches, (width, height), interpolation=cv2.INTER_CUBIC).astype(np.int16)
    cv2.rectangle(large, (width // 4, height // 3), (width // 2, height // 2), (250, 20, 130), -1)
    noisy: Image = np.clip(large + random.integers(-6, 7, large.shape), 0, 255).astype(np.uint8)
    return noisy


@dataclass(frozen=True, eq=False)
class Pictured:
    """A frame of random samples, as FFmpeg's planes (uint8, or uint16 for depths of 10 and 12), of any colour and orientation."""

    samples: Sequence[NDArray[Any]]
    depth: int
    orientation: tuple[bool, int | None]
    matrix: str
    full_range: bool

    def layout(self, kind: PixelFormat) -> FrameFormat:
        """The format of the frame in a kind of memory."""
        height, width = self.samples[0].shape
        shown = (height, width) if self.orientation[0] else (width, height)
        depth = 8 if kind is PixelFormat.I420 else self.depth
        return FrameFormat(kind, depth, width, height, *shown, self.orientation, self.matrix, self.full_range)

    def planes(self) -> Planes:
        """The frame as the CPU's decoder returns it."""
        return Planes(self.layout(PixelFormat.I420), *(reduced(plane, self.depth) for plane in self.samples))

    def surface(self, kind: PixelFormat) -> NDArray[np.uint8]:
        """The frame's bytes in one block: I420 as uploaded, NV12 and P016 as NVDEC writes them."""
        layout = self.layout(kind)
        content = np.zeros(layout.nbytes, np.uint8)
        if kind is PixelFormat.I420:
            self.planes().copy_to(content)
            return content
        for place, samples in zip(layout.planes(content), self.samples, strict=True):
            place[...] = samples << np.uint16(16 - self.depth) if self.depth > 8 else samples
        return content


def random_frame(
    width: int, height: int, seed: int, depth: int, orientation: tuple[bool, int | None], matrix: str, full_range: bool
) -> Pictured:
    """A frame of random samples."""
    random, dtype = np.random.default_rng(seed), np.uint8 if depth == 8 else np.uint16
    sizes = [(height, width), *[(-(-height // 2), -(-width // 2))] * 2]
    return Pictured([random.integers(0, 1 << depth, size, dtype=dtype) for size in sizes], depth, orientation, matrix, full_range)


def by_definition(planes: Planes, width: int, height: int) -> Image:
    """The input of width × height pixels, upright, as ``docs/adr/0022-same-input.md`` defines it."""
    image = upright(rgb_by_definition(planes), planes.format.orientation)
    return np.stack([resized(image[..., channel], width, height) for channel in range(3)], axis=-1)


def upright(image: Image, orientation: tuple[bool, int | None]) -> Image:
    """A stored picture, turned as ``FrameFormat.orientation`` says."""
    transposed, flip = orientation
    image = image.swapaxes(0, 1) if transposed else image
    return image[:: -1 if flip in (0, -1) else 1, :: -1 if flip in (1, -1) else 1]


def rgb_by_definition(planes: Planes) -> Image:
    """The frame in RGB, as stored."""
    height, width = planes.luma.shape
    black, of_y, v_in_r, u_in_g, v_in_g, u_in_b = colour_factors(planes.format.matrix, planes.format.full_range)
    u, v = (plane.repeat(2, 0).repeat(2, 1)[:height, :width].astype(np.int64) - 128 for plane in (planes.u, planes.v))
    grey = (planes.luma.astype(np.int64) - black) * of_y >> SHIFT
    colours = (v * v_in_r >> SHIFT), (u * u_in_g >> SHIFT) + (v * v_in_g >> SHIFT), (u * u_in_b >> SHIFT)
    image: Image = np.clip(np.stack([grey + colour for colour in colours], axis=-1), 0, 255).astype(np.uint8)
    return image


def resized(samples: NDArray[np.uint8], width: int, height: int) -> NDArray[np.uint8]:
    """A plane resized by OpenCV's fixed-point bilinear interpolation."""
    x0, x1, of_x0, of_x1 = _neighbours(samples.shape[1], width, bound=True)
    y0, y1, of_y0, of_y1 = _neighbours(samples.shape[0], height, bound=False)
    rows = samples[:, x0].astype(np.int64) * of_x0 + samples[:, x1].astype(np.int64) * of_x1
    upper, lower = (of_y0[:, None] * (rows[y0] >> 4)) >> 16, (of_y1[:, None] * (rows[y1] >> 4)) >> 16
    return ((upper + lower + 2) >> 2).astype(np.uint8)


def _neighbours(stored: int, size: int, bound: bool) -> tuple[NDArray[np.int64], ...]:
    """For each of ``size`` places the two neighbours among ``stored`` samples, and their weights in 1/2048."""
    place = ((np.arange(size) + 0.5) * (1 / (size / stored)) - 0.5).astype(np.float32)
    first = np.floor(place).astype(np.int64)
    share = place - first.astype(np.float32)
    if bound:
        share[(first < 0) | (first >= stored - 1)] = 0
    weights = (np.rint((1 - share) * np.float32(2048)), np.rint(share * np.float32(2048)))
    return np.clip(first, 0, stored - 1), np.clip(first + 1, 0, stored - 1), *(weight.astype(np.int64) for weight in weights)
