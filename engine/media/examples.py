"""Decodes a few frames of sources, spread over them, for the trials of an engine."""

from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

from framefleet.engine.detection.frame_format import HostImage
from framefleet.engine.errors import SourceError
from framefleet.engine.media.cpu_decoding import decode_planes
from framefleet.engine.media.probe import probe
from framefleet.engine.media.types import DecodeFailure

_APART = 12
"""Frames from one example to the next within a segment: neighbours would show the same."""


def examples(paths: Sequence[Path], count: int) -> Iterator[list[HostImage]]:
    """Yield frames or pictures of each source: up to ``count`` of the first one, half of that of each other; none if it cannot be read."""
    for number, path in enumerate(paths):
        try:
            yield list(_examples(path, count if number == 0 else count // 2))
        except SourceError:  # the pool reports it when it opens the source
            yield []


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
