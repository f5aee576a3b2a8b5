"""Strategy ``frames``: every file is decoded once, and its frames are shared among all devices. For files that cannot be cut."""

from __future__ import annotations

from collections.abc import Sequence

from engine.pool.scheduling.strategies.segments import Segments
from engine.types import DeviceId


class Frames(Segments):
    """One worker, whose device is the group of all devices. Its members take batches when they are free."""

    name = "frames"
    elastic = False
    grouped = True

    def __init__(self, devices: Sequence[DeviceId]) -> None:
        super().__init__([DeviceId.group(*devices)])
