"""The detections of a batch whose pictures several devices share."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import Future
from threading import Lock

from engine.types import Detections, DeviceId


class SharedBatch(Future[list[Detections]]):
    """Done when every picture is.

    devices: which one did each picture. failures: by position, why a picture has no detections (those in the result are empty then).
    shares: where several devices did each picture together, how many pictures' worth of work each of them did.
    """

    def __init__(self, pictures: int, device: DeviceId) -> None:
        super().__init__()
        self.devices = [device] * pictures
        self.failures: dict[int, str] = {}
        self.shares: Mapping[DeviceId, float] | None = None
        self._found = [Detections()] * pictures
        self._left = pictures
        self._counting = Lock()

    def put(self, position: int, device: DeviceId, found: Detections | None, failure: str = "") -> None:
        """One picture's detections or, if it has none, why. From any thread, once for each picture."""
        with self._counting:
            self.devices[position] = device
            if found is None:
                self.failures[position] = failure
            else:
                self._found[position] = found
            self._left -= 1
            done = not self._left
        if done:
            self.set_result(self._found)
