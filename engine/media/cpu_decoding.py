"""Decodes segments of any source on the CPU, to frames and failures."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import av
from av.video.frame import VideoFrame

from framefleet.engine.detection.frame_format import HostImage, Planes
from framefleet.engine.errors import SourceError
from framefleet.engine.media.container.opening import reason
from framefleet.engine.media.container.video_file import VideoFile
from framefleet.engine.media.images import decode_images
from framefleet.engine.media.picture import Converter
from framefleet.engine.media.planes import PlaneReader
from framefleet.engine.media.sampling.decode import samples
from framefleet.engine.media.segment import SegmentDecoder
from framefleet.engine.media.types import DecodedFrame, DecodedPlanes, DecodeFailure, Segment, SourceInfo, SourceKind

THREADS = min(4, os.cpu_count() or 1)
"""Default number of threads of a decoder."""


def decode(info: SourceInfo, segment: Segment, skip: int = 0, threads: int = THREADS) -> Iterator[DecodedFrame | DecodeFailure]:
    """Yield the frames of a segment in display order, and a failure in place of frames that cannot be decoded.

    skip: the number of frames, failed ones included, to leave out at the start: a retry skips the completed ones.
    threads: number of decoder threads. Close the iterator to close the file early.

    Raises SourceError if the file cannot be opened any more.
    """
    for item in _decode(info, segment, skip, threads, lambda converter: converter):
        assert not isinstance(item, DecodedPlanes)
        yield item


def decode_planes(
    info: SourceInfo, segment: Segment, skip: int = 0, threads: int = THREADS, oblong_only: bool = False
) -> Iterator[DecodedFrame | DecodedPlanes | DecodeFailure]:
    """Like ``decode``, but leave frames as planes where the network's input can be computed from them.

    oblong_only: leave only frames as planes whose pixels are not square. A picture with square pixels would be resized twice.
    """
    return _decode(info, segment, skip, threads, lambda converter: PlaneReader(converter, oblong_only))


def _decode(
    info: SourceInfo, segment: Segment, skip: int, threads: int, reader: Callable[[Converter], Callable[[VideoFrame], HostImage]]
) -> Iterator[DecodedFrame | DecodedPlanes | DecodeFailure]:
    if info.kind is SourceKind.IMAGES:
        yield from decode_images(info, segment, skip)
        return
    with VideoFile(Path(info.path), threads) as file:
        convert = reader(Converter(file.stream.sample_aspect_ratio))
        if segment.wanted is not None:
            for index, pts, sample in samples(file, segment, skip):
                yield _converted(info, file.seconds(pts), sample, convert, index)
            return
        for pts, outcome, count in SegmentDecoder(file, segment).outcomes():
            skipped = min(skip, count)
            skip -= skipped
            if skipped == count:
                continue
            seconds = file.seconds(pts)
            if isinstance(outcome, str):
                yield DecodeFailure(seconds, count - skipped, outcome)
                continue
            yield _converted(info, seconds, outcome, convert)


def _converted(
    info: SourceInfo, seconds: float, outcome: VideoFrame | str, convert: Callable[[VideoFrame], HostImage], index: int | None = None
) -> DecodedFrame | DecodedPlanes | DecodeFailure:
    """Convert a frame to a picture or planes. outcome: the frame, or the reason why it could not be decoded."""
    if isinstance(outcome, str):
        return DecodeFailure(seconds, 1, outcome, index=index)
    try:
        image = convert(outcome)
    except (av.FFmpegError, ValueError, SourceError) as error:
        why = f"{info.path}: the frame at {seconds:.3f} s cannot be converted ({reason(error)})"
        return DecodeFailure(seconds, 1, why, index=index)
    return DecodedPlanes(seconds, image, index=index) if isinstance(image, Planes) else DecodedFrame(seconds, image, index=index)
