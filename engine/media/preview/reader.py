"""Reads the pictures that a preview shows: frames of a video in order or after a seek, pictures of a folder, scaled to the screen."""

import contextlib
import math
from collections.abc import Generator, Iterator
from itertools import chain, islice
from pathlib import Path

import av
import cv2
import numpy as np
from av.video.frame import VideoFrame
from numpy.typing import NDArray

from framefleet.engine.media import images, sources
from framefleet.engine.media.container.video_file import SEEK_BACK, VideoFile, VideoPacket
from framefleet.engine.media.picture import Converter, shrink
from framefleet.engine.media.probe import probe
from framefleet.engine.media.segment import SegmentDecoder
from framefleet.engine.media.types import DecodedFrame, Segment, SourceKind
from framefleet.engine.notices import Notice, SourceError
from framefleet.engine.types import UNNUMBERED, Closing, FrameRef, Image

MAX_PIXELS = 1920 * 1080
"""The maximum size of an enlarged picture. The window enlarges it faster than it would copy more pixels."""


def shown_size(picture: tuple[int, int], canvas: tuple[int, int]) -> tuple[int, int]:
    """Return the width and height of a picture fitted into a canvas with its aspect ratio. Enlarges to at most ``MAX_PIXELS``."""
    width, height = picture
    scale = min(canvas[0] / width, canvas[1] / height)
    if scale > 1:
        scale = max(1.0, min(scale, (MAX_PIXELS / (width * height)) ** 0.5))
    return max(1, round(width * scale)), max(1, round(height * scale))


def for_screen(image: Image, canvas: tuple[int, int], memory: memoryview | None = None) -> NDArray[np.uint8]:
    """Scale a picture to its ``shown_size``. Returns uint8 (height, width, 4): blue, green, red, 255.

    image: RGB, or with the four channels that are returned. memory: where to write the picture if it is large enough.
    """
    height, width, channels = image.shape
    size = shown_size((width, height), canvas)
    if abs(size[0] - width) < 2 and abs(size[1] - height) < 2:  # the reader has scaled it and rounded another way
        size = width, height
    place = None
    if memory is not None and 4 * size[0] * size[1] <= len(memory):
        place = np.frombuffer(memory, np.uint8, 4 * size[0] * size[1]).reshape(size[1], size[0], 4)
    ready = channels == 4
    if size != (width, height):
        quick = 2 * size[0] > width  # down to half the size, linear interpolation looks the same and is five times as fast
        how = cv2.INTER_LINEAR if quick else cv2.INTER_AREA
        image = np.asarray(cv2.resize(image, size, dst=place if ready else None, interpolation=how), np.uint8)
    elif ready and place is not None:
        np.copyto(place, image)
    if ready:
        return np.ascontiguousarray(image) if place is None else place
    return np.asarray(cv2.cvtColor(image, cv2.COLOR_RGB2BGRA, dst=place), np.uint8)


_THREADS = 2
_SAME = 1e-6  # seconds: tolerance for rounding to a float
_SEARCHED = 300  # packets read in search of a keyframe


class VideoReader(Closing):
    """An iterator over the frames from the current position to the end. Skips frames that cannot be decoded. Not thread-safe.

    The pictures of a video are ready for the screen: blue, green, red, 255. Pictures from files are RGB.
    info: about the source. max_size: maximum width and height, pixels: larger pictures are scaled down with their aspect ratio.
    """

    def __init__(self, path: Path, max_size: tuple[int, int] | None = None) -> None:
        """Open the source at its start. Raises SourceError as ``probe``."""
        self.info = probe(path)
        self._file = VideoFile(path, _THREADS) if self.info.kind is SourceKind.VIDEO else None
        self._set_size(max_size)
        self._frames = self._play_images(0) if self._file is None else self._play_video(self._file, None)

    def seek(self, pts: float) -> None:
        """Continue with the frame shown at this time (seconds; for pictures the position), or with the nearest frame if there is none."""
        self._frames.close()
        self._frames = self._play_images(round(pts)) if self._file is None else self._play_video(self._file, pts + _SAME)

    def seek_before(self, pts: float) -> None:
        """Continue with the last frame that begins before this time, or with the first frame. Unit as for ``seek``."""
        self._frames.close()
        self._frames = (
            self._play_images(round(pts) - 1) if self._file is None else self._play_video(self._file, pts - _SAME, look_back=True)
        )

    def resize(self, max_size: tuple[int, int] | None) -> None:
        """Change the maximum width and height of the frames that follow."""
        if max_size != self._max_size:  # another converter takes milliseconds to set up
            self._set_size(max_size)

    def _set_size(self, max_size: tuple[int, int] | None) -> None:
        self._max_size = max_size
        if self._file is not None:
            self._convert = Converter(self._file.stream.sample_aspect_ratio, max_size, for_screen=True)

    def __iter__(self) -> Iterator[DecodedFrame[Image]]:
        return self

    def __next__(self) -> DecodedFrame[Image]:
        return next(self._frames)

    def close(self) -> None:
        """Close the file. Repeated calls have no effect."""
        self._frames.close()
        if self._file is not None:
            self._file.close()

    def _play_images(self, position: int) -> Generator[DecodedFrame[Image]]:
        position = min(max(position, 0), self.info.frames - 1)
        names = tuple(chain.from_iterable(segment.names for segment in self.info.segments))
        for outcome in images.decode_images(self.info, Segment(0, 0, None, self.info.frames, names), skip=position):
            if isinstance(outcome, DecodedFrame):
                yield DecodedFrame(outcome.ref, shrink(outcome.image, self._max_size))

    def _play_video(self, file: VideoFile, limit: float | None, *, look_back: bool = False) -> Generator[DecodedFrame[Image]]:
        """Yield the frames from the last one on that begins at or before ``limit`` (seconds; None: from the first one on).

        look_back: if damage leaves no such frame after the last keyframe, begin with one before that. Else begin with the next frame.
        """
        while True:
            start = None if limit is None else self._keyframe_before(file, limit)
            file.reopen()
            earlier: tuple[float, VideoFrame] | None = None  # the last frame that begins at or before the limit
            for pts, frame, _ in SegmentDecoder(file, Segment(0, start, None, 0)).outcomes():
                if isinstance(frame, Notice):
                    continue
                seconds = file.seconds(pts)
                if limit is not None and seconds <= limit:
                    earlier = seconds, frame
                    continue
                if earlier is not None:
                    yield from self._converted(*earlier)
                elif limit is not None and look_back and start is not None:
                    break
                earlier = limit = None
                yield from self._converted(seconds, frame)
            if earlier is not None:
                yield from self._converted(*earlier)
            if limit is None or earlier is not None or start is None:
                return
            limit = file.seconds(start) - _SAME

    def _converted(self, seconds: float, frame: VideoFrame) -> Iterator[DecodedFrame[Image]]:
        with contextlib.suppress(av.FFmpegError, ValueError, SourceError):
            yield DecodedFrame(FrameRef(0, UNNUMBERED, seconds), self._convert(frame))

    def _keyframe_before(self, file: VideoFile, seconds: float) -> int | None:
        """Return the pts of the last keyframe at or before this time, None to read from the start of the file."""
        if not self.info.seekable:
            return None
        limit = math.floor(seconds / file.time_base)
        for back in SEEK_BACK:
            found = None
            for packet in islice(file.packets_at(limit - int(back / file.time_base)), _SEARCHED):
                if packet.is_keyframe and packet.pts is not None:
                    if packet.pts > limit:
                        break
                    found = packet.pts
            if found is not None:
                return found
        return None


_TRIED_PACKETS = 100
_MIDDLE = 0.5  # the first frames are often black or grey


class Stills(Closing):
    """Decodes single pictures. It keeps the last video open, because the next picture is usually of the same one."""

    def __init__(self) -> None:
        self._file: VideoFile | None = None

    def picture(self, path: Path, max_size: tuple[int, int], at: float | None = None, exact: bool = False) -> DecodedFrame[Image] | None:
        """Return a picture of a source, scaled down to fit ``max_size`` (width, height). None if no picture can be decoded.

        at: the time of the picture, seconds, or its position in a folder; of a video the keyframe before it is returned. None: the middle.
        exact: return the frame shown at this time, which takes longer.

        Raises SourceError if the source cannot be opened.
        """
        if exact or sources.is_folder(path) or sources.is_picture(path):
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
