"""Strategy ``segments``: files are cut at keyframes, and all devices work on the oldest file."""

from collections.abc import Sequence

from framefleet.engine.pool.scheduling.strategies.base import ChunkSize, Strategy, Work, window_segments
from framefleet.engine.types import DeviceId


class Segments(Strategy):
    """A device gets the next segment of the oldest source that has one."""

    name = "segments"
    steals = True

    def __init__(self, devices: Sequence[DeviceId]) -> None:
        super().__init__(devices)
        self._decode_threads = dict.fromkeys(self.workers, 1)

    def next(self, device: DeviceId, decode_threads: int, chunk_size: ChunkSize) -> Work | None:
        """See ``Strategy.next``."""
        self._decode_threads[device] = decode_threads
        window = window_segments(*self._decode_threads.values())
        taken = (queue.take(device, decode_threads, window, chunk_size) for queue in self._queues.values())
        return next((work for work in taken if work is not None), None)

    def lose(self, device: DeviceId) -> None:
        """See ``Strategy.lose``: no segment belongs to a device."""
        self._decode_threads.pop(device, None)
