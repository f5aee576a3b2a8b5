"""The processes that workers run in: one for each device, or one for all of them.

Each worker is a thread with its own connection to the pool, so both cases are the same for the pool. Only the effect of a failure
differs: a crash, an unrecoverable CUDA error or a hanging worker ends the process, with all workers in it.
"""

from __future__ import annotations

import logging
import multiprocessing
import threading
from collections.abc import Callable
from multiprocessing import reduction
from multiprocessing.connection import Connection
from typing import Any, Protocol, TypeAlias

from framefleet.engine.pool.protocol import FromWorker, Setup, ToWorker
from framefleet.engine.processes.child import NICE, ChildProcess
from framefleet.engine.processes.outcome import THE_WORKER, Outcome

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
            self._process = ChildProcess(
                self._name, main, self._worker_main, words=THE_WORKER, patience=setup.stall_seconds, nice=self._nice
            )
        connection, theirs = multiprocessing.Pipe()
        with theirs:
            try:
                self._process.connection.send(setup)
                reduction.send_handle(self._process.connection, theirs.fileno(), self._process.pid)
            except (OSError, RuntimeError) as error:  # it has died: the worker's connection ends, too
                _log.debug("%s: %s was not started: %s", self._name, setup.device, error)
        self._workers += 1
        return connection

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
        return Outcome(None) if process is None else process.end()
