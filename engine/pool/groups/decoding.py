"""Decodes for all devices of a group into shared memory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from engine.devices.affinity import usable_cores
from engine.media.decode import (  # not lazily: the import of cv2 changes sys.path, which a process started meanwhile would inherit
    decode,
    decode_planes,
)
from engine.media.decoder import Decoder
from engine.media.types import DecodedFrame, DecodedPlanes, DecodeFailure, Segment, SourceInfo
from engine.pool.groups.shared_pictures import SharedPictures

THREADS = 16
"""Most decoder threads for a source that cannot be cut."""


class SharedDecoder(Decoder):
    """Decodes on the CPU into ``pictures``, shared memory of a group. planes: whether the group takes frames as planes."""

    def __init__(self, threads: int, pictures: SharedPictures, planes: bool) -> None:
        super().__init__(threads)
        self._pictures, self._decode = pictures, decode_planes if planes else decode

    def decode(self, info: SourceInfo, segment: Segment, skip: int = 0) -> Iterator[DecodedFrame | DecodedPlanes | DecodeFailure]:
        """See ``Decoder.decode``."""
        whole = segment.start is None and segment.end is None  # no other segment of this source can be decoded meanwhile
        threads = min(THREADS, usable_cores()) if whole else max(1, usable_cores() // self.threads)
        for frame in self._decode(info, segment, skip, threads):
            yield frame if isinstance(frame, DecodeFailure) else replace(frame, image=self._pictures.put(frame.image))  # type: ignore[arg-type]
