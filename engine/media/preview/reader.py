"""Reads the frames of a video or of pictures, starting at any time, for the preview."""

import contextlib
import math
from collections.abc import Generator, Iterator
from itertools import chain, islice
from pathlib import Path

import av
from av.video.frame import VideoFrame

from framefleet.engine.errors import SourceError
from framefleet.engine.media.container.video_file import SEEK_BACK, VideoFile
from framefleet.engine.media.images import decode_images
from framefleet.engine.media.picture import Converter, shrink
from framefleet.engine.media.probe import probe
from framefleet.engine.media.segment import SegmentDecoder
from framefleet.engine.media.types import DecodedFrame, Segment, SourceKind
from framefleet.engine.types import UNNUMBERED, Closing, FrameRef, Image

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
        for outcome in decode_images(self.info, Segment(0, 0, None, self.info.frames, names), skip=position):
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
                if isinstance(frame, str):
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
