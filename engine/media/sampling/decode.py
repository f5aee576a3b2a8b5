"""Decodes the wanted frames of a segment only. Groups of pictures without wanted frames are not decoded.

The frames have the same indices and times as in a decode of all frames. Where that cannot be known from the packets, or decoding gives
anything unexpected, all frames are decoded as usual, and the wanted ones are chosen by their order.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import TypeAlias

from av.video.frame import VideoFrame

from framefleet.engine.media.container.video_file import VideoFile
from framefleet.engine.media.sampling.segment_table import SegmentTable
from framefleet.engine.media.segment import SegmentDecoder
from framefleet.engine.media.types import Segment

Sample: TypeAlias = tuple[int, int, VideoFrame | str]
"""Index in the source, pts, and the frame or the reason why it could not be decoded."""


class _UnexpectedError(Exception):
    """A wanted frame is missing or damaged."""


def samples(file: VideoFile, segment: Segment, skip: int = 0) -> Iterator[Sample]:
    """Yield the wanted frames of a segment in display order. skip: the number of them to leave out at the start."""
    done = skip
    table = SegmentTable(file, segment)
    if is_reliable(table, segment):
        try:
            for sample in _decode_runs(file, table, skip):
                yield sample
                done += 1
            return
        except _UnexpectedError:
            pass
    file.reopen()
    for number, sample in enumerate(_choose(file, segment)):
        if number >= done:
            yield sample


def is_reliable(table: SegmentTable, segment: Segment) -> bool:
    """Whether the packets show which frames the segment has."""
    assert segment.wanted is not None
    return table.regular and len(table) == segment.wanted.frames


def _decode_runs(file: VideoFile, table: SegmentTable, skip: int) -> Iterator[Sample]:
    positions, indices = (part[skip:] for part in table.wanted())
    awaited = iter(zip(table.ordered[positions].tolist(), indices.tolist(), strict=True))
    pts, index = next(awaited, (None, 0))
    for packets in table.packets(table.runs(positions)):
        for packet in (*packets, None):
            for frame in file.decode(packet):
                if frame.pts is None or pts is None or frame.pts < pts:
                    continue
                if frame.pts > pts or frame.is_corrupt or file.error:
                    raise _UnexpectedError
                yield index, pts, frame
                pts, index = next(awaited, (None, 0))
        file.codec.flush_buffers()
    if pts is not None:
        raise _UnexpectedError


def _choose(file: VideoFile, segment: Segment) -> Iterator[Sample]:
    """Decode all frames of a segment, and choose the wanted ones."""
    wanted = segment.wanted
    assert wanted is not None
    step = round(1 / (file.rate * file.time_base))
    waiting: Sample | None = None
    for sample in _numbered(file, segment, step):
        if waiting is not None and wanted.includes(waiting[0], waiting[1], sample[1]):
            yield waiting
        waiting = sample
    if waiting is not None and wanted.includes(waiting[0], waiting[1], waiting[1] + step if segment.end is None else segment.end):
        yield waiting


def _numbered(file: VideoFile, segment: Segment, step: int) -> Iterator[Sample]:
    """Decode all frames of a segment, each failed frame separately."""
    assert segment.wanted is not None
    index = segment.wanted.first
    for pts, outcome, count in SegmentDecoder(file, replace(segment, frames=segment.wanted.frames)).outcomes():
        for number in range(count):
            yield index, pts + number * step, outcome
            index += 1
