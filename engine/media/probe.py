"""Probes sources: determines kind, picture size, number of frames and segments. Decodes examples of their frames."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import accumulate, chain, islice, takewhile
from pathlib import Path
from typing import Self

import av  # as a whole: `from av.video ...` does not wait while another thread imports av, and fails
import numpy as np
from numpy.typing import NDArray

from framefleet.engine.detection.frame_format import HostImage
from framefleet.engine.media import cpu_decoding, images, picture, sources
from framefleet.engine.media.container import structure
from framefleet.engine.media.container.hidden_packets import HiddenPackets
from framefleet.engine.media.container.scan import LEADING, scan, scan_index
from framefleet.engine.media.container.video_file import VideoFile, VideoPacket
from framefleet.engine.media.segment import SegmentTable
from framefleet.engine.media.types import DecodeFailure, Sampling, Segment, SourceInfo, SourceKind, Wanted
from framefleet.engine.notices import Notice, Option, SourceError
from framefleet.engine.settings.kinds import Moment


def sampled(info: SourceInfo, sampling: Sampling) -> SourceInfo:
    """Return a source whose segments contain the wanted frames only.

    Raises SourceError if the video cannot be opened any more, the part begins behind the end, or times are given for pictures, which
    have none.
    """
    resolved = _sampled_pictures(info, sampling) if info.kind is SourceKind.IMAGES else _resolved(info, sampling)
    segments: list[Segment] = []
    for segment, wanted, start, end in resolved:
        if frames := wanted.estimate(start, end):
            segments.append(replace(segment, number=len(segments), frames=frames, wanted=wanted))
    if not segments and info.segments and sampling.begin is not None:
        option = Option("from", str(sampling.begin))
        raise SourceError(Notice("media.part_behind_end", path=Path(info.path), length=_length(info), option=option))
    return replace(info, segments=tuple(segments), wanted=sum(segment.frames for segment in segments))


def _length(info: SourceInfo) -> Notice:
    if info.kind is SourceKind.IMAGES:
        return Notice("media.pictures", count=info.frames)
    return (
        Notice("media.frames", count=info.frames)
        if info.duration is None
        else Notice("media.seconds", seconds=info.duration, count=info.frames)
    )


def _sampled_pictures(info: SourceInfo, sampling: Sampling) -> list[tuple[Segment, Wanted, int, int]]:
    """What ``_resolved`` returns, for pictures."""
    if sampling.timed:
        options = {"begin": Option("from"), "end": Option("to"), "every": Option("every")}
        raise SourceError(Notice("media.pictures_without_times", path=Path(info.path), **options))
    begin, end, every = (moment.frames if moment else None for moment in (sampling.begin, sampling.end, sampling.every))
    return [(segment, Wanted(segment.start or 0, segment.frames, begin or 0, end, every or 1), 0, 1) for segment in info.segments]


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


_TRIED_PACKETS = 500


def probe(path: Path, sampling: Sampling | None = None) -> SourceInfo:
    """Probe a video, a picture or a folder of pictures. sampling: which of its frames are wanted; None: all.

    Raises SourceError if the source is missing, empty or unreadable, contains no picture, or its pictures are larger than 16384×16384.
    """
    info = images.probe_images(path) if sources.is_folder(path) or sources.is_picture(path) else _probe_video(path)
    return info if sampling is None else sampled(info, sampling)


def _probe_video(path: Path) -> SourceInfo:
    with VideoFile(path) as file:
        width, height, origin, codec, created, lead_in = _first_picture(file)
        unit, tracks = float(file.time_base), file.tracks
        indexed = scan_index(file) if lead_in is None else None
    leading, left_out = lead_in or (None, 0)
    frames, seconds, segments, seekable = scan(path, indexed, leading)
    rate = round(frames / seconds, 6) if seconds else None
    form, joined = structure.joined_files(path)
    note = Notice("media.begins_within_group", path=path, count=left_out) if left_out else None
    note = Notice("media.several_tracks", path=path, count=tracks) if tracks > 1 else note
    note = Notice("media.joined_files", path=path, count=joined, format=form) if joined > 1 else note
    facts = codec, width, height, frames, seconds, rate, segments, seekable
    return SourceInfo(str(path), SourceKind.VIDEO, *facts, created=created, origin=origin, unit=unit, note=note)


def _first_picture(file: VideoFile) -> tuple[int, int, float | None, str, str | None, tuple[int, int] | None]:
    """Return width and height of a video's first picture, the time (seconds) of its first frame, its codec, ``created``, and ``_lead_in``.

    Decodes one frame, and a few more if the file may begin within a group of pictures.
    """
    read: list[_Read] = []
    packets = islice(file.packets(), _TRIED_PACKETS)
    for packet in chain(packets, (None,)):
        if packet is not None:
            read.append(_Read.of(file, packet, read))
        if packet is not None and packet.has_sidedata("encryption_info"):  # decoders may make pictures of the encrypted bytes
            raise SourceError(Notice("media.encrypted", path=file.path))
        frames = [frame for frame in file.decode(packet) if isinstance(frame, av.VideoFrame)]
        if frames:
            size, times = picture.Converter(file.stream.sample_aspect_ratio).size(frames[0]), [each.pts for each in read if each.shown]
            lead_in = _lead_in(file, packets, read, [frame.pts for frame in frames])
            known = [frames[0].pts] if lead_in or frames[0].pts is None else [frames[0].pts, *times]
            begin = min((pts for pts in known if pts is not None), default=None)
            return *size, None if begin is None else float(begin * file.time_base), file.codec.name, file.created, lead_in
    cause = file.error or Notice("media.no_frame_decoded")
    raise SourceError(Notice("media.video_not_decoded", path=file.path, cause=cause))


@dataclass(frozen=True)
class _Read:
    """A packet that was read. shown: whether it contains a frame."""

    pts: int | None
    key: bool
    shown: bool

    @classmethod
    def of(cls, file: VideoFile, packet: VideoPacket, before: Sequence[Self]) -> Self:
        if packet.is_keyframe and not any(each.key for each in before):
            file.hidden = HiddenPackets(file.codec)  # the packets before may begin with the second field of a frame
        return cls(packet.pts, packet.is_keyframe, file.shows(packet))


_CUT_ANYWHERE = ("mpegts", "mpeg", "mpegvideo", "wtv")
"""Containers of broadcasts: a recording begins with any packet. In others, the first packet is a keyframe unless it is damaged."""


def _lead_in(file: VideoFile, packets: Iterator[VideoPacket], read: list[_Read], shown: list[int | None]) -> tuple[int, int] | None:
    """Find the packets that refer to frames before the beginning of the file (see ``LeadIn``).

    Returns the number of those after the first keyframe, and the number of frames that all of them contain. None: there are none, or it is
    uncertain whether the file is damaged instead: the first keyframe, or others of the frames that follow it, cannot be decoded.

    packets: the following ones. read: the packets until the decoder returned frames. shown: the pts of these frames.
    """
    kind = file.container.format.name
    searched = read if kind in _CUT_ANYWHERE else read[:1]
    place, time = next(((number, each.pts) for number, each in enumerate(searched) if each.key), (0, None))
    first = shown[0]
    if time is None or first is None or first > time or any(each.pts == first for each in read[:place]):
        return None

    def precedes(each: _Read) -> bool:
        if each.pts is None:  # FFmpeg does not return negative times of Matroska
            return "matroska" in kind
        return each.pts <= time

    for packet in chain(islice(packets, LEADING), (None,)):
        if packet is not None:
            read.append(_Read.of(file, packet, read))
        following = next((each for each in read[place + 1 :] if each.shown), None)
        if None in shown or (place == 0 and following is not None and not precedes(following)):
            return None
        if any(pts > time for pts in shown if pts is not None):
            break
        shown += (frame.pts for frame in file.decode(packet))
    leading = [each for each in takewhile(lambda each: precedes(each) or not each.shown, read[place + 1 :]) if precedes(each)]
    lost = list(takewhile(lambda each: first == time or each.pts is None or each.pts < first, leading))
    frames = sum(each.shown for each in (*read[:place], *lost))
    decoded = sum(pts <= time for pts in shown if pts is not None)
    certain = decoded + sum(each.shown for each in lost) == 1 + sum(each.shown for each in leading)
    return (len(lost), frames) if certain and frames else None


_APART = 12
"""Frames from one example to the next within a segment: neighbours would show the same."""


def examples(paths: Sequence[Path], count: int) -> Iterator[list[HostImage]]:
    """Yield frames or pictures of each source: up to ``count`` of the first one, half of that of each other; none if it cannot be read."""
    for number, path in enumerate(paths):
        try:
            yield list(_examples(path, count if number == 0 else count // 2))
        except SourceError:  # the pool reports it when it opens the source
            yield []


def _examples(path: Path, count: int) -> Iterator[HostImage]:
    info = probe(path)
    segments = info.segments[:: -(-len(info.segments) // count)]
    each = -(-count // len(segments)) if segments else 0
    left = count
    for segment in segments:
        frames = cpu_decoding.decode_planes(info, segment, oblong_only=True)
        for item in islice(frames, 0, _APART * min(each, left), _APART):
            if not isinstance(item, DecodeFailure):
                left -= 1
                yield item.image
