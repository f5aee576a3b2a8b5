"""Base class of the strategies, which choose the next segment for a device. No processes are involved."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar

from framefleet.engine.media.types import Segment
from framefleet.engine.pool.position import Position
from framefleet.engine.pool.scheduling.strategies.source_queue import ChunkSize, SourceQueue, Work
from framefleet.engine.types import DeviceId


class Strategy(ABC):
    """Assigns work on request. The caller returns each work once, to ``done`` or ``give_back``, unless its source is closed.

    workers: the devices that get a worker: the devices of the run, or one group of them.
    """

    name: ClassVar[str]
    """As events and reports show it."""
    elastic: ClassVar[bool] = True
    """Whether devices can join and leave a run."""
    grouped: ClassVar[bool] = False
    """Whether the worker's device is a group whose members each have an engine."""
    splits_frames: ClassVar[bool] = False
    """Whether the members of the group share each frame."""
    steals: ClassVar[bool] = False
    """Whether an idle device may take over queued frames from a slower one."""

    def __init__(self, devices: Sequence[DeviceId]) -> None:
        self.workers = tuple(devices)
        self._queues: dict[int, SourceQueue] = {}  # of the open sources, by number, in the order in which they are done

    def open(self, source: int, segments: Sequence[Segment], position: Position | None = None) -> None:
        """Add a probed source. Sources are done in the order of their numbers. position: where an earlier run stopped."""
        self._queues = dict(sorted({**self._queues, source: SourceQueue(source, segments, position)}.items()))

    @abstractmethod
    def next(self, device: DeviceId, decode_threads: int, chunk_size: ChunkSize) -> Work | None:
        """The next work for a device, None if the device has to wait.

        decode_threads: number of segments that the device decodes at once. chunk_size: used by a strategy that steals.
        """

    def give_back(self, work: Work) -> None:
        """Take back unfinished work. Another device continues after the first ``skip`` frames."""
        self._queues[work.source].give_back(work)

    def done(self, work: Work) -> None:
        """Note that a segment is done to its end."""
        self._queues[work.source].done(work)

    def close(self, source: int) -> None:
        """Remove the work of a source that is finished or cancelled."""
        self._queues.pop(source, None)

    @abstractmethod
    def lose(self, device: DeviceId) -> None:
        """Remove a device that makes no more requests. Its work has been given back before."""
