"""Takes decoded frames as planes where the network's input can be computed from them, without converting the whole frame to RGB.

These are the pixel formats that NVDEC decodes, too, so that frames of either decoder give the network the same input.
"""

from __future__ import annotations

import cv2
import numpy as np
from av.video.frame import VideoFrame
from numpy.typing import NDArray

from engine.detection.frame_format import FrameFormat, HostImage, PixelFormat, Planes
from engine.media.container.opening import MAX_SIDE
from engine.media.picture import Converter, is_full_range, matrix_name
from engine.media.tone_mapping import transfer_name

DEPTHS = {"yuv420p": 8, "yuvj420p": 8, "yuv420p10le": 10, "yuv420p12le": 12}
"""FFmpeg's pixel formats that are taken as planes, and the bits of a sample."""


class PlaneReader:
    """Returns a video's frames as planes; frames that need another conversion, such as HDR, as pictures. convert: the video's converter."""

    def __init__(self, convert: Converter) -> None:
        self._convert = convert
        self._known: object = None
        self._format: FrameFormat | None = None

    def __call__(self, frame: VideoFrame) -> HostImage:
        """Return a frame's planes, or a picture. The planes are valid as long as they are referenced.

        Raises: see ``Converter``.
        """
        name = frame.format.name
        kind = name, frame.width, frame.height, frame.rotation, frame.colorspace, frame.color_range, frame.color_trc
        if kind != self._known:
            self._known, self._format = kind, self._describe(frame)
        if self._format is None:
            return self._convert(frame)
        y, u, v = (reduced(plane, DEPTHS[name]) for plane in samples_of(frame))
        return Planes(self._format, y, u, v)

    def _describe(self, frame: VideoFrame) -> FrameFormat | None:
        if frame.format.name not in DEPTHS or transfer_name(frame):
            return None
        layout = frame_format(frame, self._convert, PixelFormat.I420, 8)
        return layout if max(layout.width, layout.height) <= MAX_SIDE else None


def frame_format(frame: VideoFrame, convert: Converter, kind: PixelFormat, depth: int) -> FrameFormat:
    """Describe a video's frames in memory. kind, depth: the layout there, and the bits of a sample."""
    shown, orientation = convert.size(frame), convert.orientation(frame)
    return FrameFormat(kind, depth, frame.width, frame.height, *shown, orientation, matrix_name(frame), is_full_range(frame))


def samples_of(frame: VideoFrame) -> list[NDArray[np.uint8] | NDArray[np.uint16]]:
    """Return luma, U and V of a 4:2:0 frame, (height, width) each, as views of the decoder's memory."""
    found: list[NDArray[np.uint8] | NDArray[np.uint16]] = []
    for plane in frame.planes:
        rows = np.frombuffer(memoryview(plane), np.uint8).reshape(plane.height, -1)
        found.append((rows if DEPTHS[frame.format.name] == 8 else rows.view(np.uint16))[:, : plane.width])
    return found


def reduced(samples: NDArray[np.uint8] | NDArray[np.uint16], depth: int) -> NDArray[np.uint8]:
    """Reduce samples to 8 bits: min((sample + half) >> (depth - 8), 255).

    OpenCV rounds to the nearest integer. ``beta`` makes sure that no value lies in the middle between two integers.
    """
    if depth == 8:
        return samples.view(np.uint8)
    step = 2.0 ** (8 - depth)
    return np.asarray(cv2.convertScaleAbs(samples, alpha=step, beta=step / 2), np.uint8)
