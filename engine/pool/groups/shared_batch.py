"""The detections of a batch whose pictures several devices share."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import Future
from threading import Lock

from engine.types import Detections, DeviceId


class SharedBatch(Future[list[Detections]]):
    """A future that is done when every picture is done.

    devices: the device of each picture. failures: by position, why a picture has no detections; the result is then empty at that
    position. shares: if several devices share each picture, each device's part of the work, in pictures.
    """

    def __init__(self, pictures: int, device: DeviceId) -> None:
        super().__init__()
        self.devices = [device] * pictures
        self.failures: dict[int, str] = {}
        self.shares: Mapping[DeviceId, float] | None = None
        self._found = [Detections()] * pictures
        self._missing = pictures
        self._counting = Lock()

    def put(self, position: int, device: DeviceId, found: Detections | None, failure: str = "") -> None:
        """Set one picture's detections or, if ``found`` is None, its failure. Call this once per picture, from any thread."""
        with self._counting:
            self.devices[position] = device
            if found is None:
                self.failures[position] = failure
            else:
                self._found[position] = found
            self._missing -= 1
            done = not self._missing
        if done:
            self.set_result(self._found)
