"""Strategy ``depth``: the network is cut into stages, one per device. For networks too large for one device."""

from collections.abc import Sequence

from engine.pool.scheduling.strategies.frames import Frames
from engine.settings import check_depth
from engine.types import DeviceId


class Depth(Frames):
    """One worker, whose engine spans all devices. Raises UsageError if the devices cannot share a network."""

    name = "depth"
    grouped = False

    def __init__(self, devices: Sequence[DeviceId]) -> None:
        check_depth(devices)
        super().__init__(devices)
