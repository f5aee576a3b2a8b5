"""Chooses the workers that open sources: only workers that have sent a message, and a second one if the first does not answer."""

from collections.abc import Callable, Iterator, Mapping
from itertools import islice

from framefleet.engine.pool.protocol import Probe
from framefleet.engine.pool.scheduling.state import OpenSource, WorkerState
from framefleet.engine.pool.scheduling.workers import Workers
from framefleet.engine.types import DeviceId

PROBE_SECONDS = 10.0
"""After this time without an answer, another worker opens the source, too: the first one may hang."""


class Probes:
    """The sources that are not open yet. clock: returns seconds."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._waiting: dict[int, OpenSource] = {}

    def __len__(self) -> int:
        """Number of sources that no worker opens."""
        return len(self._waiting)

    def add(self, source: OpenSource) -> None:
        """Add a source at the end of the queue."""
        self._waiting[source.number] = source

    def remove(self, source: OpenSource) -> None:
        """Remove a source that is finished."""
        self._waiting.pop(source.number, None)

    def assign(self, workers: Workers, room: int) -> Iterator[tuple[DeviceId, Probe]]:
        """Yield the messages to send to workers now. room: most sources to open."""
        late = self._clock() - PROBE_SECONDS
        held = {worker.probe.number: worker.probe for worker in workers.values() if worker.probe is not None}
        overdue = [source for source in held.values() if source.info is None and not source.suspect and source.asked < late]
        for source in [*overdue, *islice(self._waiting.values(), max(0, room))]:
            able = [
                (len(worker.works), device)
                for device, worker in workers.items()
                if worker.heard and worker.probe is None and workers.can_open(worker, source)
            ]
            if able:
                _, device = min(able)
                workers[device].probe = source
                source.asked = self._clock()
                self.remove(source)
                yield device, Probe(source.number, source.path)

    def lost(self, source: OpenSource, worker: WorkerState, others: Mapping[DeviceId, WorkerState]) -> bool:
        """Take back the source that a worker was opening when it ended. Returns whether opening it has ended a worker twice."""
        begun = (source.number, None) in worker.begun
        if begun and source.suspect:
            return True
        source.suspect |= begun
        if source.info is not None or any(other.probe is source for other in others.values()):
            return False
        if begun:
            self.add(source)
        else:
            self._waiting = {source.number: source} | self._waiting
        return False
