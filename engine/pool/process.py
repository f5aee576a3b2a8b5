"""One device's worker as the pool sees it: start, talk, reap, and the staged shutdown of all workers."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from multiprocessing.connection import Connection, wait

from engine.pool.host import Host
from engine.pool.protocol import Failed, FromWorker, Setup, Stop, Stopped, ToWorker
from engine.processes.child import Conversation
from engine.processes.outcome import Outcome
from engine.processes.restarts import RestartBudget
from engine.types import DeviceId

STOP_SECONDS = 1.0
"""How long workers get to stop by themselves."""


class RemoteWorker(Conversation):
    """A device's current worker. host: where it runs. attempt: how many were started. leaving: for a device that was removed, until when
    the pool waits for its last results (monotonic)."""

    last_types = (Failed, Stopped)

    def __init__(self, device: DeviceId, host: Host) -> None:
        super().__init__()
        self.device = device
        self.host = host
        self.attempt = 0
        self.budget = RestartBudget()
        self.leaving: float | None = None
        self._connection: Connection[ToWorker, FromWorker] | None = None

    @property
    def alive(self) -> bool:
        """Whether there is a worker that has not been reaped."""
        return self._connection is not None

    @property
    def connection(self) -> Connection[ToWorker, FromWorker]:
        """See ``Conversation``."""
        assert self._connection is not None
        return self._connection

    @property
    def ended_alone(self) -> bool:
        """Whether it has ended in order, so that other workers in its process go on."""
        return isinstance(self.exit_message, Stopped) or (isinstance(self.exit_message, Failed) and not self.exit_message.retry)

    def start(self, setup: Setup) -> None:
        """Start a worker; messages follow."""
        self.attempt += 1
        self.exit_message = None
        self._connection = self.host.admit(setup)

    def frozen(self) -> bool:
        """See ``Conversation``."""
        return self.host.frozen()

    def kill_frozen(self) -> None:
        """See ``Conversation``."""
        self.exit_message = self.host.kill_frozen()

    def leave(self) -> None:
        """Ask it to stop, since its device was removed."""
        self.leaving = time.monotonic() + STOP_SECONDS
        self.send(Stop())

    def remaining(self) -> Iterator[FromWorker]:
        """What a worker that has ended had sent."""
        while self.connection.poll() and (message := self.receive()) is not None:
            yield message

    def reap(self, exit_code: int | None = None) -> Outcome:
        """Release what belongs to it. exit_code: of its process, if that has ended with it."""
        self.connection.close()
        self._connection = None
        return Outcome(exit_code, self.exit_message if isinstance(self.exit_message, Failed) else None)


def stop_all(workers: Iterable[RemoteWorker]) -> Iterator[tuple[RemoteWorker, FromWorker]]:
    """Staged shutdown of the workers that are alive. Yields their last messages; it has to be exhausted.

    Ask, so that statistics arrive and the device is released in order. Keep reading: a worker that is sending cannot
    stop. After ``STOP_SECONDS`` end their processes: the user is waiting, and they hold nothing of value any more.
    """
    living = [worker for worker in workers if worker.alive]
    try:
        for worker in living:
            worker.send(Stop())
        deadline = time.monotonic() + STOP_SECONDS
        left = {worker.connection: worker for worker in living}
        while left and (ready := wait(list(left), max(0.0, deadline - time.monotonic()))):
            for connection in ready:
                worker = left[connection]  # type: ignore[index]
                message = worker.receive()
                if message is not None:
                    yield worker, message
                if message is None or worker.exit_message is not None:
                    del left[worker.connection]
    finally:
        for worker in living:
            worker.host.release()
        for worker in living:
            worker.reap(worker.host.end())
