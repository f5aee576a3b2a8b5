"""Every device works on the oldest source: files are cut at keyframes and the pieces pulled by whoever is free."""

from __future__ import annotations

from collections.abc import Sequence

from engine.media.types import Segment
from engine.pool.scheduling.strategies.base import Piece, Strategy, Work
from engine.pool.scheduling.strategies.source_queue import SourceQueue, ahead
from engine.types import DeviceId


class Segments(Strategy):
    """Any device takes the next segment of the oldest source that has one to give."""

    name = "segments"
    lends = True

    def __init__(self, devices: Sequence[DeviceId]) -> None:
        self._decode_threads = dict.fromkeys(devices, 1)
        self._queues: dict[int, SourceQueue] = {}

    def open(self, source: int, segments: Sequence[Segment]) -> None:
        """See ``Strategy.open``."""
        opened = {**self._queues, source: SourceQueue(source, segments)}
        self._queues = dict(sorted(opened.items()))  # a later one may have been opened sooner, by another device

    def next(self, device: DeviceId, decode_threads: int, piece: Piece) -> Work | None:
        """See ``Strategy.next``."""
        self._decode_threads[device] = decode_threads
        window = ahead(*self._decode_threads.values())
        return next(
            (work for queue in self._queues.values() if (work := queue.take(device, decode_threads, window, piece)) is not None), None
        )

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
        self._decode_threads.pop(device, None)
