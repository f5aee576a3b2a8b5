"""The workers of a run: which ones ask for work, which ones are idle, and which work an idle one takes over."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator

from framefleet.engine.pool.protocol import Revoke
from framefleet.engine.pool.scheduling.state import OpenSource, WorkerState
from framefleet.engine.pool.scheduling.throughput import Load, choose_revoke
from framefleet.engine.types import DeviceId


class Workers(dict[DeviceId, WorkerState]):
    """The state of each started worker.

    clock: returns seconds. together: whether all workers share one process, and so end together.

    Attributes: asking: devices that ask for work, one entry for each idle decode thread, in order.
    """

    def __init__(self, clock: Callable[[], float], together: bool) -> None:
        super().__init__()
        self._clock = clock
        self.together = together
        self.asking: deque[DeviceId] = deque()

    def loads(self) -> dict[DeviceId, Load]:
        """The loads of all workers now."""
        now, promised = self._clock(), dict.fromkeys(self, 0)
        for worker in self.values():
            for key, taker in worker.revoked.items():
                if taker in promised and key in worker.remaining:
                    promised[taker] += worker.remaining[key].frames
        return {device: worker.load(now, promised[device]) for device, worker in self.items()}

    def ask_no_more(self, device: DeviceId) -> None:
        """Remove a device from those that ask for work."""
        self.asking = deque(other for other in self.asking if other != device)

    def ask_first(self, device: DeviceId) -> None:
        """Put a device that asks for work before the others."""
        if device in self.asking:
            self.asking.remove(device)
            self.asking.appendleft(device)

    def others_work(self, device: DeviceId) -> bool:
        """Whether other devices have an engine now."""
        return any(worker.decode_threads and not worker.leaving for other, worker in self.items() if other != device)

    def idle(self, worker: WorkerState) -> bool:
        """Whether no worker in the process has work."""
        return all(other.idle for other in self._same_process(worker))

    def isolated(self, worker: WorkerState) -> bool:
        """Whether the worker gets no work because of a suspect task in its process."""
        return any(other.isolated or (other.waits and other is not worker) for other in self._same_process(worker))

    def can_open(self, worker: WorkerState, source: OpenSource) -> bool:
        """Whether the worker may open the source: a suspect one only while no other work would end with its process."""
        able = not worker.leaving and not self.isolated(worker)
        return able and (not source.suspect or (self.idle(worker) and worker.decode_threads > 0))

    def revokes(self) -> Iterator[tuple[DeviceId, Revoke]]:
        """For each idle decode thread, revoke a queued segment of a slower device."""
        loads = self.loads() if self.asking else {}
        for device in dict.fromkeys(self.asking):
            worker = self[device]
            if self.isolated(worker) or worker.waits:
                continue
            promised = sum(other == device for holder in self.values() for other in holder.revoked.values())
            for _ in range(self.asking.count(device) - promised):
                others = {other: load for other, load in loads.items() if other != device and not self[other].leaving}
                choice = choose_revoke(loads[device], others)
                if choice is None:
                    break
                holder, key = choice
                self[holder].revoked[key] = device
                loads = self.loads()
                yield holder, Revoke(*key)

    def _same_process(self, worker: WorkerState) -> Iterable[WorkerState]:
        """All workers in the process of this one."""
        return self.values() if self.together else (worker,)
