"""Strategy ``frames``: one worker decodes each file, and all devices share the frames. For files that cannot be cut."""

from collections.abc import Sequence

from engine.pool.scheduling.strategies.segments import Segments
from engine.types import DeviceId


class Frames(Segments):
    """One worker, whose device is the group of all devices. Members take batches when they have a free slot."""

    name = "frames"
    elastic = False
    grouped = True

    def __init__(self, devices: Sequence[DeviceId]) -> None:
        super().__init__([DeviceId.group(*devices)])
