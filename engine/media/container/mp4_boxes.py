"""The outermost boxes of an MP4 or MOV file (ISO 14496-12, 4.2), without a library: what FFmpeg does not tell about them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path


def boxes(path: Path) -> Iterator[tuple[bytes, int, int]]:
    """Type, start and end of each box. The last one may end behind the file; one that makes no sense ends where it starts."""
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


def is_fragmented(path: Path) -> bool:
    """Whether there are movie fragments, or boxes that cannot be followed, so that the index may be incomplete."""
    return any(kind == b"moof" or start == end for kind, start, end in boxes(path))


def unreadable_bytes(path: Path, read_until: int) -> int:
    """The number of bytes behind a break in the chain of boxes, and behind the last packet read."""
    size = path.stat().st_size
    for _, start, end in boxes(path):
        if start == end or end > size:
            return max(0, size - max(start, read_until))
    return 0
