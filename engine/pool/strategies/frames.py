"""Every file is decoded once, and its frames are dealt to all devices: for sources that cannot be cut."""

from __future__ import annotations

from collections.abc import Sequence

from engine.media.types import SourceInfo, SourceKind
from engine.pool.strategies.segments import Segments
from engine.types import DeviceId

MOST_VIDEOS = 3
"""More are decoded faster on a device each: of 1080p H.264 one process decodes about 2,000 frames/s, an H200 570 of each video."""

LEAST_FRAMES = 1000
"""That dealing is known to pay is seen when the workers have been started, and they are started again then: a second or two, in which
one device alone does about so many frames."""


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
    """Whether at least two devices have processors of their own: CPU devices share the cores, and gain nothing from each other."""
    return sum(device.kind != "cpu" for device in devices) >= 2


def pays(sources: Sequence[SourceInfo], devices: Sequence[DeviceId]) -> bool:
    """Whether dealing the frames of these sources employs devices that would be idle otherwise, and for long enough."""
    uncut = all(source.kind is SourceKind.VIDEO and len(source.segments) == 1 for source in sources)
    few = 0 < len(sources) < len(devices) and len(sources) <= MOST_VIDEOS
    return uncut and few and apart(devices) and sum(source.frames for source in sources) >= LEAST_FRAMES
