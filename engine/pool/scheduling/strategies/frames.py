"""Every file is decoded once, and its frames are dealt to all devices: for sources that cannot be cut."""

from __future__ import annotations

from collections.abc import Sequence

from engine.pool.scheduling.strategies.segments import Segments
from engine.types import DeviceId


class Frames(Segments):
    """One worker for all devices, which does the oldest source; who does which frame is decided there, by who is free."""

    name = "frames"
    elastic = False
    dealt = True

    @classmethod
    def workers(cls, devices: Sequence[DeviceId]) -> Sequence[DeviceId]:
        """See ``Strategy.workers``."""
        return (DeviceId.group(*devices),)
