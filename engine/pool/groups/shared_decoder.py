"""Decodes for all members of a group: with FFmpeg into shared host memory, or with NVDEC into the memory of one member's GPU."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, TypeAlias

from framefleet.engine.detection.frame_format import HostImage
from framefleet.engine.devices.affinity import usable_cores
from framefleet.engine.media.decoder import Decoded, Decoder
from framefleet.engine.media.types import DecodedFrame, DecodeFailure, DeviceFrame, Segment, SourceInfo
from framefleet.engine.notices import Notice
from framefleet.engine.pool.groups.shared_pictures import SharedPictures

if TYPE_CHECKING:
    from framefleet.engine.media.nvdec.decoder import NvdecDecoder

Read: TypeAlias = Callable[[SourceInfo, Segment, int, int], Iterator[DecodedFrame[HostImage] | DecodeFailure]]
"""Decodes a segment on the CPU. Parameters: as of ``decode``."""

THREADS = 16
"""Most decoder threads for a source that cannot be cut."""


class SharedDecoder(Decoder):
    """Decodes with FFmpeg into ``pictures``, shared memory of a group.

    read: ``decode`` or ``decode_planes``. nvdec: decodes what it can, instead of ``read``; closed with this decoder. Its frames stay in
    the GPU's memory. reason: why NVDEC is not used although the members have it.
    """

    def __init__(
        self, threads: int, pictures: SharedPictures, read: Read, nvdec: NvdecDecoder | None, reason: Notice | None = None
    ) -> None:
        super().__init__(threads)
        self._pictures, self._read, self._nvdec, self._reason = pictures, read, nvdec, reason

    def decode(self, info: SourceInfo, segment: Segment, skip: int = 0) -> Iterator[Decoded]:
        """See ``Decoder.decode``."""
        for frame in self._decode(info, segment, skip):
            if isinstance(frame, DecodeFailure) or isinstance(frame.image, DeviceFrame):
                yield frame
            else:
                yield DecodedFrame(frame.ref, self._pictures.put(frame.image))

    def _decode(self, info: SourceInfo, segment: Segment, skip: int) -> Iterator[Decoded]:
        if self._nvdec is not None:
            return self._nvdec.decode(info, segment, skip)
        whole = segment.start is None and segment.end is None  # no other segment of this source can be decoded meanwhile
        threads = min(THREADS, usable_cores()) if whole else max(1, usable_cores() // self.threads)
        return self._read(info, segment, skip, threads)

    def cpu_reason(self, info: SourceInfo) -> Notice | None:
        """See ``Decoder.cpu_reason``."""
        return self._reason if self._nvdec is None else self._nvdec.cpu_reason(info)

    def stop(self) -> None:
        """See ``Decoder.stop``."""
        if self._nvdec is not None:
            self._nvdec.stop()

    def close(self) -> None:
        """See ``Decoder.close``."""
        if self._nvdec is not None:
            self._nvdec.close()
