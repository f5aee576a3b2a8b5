"""The network is cut into stages, one on each device, and every frame passes all of them: for networks too large for one device."""

from __future__ import annotations

from collections.abc import Sequence

from engine.backends.depth import depth_members
from engine.pool.scheduling.strategies.frames import Frames
from engine.types import DeviceId


class Depth(Frames):
    """One worker, whose engine spans all devices."""

    name = "depth"
    dealt = False

    @classmethod
    def workers(cls, devices: Sequence[DeviceId]) -> Sequence[DeviceId]:
        """See ``Strategy.workers``.

        Raises:
            UsageError: these devices cannot share a network.
        """
        group = DeviceId.group(*devices)
        depth_members(group)
        return (group,)
