"""Writes pictures as an H.264 video."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import av
import numpy as np
from av.video.reformatter import ColorRange, Colorspace
from numpy.typing import NDArray

BT709 = 1
"""The code of BT.709 primaries, transfer and matrix (ITU-T H.273)."""


def write(path: Path, pictures: Iterable[NDArray[np.uint8]], rate: int, options: Mapping[str, str]) -> None:
    """Write an MP4 file in yuv420p and BT.709, with its index at the start.

    pictures: uint8 RGB (height, width, 3), all of the same size. rate: frames/s. options: of libx264.
    """
    with av.open(str(path), "w", options={"movflags": "+faststart"}) as file:
        video = file.add_stream("libx264", rate, options=dict(options))
        video.pix_fmt = "yuv420p"
        context = video.codec_context
        context.color_primaries, context.color_trc, context.colorspace, context.color_range = BT709, BT709, BT709, ColorRange.MPEG
        for picture in pictures:
            if not context.is_open:
                video.height, video.width = picture.shape[:2]
            frame = av.VideoFrame.from_ndarray(np.ascontiguousarray(picture), "rgb24")
            file.mux(video.encode(frame.reformat(format="yuv420p", dst_colorspace=Colorspace.ITU709, dst_color_range=ColorRange.MPEG)))
        file.mux(video.encode(None))
