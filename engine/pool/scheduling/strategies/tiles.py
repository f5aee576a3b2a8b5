"""Every frame is cut into tiles, and those are dealt to all devices: for frames much larger than the network's input."""

from __future__ import annotations

from engine.pool.scheduling.strategies.frames import Frames


class Tiles(Frames):
    """As ``Frames``, but what is dealt are parts of a frame."""

    name = "tiles"
    together = True
