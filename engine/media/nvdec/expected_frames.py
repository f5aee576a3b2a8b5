"""The frames that a segment's packets promise, for a decoder that shall not give any others."""

from __future__ import annotations

from collections.abc import Iterator
from heapq import heappop, heappush

from engine.media.container.video_file import VideoFile, VideoPacket
from engine.media.segment import covers, packets_of
from engine.media.types import Segment


class DamagedError(Exception):
    """What comes next cannot be had from the hardware as FFmpeg would give it; the message says why."""


class UncertainEndError(DamagedError):
    """The last packet of a file that does not tell whether it was cut off there."""


_OPEN_ENDED = ("mpegts", "mpeg")
"""Containers whose packets end where the next one begins."""

_ORIGIN = 1 << 40


def stamp(pts: int) -> int:
    """The time to give to a hardware decoder for a pts: positive."""
    return pts + _ORIGIN


def leads(segment: Segment, pts: int) -> bool:
    """Whether a frame is shown before the keyframe with which its segment begins: nobody wants it."""
    return segment.start is not None and pts < segment.start


class AwaitedFrames:
    """Every frame has to come, in the order of the times, and sound.

    ``SegmentDecoder`` finds its way through damaged streams; this, for sound ones, only tells that they are not. NVDEC's parser hands
    out the times of its packets in ascending order: should it drop a frame of a damaged stream without a word, then the frames behind it
    bear the times of their neighbours, and what is missing is noticed at the end of the segment.
    """

    def __init__(self, file: VideoFile, segment: Segment) -> None:
        self._file, self._segment = file, segment
        self._order: list[int] = []  # heap of pts: frames that are wanted and have not come
        self._unwanted: set[int] = set()  # pts of frames that the container wants to be left out
        self._promised = 0

    def packets(self) -> Iterator[VideoPacket]:
        """The segment's packets, in decoding order.

        Raises:
            DamagedError: the next packet is not one to rely upon.
        """
        uncertain = self._segment.end is None and self._file.container.format.name in _OPEN_ENDED
        waiting: VideoPacket | None = None
        for packet in packets_of(self._file, self._segment):
            self._expect(packet)
            if waiting is not None:
                yield waiting
            if uncertain:
                waiting = packet
            else:
                yield packet
        if waiting is not None:
            raise UncertainEndError("whether its last packet is whole cannot be told")

    def _expect(self, packet: VideoPacket) -> None:
        shown, pts = self._file.shows(packet), packet.pts
        if packet.is_corrupt or self._file.error:
            raise DamagedError(self._file.error or "its data is incomplete or damaged")
        if pts is None:
            raise DamagedError("a packet has no presentation time")
        if packet.has_sidedata("new_extradata") and bytes(packet.get_sidedata("new_extradata")) != self._file.codec.extradata:
            raise DamagedError("the stream changes its format")
        if packet.is_discard:
            self._unwanted.add(pts)
        elif shown and covers(self._segment, pts):
            self._promised += 1
            heappush(self._order, pts)

    def matched(self, frames: list[tuple[int, int]], damaged: bool) -> Iterator[tuple[int, int]]:
        """Of the next frames (stamp, address) those that are wanted: pts and address.

        damaged: one of them is, it is not known which. Frames that nobody wants may be: the first ones of an open GOP are.

        Raises:
            DamagedError: it is not a sound frame that comes next.
        """
        for time, address in frames:
            pts = time - _ORIGIN
            if self._order and self._order[0] == pts:
                if damaged:
                    raise DamagedError("its data is incomplete or damaged")
                heappop(self._order)
                yield pts, address
            elif covers(self._segment, pts) and pts not in self._unwanted:
                raise DamagedError("a frame is missing or out of order")

    def end(self) -> None:
        """Nothing more comes.

        Raises:
            DamagedError: something is missing.
        """
        if self._order or self._file.error or self._promised < self._segment.frames:
            raise DamagedError(self._file.error or "frames are missing")
