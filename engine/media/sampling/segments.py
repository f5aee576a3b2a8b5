"""Finds the segments that contain wanted frames, when a source is probed."""

from dataclasses import replace
from fractions import Fraction
from itertools import accumulate
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from framefleet.engine.errors import SourceError
from framefleet.engine.media.container.video_file import VideoFile
from framefleet.engine.media.sampling.segment_table import SegmentTable
from framefleet.engine.media.sampling.wanted import Sampling, Wanted
from framefleet.engine.media.types import Segment, SourceInfo, SourceKind
from framefleet.engine.settings.kinds import Moment


def sampled(info: SourceInfo, sampling: Sampling) -> SourceInfo:
    """Return a source whose segments contain the wanted frames only.

    Raises SourceError if the video cannot be opened any more; times are given for pictures, which have none.
    """
    if info.kind is SourceKind.IMAGES:
        return _sampled_pictures(info, sampling)
    segments: list[Segment] = []
    for segment, wanted, start, end in _resolved(info, sampling):
        if frames := wanted.estimate(start, end):
            segments.append(replace(segment, number=len(segments), frames=frames, wanted=wanted))
    return replace(info, segments=tuple(segments), wanted=sum(segment.frames for segment in segments))


def _sampled_pictures(info: SourceInfo, sampling: Sampling) -> SourceInfo:
    if sampling.timed:
        raise SourceError(f"{info.path}: pictures have no times: give --from, --to and --every as numbers of pictures")
    begin, end, every = (moment.frames if moment else None for moment in (sampling.begin, sampling.end, sampling.every))
    segments: list[Segment] = []
    for segment in info.segments:
        wanted = Wanted(segment.start or 0, segment.frames, begin or 0, end, every or 1)
        if frames := wanted.estimate(0, 1):
            segments.append(replace(segment, number=len(segments), frames=frames, wanted=wanted))
    return replace(info, segments=tuple(segments), wanted=sum(segment.frames for segment in segments))


def _resolved(info: SourceInfo, sampling: Sampling) -> list[tuple[Segment, Wanted, int, int]]:
    """Return for each segment what is wanted of it, its start and its end, both as pts."""
    path, segments = Path(info.path), info.segments
    begin, end, every = sampling.begin, sampling.end, sampling.every
    firsts = list(accumulate((segment.frames for segment in segments), initial=0))
    times = _times(path, segments[0]) if sampling.timed else np.zeros(0, np.int64)
    with VideoFile(path) as file:
        unit, step = file.time_base, round(1 / (file.rate * file.time_base))
    origin = int(times[0]) if len(times) else 0
    starts = [origin if segment.start is None else segment.start for segment in segments]
    last_end = starts[-1] + max(segments[-1].frames, 1) * step
    if len(segments) == 1 and len(times):
        last_end = max(last_end, int(times[-1]) + step)

    def pts_of(moment: Moment | None) -> Fraction | None:
        return None if moment is None or moment.seconds is None else origin + moment.seconds / unit

    begin_pts, end_pts = pts_of(begin), pts_of(end)
    first = begin.frames or 0 if begin else 0
    interval = every.seconds / unit if every and every.seconds else None
    if interval is not None and begin_pts is None:
        number = next((number for number, after in enumerate(firsts[1:]) if first < after), None)
        if number is None:
            return []
        within = _times(path, segments[number])
        begin_pts = Fraction(int(within[min(first - firsts[number], len(within) - 1)]) if len(within) else starts[number])
    if every and every.frames and begin_pts is not None:
        number = max((number for number, start in enumerate(starts) if start <= begin_pts), default=0)
        shown = int(np.searchsorted(_times(path, segments[number]), int(begin_pts), "right")) - 1
        first = firsts[number] + max(0, shown)
    limits = (first, end.frames if end else None, every.frames or 1 if every else 1, begin_pts, end_pts, interval)
    ends = [*starts[1:], last_end]
    return [
        (segment, Wanted(before, segment.frames, *limits), start, after)
        for segment, before, start, after in zip(segments, firsts[:-1], starts, ends, strict=True)
    ]


def _times(path: Path, segment: Segment) -> NDArray[np.int64]:
    """Return the pts of a segment's frames, ascending."""
    with VideoFile(path) as file:
        return SegmentTable(file, segment).ordered
