"""Finds damage in the structure of Matroska and FLV files. Reads the headers of all packets, and no other data."""

from __future__ import annotations

from pathlib import Path

from engine.media.container.file_structure import EBML, ebml_size

_FLV_TAGS = (8, 9, 18)  # sound, video, data: the FLV specification, annex E.4.1
_CLUSTER, _BLOCK = 0x1F43B675, 0xA3
_IN_SEGMENT = (0x18538067, 0x114D9B74, 0x1549A966, 0x1654AE6B, _CLUSTER, 0x1C53BB6B, 0x1254C367, 0x1043A770, 0x1941A469)
_IN_CLUSTER = (0xE7, _BLOCK, 0xA0, 0xA7, 0xAB, 0xAF, 0x5854)
_MATROSKA_IDS = frozenset((*_IN_SEGMENT, *_IN_CLUSTER, 0xEC, 0xBF))  # RFC 9559, 5.1, with Void and CRC-32
_ENTERED = (0x18538067, _CLUSTER)


def is_damaged(path: Path, tracks: int) -> bool:
    """Whether the headers of a Matroska or FLV file contradict each other. tracks: number of its tracks."""
    with path.open("rb") as file:
        head = file.read(4)
    return _matroska_is_damaged(path, tracks) if head == EBML else head[:3] == b"FLV" and _flv_is_damaged(path)


def _matroska_is_damaged(path: Path, tracks: int) -> bool:
    size = path.stat().st_size
    with path.open("rb") as file:
        head = file.read(16)
        length, start = ebml_size(head, len(EBML))
        position = start + length
        while position < size:
            file.seek(position)
            head = file.read(16)
            width = 9 - head[0].bit_length()
            element = int.from_bytes(head[:width], "big")
            length, start = ebml_size(head, width)
            if element not in _MATROSKA_IDS or start >= len(head) or (element == _BLOCK and not 0 < head[start] & 0x7F <= tracks):
                return True
            position += start + (0 if element in _ENTERED else length)
    return position != size


def _flv_is_damaged(path: Path) -> bool:
    size, before = path.stat().st_size, 0
    with path.open("rb") as file:
        position = int.from_bytes(file.read(9)[5:], "big")
        while position + 4 < size:
            file.seek(position)
            head = file.read(15)
            if int.from_bytes(head[:4], "big") not in (before, 0) or len(head) < 15 or head[4] not in _FLV_TAGS:
                return True
            before = 11 + int.from_bytes(head[5:8], "big")
            position += 4 + before
    return position + 4 != size
