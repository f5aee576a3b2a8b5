"""The processes that workers run in, one for each device or one for all of them, and the pool's side of a worker.

Each worker is a thread with its own connection to the pool, so both cases are the same for the pool. Only the effect of a failure
differs: a crash, an unrecoverable CUDA error or a hanging worker ends the process, with all workers in it.
"""

from __future__ import annotations

import logging
import multiprocessing
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from multiprocessing import reduction
from multiprocessing.connection import Connection, wait
from typing import Any, Protocol, TypeAlias

from framefleet.engine.devices import affinity, discovery
from framefleet.engine.notices import Notice, Option, UsageError
from framefleet.engine.pool import prepared
from framefleet.engine.pool.protocol import Failed, FromWorker, Setup, Stop, Stopped, ToWorker, Unreachable
from framefleet.engine.processes.child import NICE, ChildProcess, Conversation
from framefleet.engine.processes.outcome import THE_WORKER, Outcome, RestartBudget
from framefleet.engine.settings import RunSettings
from framefleet.engine.types import DeviceId

WorkerMain: TypeAlias = "Callable[[Connection[FromWorker, ToWorker], Setup], None]"
"""What a worker's thread runs."""

_log = logging.getLogger(__name__)


def main(control: Connection[Any, Setup], worker_main: WorkerMain) -> None:
    """Run in the process: start a thread for each worker that the pool sends, until the pool closes ``control``."""
    while True:
        try:
            setup = control.recv()
            connection: Connection[FromWorker, ToWorker] = type(control)(reduction.recv_handle(control))  # type: ignore[assignment]
        except (EOFError, OSError):
            return
        threading.Thread(target=worker_main, args=(connection, setup), name=str(setup.device), daemon=True).start()


class WorkerHost(Protocol):
    """Where a worker runs: a process of this machine, or of another one."""

    def admit(self, setup: Setup) -> Connection[ToWorker, FromWorker]:
        """Start a worker and return the connection to it."""

    def dismiss(self) -> None:
        """Note that a worker has ended by itself."""

    def release(self) -> None:
        """Let the process end, without waiting for it."""

    def end(self) -> Outcome:
        """End the process. Returns how it ended."""


class Host:
    """The pool's side of a process for workers on this machine, a ``WorkerHost``.

    The first worker starts it, also after it has ended. nice: see ``ChildProcess``.
    """

    def __init__(self, name: str, worker_main: WorkerMain, nice: int = NICE) -> None:
        self._name = name
        self._worker_main = worker_main
        self._nice = nice
        self._process: ChildProcess | None = None
        self._workers = 0

    def admit(self, setup: Setup) -> Connection[ToWorker, FromWorker]:
        """Start a worker and return the connection to it."""
        if self._process is None:
            self._process = self._start(setup.stall_seconds)
        connection, theirs = multiprocessing.Pipe()
        with theirs:
            try:
                self._process.connection.send(setup)
                reduction.send_handle(self._process.connection, theirs.fileno(), self._process.pid)
            except (OSError, RuntimeError) as error:  # it has died: the worker's connection ends, too
                _log.debug("%s: %s was not started: %s", self._name, setup.device, error)
        self._workers += 1
        return connection

    def _start(self, patience: float) -> ChildProcess:
        if self._nice == NICE and (waiting := prepared.take(self._name, patience, main, self._worker_main)) is not None:
            return waiting
        return ChildProcess(self._name, main, self._worker_main, words=THE_WORKER, patience=patience, nice=self._nice)

    def dismiss(self) -> None:
        """Note that a worker has ended by itself. After the last one, the process ends."""
        self._workers -= 1
        if self._workers == 0:
            self.end()

    def kill(self) -> None:
        """Kill the process."""
        if (process := self._process) is not None:  # another thread may end it
            process.kill()

    def release(self) -> None:
        """Let the process end, without waiting for it."""
        if self._process is not None:
            self._process.release()

    def end(self) -> Outcome:
        """End the process. Returns how it ended."""
        process, self._process, self._workers = self._process, None, 0
        if process is None:
            return Outcome(None)
        outcome = process.end()
        prepared.prepare_again()
        return outcome


class Hosts:
    """The processes of this machine, one for each device."""

    def devices(self, asked: Sequence[DeviceId] = ()) -> tuple[DeviceId, ...]:
        """The devices to use. asked: by the user; none = the best ones. Raises DeviceError, UsageError."""
        return discovery.chosen_devices(asked)

    def watch(self, join: Callable[[DeviceId], None]) -> None:
        """Let devices that are found later join the run. join: see ``EnginePool.add_device``."""

    def check(self, settings: RunSettings, devices: Sequence[DeviceId]) -> None:  # noqa: ARG002
        """Check that the devices can run here with these settings. Raises UsageError if they cannot."""
        if remote := [device for device in devices for member in device.members if member.node]:
            raise UsageError(Notice("pool.device_of_cluster", device=str(remote[0]), option=Option("cluster", "ADDRESS")))

    def host(self, device: DeviceId, worker_main: WorkerMain) -> WorkerHost:
        """The host for a device's workers. worker_main: what a worker runs."""
        return Host(str(device), worker_main)

    def cores(self, device: DeviceId) -> int:  # noqa: ARG002
        """Number of processor cores that the device's machine may use."""
        return affinity.usable_cores()


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
        """The connection to the child, for ``multiprocessing.connection.wait``."""
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
        running = {worker.connection: worker for worker in living}
        while running and (ready := wait(list(running), max(0.0, deadline - time.monotonic()))):
            for connection in ready:
                worker = running[connection]  # type: ignore[index]
                message = worker.receive()
                if message is not None:
                    yield worker, message
                if message is None or worker.exit_message is not None:
                    del running[worker.connection]
    finally:
        living = [worker for worker in living if worker.alive]  # a second signal may have repeated the shutdown before this one ends
        for worker in living:
            worker.host.release()
        for worker in living:
            worker.reap(worker.host.end())
