"""What a group's front does: it decodes for all devices, into memory that they share."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace

from engine.media.decode import decode  # now: while cv2 is being imported, sys.path is not what a process started then should get
from engine.media.types import DecodedFrame, DecodeFailure, Segment, SourceInfo
from engine.pool.groups.shared_pictures import SharedPictures

THREADS = 16
"""The most threads for a source that cannot be cut."""


def decode_shared(
    info: SourceInfo, segment: Segment, skip: int, pictures: SharedPictures, decode_threads: int
) -> Iterator[DecodedFrame | DecodeFailure]:
    """As ``engine.media.decode.decode``, with the pictures in shared memory. decode_threads: segments that are decoded at once.

    Raises:
        SourceError: the file cannot be opened any more.
    """
    whole = segment.start is None and segment.end is None  # nothing else of this source can be decoded meanwhile
    threads = min(THREADS, cores()) if whole else max(1, cores() // decode_threads)
    for frame in decode(info, segment, skip, threads):
        yield replace(frame, image=pictures.put(frame.image)) if isinstance(frame, DecodedFrame) else frame


def cores() -> int:
    """The processors that the calling thread may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
