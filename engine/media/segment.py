"""The frames of one segment, matched with the packets that promise them.

Frames and packets are matched by pts: what a packet promised and the decoder did not deliver is a failure, as is what the
container announced (``Segment.frames``) and does not hold. So the frames and failures of a segment add up to the larger of both.

A frame counts as failed when its packet is incomplete (flagged by the demuxer), when the decoder gives nothing for it, or when the
decoder flags it as corrupt. Measured on 24 damaged copies each of clips in H.264, MPEG-4, VP9, HEVC and MJPEG: of 32 H.264
frames flagged, 20 were visibly damaged. FFmpeg's strictest error detection cost 87 sound H.264 frames to catch 5 damaged ones more,
so it is used for MJPEG only, where it caught 12 of 18 and cost 10. Frames that are merely predicted from damaged ones bear
no mark (261 of 1,728 in those copies) and are passed on; they recover at the next keyframe.
"""

from __future__ import annotations

from collections.abc import Iterator
from heapq import heappop, heappush
from typing import TypeAlias

from av.video.frame import VideoFrame

from engine.media.container.video_file import VideoFile, VideoPacket
from engine.media.types import Segment

Outcome: TypeAlias = tuple[int, VideoFrame | str, int]
"""A pts, the frame or the reason why there is none, and how many frames that concerns."""


_NEVER = -(1 << 63)


def packets_of(file: VideoFile, segment: Segment) -> Iterator[VideoPacket]:
    """The packets that a segment's frames need, in decoding order.

    Frames shown before the next segment's keyframe can come after it in decoding order and need it: reading goes on until
    a packet shows that there are no more of them.
    """
    packets = file.packets() if segment.start is None else file.packets_from(segment.start)
    keyframe: list[VideoPacket] = []
    behind = False
    for packet in packets:
        if segment.end is not None and packet.pts is not None:
            if not behind and packet.is_keyframe and packet.pts >= segment.end:
                keyframe, behind = [packet], True
                continue
            if behind and packet.pts >= segment.end:
                return
        yield from keyframe
        keyframe = []
        yield packet


def covers(segment: Segment, pts: int) -> bool:
    """Whether a frame with this pts belongs to the segment."""
    return (segment.start is None or pts >= segment.start) and (segment.end is None or pts < segment.end)


class SegmentDecoder:
    """Frames of one segment of an open file, matched with the packets that promise them."""

    def __init__(self, file: VideoFile, segment: Segment) -> None:
        self._file, self._segment = file, segment
        self._promised = 0  # frames of the packets read
        self._settled = 0  # frames and failures yielded
        self._read = 0
        self._pending: list[int] = []  # heap of promised pts
        self._overtaken: list[int] = []  # pts promised, while a frame of a later pts has already come
        self._untimed: list[int] = []  # heap of those that stand for a missing pts
        self._given_up: set[int] = set()
        self._incomplete: set[int] = set()
        self._last = segment.start or 0
        self._highest = _NEVER  # pts yielded
        self._until: int | None = None  # second pass: what the first has yielded

    def outcomes(self) -> Iterator[Outcome]:
        """What became of the segment's frames, in display order."""
        yield from self._decode()
        if self._pending and self._file.threads > 1:
            # at the end of a damaged stream FFmpeg's frame threads swallow sound frames together with the broken one
            self._until, self._read, self._pending, self._untimed = self._highest, 0, [], []
            self._file.reopen(threads=1)
            yield from self._decode()
        missing = max(self._segment.frames, self._promised) - self._settled
        if missing > 0:
            yield self._failure([*self._overtaken, *sorted(self._pending), self._last][0], missing)

    def _decode(self) -> Iterator[Outcome]:
        for packet in packets_of(self._file, self._segment):
            self._promise(packet)
            for frame in self._file.decode(packet):
                yield from self._deliver(frame)
        for frame in self._file.decode(None):
            yield from self._deliver(frame)

    def _promise(self, packet: VideoPacket) -> None:
        if not self._file.shows(packet):
            return
        pts = packet.pts if packet.pts is not None else packet.dts
        if pts is None:
            pts = round(self._read / (self._file.rate * self._file.time_base))
        self._read += 1
        if not covers(self._segment, pts):
            return
        heappush(self._pending, pts)
        if packet.pts is None:
            heappush(self._untimed, pts)
        if self._until is None:
            self._promised += 1
        if packet.is_corrupt:
            self._incomplete.add(pts)

    def _deliver(self, frame: VideoFrame) -> Iterator[Outcome]:
        pts = frame.pts
        if pts is None:  # the container has no presentation times: those of its packets, in ascending order
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
        elif pts in self._given_up:
            return
        elif self._overtaken:  # a time no packet has: it stands for one of those that are missing
            self._overtaken.pop(0)
        elif self._pending:
            heappop(self._pending)
        elif self._file.error:
            return
        if self._until is not None and pts <= self._until:
            return
        if self._overtaken and self._file.error:  # without an error, a stream with odd times may still deliver them
            self._given_up.update(self._overtaken)
            yield self._failure(self._overtaken[0], len(self._overtaken))
            self._overtaken.clear()
        self._last = pts
        self._highest = max(pts, self._highest)
        if frame.is_corrupt or pts in self._incomplete:
            yield self._failure(pts, 1)
        else:
            self._settled += 1
            yield pts, frame, 1

    def _failure(self, pts: int, count: int) -> Outcome:
        self._settled += count
        frames = "1 frame" if count == 1 else f"{count} frames"
        cause = self._file.error or "its data is incomplete or damaged"
        where = f"{self._file.path}: {frames} at {self._file.seconds(pts):.3f} s could not be decoded"
        return pts, f"{where} ({cause}); copy the file again or repair it", count
