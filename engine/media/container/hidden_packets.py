"""Packets for which the decoder gives no frame of their own although nothing is wrong, told apart by a glance at their first bytes."""

from __future__ import annotations

from av.packet import Packet
from av.video.codeccontext import VideoCodecContext
from av.video.stream import VideoStream

from engine.media.container.second_fields import FieldPairs

_NOT_CODED = 19  # bytes: an MPEG-4 frame that is not coded is never larger (MAX_NVOP_SIZE in FFmpeg's mpeg4_unpack_bframes)


class HiddenPackets:
    """Knows them for one decoder; its packets have to be shown to it one after another.

    H.264: the second field of a frame coded as two. VP8: RFC 6386, 9.1. VP9: bitstream specification, 6.2 and annex B (a
    superframe ends in a shown frame). MPEG-4: a frame that is not coded.
    """

    def __init__(self, codec: VideoCodecContext) -> None:
        self._codec = codec.name
        self._fields = FieldPairs(codec.extradata if self._codec == "h264" else None)

    @property
    def possible(self) -> bool:
        """Whether the video may have any."""
        return self._codec in ("mpeg4", "vp8", "vp9") or self._fields.possible

    def hides(self, packet: Packet[VideoStream]) -> bool:
        """Whether this is one."""
        if not self.possible or not packet.size:
            return False
        content = bytes(packet)
        head = content[0]
        match self._codec:
            case "mpeg4":
                return len(content) <= _NOT_CODED and not packet.is_keyframe
            case "vp8":
                return not head >> 4 & 1
            case "vp9":
                bits = head & 0b111 if head >> 4 & 3 == 3 else head >> 1 & 0b111  # profile 3 has one bit more before them
                shows_existing, shows = bits >> 2 & 1, bits & 1
                return content[-1] >> 5 != 0b110 and not (shows_existing or shows)
            case _:
                return self._fields.is_second(content)
