"""Every device works on the oldest source: files are cut at keyframes and the pieces pulled by whoever is free."""

from __future__ import annotations

from collections.abc import Sequence

from engine.media.types import Segment
from engine.pool.strategies.base import Strategy, Work
from engine.pool.strategies.source_queue import SourceQueue
from engine.types import DeviceId


class Segments(Strategy):
    """Any device takes the next segment of the oldest source that has one to give."""

    name = "segments"

    def __init__(self, devices: Sequence[DeviceId]) -> None:
        # two segments per device, the one under way and the one that follows, and a little for a slow head
        self._window = 2 * len(devices) + 2
        self._queues: dict[int, SourceQueue] = {}

    def open(self, source: int, segments: Sequence[Segment]) -> None:
        """See ``Strategy.open``."""
        self._queues[source] = SourceQueue(source, segments, self._window)

    def next(self, device: DeviceId) -> Work | None:
        """See ``Strategy.next``."""
        return next((work for queue in self._queues.values() if (work := queue.take(device)) is not None), None)

    def give_back(self, work: Work) -> None:
        """See ``Strategy.give_back``."""
        self._queues[work.source].give_back(work)

    def done(self, work: Work) -> None:
        """See ``Strategy.done``."""
        self._queues[work.source].done(work)

    def close(self, source: int) -> None:
        """See ``Strategy.close``."""
        self._queues.pop(source, None)

    def lose(self, device: DeviceId) -> None:
        """Nothing belongs to a device here."""
