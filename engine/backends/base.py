"""What every backend offers: a network built for one device, from pictures to detections.

The public methods guard the state (activate once, then submit or infer, then close) and call ``_..._impl`` hooks.
One instance belongs to one worker; it is not thread-safe, except that results may be awaited anywhere.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from types import TracebackType
from typing import Self

import numpy as np
from numpy.typing import NDArray

from engine.model.network import Network
from engine.settings import EngineSettings
from engine.types import Detections, DeviceId, Image


@dataclass(frozen=True)
class EngineInfo:
    """What was built, as it is shown everywhere.

    backend: library and version. precision: the one in use. reason: why that one, in words. width, height: network
    input, pixels. batch: frames per inference. slots: inferences that may be under way at once.
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


class Backend(ABC):
    """A network built for one device."""

    def __init__(self, device: DeviceId) -> None:
        self.device = device
        self._info: EngineInfo | None = None

    @property
    def info(self) -> EngineInfo:
        """What was built.

        Raises:
            RuntimeError: not activated, or closed.
        """
        if self._info is None:
            raise RuntimeError(f"{type(self).__name__} is not active")
        return self._info

    def activate(self, network: Network, settings: EngineSettings) -> EngineInfo:
        """Build the engine.

        Raises:
            DeviceError: the device or library is missing, or cannot do what the settings ask for.
            RuntimeError: already active.
        """
        if self._info is not None:
            raise RuntimeError(f"{type(self).__name__} is already active")
        self._info = self._activate_impl(network, settings)
        return self._info

    def submit(self, images: Sequence[Image], still: bool = False) -> Future[list[Detections]]:
        """Start one inference of 1 to ``info.batch`` pictures of any size; blocks while all slots are busy.

        still: they are pictures of their own, no frames of a video (Darknet resizes the two differently).
        The pictures may be reused as soon as this returns. The future gives one ``Detections`` per picture, boxes in
        that picture's pixels, or raises DeviceError.
        """
        if not 1 <= len(images) <= self.info.batch:
            raise ValueError(f"{len(images)} pictures for an engine of batch {self.info.batch}")
        return self._submit_impl(images, still)

    def infer(self, images: Sequence[Image], still: bool = False) -> list[Detections]:
        """The same, awaited."""
        return self.submit(images, still).result()

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
    def _activate_impl(self, network: Network, settings: EngineSettings) -> EngineInfo: ...

    @abstractmethod
    def _submit_impl(self, images: Sequence[Image], still: bool) -> Future[list[Detections]]: ...

    @abstractmethod
    def _heads_impl(self, inputs: NDArray[np.float32]) -> list[NDArray[np.float32]]: ...

    @abstractmethod
    def _close_impl(self) -> None: ...
