"""Converts packets for a hardware decoder's parser, and finds the headers with the frames' size and depth.

MP4 and Matroska store a length before each NAL unit of H.264 and HEVC; parsers look for start codes between them (ITU-T H.264 and H.265,
annex B). When a stream changes its format midway, the parser scales the new frames to the old size; ``Bitstream`` raises an error instead.
It also raises one for damage that NVDEC does not always report.
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

_ZEROS = bytes(32)
"""A NAL unit that contains these is damaged. The standards allow two zero bytes in a row (ITU-T H.264, 7.4.1). A lost sector of a disk
has hundreds, and the search for 32 takes a sixth of the time of the search for three.
"""


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

    CODECS = ("h264", "hevc", "vp8", "vp9")

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
        self.format = b""

    def first(self, packet: Writable) -> Writable:
        """Convert the first packet, a keyframe's, and put the parameter sets before it.

        Raises DamagedError if the packet has no keyframe or no parameter set, or is damaged.
        """
        self.format = b""
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
        if self._units is None:
            self._check(_vp9_format(bytes(packet)) if self._codec == "vp9" else _vp8_format(packet))
            return packet
        if self._length_size:
            packet = self._with_start_codes(packet, self._units)
        else:
            self._check(self._parameter_sets(packet, self._units))
        if _is_overwritten(bytes(packet), padded=not self._length_size):
            raise DamagedError(Notice("media.damaged_packet"))
        return packet

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


def _is_overwritten(content: bytes, padded: bool) -> bool:
    """Whether zeros replace a part of a NAL unit. NVDEC does not always report that. padded: whether zeros may follow the last unit."""
    start = content.find(_ZEROS)
    while start >= 0:
        rest = content[start:].lstrip(b"\0")
        if rest[:1] != b"\1" and not (padded and not rest):
            return True
        start = content.find(_ZEROS, len(content) - len(rest))
    return False


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
