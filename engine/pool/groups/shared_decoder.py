"""Decodes for all members of a group into shared host memory: with FFmpeg, or with NVDEC of one member's GPU."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

from engine.detection.frame_format import Planes
from engine.devices.affinity import usable_cores
from engine.media.decoder import Decoded, Decoder
from engine.media.types import DecodedFrame, DecodedOnDevice, DecodedPlanes, DecodeFailure, Segment, SourceInfo
from engine.pool.groups.shared_pictures import SharedPictures

if TYPE_CHECKING:
    from engine.media.nvdec.decoder import NvdecDecoder

Read: TypeAlias = Callable[[SourceInfo, Segment, int, int], Iterator[DecodedFrame | DecodedPlanes | DecodeFailure]]
"""Decodes a segment on the CPU. Parameters: as of ``decode``."""

THREADS = 16
"""Most decoder threads for a source that cannot be cut."""


class SharedDecoder(Decoder):
    """Decodes into ``pictures``, shared memory of a group.

    read: ``decode`` or ``decode_planes``. nvdec: decodes instead of ``read``; closed with this decoder. reason: why NVDEC is not used
    although the members have it.
    """

    def __init__(self, threads: int, pictures: SharedPictures, read: Read, nvdec: NvdecDecoder | None = None, reason: str = "") -> None:
        super().__init__(threads)
        self._pictures, self._read, self._nvdec, self._reason = pictures, read, nvdec, reason

    def decode(self, info: SourceInfo, segment: Segment, skip: int = 0) -> Iterator[DecodedFrame | DecodedPlanes | DecodeFailure]:
        """See ``Decoder.decode``."""
        previous: _Download | None = None  # it is copied while the next frame is decoded
        download: _Download | None = None
        try:
            for frame in self._decode(info, segment, skip):
                previous, download = download, _Download(frame) if isinstance(frame, DecodedOnDevice) else None
                if previous is not None:
                    yield previous.finish()
                if download is not None:  # only now: a thread that holds a copy must not wait for memory
                    download.start(self._pictures)
                elif isinstance(frame, DecodeFailure):
                    yield frame
                elif not isinstance(frame, DecodedOnDevice):
                    yield replace(frame, image=self._pictures.put(frame.image))  # type: ignore[arg-type]
            if download is not None:
                yield download.finish()
        finally:
            for each in (previous, download):
                if each is not None:
                    each.release()

    def _decode(self, info: SourceInfo, segment: Segment, skip: int) -> Iterator[Decoded]:
        if self._nvdec is not None:
            return self._nvdec.decode(info, segment, skip)
        whole = segment.start is None and segment.end is None  # no other segment of this source can be decoded meanwhile
        threads = min(THREADS, usable_cores()) if whole else max(1, usable_cores() // self.threads)
        return self._read(info, segment, skip, threads)

    def cpu_reason(self, info: SourceInfo) -> str:
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


class _Download:
    """A frame that is copied from the GPU into shared memory, and then released."""

    def __init__(self, frame: DecodedOnDevice) -> None:
        self._frame, self._copying = frame, False

    def start(self, pictures: SharedPictures) -> None:
        """Wait for room in ``pictures``, and begin to copy."""
        from engine.cuda.graph import enqueue_copy

        image = self._frame.image
        self._block = pictures.take(image.format.nbytes)
        self._copying = True
        enqueue_copy(self._block.ctypes.data, image.address, image.format.nbytes, image.written_on)

    def finish(self) -> DecodedPlanes:
        """Wait for the end of the copy, and return it."""
        self.release()
        frame = self._frame
        return DecodedPlanes(frame.pts, Planes.of(frame.image.format, self._block), index=frame.index, by_gpu=True)

    def release(self) -> None:
        """Wait until nothing is copied, and release the frame. Repeated calls have no effect."""
        copying, self._copying = self._copying, False
        try:
            if copying:
                self._frame.image.written_on.sync()
        finally:
            self._frame.image.release()
