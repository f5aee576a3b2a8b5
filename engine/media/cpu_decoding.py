"""Decodes segments of any source on the CPU, to frames and failures."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

import av
from av.video.frame import VideoFrame

from framefleet.engine.detection.frame_format import HostImage
from framefleet.engine.media.container.video_file import VideoFile, reason
from framefleet.engine.media.images import decode_images
from framefleet.engine.media.picture import Converter, PlaneReader
from framefleet.engine.media.segment import SegmentDecoder, samples
from framefleet.engine.media.types import DecodedFrame, DecodeFailure, Segment, SourceInfo, SourceKind
from framefleet.engine.notices import Notice, SourceError
from framefleet.engine.types import UNNUMBERED, FrameRef, Image

THREADS = min(4, os.cpu_count() or 1)
"""Default number of threads of a decoder."""

Pixels = TypeVar("Pixels", bound=HostImage)


def decode(info: SourceInfo, segment: Segment, skip: int = 0, threads: int = THREADS) -> Iterator[DecodedFrame[Image] | DecodeFailure]:
    """Yield the frames of a segment in display order, and a failure in place of frames that cannot be decoded.

    skip: the number of frames, failed ones included, to leave out at the start: a retry skips the completed ones.
    threads: number of decoder threads. Close the iterator to close the file early.

    Raises SourceError if the file cannot be opened any more.
    """
    return _decode(info, segment, skip, threads, lambda converter: converter)


def decode_planes(
    info: SourceInfo, segment: Segment, skip: int = 0, threads: int = THREADS, oblong_only: bool = False
) -> Iterator[DecodedFrame[HostImage] | DecodeFailure]:
    """Like ``decode``, but leave frames as planes where the network's input can be computed from them.

    oblong_only: leave only frames as planes whose pixels are not square. A picture with square pixels would be resized twice.
    """
    return _decode(info, segment, skip, threads, lambda converter: PlaneReader(converter, oblong_only))


def _decode(
    info: SourceInfo, segment: Segment, skip: int, threads: int, reader: Callable[[Converter], Callable[[VideoFrame], Pixels]]
) -> Iterator[DecodedFrame[Pixels] | DecodedFrame[Image] | DecodeFailure]:
    if info.kind is SourceKind.IMAGES:
        yield from decode_images(info, segment, skip)
        return
    with VideoFile(Path(info.path), threads) as file:
        convert = reader(Converter(file.stream.sample_aspect_ratio))
        if segment.wanted is not None:
            for index, pts, sample in samples(file, segment, skip):
                yield _converted(info, FrameRef(info.number, index, file.seconds(pts)), sample, convert)
            return
        for pts, outcome, count in SegmentDecoder(file, segment).outcomes():
            skipped = min(skip, count)
            skip -= skipped
            if skipped == count:
                continue
            ref = FrameRef(info.number, UNNUMBERED, file.seconds(pts))
            if isinstance(outcome, Notice):
                yield DecodeFailure(ref, count - skipped, outcome)
                continue
            yield _converted(info, ref, outcome, convert)


def _converted(
    info: SourceInfo, ref: FrameRef, outcome: VideoFrame | Notice, convert: Callable[[VideoFrame], Pixels]
) -> DecodedFrame[Pixels] | DecodeFailure:
    """Convert a frame to a picture or planes. outcome: the frame, or the reason why it could not be decoded."""
    if isinstance(outcome, Notice):
        return DecodeFailure(ref, 1, outcome)
    try:
        return DecodedFrame(ref, convert(outcome))
    except (av.BlockingIOError, av.MemoryError):
        raise  # no thread or no memory for the conversion: the frame is not to blame
    except (av.FFmpegError, ValueError, SourceError) as error:
        why = Notice("media.frame_not_converted", path=Path(info.path), seconds=ref.pts, detail=reason(error))
        return DecodeFailure(ref, 1, why)
