"""Every file is decoded once, and its frames are dealt to all devices: for sources that cannot be cut."""

from __future__ import annotations

from collections.abc import Sequence

from engine.media.types import SourceInfo, SourceKind
from engine.pool.scheduling.strategies.segments import Segments
from engine.types import DeviceId

LEAST_FRAMES = 1000
"""With fewer there is nothing to gain: to find out what is faster, and to start the workers again, takes seconds."""


class Frames(Segments):
    """One worker for all devices, which does the oldest source; who does which frame is decided there, by who is free."""

    name = "frames"
    elastic = False
    dealt = True

    @classmethod
    def workers(cls, devices: Sequence[DeviceId]) -> Sequence[DeviceId]:
        """See ``Strategy.workers``."""
        return (DeviceId.group(*devices),)


def apart(devices: Sequence[DeviceId]) -> bool:
    """Whether at least two devices have processors of their own: CPU devices share the cores."""
    return sum(device.kind != "cpu" for device in devices) >= 2


def may_pay(sources: Sequence[SourceInfo], devices: Sequence[DeviceId]) -> bool:
    """Whether dealing the frames of these sources employs devices that would be idle otherwise, and for long enough to find out more."""
    uncut = all(source.kind is SourceKind.VIDEO and len(source.segments) == 1 for source in sources)
    return uncut and 0 < len(sources) < len(devices) and apart(devices) and sum(source.frames for source in sources) >= LEAST_FRAMES
