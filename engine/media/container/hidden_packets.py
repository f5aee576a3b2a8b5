"""Recognises "hidden" packets: undamaged packets for which a decoder returns no frame.

They hold the second field of an interlaced H.264 frame, a VP8, VP9 or MPEG-4 frame that is not shown or not coded, a header of Theora, or a
frame that refers to others before the beginning of the file. They must not count as frames, nor as lost frames. Also recognises recovery
points of H.264, which are not true keyframes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from av.packet import Packet
from av.video.codeccontext import VideoCodecContext
from av.video.stream import VideoStream


class Bits:
    """Reads bits in order, from the highest bit of the first byte on. Reads zeros after the end of the content."""

    def __init__(self, content: bytes) -> None:
        self._value = int.from_bytes(content, "big")
        self._left = 8 * len(content)

    def take(self, count: int) -> int:
        """Read the next ``count`` bits as an unsigned number."""
        self._left -= count
        return (self._value >> self._left if self._left >= 0 else self._value << -self._left) & (1 << count) - 1

    def golomb(self) -> int:
        """Read the next unsigned Exp-Golomb code (ITU-T H.264, 9.1)."""
        zeros = 0
        while zeros < 32 and not self.take(1):
            zeros += 1
        return (1 << zeros) - 1 + self.take(zeros)


_NOT_CODED = 19  # bytes: an MPEG-4 frame that is not coded is never larger (MAX_NVOP_SIZE in FFmpeg's mpeg4_unpack_bframes)
_VOP = b"\0\0\1\xb6"  # the start code of a frame: a small packet without it is damaged
_B_FRAME = 2  # vop_coding_type
_VOL = re.compile(rb"\x00\x00\x01[\x20-\x2f]")  # the start code of the stream's header
_VP9_KEY = b"\x49\x83\x42"  # follow the first byte of a keyframe

# H.264
_SLICES = (1, 5)
_IDR = 5
_SEI = 6
_SPS = 7
_HEADER = 64  # bytes: enough for the required fields of a slice header
_RECOVERY_POINT = 6  # the payload type of the message
_CHROMA_PROFILES = frozenset((44, 83, 86, 100, 110, 118, 122, 128, 134, 135, 138, 139, 244))


class HiddenPackets:
    """Recognises the hidden packets of one stream. possible: whether the stream may have such packets.

    Rules: VP8: RFC 6386, 9.1. VP9: bitstream specification, 6.2 and annex B (a superframe ends in a shown frame).
    """

    def __init__(self, codec: VideoCodecContext) -> None:
        self._codec = codec.name
        self._fields = _FieldPairs(codec.extradata if self._codec == "h264" else None)
        self._time_bits = _time_bits(codec.extradata or b"") if self._codec == "mpeg4" else None
        self._references = 0  # MPEG-4 frames that others may refer to
        self.possible = self._codec in ("mpeg4", "vp8", "vp9", "theora") or self._fields.possible

    def hides(self, packet: Packet[VideoStream]) -> bool:
        """Whether the decoder returns no frame for this packet. Call it for every packet of the stream, in decoding order."""
        if not self.possible or not packet.size:
            return False
        content = bytes(packet)
        head = content[0]
        match self._codec:
            case "mpeg4":
                if packet.is_keyframe and self._time_bits is None:
                    self._time_bits = _time_bits(content)
                if len(content) <= _NOT_CODED and content.startswith(_VOP) and not _is_coded(content, self._time_bits):
                    return True
                return self._is_cut_off(packet, content)
            case "theora":
                return bool(head & 0x80)  # the specification, 6.1
            case "vp8":
                return not head >> 4 & 1
            case "vp9":
                if head >> 6 != 0b10:
                    return False  # not the beginning of a frame: the packet is damaged
                bits = head & 0b111 if head >> 4 & 3 == 3 else head >> 1 & 0b111  # profile 3 has one bit more before them
                shows_existing, inter, shows = bits >> 2 & 1, bits >> 1 & 1, bits & 1
                if not (shows_existing or inter) and _VP9_KEY not in content[:5]:
                    return False  # a keyframe without its fixed bytes is damaged
                return content[-1] >> 5 != 0b110 and not (shows_existing or shows)
            case _:
                return self._fields.is_second(content)

    def _is_cut_off(self, packet: Packet[VideoStream], content: bytes) -> bool:
        """Whether an MPEG-4 frame without a time needs two frames, of which the first one is before the beginning of the file."""
        head = content.find(_VOP) + len(_VOP)
        if len(_VOP) <= head < len(content) and content[head] >> 6 == _B_FRAME:
            return packet.pts is None and self._references < 2  # LeadIn recognises frames with times
        self._references += 1
        return False


class LeadIn:
    """Recognises the packets of a file that refer to frames before its beginning: those before the first keyframe, and some after it.

    A recording of a broadcast begins so, and a part of a video with open groups of pictures. No decoder returns frames for these packets.

    leading: the number of packets after the first keyframe that refer to frames before it; None: the file has no such packets at all.
    """

    def __init__(self, leading: int | None) -> None:
        self._left = leading or 0
        self._begun = leading is None
        self._keyframe: int | None = None  # its pts

    def holds(self, packet: Packet[VideoStream]) -> bool:
        """Whether this is such a packet. Call it for every packet of the stream, from the beginning of the file on."""
        if not self._begun:
            self._begun, self._keyframe = packet.is_keyframe, packet.pts
            return not self._begun
        if not self._left or (packet.pts is not None and self._keyframe is not None and packet.pts > self._keyframe):
            return False  # also the second field of the keyframe
        self._left -= 1
        return True


def _time_bits(header: bytes) -> int | None:
    """Return the number of bits of the time in each MPEG-4 frame, None if there is no header of the stream (ISO 14496-2, 6.2.3)."""
    found = _VOL.search(header)
    if found is None:
        return None
    bits = Bits(header[found.end() :][:_HEADER])
    bits.take(9)  # random_accessible_vol, video_object_type_indication
    if bits.take(1):
        bits.take(7)  # video_object_layer_verid, video_object_layer_priority
    if bits.take(4) == 15:  # aspect_ratio_info: the ratio follows
        bits.take(16)
    if bits.take(1):
        bits.take(3)  # chroma_format, low_delay
        if bits.take(1):
            bits.take(79)  # vbv_parameters
    bits.take(3)  # video_object_layer_shape, marker_bit
    return max((bits.take(16) - 1).bit_length(), 1)


def _is_coded(packet: bytes, time_bits: int | None) -> bool:
    """Whether an MPEG-4 frame changes the picture before it (vop_coded, 6.2.5). time_bits: None = unknown, then it does not."""
    bits = Bits(packet[len(_VOP) :] + bytes(8))
    bits.take(2)  # vop_coding_type
    while bits.take(1):  # modulo_time_base
        pass
    bits.take(1 + (time_bits or 0) + 1)  # marker_bit, vop_time_increment, marker_bit
    return time_bits is not None and bool(bits.take(1))


class _FieldPairs:
    """Recognises the second field of each H.264 frame that is coded as two packets (ITU-T H.264, 7.3).

    extradata: the stream's parameter sets, from FFmpeg. possible: whether the stream may have fields.
    """

    def __init__(self, extradata: bytes | None) -> None:
        extradata = extradata or b""
        self.length_size = nal_length_size(extradata)
        self.possible, self.gaps_allowed, self.frame_number_bits, self._planes = False, False, 4, False
        self._first: bool | None = None  # parity of the last field, if it still has no second field
        start = 6 if self.length_size else 0
        length_size = 2 if self.length_size else 0  # in an avcC record the lengths of parameter sets have two bytes
        for nal in nal_units(extradata[start:], length_size):
            if nal[0] & 31 == _SPS:
                self.read_sps(Bits(unescaped(nal[1:])))
                return

    def is_second(self, packet: bytes) -> bool:
        """Whether this packet holds the second field of a frame whose first field was the packet before it."""
        bottom = self._parity(packet)
        second = bottom is not None and self._first is not None and bottom != self._first
        self._first = None if second else bottom
        return second

    def _parity(self, packet: bytes) -> bool | None:
        """Return True for a bottom field, False for a top field, None for a whole frame or an unreadable packet."""
        for nal in nal_units(packet, self.length_size):
            if nal[0] & 31 in _SLICES:
                bits = self._at_frame_number(nal)
                bits.take(self.frame_number_bits)
                return bool(bits.take(1)) if bits.take(1) else None
        return None

    def _at_frame_number(self, slice_nal: bytes) -> Bits:
        bits = Bits(unescaped(slice_nal[1:_HEADER]))
        for _ in ("first_mb_in_slice", "slice_type", "pic_parameter_set_id"):
            bits.golomb()
        bits.take(2 * self._planes)
        return bits

    def frame_number(self, slice_nal: bytes) -> int:
        """Return the number of the frame to which a slice belongs (frame_num)."""
        return self._at_frame_number(slice_nal).take(self.frame_number_bits)

    def read_sps(self, bits: Bits) -> None:
        """Read a sequence parameter set."""
        profile = bits.take(24) >> 16
        bits.golomb()  # seq_parameter_set_id
        if profile in _CHROMA_PROFILES:
            chroma = bits.golomb()
            self._planes = chroma == 3 and bool(bits.take(1))
            bits.golomb()  # bit_depth_luma_minus8
            bits.golomb()  # bit_depth_chroma_minus8
            bits.take(1)  # qpprime_y_zero_transform_bypass_flag
            if bits.take(1):
                for number in range(12 if chroma == 3 else 8):
                    if bits.take(1):
                        _skip_scaling_list(bits, 16 if number < 6 else 64)
        self.frame_number_bits = bits.golomb() + 4
        order = bits.golomb()
        if order == 0:
            bits.golomb()  # log2_max_pic_order_cnt_lsb_minus4
        elif order == 1:
            bits.take(1)  # delta_pic_order_always_zero_flag
            bits.golomb()  # offset_for_non_ref_pic
            bits.golomb()  # offset_for_top_to_bottom_field
            for _ in range(min(bits.golomb(), 255)):
                bits.golomb()  # offset_for_ref_frame
        bits.golomb()  # max_num_ref_frames
        self.gaps_allowed = bool(bits.take(1))
        bits.golomb()  # pic_width_in_mbs_minus1
        bits.golomb()  # pic_height_in_map_units_minus1
        self.possible = not bits.take(1)  # frame_mbs_only_flag


class FrameNumbers:
    """Notices that whole frames of an H.264 stream are missing, by the numbers that reference frames have (ITU-T H.264, 7.4.3).

    FFmpeg shows the frames after such a loss without a mark, although they depend on the missing ones.

    Parameters
    ----------
    extradata : bytes or None
        The stream's parameter sets, from FFmpeg. Later ones in packets replace them.
    """

    def __init__(self, extradata: bytes | None) -> None:
        self._headers = _FieldPairs(extradata)
        self._before: int | None = None

    @property
    def fields_possible(self) -> bool:
        """Whether the parameter sets up to now allow fields: interlaced frames."""
        return self._headers.possible

    def reset(self) -> None:
        """Forget the frames before the next packet, which is a keyframe."""
        self._before = None

    def is_gap(self, packet: bytes) -> bool:
        """Whether frames are missing before this packet. Call it for every packet from a keyframe on, in decoding order."""
        for nal in nal_units(packet, self._headers.length_size):
            kind = nal[0] & 31
            if kind == _SPS:
                self._headers.read_sps(Bits(unescaped(nal[1:])))
            elif kind in _SLICES:
                number = self._headers.frame_number(nal)
                follows = self._before is None or kind == _IDR or (number - self._before) % (1 << self._headers.frame_number_bits) <= 1
                if nal[0] & 0x60:  # a reference frame
                    self._before = number
                return not (follows or self._headers.gaps_allowed)
        return False


def _skip_scaling_list(bits: Bits, size: int) -> None:
    last = following = 8
    for _ in range(size):
        if following:
            code = bits.golomb()
            following = (last + (code + 1 >> 1 if code & 1 else -(code >> 1))) % 256
        last = following or last


def recovers_later(packet: bytes, length_size: int) -> bool:
    """Whether decoding H.264 from this packet on returns right pictures only some frames later (ITU-T H.264, D.2.8).

    Encoders that refresh the picture by columns ("intra refresh") write such recovery points instead of keyframes, and FFmpeg marks
    them as keyframes. length_size: as of ``nal_units``.
    """
    later = False
    for nal in nal_units(packet, length_size):
        kind = nal[0] & 31
        if kind == _SEI:
            later = later or _recovery_frames(unescaped(nal[1:])) > 0
        elif kind in _SLICES:
            return later and kind != _IDR
    return False


def _recovery_frames(messages: bytes) -> int:
    """Return the number of frames after which a recovery point shows right pictures; 0 if these messages hold no recovery point."""
    position = 0
    while position + 2 < len(messages):
        numbers = []  # type and size: each 255 adds as much, and goes on
        for _ in range(2):
            number = 0
            while position < len(messages) and messages[position] == 255:
                number, position = number + 255, position + 1
            numbers.append(number + int.from_bytes(messages[position : position + 1]))
            position += 1
        kind, size = numbers
        if kind == _RECOVERY_POINT:
            return Bits(messages[position : position + size]).golomb()
        position += size
    return 0


def nal_length_size(extradata: bytes | None) -> int:
    """Return the bytes of the length before each NAL unit of H.264, 0 for start codes. extradata: from FFmpeg."""
    extradata = extradata or b""
    return (extradata[4] & 3) + 1 if extradata[:1] == b"\1" and len(extradata) > 6 else 0


def nal_units(content: bytes, length_size: int) -> Iterator[bytes]:
    """Yield the NAL units of a packet. length_size: bytes of the length before each unit; 0: start codes separate the units."""
    position = 0
    while position + length_size < len(content):
        if length_size:
            start = position + length_size
            position = start + int.from_bytes(content[position:start], "big")
            nal = content[start:position]
        else:
            start = content.find(b"\0\0\1", position) + 3
            if start == 2:
                return
            position = content.find(b"\0\0\1", start)
            position = len(content) if position < 0 else position
            nal = content[start:position]
        if nal:
            yield nal


def unescaped(nal: bytes) -> bytes:
    """Remove the bytes of a NAL unit that prevent accidental start codes (7.4.1)."""
    return nal.replace(b"\0\0\3", b"\0\0")
