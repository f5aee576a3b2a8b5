"""Every source stays on one device: nothing is shared between devices, and results never wait for another one."""

from __future__ import annotations

from collections.abc import Sequence

from engine.media.types import Segment
from engine.pool.scheduling.strategies.base import Piece, Strategy, Work
from engine.pool.scheduling.strategies.source_queue import SourceQueue, ahead
from engine.types import DeviceId


class Streams(Strategy):
    """A device that has handed out all of its sources takes the oldest one that belongs to nobody."""

    name = "streams"

    def __init__(self) -> None:
        self._queues: dict[int, SourceQueue] = {}
        self._owners: dict[int, DeviceId] = {}

    def open(self, source: int, segments: Sequence[Segment]) -> None:
        """See ``Strategy.open``."""
        opened = {**self._queues, source: SourceQueue(source, segments)}
        self._queues = dict(sorted(opened.items()))  # a later one may have been opened sooner, by another device

    def next(self, device: DeviceId, decode_threads: int, piece: Piece) -> Work | None:  # noqa: ARG002
        """See ``Strategy.next``."""
        window = ahead(decode_threads)
        for source, queue in self._queues.items():
            if self._owners.get(source) == device and not queue.exhausted:
                # even when it has to wait: a second source now would only keep the first one longer
                return queue.take(device, decode_threads, window)
        for source, queue in self._queues.items():
            if source not in self._owners and (work := queue.take(device, decode_threads, window)) is not None:
                self._owners[source] = device
                return work
        return None

    def give_back(self, work: Work) -> None:
        """See ``Strategy.give_back``."""
        self._queues[work.source].give_back(work)

    def done(self, work: Work) -> None:
        """See ``Strategy.done``."""
        self._queues[work.source].done(work)

    def close(self, source: int) -> None:
        """See ``Strategy.close``."""
        self._queues.pop(source, None)
        self._owners.pop(source, None)

    def lose(self, device: DeviceId) -> None:
        """Its sources go to whoever asks next."""
        self._owners = {source: owner for source, owner in self._owners.items() if owner != device}
