"""Converts packets for a hardware decoder's parser, and finds the headers with the frames' size and depth.

MP4 and Matroska store a length before each NAL unit of H.264 and HEVC; parsers look for start codes between them (ITU-T H.264 and H.265,
annex B). When a stream changes its format midway, the parser scales the new frames to the old size; ``Bitstream`` raises an error instead.
"""

import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

from framefleet.engine.media.container.hidden_packets import Bits
from framefleet.engine.notices import Notice


class _ReasonError(Exception):
    """Why NVDEC is not used."""

    def __init__(self, notice: Notice) -> None:
        super().__init__(notice)
        self.notice = notice


class UnsupportedError(_ReasonError):
    """NVDEC cannot decode this stream, or its frames differ from FFmpeg's."""


class DamagedError(_ReasonError):
    """NVDEC cannot decode the next frame in the same way as FFmpeg."""


def said(words: str | None) -> Notice | None:
    """FFmpeg's words as a notice."""
    return None if words is None else Notice("general.detail", detail=words)


class UncertainEndError(DamagedError):
    """The last packet may be incomplete: the container does not store where it ends."""


Writable: TypeAlias = bytearray | memoryview
"""A packet's bytes, which may be modified."""

_START = b"\0\0\0\1"
_LENGTH = struct.Struct(">I").unpack_from
_HEADERS = 4096  # bytes that are searched: sequence parameter sets come before long NAL units
_SYNC_CODE = 0x498342  # of VP9
_AV1C = 4  # bytes of MP4's and Matroska's header before AV1's sequence header


@dataclass(frozen=True)
class _Units:
    """The headers of one codec's NAL units. kind: from a unit's first byte. sps: the kind of a sequence parameter set. slices: the kinds
    of slices. skippable: from a slice's first byte, whether frames after the keyframe can be decoded without this leading picture.
    """

    kind: Callable[[int], int]
    sps: int
    slices: range
    skippable: Callable[[int], bool]


_UNITS = {
    "h264": _Units(lambda head: head & 31, 7, range(1, 6), lambda head: not head & 0x60),
    "hevc": _Units(lambda head: head >> 1 & 63, 33, range(32), lambda head: 6 <= head >> 1 & 63 <= 9),
}


class Bitstream:
    """Converts the packets of a segment, in order, from a keyframe on.

    codec: FFmpeg's name, one of CODECS. extradata: the container's codec headers, as FFmpeg returns them.
    format: set by the first packet; a decoder can only decode streams of the same format. joinable: whether a decoder finds the frames in
    several packets that are joined.
    """

    CODECS = ("h264", "hevc", "vp8", "vp9", "av1")

    def __init__(self, codec: str, extradata: bytes | None) -> None:
        self._codec = codec
        self._units = _UNITS.get(codec)
        self.joinable = self._units is not None
        self._length_size, self._sets = 0, b""
        extradata = extradata or b""
        if self._units is not None and extradata[:1] == b"\1":
            self._length_size, sets = (_of_avcc if codec == "h264" else _of_hvcc)(extradata)
            self._sets = b"".join(_START + nal for nal in sets)
        elif self._units is not None:
            self._sets = extradata
        self._av1 = _Av1(extradata) if codec == "av1" else None
        self.format = b""

    def first(self, packet: Writable) -> Writable:
        """Convert the first packet, a keyframe's, and put the parameter sets before it.

        Raises DamagedError if the packet has no keyframe or no parameter set, or is damaged.
        """
        self.format = b""
        if self._av1 is not None:
            packet = self._av1.first(packet)
        converted = self.convert(packet)
        if self._units is None and not self.format:
            raise DamagedError(Notice("media.no_keyframe"))
        if self._units is None or (self.format and not self._length_size):
            return converted
        self.format = self.format or self._parameter_sets(self._sets, self._units)
        if not self.format:
            raise DamagedError(Notice("media.no_parameter_set"))
        return bytearray(self._sets + converted)

    def convert(self, packet: Writable) -> Writable:
        """The packet with start codes; converted in place, if possible.

        Raises DamagedError if the packet is damaged, or the stream changes its format.
        """
        if self._av1 is not None:
            self._check(self._av1.format(bytes(packet)))
            return packet
        if self._units is None:
            self._check(_vp9_format(bytes(packet)) if self._codec == "vp9" else _vp8_format(packet))
            return packet
        if not self._length_size:
            self._check(self._parameter_sets(packet, self._units))
            return packet
        return self._with_start_codes(packet, self._units)

    def is_skippable_leading(self, converted: Writable) -> bool:
        """Whether other frames can be decoded without this packet, which is stored behind the keyframe but shown before it.

        In HEVC all leading pictures can be left out (ITU-T H.265, 8.3.1), in H.264 those that no other refers to.
        """
        if self._units is None:
            return False
        content = bytes(converted[:_HEADERS])
        start = content.find(b"\0\0\1") + 3
        while 3 <= start < len(content):
            if self._units.kind(content[start]) in self._units.slices:
                return self._units.skippable(content[start])
            start = content.find(b"\0\0\1", start) + 3
        return False

    def _check(self, found: bytes) -> None:
        if not self.format:
            self.format = found
        elif found and found != self.format:
            raise DamagedError(Notice("media.format_changes"))

    def _with_start_codes(self, packet: Writable, units: _Units) -> Writable:
        step, size, position = self._length_size, len(packet), 0
        pieces: list[bytes] = []
        found = b""
        while position < size:
            start = position + step
            if start >= size:
                raise DamagedError(Notice("media.damaged_packet"))
            end = start + (_LENGTH(packet, position)[0] if step == 4 else int.from_bytes(packet[position:start], "big"))
            if not start < end <= size:
                raise DamagedError(Notice("media.damaged_packet"))
            if units.kind(packet[start]) == units.sps:
                found += _START + bytes(packet[start:end])
            if step == len(_START):
                packet[position:start] = _START
            else:
                pieces += _START, bytes(packet[start:end])
            position = end
        if found:
            self._check(found)
        return bytearray(b"".join(pieces)) if pieces else packet

    def _parameter_sets(self, content: bytes | Writable, units: _Units) -> bytes:
        """The sequence parameter sets at the beginning of a packet with start codes."""
        return b"".join(_START + nal for nal in _before_pictures(bytes(content[:_HEADERS]), units) if units.kind(nal[0]) == units.sps)


def _of_avcc(record: bytes) -> tuple[int, list[bytes]]:
    """The size of a length in bytes, and the parameter sets, of H.264's extradata: ISO/IEC 14496-15, 5.3.3.1."""
    position, sets = 5, []
    for mask in (31, 255):
        count = record[position] & mask if position < len(record) else 0
        position += 1
        for _ in range(count):
            position, nal = _sized(record, position)
            sets.append(nal)
    return (record[4] & 3) + 1 if len(record) > 4 else 4, sets


def _of_hvcc(record: bytes) -> tuple[int, list[bytes]]:
    """The size of a length in bytes, and the parameter sets, of HEVC's extradata: ISO/IEC 14496-15, 8.3.3.1."""
    position, sets = 23, []
    for _ in range(record[22] if len(record) > 22 else 0):
        count = int.from_bytes(record[position + 1 : position + 3], "big")
        position += 3
        for _ in range(count):
            position, nal = _sized(record, position)
            sets.append(nal)
    return (record[21] & 3) + 1 if len(record) > 21 else 4, sets


def _sized(record: bytes, position: int) -> tuple[int, bytes]:
    start = position + 2
    end = start + int.from_bytes(record[position:start], "big")
    return end, record[start:end]


def _before_pictures(content: bytes, units: _Units) -> Iterator[bytes]:
    """The NAL units up to the first slice."""
    start = content.find(b"\0\0\1") + 3
    while 3 <= start < len(content) and units.kind(content[start]) not in units.slices:
        after = content.find(b"\0\0\1", start)
        yield content[start : after if after >= 0 else len(content)].rstrip(b"\0")
        start = after + 3 if after >= 0 else 0


def _vp8_format(packet: Writable) -> bytes:
    """The size and scale of a keyframe: RFC 6386, 9.1."""
    return bytes(packet[6:10]) if len(packet) >= 10 and not packet[0] & 1 else b""


def _vp9_format(packet: bytes) -> bytes:
    """The header of a packet's keyframe, empty if it has none."""
    found = b""
    for frame in _vp9_frames(packet):
        found = _vp9_keyframe(frame) or found
    return found


def _vp9_frames(packet: bytes) -> Iterator[bytes]:
    """The frames of a packet: VP9 bitstream specification, annex B."""
    last = packet[-1]
    size, count = (last >> 3 & 3) + 1, (last & 7) + 1
    index = packet[-2 - size * count :]
    if last >> 5 != 0b110 or index[0] != last:
        yield packet
        return
    position = 0
    for number in range(count):
        length = int.from_bytes(index[1 + number * size : 1 + (number + 1) * size], "little")
        if length:
            yield packet[position : position + length]
        position += length


def _vp9_keyframe(frame: bytes) -> bytes:
    """A keyframe's header up to the frame's size, empty for other frames: specification, 6.2.

    Raises DamagedError if the frame is damaged, or it has its own size and is not a keyframe.
    """
    bits = Bits(frame[:40])
    marker, profile = bits.take(2), bits.take(1) + 2 * bits.take(1)
    if marker != 2:
        raise DamagedError(Notice("media.damaged_packet"))
    if profile == 3:
        bits.take(1)
    if bits.take(1):  # shows an earlier frame
        return b""
    inter, shown, resilient = bits.take(1), bits.take(1), bits.take(1)
    if not inter:
        if bits.take(24) != _SYNC_CODE:
            raise DamagedError(Notice("media.damaged_packet"))
        depth = bits.take(1) if profile >= 2 else 0
        space = bits.take(3)
        full = bits.take(1 if space != 7 else 0)
        sampling = bits.take(3) if profile & 1 else 0
        size = bits.take(32)
        return bytes((profile, depth, space, full, sampling)) + size.to_bytes(4, "big")
    intra_only = not shown and bits.take(1)
    if not resilient:
        bits.take(2)
    if intra_only:
        raise DamagedError(Notice("media.format_may_change"))
    bits.take(8 + 3 * 4)
    if not any(bits.take(1) for _ in range(3)):
        raise DamagedError(Notice("media.format_may_change"))
    return b""


_SEQUENCE, _FRAME_HEADER, _FRAME, _REDUNDANT = 1, 3, 6, 7
_KEY_FRAME, _SWITCH_FRAME = 0, 3
_CHOSEN_BY_FRAME = 2


@dataclass(frozen=True)
class _Av1Sequence:
    """What a sequence header says about frame headers. time_bits, number_bits: of a frame's time and number, 0 = it has none."""

    still: bool
    time_bits: int
    number_bits: int
    screen_content: int
    whole_motion: int


class _Av1:
    """The packets of an AV1 stream, each a temporal unit of OBUs with their sizes. extradata: the container's, with a sequence header.

    Sections: AV1 bitstream specification.
    """

    def __init__(self, extradata: bytes) -> None:
        self._header = extradata[_AV1C:] if extradata[:1] == b"\x81" else extradata  # IVF stores no av1C
        self._sequence: _Av1Sequence | None = None

    def first(self, packet: Writable) -> Writable:
        """The packet with a sequence header. Raises DamagedError if there is none."""
        if any(kind == _SEQUENCE for kind, _ in _obus(bytes(packet))):
            return packet
        if not any(kind == _SEQUENCE for kind, _ in _obus(self._header)):
            raise DamagedError(Notice("media.no_parameter_set"))
        return bytearray(self._header + packet)

    def format(self, packet: bytes) -> bytes:
        """The sequence header of a packet, empty if it has none.

        Raises DamagedError if the packet is damaged, or a frame has its own size.
        """
        found = b""
        for kind, content in _obus(packet):
            if kind == _SEQUENCE:
                found, self._sequence = content, _av1_sequence(content)
            elif kind in (_FRAME_HEADER, _FRAME, _REDUNDANT):
                if self._sequence is None:
                    raise DamagedError(Notice("media.no_parameter_set"))
                if _av1_frame_has_size(Bits(content[:16]), self._sequence):
                    raise DamagedError(Notice("media.format_may_change"))
        return found


def _obus(packet: bytes) -> Iterator[tuple[int, bytes]]:
    """The kinds and contents of a packet's OBUs: 5.3. Raises DamagedError if one is incomplete, or has no size, or is of a higher layer."""
    position = 0
    while position < len(packet):
        head = packet[position]
        position += 1 + (head >> 2 & 1)
        if head & 0x80 or not head & 2:
            raise DamagedError(Notice("media.damaged_packet"))
        if head & 4 and packet[position - 1 : position] >= b"\x08":  # a spatial layer
            raise DamagedError(Notice("media.format_may_change"))
        size = 0
        for shift, byte in zip(range(0, 35, 7), packet[position : position + 5], strict=False):  # leb128
            size |= (byte & 127) << shift
            position += 1
            if byte < 128:
                break
        if position + size > len(packet):
            raise DamagedError(Notice("media.damaged_packet"))
        yield head >> 3 & 15, packet[position : position + size]
        position += size


def _av1_sequence(content: bytes) -> _Av1Sequence:
    """Read a sequence header: 5.5."""
    bits = Bits(content)
    bits.take(3 + 1)  # profile, still_picture
    if bits.take(1):  # reduced_still_picture_header
        return _Av1Sequence(still=True, time_bits=0, number_bits=0, screen_content=_CHOSEN_BY_FRAME, whole_motion=_CHOSEN_BY_FRAME)
    equal_intervals = decoder_model = False
    delay_bits = time_bits = 0
    if bits.take(1):  # timing_info_present_flag
        bits.take(32 + 32)
        equal_intervals = bool(bits.take(1))
        if equal_intervals:
            bits.golomb()
        decoder_model = bool(bits.take(1))
        if decoder_model:
            delay_bits = bits.take(5) + 1
            bits.take(32 + 5)
            time_bits = bits.take(5) + 1
    initial_delays = bits.take(1)
    for _ in range(bits.take(5) + 1):  # operating points
        bits.take(12)
        if bits.take(5) > 7:
            bits.take(1)
        if decoder_model and bits.take(1):
            bits.take(2 * delay_bits + 1)
        if initial_delays and bits.take(1):
            bits.take(4)
    width_bits, height_bits = bits.take(4) + 1, bits.take(4) + 1
    bits.take(width_bits + height_bits)
    number_bits = 0
    if bits.take(1):  # frame_id_numbers_present_flag
        number_bits = bits.take(4) + bits.take(3) + 3
    bits.take(3 + 4)  # from use_128x128_superblock to enable_dual_filter
    order_hint = bits.take(1)
    if order_hint:
        bits.take(2)
    screen_content = _CHOSEN_BY_FRAME if bits.take(1) else bits.take(1)
    whole_motion = _CHOSEN_BY_FRAME
    if screen_content and not bits.take(1):
        whole_motion = bits.take(1)
    return _Av1Sequence(False, 0 if equal_intervals else time_bits, number_bits, screen_content, whole_motion)


def _av1_frame_has_size(bits: Bits, sequence: _Av1Sequence) -> bool:
    """Whether a frame header gives the frame another size than the sequence has: 5.9.2."""
    if sequence.still or bits.take(1):  # show_existing_frame
        return False
    kind, shown = bits.take(2), bits.take(1)
    if shown:
        bits.take(sequence.time_bits)
    else:
        bits.take(1)
    if kind == _SWITCH_FRAME:
        return True
    if not (kind == _KEY_FRAME and shown):
        bits.take(1)  # error_resilient_mode
    bits.take(1)
    screen_content = bits.take(1) if sequence.screen_content == _CHOSEN_BY_FRAME else sequence.screen_content
    if screen_content and sequence.whole_motion == _CHOSEN_BY_FRAME:
        bits.take(1)
    bits.take(sequence.number_bits)
    return bool(bits.take(1))
