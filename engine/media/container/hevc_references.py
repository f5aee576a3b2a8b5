"""Notices missing reference pictures of HEVC. NVDEC shows pictures that depend on them without a mark; FFmpeg reports them.

Each slice header names the pictures that have to be there, by their distance in the order of display (ITU-T H.265, 7.3.7 and 8.3.2).
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

from framefleet.engine.media.container.hidden_packets import Bits, nal_units, unescaped

_SPS, _PPS = 33, 34
_IDR = (19, 20)
_BROKEN_LINK = (16, 17, 18)
_RASL = (8, 9)
_INTRA = range(16, 24)  # random access points
_SUBLAYER_NON_REFERENCE = range(0, 15, 2)
_LEADING = range(6, 10)
_PICTURES = (*range(10), *range(16, 22))
_HEADER = 256  # bytes: enough for the required fields of a slice header

ReferenceSet: TypeAlias = tuple[list[tuple[int, bool]], list[tuple[int, bool]]]
"""Pictures shown before and after this one, the nearest first: the distance, and whether this picture refers to it."""


@dataclass
class _Sequence:
    """Of a sequence parameter set. order_bits: of a picture's number in the order of display."""

    order_bits: int = 4
    planes: bool = False
    sets: list[ReferenceSet] = field(default_factory=list)


class References:
    """Notices that reference pictures of an HEVC stream are missing.

    Parameters
    ----------
    extradata : bytes or None
        The stream's parameter sets, from FFmpeg. Later ones in packets replace them.
    """

    def __init__(self, extradata: bytes | None) -> None:
        extradata = extradata or b""
        self._sequences: dict[int, _Sequence] = {}
        self._pictures: dict[int, tuple[int, bool, int]] = {}  # sequence, whether an output flag follows, extra bits
        record = extradata[:1] == b"\1" and len(extradata) > 22
        self._length_size = (extradata[21] & 3) + 1 if record else 0
        for nal in _of_record(extradata) if record else nal_units(extradata, 0):
            self._read_set(nal)
        self.reset()

    def reset(self) -> None:
        """Forget the pictures before the next packet, which is a keyframe."""
        self._known: set[int] = set()
        self._before = 0  # the order of the last picture that others are counted from
        self._first, self._skips_leading = True, False

    def is_gap(self, packet: bytes) -> bool:
        """Whether pictures that this one refers to are missing. Call it for every packet from a keyframe on, in decoding order."""
        for nal in nal_units(packet, self._length_size):
            if len(nal) < 3 or nal[0] & 1 or nal[1] >> 3:  # another layer
                continue
            kind = nal[0] >> 1 & 63
            if kind in (_SPS, _PPS):
                self._read_set(nal)
            elif kind in _PICTURES and nal[2] & 0x80:  # the first slice of a picture
                return self._is_missing(kind, nal)
        return False

    def _is_missing(self, kind: int, nal: bytes) -> bool:
        bits = Bits(unescaped(nal[2:_HEADER]))
        bits.take(2 if kind in _INTRA else 1)
        sequence_id, output_flag, extra = self._pictures.get(bits.golomb(), (-1, False, 0))
        sequence = self._sequences.get(sequence_id)
        if sequence is None:
            return False
        bits.take(extra)
        bits.golomb()  # slice_type
        bits.take(output_flag + 2 * sequence.planes)
        begins = kind in _IDR or kind in _BROKEN_LINK or (self._first and kind in _INTRA)
        order = 0
        sets: ReferenceSet = ([], [])
        if kind not in _IDR:
            low = bits.take(sequence.order_bits)
            order = low if begins else _nearest(low, self._before, 1 << sequence.order_bits)
            sets = self._set_of(bits, sequence)
        if begins:
            self._known.clear()
            self._skips_leading, self._first = kind not in _IDR, False
        elif kind in _INTRA:
            self._skips_leading = False
        if kind in _RASL and self._skips_leading:  # cannot be decoded, and no other picture refers to it
            return False
        entries = [(order + distance, used) for each in sets for distance, used in each]
        missing = kind not in _INTRA and any(used and place not in self._known for place, used in entries)
        self._known &= {place for place, _ in entries}
        self._known.add(order)
        if nal[1] & 7 == 1 and kind not in _SUBLAYER_NON_REFERENCE and kind not in _LEADING:
            self._before = order
        return missing

    def _set_of(self, bits: Bits, sequence: _Sequence) -> ReferenceSet:
        if not bits.take(1):
            return _read_references(bits, len(sequence.sets), sequence.sets)
        count = len(sequence.sets)
        index = bits.take((count - 1).bit_length()) if count > 1 else 0
        return sequence.sets[index] if index < count else ([], [])

    def _read_set(self, nal: bytes) -> None:
        if len(nal) < 4 or nal[0] >> 1 & 63 not in (_SPS, _PPS):
            return
        bits = Bits(unescaped(nal[2:]))
        if nal[0] >> 1 & 63 == _SPS:
            number, sequence = _read_sequence(bits)
            self._sequences[number] = sequence
            return
        number, of_sequence = bits.golomb(), bits.golomb()
        bits.take(1)  # dependent_slice_segments_enabled_flag
        self._pictures[number] = of_sequence, bool(bits.take(1)), bits.take(3)


def _nearest(low: int, before: int, size: int) -> int:
    """The number nearest to ``before`` that ends in these lower bits."""
    found = before - before % size + low
    if found - before >= size // 2:
        return found - size
    return found + size if before - found > size // 2 else found


def _read_sequence(bits: Bits) -> tuple[int, _Sequence]:
    """Read a sequence parameter set up to its reference sets: 7.3.2.2."""
    found = _Sequence()
    bits.take(4)
    layers = bits.take(3)
    bits.take(1 + 96)  # the profile
    present = [(bits.take(1), bits.take(1)) for _ in range(layers)]
    if layers:
        bits.take(2 * (8 - layers))
    for profile, level in present:
        bits.take(88 * profile + 8 * level)
    number = bits.golomb()
    if bits.golomb() == 3:
        found.planes = bool(bits.take(1))
    bits.golomb()  # width
    bits.golomb()  # height
    if bits.take(1):
        for _ in range(4):
            bits.golomb()  # the visible part
    bits.golomb()  # depth of luma
    bits.golomb()  # depth of chroma
    found.order_bits = bits.golomb() + 4
    for _ in range(layers + 1 if bits.take(1) else 1):
        for _ in range(3):
            bits.golomb()
    for _ in range(6):
        bits.golomb()  # sizes of blocks
    if bits.take(1) and bits.take(1):
        _skip_scaling_lists(bits)
    bits.take(2)
    if bits.take(1):
        bits.take(8)
        bits.golomb()
        bits.golomb()
        bits.take(1)
    for index in range(min(bits.golomb(), 64)):
        found.sets.append(_read_references(bits, index, found.sets, in_slice=False))
    return number, found


def _skip_scaling_lists(bits: Bits) -> None:
    for size in range(4):
        for _ in range(0, 6, 3 if size == 3 else 1):
            if not bits.take(1):
                bits.golomb()
                continue
            for _ in range(min(64, 1 << (4 + 2 * size)) + (size > 1)):
                bits.golomb()


def _read_references(bits: Bits, index: int, sets: list[ReferenceSet], in_slice: bool = True) -> ReferenceSet:
    """Read a set of reference pictures: 7.3.7 and 7.4.8."""
    if not (index and bits.take(1)):
        counts = min(bits.golomb(), 16), min(bits.golomb(), 16)
        earlier, later = (_distances(bits, count, sign) for count, sign in zip(counts, (-1, 1), strict=True))
        return earlier, later
    back = bits.golomb() + 1 if in_slice else 1
    sign, size = bits.take(1), bits.golomb() + 1
    step = -size if sign else size
    before, after = sets[max(0, index - back)]
    flags = []
    for _ in range(len(before) + len(after) + 1):
        used = bool(bits.take(1))
        flags.append((used, used or bool(bits.take(1))))
    of_before, of_after = flags[: len(before)], flags[len(before) : -1]
    moved_before = [(distance + step, *flag) for (distance, _), flag in zip(before, of_before, strict=True)]
    moved_after = [(distance + step, *flag) for (distance, _), flag in zip(after, of_after, strict=True)]
    itself = [(step, *flags[-1])]
    earlier = [(place, used) for place, used, kept in (*reversed(moved_after), *itself, *moved_before) if kept and place < 0]
    later = [(place, used) for place, used, kept in (*reversed(moved_before), *itself, *moved_after) if kept and place > 0]
    return earlier, later


def _distances(bits: Bits, count: int, sign: int) -> list[tuple[int, bool]]:
    found, place = [], 0
    for _ in range(count):
        place += sign * (bits.golomb() + 1)
        found.append((place, bool(bits.take(1))))
    return found


def _of_record(record: bytes) -> Iterator[bytes]:
    """The parameter sets of extradata in MP4 and Matroska: ISO/IEC 14496-15, 8.3.3.1."""
    position = 23
    for _ in range(record[22]):
        count = int.from_bytes(record[position + 1 : position + 3], "big")
        position += 3
        for _ in range(count):
            start = position + 2
            position = start + int.from_bytes(record[position:start], "big")
            yield record[start:position]
