"""Strategy ``streams``: each source stays on one device, so that its results never wait for another device."""

from collections.abc import Sequence

from framefleet.engine.pool.scheduling.strategies.base import ChunkSize, Strategy, Work, window_segments
from framefleet.engine.types import DeviceId


class Streams(Strategy):
    """A device without unassigned segments in its own sources takes the oldest source that no device has."""

    name = "streams"

    def __init__(self, devices: Sequence[DeviceId]) -> None:
        super().__init__(devices)
        self._owners: dict[int, DeviceId] = {}

    def next(self, device: DeviceId, decode_threads: int, chunk_size: ChunkSize) -> Work | None:  # noqa: ARG002
        """See ``Strategy.next``."""
        window = window_segments(decode_threads)
        for source, queue in self._queues.items():
            if self._owners.get(source) == device and not queue.exhausted:
                # even if this is None and the device has to wait: a second source would delay the first one
                return queue.take(device, decode_threads, window)
        for source, queue in self._queues.items():
            if source not in self._owners and (work := queue.take(device, decode_threads, window)) is not None:
                self._owners[source] = device
                return work
        return None

    def give_back(self, work: Work) -> None:
        """See ``Strategy.give_back``. A source whose device is refused is free for other devices."""
        super().give_back(work)
        if work.crashes.refused is not None:
            self._owners.pop(work.source, None)

    def close(self, source: int) -> None:
        """See ``Strategy.close``."""
        super().close(source)
        self._owners.pop(source, None)

    def lose(self, device: DeviceId) -> None:
        """See ``Strategy.lose``. Its sources are free for other devices."""
        self._owners = {source: owner for source, owner in self._owners.items() if owner != device}
