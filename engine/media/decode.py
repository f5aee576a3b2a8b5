"""Decodes segments of any source on the CPU, to frames and failures."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import av
from av.video.frame import VideoFrame

from engine.errors import SourceError
from engine.media.container.opening import reason
from engine.media.container.video_file import VideoFile
from engine.media.images import decode_images
from engine.media.picture import Converter
from engine.media.sampled import samples
from engine.media.segment import SegmentDecoder
from engine.media.types import DecodedFrame, DecodeFailure, Segment, SourceInfo, SourceKind

THREADS = min(4, os.cpu_count() or 1)
"""Default number of threads of a decoder."""


def decode(info: SourceInfo, segment: Segment, skip: int = 0, threads: int = THREADS) -> Iterator[DecodedFrame | DecodeFailure]:
    """Yield the frames of a segment in display order, and a failure in place of frames that cannot be decoded.

    skip: the number of frames, failed ones included, to leave out at the start: a retry skips the completed ones.
    threads: number of decoder threads. Close the iterator to close the file early.

    Raises:
        SourceError: the file cannot be opened any more.
    """
    if info.kind is SourceKind.IMAGES:
        yield from decode_images(info, segment, skip)
        return
    with VideoFile(Path(info.path), threads) as file:
        convert = Converter(file.stream.sample_aspect_ratio)
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
    info: SourceInfo, seconds: float, outcome: VideoFrame | str, convert: Converter, index: int | None = None
) -> DecodedFrame | DecodeFailure:
    """Convert a frame to a picture. outcome: the frame, or the reason why it could not be decoded."""
    if isinstance(outcome, str):
        return DecodeFailure(seconds, 1, outcome, index=index)
    try:
        return DecodedFrame(seconds, convert(outcome), index=index)
    except (av.FFmpegError, ValueError, SourceError) as error:
        why = f"{info.path}: the frame at {seconds:.3f} s cannot be converted ({reason(error)})"
        return DecodeFailure(seconds, 1, why, index=index)
