"""One device's worker as the pool sees it: start, talk, bury, and the staged shutdown of all of them."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable, Iterator
from multiprocessing.connection import Connection, wait

from engine.pool.host import Host
from engine.pool.outcome import RestartBudget, WorkerOutcome
from engine.pool.protocol import Failed, FromWorker, Ready, Setup, Stop, Stopped, ToWorker
from engine.types import DeviceId

STOP_SECONDS = 1.0
"""How long workers get to stop by themselves."""

_log = logging.getLogger(__name__)


class RemoteWorker:
    """A device's current worker. host: where it runs. attempt: how many were started. leaving: when its device, which was removed,
    is waited for no longer (monotonic), None = it was not."""

    def __init__(self, device: DeviceId, host: Host) -> None:
        self.device = device
        self.host = host
        self.attempt = 0
        self.budget = RestartBudget()
        self.leaving: float | None = None
        self.exit_message: Failed | Stopped | None = None
        self._connection: Connection[ToWorker, FromWorker] | None = None
        self._patience = 0.0
        self._silence: float | None = None

    @property
    def alive(self) -> bool:
        """Whether there is a worker that has not been buried."""
        return self._connection is not None

    @property
    def connection(self) -> Connection[ToWorker, FromWorker]:
        """What ``multiprocessing.connection.wait`` should watch."""
        assert self._connection is not None
        return self._connection

    @property
    def ended_alone(self) -> bool:
        """Whether it has ended in order, so that its process goes on as long as there are others in it."""
        return isinstance(self.exit_message, Stopped) or (isinstance(self.exit_message, Failed) and not self.exit_message.retry)

    def start(self, setup: Setup) -> None:
        """Start a worker; messages follow."""
        self.attempt += 1
        self.exit_message = self._silence = None
        self._patience = setup.stall_seconds
        self._connection = self.host.admit(setup)

    def send(self, message: ToWorker) -> None:
        """Send; to a dead worker nothing, which is noticed elsewhere."""
        try:
            self.connection.send(message)
        except OSError as error:
            _log.debug("%s: %s was not sent: %s", self.device, message, error)

    def receive(self) -> FromWorker | None:
        """The next message; None when there will be no more. There will be none after ``last_words``."""
        try:
            message = self.connection.recv()
        except (EOFError, OSError):
            return None
        if isinstance(message, Failed | Stopped):
            self.exit_message = message
        if self._silence is not None or isinstance(message, Ready):
            self._silence = 0.0
        return message

    def silent(self, seconds: float) -> bool:
        """Nothing came for so many seconds more. Whether it hangs: once its engine is built, a worker reports twice a second."""
        if self._silence is None:
            return False
        self._silence += seconds
        return self._silence > self._patience

    def kill(self) -> None:
        """End a worker that hangs, and its process."""
        self.exit_message = Failed(f"the worker gave no sign of life for {self._patience:.0f} s", retry=True)
        self.host.kill()

    def leave(self) -> None:
        """Ask it to stop, since its device was removed."""
        self.leaving = time.monotonic() + STOP_SECONDS
        self.send(Stop())

    def remaining(self) -> Iterator[FromWorker]:
        """What a worker that has ended had sent."""
        while self.connection.poll() and (message := self.receive()) is not None:
            yield message

    def reap(self, exit_code: int | None = None) -> WorkerOutcome:
        """Release what belongs to it. exit_code: of its process, if that has ended with it."""
        self.connection.close()
        self._connection = None
        if isinstance(self.exit_message, Failed):
            return WorkerOutcome(exit_code, self.exit_message.message, self.exit_message.retry)
        return WorkerOutcome(exit_code)


def stop_all(workers: Iterable[RemoteWorker]) -> Iterator[tuple[RemoteWorker, FromWorker]]:
    """Staged shutdown of the workers that are alive. Yields their last messages; it has to be exhausted.

    Ask, so that statistics arrive and the device is released in order. Keep reading: a worker that is sending cannot
    stop. Past ``STOP_SECONDS`` end their processes: the user is waiting, and nothing of value is left in there.
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
