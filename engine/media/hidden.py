"""Packets whose frame is decoded but never shown, told apart by a glance at their first bytes."""

from __future__ import annotations

from engine.media.video import VideoPacket

HIDING_CODECS = frozenset(("mpeg4", "vp8", "vp9"))
"""Codecs (FFmpeg's names) that have such packets."""

_NOT_CODED = 19  # bytes: an MPEG-4 frame that is not coded is never larger (MAX_NVOP_SIZE in FFmpeg's mpeg4_unpack_bframes)


def is_hidden(packet: VideoPacket, codec: str) -> bool:
    """Whether the decoder gives nothing for a healthy packet of this codec.

    VP8: RFC 6386, 9.1. VP9: bitstream specification, 6.2 and annex B (a superframe ends in a shown frame). MPEG-4: a frame
    that is not coded.
    """
    if codec not in HIDING_CODECS or not packet.size:
        return False
    if codec == "mpeg4":
        return packet.size <= _NOT_CODED and not packet.is_keyframe
    content = bytes(packet)
    head = content[0]
    if codec == "vp8":
        return not head >> 4 & 1
    if content[-1] >> 5 == 0b110:
        return False
    bits = head & 0b111 if head >> 4 & 3 == 3 else head >> 1 & 0b111  # profile 3 has one bit more before them
    shows_existing, shows = bits >> 2 & 1, bits & 1
    return not (shows_existing or shows)
