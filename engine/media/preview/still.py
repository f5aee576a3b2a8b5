"""Decodes single pictures of a source quickly, without probing the source."""

from collections.abc import Iterator
from itertools import chain, islice
from pathlib import Path

import av
from av.video.frame import VideoFrame

from framefleet.engine.errors import SourceError
from framefleet.engine.media.container.video_file import SEEK_BACK, VideoFile, VideoPacket
from framefleet.engine.media.picture import Converter
from framefleet.engine.media.preview.reader import VideoReader
from framefleet.engine.media.sources import is_folder, is_picture
from framefleet.engine.media.types import DecodedFrame
from framefleet.engine.types import UNNUMBERED, Closing, FrameRef, Image

_TRIED_PACKETS = 100
_MIDDLE = 0.5  # the first frames are often black or grey


class Stills(Closing):
    """Decodes single pictures. It keeps the last video open, because the next picture is usually of the same one."""

    def __init__(self) -> None:
        self._file: VideoFile | None = None

    def picture(self, path: Path, max_size: tuple[int, int], at: float | None = None) -> DecodedFrame[Image] | None:
        """Return a picture of a source, scaled down to fit ``max_size`` (width, height). None if no picture can be decoded.

        at: the time of the picture, seconds, or its position in a folder; of a video the keyframe before it is returned. None: the middle.

        Raises SourceError if the source cannot be opened.
        """
        if is_folder(path) or is_picture(path):
            with VideoReader(path, max_size) as reader:
                reader.seek((reader.info.frames - 1) * _MIDDLE if at is None else at)
                return next(reader, None)
        if self._file is None or self._file.path != path:
            self.close()
            self._file = VideoFile(path)
        file = self._file
        convert = Converter(file.stream.sample_aspect_ratio, max_size, for_screen=True)
        length = float(file.container.duration or 0) / av.time_base
        place = (file.stream.start_time or 0) + int(length * _MIDDLE / file.time_base) if at is None else round(at / file.time_base)
        for back in (*SEEK_BACK, None):  # None: from the start of the file
            frame = _first_frame(file, file.packets() if back is None else file.packets_at(place - int(back / file.time_base)))
            if frame is not None and (back is None or frame.pts is None or frame.pts <= place):
                try:
                    return DecodedFrame(FrameRef(0, UNNUMBERED, file.seconds(frame.pts or 0)), convert(frame))
                except (av.FFmpegError, ValueError, SourceError):
                    return None
            file.reopen()
        return None

    def close(self) -> None:
        """Close the file. Repeated calls have no effect."""
        if self._file is not None:
            self._file.close()
            self._file = None


def _first_frame(file: VideoFile, packets: Iterator[VideoPacket]) -> VideoFrame | None:
    for packet in chain(islice(packets, _TRIED_PACKETS), (None,)):
        if frames := file.decode(packet):
            return frames[0]
    return None
