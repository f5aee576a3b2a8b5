"""Makes decoded frames in memory, and a reference implementation in NumPy of the kernel ``preprocess``."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import cv2
import numpy as np
from av.video.frame import VideoFrame
from av.video.reformatter import ColorRange, Colorspace
from numpy.typing import NDArray

from engine.media.picture import Converter
from engine.types import Image
from plugins.preprocess import NV12, P016, RGB8

COLOURS = {"bt601": Colorspace.ITU601, "bt709": Colorspace.ITU709}


def picture(width: int, height: int, seed: int) -> Image:
    """A picture with edges and smooth areas, under weak noise."""
    random = np.random.default_rng(seed)
    patches = random.integers(0, 256, (3, 4, 3)).astype(np.uint8)
    large = cv2.resize(patches, (width, height), interpolation=cv2.INTER_CUBIC).astype(np.int16)
    cv2.rectangle(large, (width // 4, height // 3), (width // 2, height // 2), (250, 20, 130), -1)
    return np.clip(large + random.integers(-6, 7, large.shape), 0, 255).astype(np.uint8)


def decoded(image: Image, ten_bits: bool, matrix: str, full_range: bool) -> tuple[VideoFrame, NDArray[np.uint8], NDArray[np.uint8]]:
    """A frame as a CPU decoder returns it, and its planes as NVDEC does: NV12 or P016, bytes (height, pitch) and (height / 2, pitch)."""
    frame = VideoFrame.from_ndarray(image, format="rgb24").reformat(
        format="yuv420p10le" if ten_bits else "yuv420p",
        dst_colorspace=COLOURS[matrix],
        dst_color_range=ColorRange.JPEG if full_range else ColorRange.MPEG,
    )
    frame.colorspace, frame.color_range = COLOURS[matrix], ColorRange.JPEG if full_range else ColorRange.MPEG
    y, u, v = (
        np.frombuffer(plane, np.uint16 if ten_bits else np.uint8).reshape(plane.height, -1)[:, : plane.width] for plane in frame.planes
    )
    planes = (y, np.stack([u, v], axis=-1).reshape(len(u), -1))
    luma, chroma = (np.pad(plane << 6 if ten_bits else plane, ((0, 0), (0, -plane.shape[1] % 64))).view(np.uint8) for plane in planes)
    return frame, luma, chroma


def shown(frame: VideoFrame, aspect: Fraction | None = None) -> Image:
    """The picture that the CPU converts a frame to."""
    return Converter(aspect)(frame)


def sample(entry: Any, luma: NDArray[np.uint8], chroma: NDArray[np.uint8] | None, width: int, height: int) -> NDArray[np.float32]:
    """The network's input that ``preprocess`` computes from a frame, float32 (height, width, 3), 0..255.

    entry: one ``FRAME``. luma, chroma: its planes. width, height: of the network.
    """
    columns, rows = np.meshgrid(np.arange(width), np.arange(height))
    stored_width, stored_height = (int(size) for size in entry["size"])
    a, b, c, d, e, f = (float(value) for value in entry["map"])
    x, y = np.clip(a * columns + b * rows + c, 0, stored_width - 1), np.clip(d * columns + e * rows + f, 0, stored_height - 1)
    x0, y0 = x.astype(int), y.astype(int)
    x1, y1 = np.minimum(x0 + 1, stored_width - 1), np.minimum(y0 + 1, stored_height - 1)
    right, down = (x - x0)[..., None], (y - y0)[..., None]

    def pixel(x: NDArray[np.int64], y: NDArray[np.int64]) -> NDArray[np.float64]:
        if entry["format"] == RGB8:
            return np.asarray(luma[:, : 3 * stored_width].reshape(-1, stored_width, 3)[y, x], np.float64)
        assert chroma is not None
        wide = {NV12: np.uint8, P016: np.uint16}[int(entry["format"])]
        scale = 1 if wide is np.uint8 else 256
        values = luma.view(wide)[y, x], chroma.view(wide)[y // 2, x // 2 * 2], chroma.view(wide)[y // 2, x // 2 * 2 + 1]
        y_, u, v = (value / scale for value in values)
        black, of_y, v_in_r, u_in_g, v_in_g, u_in_b = (float(factor) for factor in entry["colour"])
        grey, u, v = np.floor(of_y * (y_ - black)), u - 128, v - 128
        rgb = grey + np.floor(v_in_r * v), grey + np.floor(u_in_g * u) + np.floor(v_in_g * v), grey + np.floor(u_in_b * u)
        return np.clip(np.stack(rgb, axis=-1), 0, 255)

    upper = pixel(x0, y0) * (1 - right) + pixel(x1, y0) * right
    lower = pixel(x0, y1) * (1 - right) + pixel(x1, y1) * right
    values = upper * (1 - down) + lower * down
    if entry["rounded"]:
        values = np.rint(values)
    left, top, end, bottom = entry["inside"]
    outside = (columns < left) | (columns >= end) | (rows < top) | (rows >= bottom)
    values[outside] = 127.5
    return values.astype(np.float32)
