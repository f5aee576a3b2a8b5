"""Decodes an early picture of a source quickly, without probing the source."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

import av
from av.video.frame import VideoFrame

from engine.errors import SourceError
from engine.media.container.video_file import VideoFile
from engine.media.picture import Converter
from engine.media.preview.reader import VideoReader
from engine.media.sources import is_picture
from engine.media.types import DecodedFrame

_TRIED_PACKETS = 100
_PLACE = 0.1  # where to look, as a share of the duration: the first frames are often black


def first_picture(path: Path, max_size: tuple[int, int]) -> DecodedFrame | None:
    """Return an early picture of a source, scaled down to fit ``max_size`` (width, height). None if no picture can be decoded.

    Raises:
        SourceError: the source cannot be opened.
    """
    if path.is_dir() or is_picture(path):
        with VideoReader(path, max_size) as reader:
            return next(reader, None)
    with VideoFile(path) as file:
        convert = Converter(file.stream.sample_aspect_ratio, max_size, for_screen=True)
        length = float(file.container.duration or 0) / av.time_base
        start = file.stream.start_time or 0
        for packets in (file.packets_at(start + int(length * _PLACE / file.time_base)), file.packets()):
            for packet in (*islice(packets, _TRIED_PACKETS), None):
                for frame in file.decode(packet):
                    if isinstance(frame, VideoFrame):
                        try:
                            return DecodedFrame(file.seconds(frame.pts or 0), convert(frame))
                        except (av.FFmpegError, ValueError, SourceError):
                            return None
            file.reopen()
    return None
