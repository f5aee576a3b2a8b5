"""The frames that a segment's packets promise, for a decoder that shall not give any others."""

from __future__ import annotations

from collections.abc import Iterator
from heapq import heappop, heappush

from engine.media.segment import covers
from engine.media.types import Segment
from engine.media.video import VideoFile, VideoPacket


class DamagedError(Exception):
    """What comes next cannot be had from the hardware as FFmpeg would give it; the message says why."""


class AwaitedFrames:
    """Every frame has to come for its own packet, in the order of the times, and sound.

    ``SegmentDecoder`` finds its way through damaged streams; this, for sound ones, only tells that they are not.
    """

    def __init__(self, file: VideoFile, segment: Segment) -> None:
        self._file, self._segment = file, segment
        self._times: dict[int, int] = {}  # pts by the number of the packet: frames that are wanted and have not come
        self._order: list[int] = []  # heap of the same
        self._read = self._promised = 0

    def expect(self, packet: VideoPacket) -> int:
        """The number of the next packet: 0, 1, …

        Raises:
            DamagedError: the packet is not one to rely upon.
        """
        number, self._read = self._read, self._read + 1
        shown, pts = self._file.shows(packet), packet.pts
        if packet.is_corrupt or self._file.error:
            raise DamagedError(self._file.error or "its data is incomplete or damaged")
        if pts is None:
            raise DamagedError("a packet has no presentation time")
        if packet.has_sidedata("new_extradata") and bytes(packet.get_sidedata("new_extradata")) != self._file.codec.extradata:
            raise DamagedError("the stream changes its format")
        if shown and covers(self._segment, pts):
            self._promised += 1
            self._times[number] = pts
            heappush(self._order, pts)
        return number

    def matched(self, frames: list[tuple[int, int]], damaged: bool) -> Iterator[tuple[int, int]]:
        """Of the next frames (number of their packet, address) those that are wanted: pts and address.

        damaged: one of them is, it is not known which. Frames that nobody wants may be: the first ones of an open GOP are.

        Raises:
            DamagedError: it is not a sound frame that comes next.
        """
        for number, address in frames:
            pts = self._times.pop(number, None)
            if pts is None:
                continue
            if damaged:
                raise DamagedError("its data is incomplete or damaged")
            if heappop(self._order) != pts:
                raise DamagedError("a frame is missing or out of order")
            yield pts, address

    def end(self) -> None:
        """Nothing more comes.

        Raises:
            DamagedError: something is missing.
        """
        if self._order or self._file.error or self._promised < self._segment.frames:
            raise DamagedError(self._file.error or "frames are missing")
