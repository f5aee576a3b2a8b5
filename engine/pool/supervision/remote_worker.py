"""The pool's side of one device's worker: start, messages, reaping, and the staged shutdown of all workers."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from dataclasses import replace
from multiprocessing.connection import Connection, wait

from framefleet.engine.pool.protocol import Failed, FromWorker, Setup, Stop, Stopped, ToWorker, Unreachable
from framefleet.engine.pool.supervision.host import WorkerHost
from framefleet.engine.processes.child import Conversation
from framefleet.engine.processes.outcome import Outcome
from framefleet.engine.processes.restart_budget import RestartBudget
from framefleet.engine.types import DeviceId

STOP_SECONDS = 1.0
"""How long the pool waits for workers to stop by themselves."""


class RemoteWorker(Conversation):
    """A device's current worker.

    host: the process it runs in. attempt: number of starts. without_frame: number of workers in a row that something outside ended before
    a frame was done. leaving: for a removed device, until when the pool waits for its last results (monotonic time, seconds).
    """

    last_types = (Failed, Stopped)

    def __init__(self, device: DeviceId, host: WorkerHost) -> None:
        super().__init__()
        self.device = device
        self.host = host
        self.attempt = self.without_frame = 0
        self.budget = RestartBudget()
        self.leaving: float | None = None
        self._connection: Connection[ToWorker, FromWorker] | None = None

    @property
    def alive(self) -> bool:
        """Whether a worker was started and is not reaped yet."""
        return self._connection is not None

    @property
    def connection(self) -> Connection[ToWorker, FromWorker]:
        """See ``Conversation``."""
        assert self._connection is not None
        return self._connection

    @property
    def ended_alone(self) -> bool:
        """Whether neither the worker's process nor its tasks are to blame for its end, so that other workers in the process go on."""
        return isinstance(self.exit_message, Stopped | Unreachable) or (
            isinstance(self.exit_message, Failed) and not self.exit_message.retry
        )

    def start(self, setup: Setup) -> None:
        """Start a worker."""
        self.attempt += 1
        self.exit_message = None
        self._connection = self.host.admit(setup)

    def leave(self) -> None:
        """Ask the worker to stop because its device was removed."""
        self.leaving = time.monotonic() + STOP_SECONDS
        self.send(Stop())

    def remaining(self) -> Iterator[FromWorker]:
        """Yield the unread messages of a worker that has ended."""
        while self.connection.poll() and (message := self.receive()) is not None:
            yield message

    def reap(self, process: Outcome) -> Outcome:
        """Close the connection of a worker that has ended, and return how it ended. process: how its process ended, if it did."""
        self.connection.close()
        self._connection = None
        return replace(process, exit_message=self.exit_message) if isinstance(self.exit_message, Failed) else process


def stop_all(workers: Iterable[RemoteWorker]) -> Iterator[tuple[RemoteWorker, FromWorker]]:
    """Shut all living workers down in stages. Yields their last messages; the caller has to exhaust the iterator.

    Stage 1 asks the workers to stop, so that they send their statistics and release their devices. It keeps reading, since a worker
    that is sending cannot stop. Stage 2, after ``STOP_SECONDS``, ends their processes.
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
        living = [worker for worker in living if worker.alive]  # a second signal may have repeated the shutdown before this one ends
        for worker in living:
            worker.host.release()
        for worker in living:
            worker.reap(worker.host.end())
