"""What every backend offers: a network built for one device, from pictures to detections.

The public methods guard the state (activate once, then submit or infer, then close) and call ``_..._impl`` hooks.
One instance belongs to one worker; it is not thread-safe, except that results may be awaited anywhere.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from engine.media.types import DecodedFrame, DecodedOnDevice, DecodeFailure, DeviceFrame, Segment, SourceInfo
from engine.model.network import Network
from engine.settings import EngineSettings
from engine.types import Detections, DeviceId, Image

Progress: TypeAlias = Callable[[str, float], None]
"""What is being done, in words, and how far it is, 0..1."""


@dataclass(frozen=True)
class EngineInfo:
    """What was built, as it is shown everywhere.

    backend: library and version. precision: the one in use. reason: why that one, in words. width, height: network
    input, pixels. batch: frames per inference. slots: inferences that may be under way at once. decode_threads: segments that its
    worker decodes at once.
    """

    device: DeviceId
    device_name: str
    backend: str
    precision: str
    reason: str
    width: int
    height: int
    batch: int
    slots: int
    decode_threads: int = 1


class Backend(ABC):
    """A network built for one device."""

    def __init__(self, device: DeviceId) -> None:
        self.device = device
        self._info: EngineInfo | None = None

    @property
    def info(self) -> EngineInfo:
        """What was built. It may change while the engine works: an engine that runs out of memory goes on with a smaller batch.

        Raises:
            RuntimeError: not activated, or closed.
        """
        if self._info is None:
            raise RuntimeError(f"{type(self).__name__} is not active")
        return self._info

    def activate(self, network: Network, settings: EngineSettings, progress: Progress | None = None) -> EngineInfo:
        """Build the engine. progress: is told what is being done, where that takes long, also if it is built anew later on.

        Raises:
            DeviceError: the device or library is missing, or cannot do what the settings ask for.
            RuntimeError: already active.
        """
        if self._info is not None:
            raise RuntimeError(f"{type(self).__name__} is already active")
        self._info = self._activate_impl(network, settings, progress)
        return self._info

    def submit(self, images: Sequence[Image | DeviceFrame], still: bool = False) -> Future[list[Detections]]:
        """Start one inference of 1 to ``info.batch`` pictures of any size; blocks while all slots are busy.

        still: they are pictures of their own, no frames of a video (Darknet resizes the two differently).
        Pictures in host memory may be reused as soon as this returns; those in the device's memory are released by the
        backend, also when this raises. The future gives one ``Detections`` per picture, boxes in that picture's pixels, or
        raises DeviceError.
        """
        if not 1 <= len(images) <= self.info.batch:
            raise ValueError(f"{len(images)} pictures for an engine of batch {self.info.batch}")
        return self._submit_impl(images, still)

    def infer(self, images: Sequence[Image | DeviceFrame], still: bool = False) -> list[Detections]:
        """The same, awaited."""
        return self.submit(images, still).result()

    def decode(self, info: SourceInfo, segment: Segment, skip: int = 0) -> Iterator[DecodedFrame | DecodedOnDevice | DecodeFailure]:
        """The frames of a segment, as ``engine.media.decode.decode`` gives them. Called by ``info.decode_threads`` threads at once.

        Whoever takes a frame in the device's memory passes it to ``submit`` or releases it. Frames that wait for the engine
        are at most 2 · batch and one per decode thread: a backend that decodes into a ring of surfaces needs so many, and those of the
        batches under way. By default the CPU decodes.

        Raises:
            SourceError: the file cannot be opened any more.
        """
        from engine.media.decode import THREADS, decode

        return decode(info, segment, skip, max(1, THREADS // self.info.decode_threads))

    def timings(self) -> Mapping[str, float]:
        """ms that the device spent in each stage since the last call, by its own clock; nothing where it has none. From any thread.

        Stages have the names of the field: "decode", "upload", "preprocess", "network", "postprocess", "download". What runs
        n-fold at once counts 1/n, so that frames ÷ time is the rate that the stage alone would allow.
        """
        return {}

    def register(self, address: int, nbytes: int) -> None:  # noqa: B027
        """Pictures will lie in this memory, and stay as they are until their batch is done: a GPU may copy from where they lie.

        Called by the thread that submits.
        """

    def unregister(self, address: int) -> None:  # noqa: B027
        """No picture lies in the memory that was registered with this address any more."""

    @property
    def members(self) -> tuple[DeviceId, ...]:
        """The devices that are told of one by one: several, where a batch is dealt to them."""
        return (self.device,)

    def timings_of(self, member: DeviceId) -> Mapping[str, float]:
        """``timings`` of one of ``members``."""
        return self.timings() if member == self.device else {}

    def heads(self, inputs: NDArray[np.float32]) -> list[NDArray[np.float32]]:
        """Raw outputs of the YOLO heads for float32 (batch, channels, height, width), 0..1: for checks, not for speed."""
        if self._info is None:
            raise RuntimeError(f"{type(self).__name__} is not active")
        return self._heads_impl(inputs)

    def close(self) -> None:
        """Wait for what is under way and release the device; harmless when repeated."""
        if self._info is not None:
            self._info = None
            self._close_impl()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    @abstractmethod
    def _activate_impl(self, network: Network, settings: EngineSettings, progress: Progress | None) -> EngineInfo: ...

    # a backend is given no other frames than those that its own ``decode`` gives
    @abstractmethod
    def _submit_impl(self, images: Sequence[Any], still: bool) -> Future[list[Detections]]: ...

    @abstractmethod
    def _heads_impl(self, inputs: NDArray[np.float32]) -> list[NDArray[np.float32]]: ...

    @abstractmethod
    def _close_impl(self) -> None: ...
