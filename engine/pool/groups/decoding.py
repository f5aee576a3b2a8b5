"""Decodes for all devices of a group into shared memory."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TypeAlias

from engine.devices.affinity import usable_cores
from engine.media.decoder import Decoder
from engine.media.types import DecodedFrame, DecodedPlanes, DecodeFailure, Segment, SourceInfo
from engine.pool.groups.shared_pictures import SharedPictures

Read: TypeAlias = Callable[[SourceInfo, Segment, int, int], Iterator[DecodedFrame | DecodedPlanes | DecodeFailure]]
"""Decodes a segment. Parameters: as of ``decode``."""

THREADS = 16
"""Most decoder threads for a source that cannot be cut."""


class SharedDecoder(Decoder):
    """Decodes on the CPU into ``pictures``, shared memory of a group. read: ``decode`` or ``decode_planes``."""

    def __init__(self, threads: int, pictures: SharedPictures, read: Read) -> None:
        super().__init__(threads)
        self._pictures, self._read = pictures, read

    def decode(self, info: SourceInfo, segment: Segment, skip: int = 0) -> Iterator[DecodedFrame | DecodedPlanes | DecodeFailure]:
        """See ``Decoder.decode``."""
        whole = segment.start is None and segment.end is None  # no other segment of this source can be decoded meanwhile
        threads = min(THREADS, usable_cores()) if whole else max(1, usable_cores() // self.threads)
        for frame in self._read(info, segment, skip, threads):
            yield frame if isinstance(frame, DecodeFailure) else replace(frame, image=self._pictures.put(frame.image))  # type: ignore[arg-type]
