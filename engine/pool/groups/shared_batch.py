"""The results of a batch whose pictures several devices share."""

from collections.abc import Mapping
from concurrent.futures import Future
from threading import Lock

from framefleet.engine.types import Detections, DeviceId, Found


class SharedBatch(Future[list[Found]]):
    """A future that is done when every picture is done.

    devices: the device of each picture. shares: if several devices share each picture, each device's part of the work, in pictures.
    """

    def __init__(self, pictures: int, device: DeviceId) -> None:
        super().__init__()
        self.devices = [device] * pictures
        self.shares: Mapping[DeviceId, float] | None = None
        self._found: list[Found] = [Detections()] * pictures
        self._missing = set(range(pictures))
        self._counting = Lock()

    def put(self, position: int, device: DeviceId, found: Found) -> None:
        """Set one picture's result. Any thread may call this, once per picture.

        Raises KeyError if the picture has a result already, which is a bug.
        """
        with self._counting:
            self._missing.remove(position)
            self.devices[position], self._found[position] = device, found
            done = not self._missing
        if done:
            self.set_result(self._found)
