"""Decodes a few frames of a source, spread over it, for the trials of an engine."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from engine.detection.frame_format import HostImage
from engine.errors import SourceError
from engine.media.decode import decode_planes
from engine.media.probe import probe
from engine.media.types import DecodeFailure

_APART = 12
"""Frames from one example to the next within a segment: neighbours would show the same."""


def examples(path: Path, count: int) -> list[HostImage]:
    """Return up to ``count`` frames or pictures of a source; none if it cannot be read."""
    try:
        return list(_examples(path, count))
    except SourceError:  # the pool reports it when it opens the source
        return []


def _examples(path: Path, count: int) -> Iterator[HostImage]:
    info = probe(path)
    segments = info.segments[:: -(-len(info.segments) // count)]
    each = -(-count // len(segments)) if segments else 0
    left = count
    for segment in segments:
        frames = decode_planes(info, segment, oblong_only=True)
        for item in islice(frames, 0, _APART * min(each, left), _APART):
            if not isinstance(item, DecodeFailure):
                left -= 1
                yield item.image
