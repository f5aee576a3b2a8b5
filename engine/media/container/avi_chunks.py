"""The chunks of an AVI file (Microsoft, "AVI RIFF File Reference"), without a library: what FFmpeg does not tell about them."""

from __future__ import annotations

import os
from pathlib import Path


def empty_chunks(path: Path, stream: int) -> int:
    """Pictures of this stream without data, up to where the chunks can be followed.

    Each stands for the picture before it, shown once more; the header counts it, FFmpeg leaves it out.
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
