"""Finds what FFmpeg does not report: broken boxes in MP4 files, chunks without data in AVI files, and truncated files."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

_EBML, _SEGMENT = b"\x1a\x45\xdf\xa3", b"\x18\x53\x80\x67"
_TS_PACKETS, _TS_SYNC = (188, 192), 0x47  # bytes of a packet: ISO 13818-1, 2.4.3.2, and M2TS


def is_fragmented(path: Path) -> bool:
    """Whether the index of an MP4 may be incomplete: the file has movie fragments or a broken box."""
    return any(kind == b"moof" or start == end for kind, start, end in _mp4_boxes(path))


def unreadable_bytes(path: Path, read_until: int) -> int:
    """Return the number of unread bytes from the first broken box of an MP4 on, 0 if no box is broken.

    read_until: the position in the file where the last packet ends, bytes.
    """
    size = path.stat().st_size
    for _, start, end in _mp4_boxes(path):
        if start == end or end > size:
            return max(0, size - max(start, read_until))
    return 0


def _mp4_boxes(path: Path) -> Iterator[tuple[bytes, int, int]]:
    """Yield the type, start and end of each outermost box (ISO 14496-12, 4.2).

    A truncated box ends beyond the end of the file. An invalid box has its start as its end, and is the last.
    """
    with path.open("rb") as file:
        position, size = 0, path.stat().st_size
        while position < size:
            file.seek(position)
            header = file.read(16)
            length = int.from_bytes(header[:4], "big")
            if length == 1:
                length = int.from_bytes(header[8:16], "big")
            elif length == 0:
                length = size - position
            if length < 8 or not header[4:8].strip().isalnum():
                yield header[4:8], position, position
                return
            yield header[4:8], position, position + length
            position += length


def is_truncated(path: Path) -> bool:
    """Whether a Matroska file is shorter than its header says, or an MPEG-TS ends within one of its packets. False if unknown."""
    size = path.stat().st_size
    with path.open("rb") as file:
        head = file.read(4096)
    for length in _TS_PACKETS:
        offset = length - 188  # the packets of M2TS begin with four bytes for the time
        if len(head) > 4 * length and set(head[offset : offset + 4 * length : length]) == {_TS_SYNC}:
            return size % length > 0
    if not head.startswith(_EBML):
        return False
    header, start = _ebml_size(head, len(_EBML))
    if head[start + header : start + header + 4] != _SEGMENT:
        return False
    length, start = _ebml_size(head, start + header + len(_SEGMENT))
    return start + length > size


def _ebml_size(content: bytes, position: int) -> tuple[int, int]:
    """Read the size of an EBML element (RFC 8794, 4). Returns it, 0 if it is unknown, and the position of the element's data."""
    first = content[position] if position < len(content) else 0
    width = 9 - first.bit_length()
    end = position + width
    value = int.from_bytes(content[position:end], "big") & (1 << 7 * width) - 1
    return (0 if value == (1 << 7 * width) - 1 else value), end


def empty_avi_chunks(path: Path, stream: int) -> int:
    """Count the chunks of a video stream that hold no data (Microsoft, "AVI RIFF File Reference").

    Such a chunk repeats the picture before it. The header counts it as a frame, but FFmpeg returns no packet for it.
    """
    pictures = tuple(b"%02d" % stream + kind for kind in (b"dc", b"db"))
    empty = 0
    with path.open("rb") as file:
        while len(head := file.read(8)) == 8 and head[:4].isascii() and head[:4].strip(b"\0"):
            name, size = head[:4], int.from_bytes(head[4:], "little")
            if name in (b"RIFF", b"LIST"):
                file.seek(4, os.SEEK_CUR)  # the kind of list; its chunks follow
            else:
                empty += name in pictures and size == 0
                file.seek(size + size % 2, os.SEEK_CUR)
    return empty
