"""Which packets of interlaced H.264 hold a frame's second field: two packets then make one frame. (ITU-T H.264, 7.3.)"""

from __future__ import annotations

from collections.abc import Iterator

from engine.media.container.bits import Bits

_SLICES = (1, 5)
_SPS = 7
_HEADER = 64  # bytes: enough for a slice header's beginning
_CHROMA_PROFILES = frozenset((44, 83, 86, 100, 110, 118, 122, 128, 134, 135, 138, 139, 244))


class FieldPairs:
    """Tells second fields from all other packets, which have to be shown to it one after another.

    possible: whether the stream may have any.
    """

    def __init__(self, extradata: bytes | None) -> None:
        extradata = extradata or b""
        self._length_size = (extradata[4] & 3) + 1 if extradata[:1] == b"\1" and len(extradata) > 6 else 0
        self.possible, self._frame_number_bits, self._planes = False, 4, False
        self._first: bool | None = None  # parity of a first field that waits for its second
        start = 6 if self._length_size else 0
        length_size = 2 if self._length_size else 0  # in an avcC record the lengths of parameter sets have two bytes
        for nal in _nals(extradata[start:], length_size):
            if nal[0] & 31 == _SPS:
                self._read_sps(Bits(_unescaped(nal[1:])))
                return

    def is_second(self, packet: bytes) -> bool:
        """Whether this packet completes the frame that the packet before it began."""
        if not self.possible:
            return False
        bottom = self._parity(packet)
        second = bottom is not None and self._first is not None and bottom != self._first
        self._first = None if second else bottom
        return second

    def _parity(self, packet: bytes) -> bool | None:
        """True: a bottom field. False: a top field. None: a whole frame, or nothing that can be read."""
        for nal in _nals(packet, self._length_size):
            if nal[0] & 31 in _SLICES:
                bits = Bits(_unescaped(nal[1:_HEADER]))
                for _ in ("first_mb_in_slice", "slice_type", "pic_parameter_set_id"):
                    bits.golomb()
                bits.take(2 * self._planes + self._frame_number_bits)
                return bool(bits.take(1)) if bits.take(1) else None
        return None

    def _read_sps(self, bits: Bits) -> None:
        profile = bits.take(24) >> 16
        bits.golomb()
        if profile in _CHROMA_PROFILES:
            chroma = bits.golomb()
            self._planes = chroma == 3 and bool(bits.take(1))
            bits.golomb()
            bits.golomb()
            bits.take(1)
            if bits.take(1):
                for number in range(12 if chroma == 3 else 8):
                    if bits.take(1):
                        _skip_scaling_list(bits, 16 if number < 6 else 64)
        self._frame_number_bits = bits.golomb() + 4
        order = bits.golomb()
        if order == 0:
            bits.golomb()
        elif order == 1:
            bits.take(1)
            bits.golomb()
            bits.golomb()
            for _ in range(min(bits.golomb(), 255)):
                bits.golomb()
        bits.golomb()
        bits.take(1)
        bits.golomb()
        bits.golomb()
        self.possible = not bits.take(1)  # frame_mbs_only_flag


def _skip_scaling_list(bits: Bits, size: int) -> None:
    last = following = 8
    for _ in range(size):
        if following:
            code = bits.golomb()
            following = (last + (code + 1 >> 1 if code & 1 else -(code >> 1))) % 256
        last = following or last


def _nals(content: bytes, length_size: int) -> Iterator[bytes]:
    """The NAL units of a packet: with lengths before them, or (0) with start codes between them."""
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


def _unescaped(nal: bytes) -> bytes:
    """Without the bytes that keep start codes from occurring by chance (7.4.1)."""
    return nal.replace(b"\0\0\3", b"\0\0")
