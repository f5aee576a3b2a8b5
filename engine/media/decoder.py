"""What decodes for an engine: the interface of every decoder, the FFmpeg decoder, and the choice between FFmpeg and NVDEC.

Imports no media library: the first segment that FFmpeg decodes loads it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import TypeAlias

from engine.errors import DeviceError
from engine.media.types import DecodedFrame, DecodedOnDevice, DecodeFailure, Segment, SourceInfo
from engine.settings import Decode, EngineSettings, Hint
from engine.types import DeviceId, EngineInfo

GPU_THREADS = 12
"""Segments that a GPU's worker decodes at once: NVDEC's 1080p frames/s on an H200 are 567 with one, 3,649 with 8, 3,904 with 12, 3,974
with 16."""

Decoded: TypeAlias = DecodedFrame | DecodedOnDevice | DecodeFailure


class Decoder(ABC):
    """Decodes segments of sources. threads: how many threads of the caller use it at once, a segment each."""

    def __init__(self, threads: int = 1) -> None:
        self.threads = threads

    @abstractmethod
    def decode(self, info: SourceInfo, segment: Segment, skip: int = 0) -> Iterator[Decoded]:
        """The frames of a segment in display order, and in their place the failures. Called from any thread.

        skip: this many frames, failed ones included, are decoded but not yielded: a retry passes those already done.
        A frame in a device's memory belongs to the caller, which submits it to the engine or releases it. Close the iterator to
        release the file before the segment's end.

        Raises:
            SourceError: the file cannot be opened any more.
            DeviceError: the settings ask for a decoder that cannot decode this source, or its memory does not suffice.
        """

    def close(self) -> None:  # noqa: B027
        """Give the memory for frames back, once all frames are released. No thread may decode any more."""


class FfmpegDecoder(Decoder):
    """Decodes on the CPU, into host memory."""

    def decode(self, info: SourceInfo, segment: Segment, skip: int = 0) -> Iterator[Decoded]:
        """See ``Decoder.decode``."""
        from engine.media.decode import THREADS, decode

        return decode(info, segment, skip, max(1, THREADS // self.threads))


def open_decoder(engine: EngineInfo, settings: EngineSettings, device: DeviceId | None) -> Decoder:
    """The decoder that feeds an engine. device: the CUDA device whose memory may hold the engine's frames, None = host memory only.

    Raises:
        DeviceError: the settings ask for NVDEC, and the device or the library for it is missing.
    """
    threads = settings.decode_threads or (GPU_THREADS if device is not None and settings.hint is Hint.THROUGHPUT else 1)
    if device is not None and settings.decode is not Decode.CPU:
        from engine.media.nvdec.decoder import open_nvdec

        # what waits in the worker's buffer, what the threads have in hand, and what is in the engine
        frames = 2 * engine.batch + threads + engine.slots * engine.batch
        try:
            return open_nvdec(int(device.name), frames, threads, required=settings.decode is Decode.NVDEC)
        except DeviceError:
            if settings.decode is Decode.NVDEC:
                raise
    return FfmpegDecoder(threads)
