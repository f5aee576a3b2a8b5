"""Decodes one segment. Every expected frame becomes a decoded frame or part of a failure.

Each packet that is not hidden (see ``HiddenPackets``) contains one frame. ``SegmentDecoder`` matches decoded frames with packets by pts.
The number of frames and failed frames equals the number of expected frames, or ``Segment.frames`` if that is larger.

A frame fails in four cases:
- A part of its packet is missing (``VideoFile.is_incomplete``).
- The decoder returns no frame for its packet.
- The decoder marks the frame as corrupt.
- The container announces the frame (``Segment.frames``), but has no packet for it.

Measured on 24 damaged copies each of clips in H.264, MPEG-4, VP9, HEVC and MJPEG: of 32 marked H.264 frames, 20 were visibly damaged.
FFmpeg's strictest error detection found 5 more damaged H.264 frames, but rejected 87 undamaged ones. Only MJPEG uses it: there it
found 12 of 18 and rejected 10. Frames predicted from damaged ones have no mark (261 of 1,728 in these copies). They count as decoded,
and the pictures recover at the next keyframe.
"""

from array import array
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from heapq import heappop, heappush
from itertools import filterfalse, islice
from typing import TypeAlias

import numpy as np
from av.video.frame import VideoFrame
from numpy.typing import NDArray

from framefleet.engine.media.container.hidden_packets import LeadIn
from framefleet.engine.media.container.video_file import VideoFile, VideoPacket
from framefleet.engine.media.types import Segment
from framefleet.engine.notices import Notice

Outcome: TypeAlias = tuple[int, VideoFrame | Notice, int]
"""pts, the frame or the reason of a failure, and the number of frames it stands for (1 unless a failure)."""

_NEVER = -(1 << 63)


def packets_of(file: VideoFile, segment: Segment) -> Iterator[VideoPacket]:
    """Yield the packets needed to decode a segment's frames, in decoding order.

    The next segment's keyframe may be followed by frames that are shown before it and are decoded from it. Reading therefore
    continues after the keyframe until a packet that is shown after it.
    """
    packets = file.packets() if segment.start is None else file.packets_from(segment.start)
    if segment.leading is not None:
        packets = filterfalse(LeadIn(segment.leading).holds, packets)
    keyframe: list[VideoPacket] = []
    after_end = False
    for packet in packets:
        if segment.end is not None and packet.pts is not None:
            if not after_end and packet.is_keyframe and packet.pts >= segment.end:
                keyframe, after_end = [packet], True
                continue
            if after_end and packet.pts >= segment.end:
                return
        yield from keyframe
        keyframe = []
        yield packet


def covers(segment: Segment, pts: int) -> bool:
    """Whether a frame with this pts belongs to the segment."""
    return (segment.start is None or pts >= segment.start) and (segment.end is None or pts < segment.end)


def timed_frames(file: VideoFile, start: int | None = None) -> Iterator[tuple[Fraction, Fraction, VideoFrame]]:
    """Yield the frames of a video that can be decoded, with the times at which each one and the next one are shown, seconds.

    start: the pts of the keyframe to begin with, None: the first frame.
    """
    waiting: tuple[Fraction, VideoFrame] | None = None
    for pts, outcome, _ in SegmentDecoder(file, Segment(0, start, None, 0)).outcomes():
        seconds = pts * file.time_base
        if isinstance(outcome, Notice):
            continue
        if waiting is not None:
            yield waiting[0], seconds, waiting[1]
        waiting = seconds, outcome
    if waiting is not None:
        yield waiting[0], file.end_of(waiting[1], waiting[0]), waiting[1]


class SegmentDecoder:
    """Decodes one segment of an open file. Use it once."""

    def __init__(self, file: VideoFile, segment: Segment) -> None:
        self._file, self._segment = file, segment
        self._expected = 0  # number of frames in the packets read
        self._accounted = 0  # yielded frames and failed frames
        self._read = 0  # packets read that contain a shown frame
        self._pending: list[int] = []  # heap of expected pts
        self._overtaken: list[int] = []  # expected pts whose frame is missing although a later frame was decoded
        self._untimed: list[int] = []  # heap of the times of packets without a pts
        self._reported: set[int] = set()  # pts already yielded as failures
        self._headless: set[int] = set()  # pts of packets before the first keyframe
        self._keyframe: int | None = None  # pts of the first keyframe
        self._incomplete: set[int] = set()  # pts of incomplete packets
        self._last = segment.start or 0  # pts of the last frame yielded
        self._highest = _NEVER  # highest pts yielded
        self._until: int | None = None  # in a second pass: the highest pts that the first pass yielded

    def outcomes(self) -> Iterator[Outcome]:
        """Yield the segment's frames and failures, in display order."""
        yield from self._decode()
        if self._pending and self._file.threads > 1:
            # at the end of a damaged stream FFmpeg's frame threads also lose undamaged frames
            self._until, self._read, self._pending, self._untimed = self._highest, 0, [], []
            self._file.reopen(threads=1)
            yield from self._decode()
        missing = max(self._segment.frames, self._expected) - self._accounted
        if missing > 0:
            yield self._failure([*self._overtaken, *sorted(self._pending), self._after_last()][0], missing)

    def _after_last(self) -> int:
        """The pts that a frame after the last one would have, if it belongs to the segment."""
        pts = self._last + round(1 / (self._file.rate * self._file.time_base))
        return pts if self._highest > _NEVER and covers(self._segment, pts) else self._last

    def _decode(self) -> Iterator[Outcome]:
        for packet in packets_of(self._file, self._segment):
            self._expect(packet)
            for frame in self._file.decode(packet):
                yield from self._match(frame)
        for frame in self._file.decode(None):
            yield from self._match(frame)

    def _expect(self, packet: VideoPacket) -> None:
        incomplete = self._file.is_incomplete(packet)
        if not self._file.shows(packet):
            return
        pts = packet.pts if packet.pts is not None else packet.dts
        if pts is None:
            pts = round(self._read / (self._file.rate * self._file.time_base))
        self._read += 1
        if packet.pts is None:  # also before the segment: the decoder returns these frames, too
            heappush(self._untimed, pts)
        if not covers(self._segment, pts):
            return
        heappush(self._pending, pts)
        if packet.is_keyframe and self._keyframe is None:
            self._keyframe = pts
        elif self._keyframe is None:
            self._headless.add(pts)
        if self._until is None:
            self._expected += 1
        if incomplete:
            self._incomplete.add(pts)

    def _match(self, frame: VideoFrame) -> Iterator[Outcome]:
        pts = frame.pts
        if pts is None:  # the container has no presentation times: use the packets' decoding times in ascending order
            pts = heappop(self._untimed) if self._untimed else self._last
        if not covers(self._segment, pts):
            return
        while self._pending and self._pending[0] < pts:
            overtaken = heappop(self._pending)
            if self._until is None or overtaken > self._until:
                self._overtaken.append(overtaken)
        if self._pending and self._pending[0] == pts:
            heappop(self._pending)
        elif pts in self._overtaken:
            self._overtaken.remove(pts)
        elif pts in self._reported:
            return
        elif self._overtaken:  # no packet has this time: count the frame as one of the missing frames
            self._overtaken.pop(0)
        elif self._pending:
            heappop(self._pending)
        elif self._file.error:
            return
        if self._until is not None and pts <= self._until:
            return
        # irregular times may delay frames, except after an error, and frames for which the first keyframe came too late
        late = self._highest == _NEVER and self._keyframe is not None and pts >= self._keyframe
        lost = self._overtaken if self._file.error else [each for each in self._overtaken if late and each in self._headless]
        if lost:
            self._reported.update(lost)
            yield self._failure(lost[0], len(lost))
            self._overtaken = [each for each in self._overtaken if each not in self._reported]
        self._last = pts
        self._highest = max(pts, self._highest)
        if frame.is_corrupt or pts in self._incomplete:
            yield self._failure(pts, 1)
        else:
            self._accounted += 1
            yield pts, frame, 1

    def _failure(self, pts: int, count: int) -> Outcome:
        self._accounted += count
        cause = self._file.error or Notice("media.incomplete_data")
        return pts, Notice("media.not_decoded", path=self._file.path, count=count, seconds=self._file.seconds(pts), cause=cause), count


_KEPT_BYTES = 16 * 2**20
"""The packets of a segment are kept in memory up to this size. Those of larger segments are read again."""


@dataclass(frozen=True)
class Run:
    """Consecutive packets that are decoded together: from number ``first``, a keyframe, to number ``last`` of the segment's packets.

    part: the frames from the keyframe to the last wanted one, as a segment.
    """

    first: int
    last: int
    part: Segment


class SegmentTable:
    """The packets of a segment. The constructor reads them.

    ordered: pts of the segment's frames, ascending, int64 (frames,).
    regular: whether all frames have different times and whole packets, so that frames can be recognised by their times.
    """

    def __init__(self, file: VideoFile, segment: Segment) -> None:
        self._file, self._segment = file, segment
        self._kept: list[VideoPacket] | None = []
        size, read = 0, 0
        self.regular = True
        pts, keys, counted = array("q"), array("b"), array("b")
        for packet in packets_of(file, segment):
            shown = file.shows(packet)
            time = packet.pts if packet.pts is not None else packet.dts
            if time is None:
                time = round(read / (file.rate * file.time_base))
            read += shown
            self.regular &= packet.pts is not None and not packet.is_corrupt
            pts.append(time)
            keys.append(packet.is_keyframe)
            counted.append(shown and covers(segment, time))
            size += packet.size
            if self._kept is not None:
                self._kept.append(packet)
                if size > _KEPT_BYTES:
                    self._kept = None
        self._pts: NDArray[np.int64] = np.array(pts, np.int64)
        self._keys = np.flatnonzero(np.array(keys, np.bool_))
        self._packets = np.flatnonzero(np.array(counted, np.bool_))  # numbers of the packets of the segment's frames
        self._order = np.argsort(self._pts[self._packets], kind="stable")
        self.ordered = self._pts[self._packets][self._order]
        self.regular &= file.error is None and not file.clock_restarts and bool(np.all(np.diff(self.ordered) > 0))

    def __len__(self) -> int:
        return len(self.ordered)

    def wanted(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the positions of the wanted frames in ``ordered``, and their indices in the source."""
        wanted = self._segment.wanted
        assert wanted is not None
        step = round(1 / (self._file.rate * self._file.time_base))
        end = self._segment.end
        last = end if end is not None else int(self.ordered[-1]) + step if len(self) else 0
        indices = wanted.first + np.arange(len(self))
        positions = np.flatnonzero(wanted.includes(indices, self.ordered, np.append(self.ordered[1:], last)))
        return positions, indices[positions]

    def runs(self, positions: NDArray[np.int64]) -> list[Run]:
        """Return the packets to decode for the frames at these positions of ``ordered``."""
        bounds: list[tuple[int, int]] = []
        for packet in sorted(self._packets[self._order[positions]].tolist()):
            key = int(np.searchsorted(self._keys, packet, "right")) - 1
            # a frame that is stored after a keyframe and shown before it may need the keyframe before that one
            if key > 0 and self._pts[packet] < self._pts[self._keys[key]]:
                key -= 1
            first = int(self._keys[key]) if key >= 0 else 0
            while bounds and first <= bounds[-1][1] + 1:
                first = min(first, bounds.pop()[0])
            bounds.append((first, packet))
        wanted = self._packets[self._order[positions]]
        return [Run(first, last, self._part(first, last, wanted[(wanted >= first) & (wanted <= last)])) for first, last in bounds]

    def _part(self, first: int, last: int, wanted: NDArray[np.int64]) -> Segment:
        start = int(self._pts[first]) if first else self._segment.start
        whole = last == len(self._pts) - 1
        return replace(self._segment, start=start, end=self._segment.end if whole else int(self._pts[wanted].max()) + 1, frames=0)

    def packets(self, runs: list[Run]) -> Iterator[Iterator[VideoPacket]]:
        """Yield the packets of each run. Exhaust each iterator before the next one."""
        if self._kept is not None:
            for run in runs:
                yield iter(self._kept[run.first : run.last + 1])
            return
        if self._segment.start is None:
            self._file.reopen()
        packets, position = packets_of(self._file, self._segment), 0
        for run in runs:
            yield islice(packets, run.first - position, run.last + 1 - position)
            position = run.last + 1


# Decodes the wanted frames of a segment only. Groups of pictures without wanted frames are not decoded.
#
# The frames have the same indices and times as in a decode of all frames. Where that cannot be known from the packets, or decoding gives
# anything unexpected, all frames are decoded as usual, and the wanted ones are chosen by their order.

Sample: TypeAlias = tuple[int, int, VideoFrame | Notice]
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
