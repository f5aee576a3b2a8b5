"""Checks a decoder's frames against the segment's packets: each packet needs its frame, in order and undamaged."""

from collections.abc import Iterator
from heapq import heappop, heappush

from framefleet.engine.media.container.video_file import VideoFile, VideoPacket
from framefleet.engine.media.nvdec.errors import DamagedError, UncertainEndError
from framefleet.engine.media.segment import covers, packets_of
from framefleet.engine.media.types import Segment

_OPEN_ENDED = ("mpegts", "mpeg")
"""Containers that do not store the end of a packet: it ends where the next one begins."""

_ORIGIN = 1 << 40


def decoder_time(pts: int) -> int:
    """The positive time that represents a pts in the hardware decoder."""
    return pts + _ORIGIN


def leads(segment: Segment, pts: int) -> bool:
    """Whether a frame is shown before the segment's first keyframe and so belongs to the previous segment."""
    return segment.start is not None and pts < segment.start


class AwaitedFrames:
    """The frames that the decoder still has to return.

    This class only detects damaged streams; ``SegmentDecoder`` decodes them. NVDEC's parser assigns the packets' times to frames in
    ascending order. If it silently drops a damaged frame, later frames get wrong times, and one frame is missing at the segment's end.
    """

    def __init__(self, file: VideoFile, segment: Segment) -> None:
        self._file, self._segment = file, segment
        self._order: list[int] = []  # heap of pts: expected frames that have not arrived
        self._unwanted: set[int] = set()  # pts of frames that the container marks as not to be shown
        self._promised = 0

    def packets(self, chosen: Iterator[VideoPacket] | None = None) -> Iterator[VideoPacket]:
        """The segment's packets, or only the chosen ones, in decoding order.

        Raises DamagedError if the next packet is damaged or incomplete.
        """
        uncertain = self._segment.end is None and self._file.container.format.name in _OPEN_ENDED
        waiting: VideoPacket | None = None
        for packet in packets_of(self._file, self._segment) if chosen is None else chosen:
            self._expect(packet)
            if waiting is not None:
                yield waiting
            if uncertain:
                waiting = packet
            else:
                yield packet
        if waiting is not None:
            raise UncertainEndError("its last packet may be incomplete")

    def _expect(self, packet: VideoPacket) -> None:
        shown, pts = self._file.shows(packet), packet.pts
        if packet.is_corrupt or self._file.error:
            raise DamagedError(self._file.error or "its data is incomplete or damaged")
        if pts is None:
            raise DamagedError("a packet has no presentation time")
        # a stream can change its format at keyframes only; asking for every packet would take 5 µs each
        changes = packet.is_keyframe and packet.has_sidedata("new_extradata")
        if changes and bytes(packet.get_sidedata("new_extradata")) != self._file.codec.extradata:
            raise DamagedError("the stream changes its format")
        if packet.is_discard:
            self._unwanted.add(pts)
        elif shown and covers(self._segment, pts):
            self._promised += 1
            heappush(self._order, pts)

    def matched(self, frames: list[tuple[int, int]], damaged: bool) -> Iterator[tuple[int, int]]:
        """Yield the expected ones of the decoder's next frames (``decoder_time``, address), as pts and address.

        damaged: whether one of the frames is damaged, unknown which. Other frames may be damaged, such as the first ones of an open GOP.

        Raises DamagedError if the next frame is damaged, or is not the expected one.
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
        """Check that all frames have arrived. Raises DamagedError if frames are missing."""
        if self._order or self._file.error or self._promised < self._segment.frames:
            raise DamagedError(self._file.error or "frames are missing")
