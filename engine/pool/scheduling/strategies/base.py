"""Base of the strategies: which device does which segment next. Plain bookkeeping without processes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar

from engine.media.types import Segment
from engine.pool.scheduling.strategies.source_queue import ChunkSize, SourceQueue, Work
from engine.types import DeviceId


class Strategy(ABC):
    """Hands out work on demand. Each work from ``next`` comes back once, by ``done`` or ``give_back``, unless its source is closed.

    workers: the devices that get a worker: those of the run, or a group of them.
    """

    name: ClassVar[str]
    elastic: ClassVar[bool] = True
    """Whether devices can join and leave a run."""
    grouped: ClassVar[bool] = False
    """Whether a worker's device is a group whose members have an engine each."""
    splits_frames: ClassVar[bool] = False
    """Whether the members of the group do each frame together."""
    steals: ClassVar[bool] = False
    """Whether an idle device may take over queued frames from a slower one."""

    def __init__(self, devices: Sequence[DeviceId]) -> None:
        self.workers = tuple(devices)
        self._queues: dict[int, SourceQueue] = {}

    def open(self, source: int, segments: Sequence[Segment]) -> None:
        """Take a source that was probed. Sources are done in the order of their numbers."""
        self._queues = dict(sorted({**self._queues, source: SourceQueue(source, segments)}.items()))

    @abstractmethod
    def next(self, device: DeviceId, decode_threads: int, chunk_size: ChunkSize) -> Work | None:
        """Work for a device that asks, None if the device has to wait.

        decode_threads: segments that the device works on at once. chunk_size: used by a strategy that steals.
        """

    def give_back(self, work: Work) -> None:
        """Take back work that is not done to its end: another device goes on after its first ``skip`` frames."""
        self._queues[work.source].give_back(work)

    def done(self, work: Work) -> None:
        """The segment is done to its end."""
        self._queues[work.source].done(work)

    def close(self, source: int) -> None:
        """Forget the work of a source that is finished or cancelled."""
        self._queues.pop(source, None)

    @abstractmethod
    def lose(self, device: DeviceId) -> None:
        """Forget a device that is not going to ask again. Its work has been given back."""
