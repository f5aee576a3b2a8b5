"""The strategies in which all devices form a group, which is one worker of the pool: ``frames``, ``tiles`` and ``depth``."""

from collections.abc import Sequence

from framefleet.engine.pool.scheduling.strategies.segments import Segments
from framefleet.engine.settings import check_depth
from framefleet.engine.types import DeviceId


class Frames(Segments):
    """The devices share the frames, also of files that cannot be cut. Members take segments, or batches when they have a free slot."""

    name = "frames"
    elastic = False
    grouped = True

    def __init__(self, devices: Sequence[DeviceId]) -> None:
        super().__init__([DeviceId.group(*devices)])


class Tiles(Frames):
    """The members take tiles of a frame, for frames much larger than the network's input."""

    name = "tiles"
    splits_frames = True


class Depth(Frames):
    """One engine spans all devices, each with a stage of the network. For networks too large for one device.

    Raises UsageError if the devices cannot share a network.
    """

    name = "depth"
    grouped = False

    def __init__(self, devices: Sequence[DeviceId]) -> None:
        check_depth(devices)
        super().__init__(devices)
