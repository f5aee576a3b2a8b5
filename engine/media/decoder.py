"""The interface of decoders, the FFmpeg decoder, and the choice between FFmpeg and NVDEC.

Importing this module loads no media library: ``FfmpegDecoder`` loads it for its first segment.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from framefleet.engine.detection.frame_format import HostImage
from framefleet.engine.media.types import DecodedFrame, DecodeFailure, DeviceFrame, Segment, SourceInfo, SourceKind
from framefleet.engine.notices import DeviceError, Notice
from framefleet.engine.settings import Decode, EngineSettings
from framefleet.engine.types import DeviceId

if TYPE_CHECKING:
    from framefleet.engine.media.live.decoding import DeviceDecoder


@dataclass(frozen=True)
class DecoderUse:
    """What decoded the frames of a source.

    nvdec, cpu: numbers of frames; pictures that a GPU decoded count as NVDEC's. reason: why the CPU decoded frames although the device has
    a decoder, None if that did not happen.
    """

    nvdec: int = 0
    cpu: int = 0
    reason: Notice | None = None

    def __add__(self, other: DecoderUse) -> DecoderUse:
        return DecoderUse(self.nvdec + other.nvdec, self.cpu + other.cpu, self.reason or other.reason)

    @property
    def name(self) -> str:
        """ "nvdec", "cpu", "nvdec+cpu" if both decoded frames, "" if none did."""
        return "+".join(name for name, frames in (("nvdec", self.nvdec), ("cpu", self.cpu)) if frames)

    @property
    def notice(self) -> Notice | None:
        """One phrase for reports, None if there are no frames."""
        if not self.cpu:
            return Notice("media.decoded_by_nvdec") if self.nvdec else None
        by_cpu = Notice("media.decoded_by_cpu")
        if self.nvdec:
            by_cpu = Notice("media.decoded_by_both", cpu=self.cpu, frames=self.nvdec + self.cpu)
        return by_cpu if self.reason is None else Notice("media.decoded_because", use=by_cpu, reason=self.reason)


GPU_THREADS = 12
"""Default number of decode threads of a GPU's worker, one segment each; more where NVDEC has many engines, see ``open_nvdec``."""

Decoded: TypeAlias = DecodedFrame[HostImage | DeviceFrame] | DecodeFailure


def singly(frames: Iterator[Decoded]) -> Iterator[list[Decoded]]:
    """Each frame as a group of its own."""
    return ([frame] for frame in frames)


def release_all(frames: Iterable[Decoded]) -> None:
    """Release the frames that lie in a device's memory."""
    for frame in frames:
        if not isinstance(frame, DecodeFailure) and isinstance(frame.image, DeviceFrame):
            frame.image.release()


class Decoder(ABC):
    """The base of all decoders. threads: the number of the caller's threads that use it at once, one segment each."""

    def __init__(self, threads: int = 1) -> None:
        self.threads = threads

    @abstractmethod
    def decode(self, info: SourceInfo, segment: Segment, skip: int = 0) -> Iterator[Decoded]:
        """Yield the frames of a segment in display order, and a failure in place of frames that cannot be decoded. Thread-safe.

        The caller owns a frame in a device's memory: it must submit the frame to the engine or release it. Close the iterator to close
        the file early.

        skip: the number of frames, failed ones included, to leave out at the start: a retry skips the completed ones.

        Raises
        ------
        SourceError
            The file cannot be opened any more.
        DeviceError
            The settings require a decoder that cannot decode this source, or there is too little device memory.
        """

    def groups(self, info: SourceInfo, segment: Segment, skip: int = 0) -> Iterator[list[Decoded]]:
        """Like ``decode``, but yield the frames that are ready together, at least one, in one list."""
        return singly(self.decode(info, segment, skip))

    def make_room(self, frames: int) -> None:  # noqa: B027
        """Let this many more frames be in use at once, before ``decode``: those that the engine holds are known when it is built."""

    def examine(self, info: SourceInfo) -> None:  # noqa: B027
        """Find out how a source can be decoded. ``decode`` does this otherwise, and takes longer. Errors: see ``decode``."""

    def cpu_reason(self, info: SourceInfo) -> Notice | None:  # noqa: ARG002
        """Return why the device's decoder leaves this source to the CPU; None if it does not, or there is none."""
        return None

    def live(self) -> DeviceDecoder | None:
        """Return what decodes live sources on the device; None: FFmpeg decodes them."""
        return None

    def stop(self) -> None:  # noqa: B027
        """Let ``decode`` raise an error where a thread waits for another one. ``close`` follows when all threads have ended."""

    def close(self) -> None:  # noqa: B027
        """Free the memory for frames once all frames are released. No thread may decode afterwards."""


class FfmpegDecoder(Decoder):
    """Decodes on the CPU, into host memory.

    planes: whether the engine converts frames to RGB faster than the decode threads do. reason: why NVDEC is not used although the device
    has it.
    """

    def __init__(self, threads: int = 1, planes: bool = False, reason: Notice | None = None) -> None:
        super().__init__(threads)
        self._planes, self._reason = planes, reason

    def cpu_reason(self, info: SourceInfo) -> Notice | None:
        """Return why the device's decoder leaves this source to the CPU; None if it does not, or there is none."""
        return self._reason if info.kind is SourceKind.VIDEO else None

    def decode(self, info: SourceInfo, segment: Segment, skip: int = 0) -> Iterator[Decoded]:
        """Yield the frames of a segment in display order, and a failure in place of frames that cannot be decoded. Thread-safe."""
        from framefleet.engine.media.cpu_decoding import THREADS, decode_planes

        return decode_planes(info, segment, skip, max(1, THREADS // self.threads), oblong_only=not self._planes)


def open_decoder(settings: EngineSettings, device: DeviceId | None) -> Decoder:
    """Create the decoder for an engine, which tells it later to ``make_room``.

    device: the CUDA device whose memory may hold the frames; None: decode into host memory.

    Raises DeviceError if the settings require NVDEC, and the device or the library for it is missing.
    """
    many = device is not None and settings.hint.decodes_in_parallel
    threads = settings.decode_threads or (GPU_THREADS if many else 1)
    if device is not None and settings.decode is not Decode.CPU:
        from framefleet.engine.media.nvdec.decoder import open_nvdec

        more = many and settings.decode_threads is None
        try:
            return open_nvdec(int(device.name), threads, settings.decode is Decode.NVDEC, more)
        except DeviceError as error:
            if settings.decode is Decode.NVDEC:
                raise
            return FfmpegDecoder(threads, planes=True, reason=error.notice)
    return FfmpegDecoder(threads, planes=device is not None)
