"""Finds what FFmpeg does not report: broken boxes in MP4 files, and chunks without data in AVI files."""

import os
from collections.abc import Iterator
from pathlib import Path


def is_fragmented(path: Path) -> bool:
    """Whether the index of an MP4 may be incomplete: the file has movie fragments or a broken box."""
    return any(kind == b"moof" or start == end for kind, start, end in _mp4_boxes(path))


def unreadable_bytes(path: Path, read_until: int) -> tuple[int, bool]:
    """Return the number of unread bytes from the first broken box of an MP4 on, 0 if no box is broken, and whether this box is truncated.

    read_until: the position in the file where the last packet ends, bytes.
    """
    size = path.stat().st_size
    for _, start, end in _mp4_boxes(path):
        if start == end or end > size:
            return max(0, size - max(start, read_until)), end > size
    return 0, False


def media_bytes(path: Path) -> int:
    """Return the size of the media data of an MP4, bytes."""
    size = path.stat().st_size
    return sum(min(end, size) - start - 8 for kind, start, end in _mp4_boxes(path) if kind == b"mdat" and end > start)


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
