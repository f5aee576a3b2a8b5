"""The processes that workers run in: one for each device, or one for all of them.

A worker is a thread of its process, with a connection of its own to the pool, so that the pool sees the same in both cases. The difference
is what ends together: a crash, an error that CUDA does not recover from or a worker that hangs ends the process, with all workers in it.
"""

from __future__ import annotations

import logging
import multiprocessing
import threading
from collections.abc import Callable
from multiprocessing import reduction
from multiprocessing.connection import Connection
from typing import Any, TypeAlias

from engine.pool.protocol import FromWorker, Setup, ToWorker
from engine.processes.child import NICE, ChildProcess
from engine.processes.outcome import Failed

WorkerMain: TypeAlias = "Callable[[Connection[FromWorker, ToWorker], Setup], None]"
"""A worker's life."""

_log = logging.getLogger(__name__)


def main(control: Connection[Any, Setup], worker_main: WorkerMain) -> None:
    """The process's life: a thread for every worker that the pool sends, until the pool closes ``control``."""
    while True:
        try:
            setup = control.recv()
            connection: Connection[FromWorker, ToWorker] = type(control)(reduction.recv_handle(control))  # type: ignore[assignment]
        except (EOFError, OSError):
            return
        threading.Thread(target=worker_main, args=(connection, setup), name=str(setup.device), daemon=True).start()


class Host:
    """The pool's side of a process for workers: started for the first worker, and again when it has ended. nice: see ``ChildProcess``."""

    def __init__(self, name: str, worker_main: WorkerMain, nice: int = NICE) -> None:
        self._name = name
        self._worker_main = worker_main
        self._nice = nice
        self._process: ChildProcess | None = None
        self._workers = 0

    @property
    def pid(self) -> int | None:
        """Of the process, while there is one."""
        return None if self._process is None else self._process.pid

    def admit(self, setup: Setup) -> Connection[ToWorker, FromWorker]:
        """Start a worker; messages follow."""
        if self._process is None:
            self._process = ChildProcess(
                self._name, main, self._worker_main, words="the worker", patience=setup.stall_seconds, nice=self._nice
            )
        connection, theirs = multiprocessing.Pipe()
        with theirs:
            try:
                self._process.connection.send(setup)
                reduction.send_handle(self._process.connection, theirs.fileno(), self._process.pid)
            except (OSError, RuntimeError) as error:  # it has died, which the end of the worker's connection tells
                _log.debug("%s: %s was not started: %s", self._name, setup.device, error)
        self._workers += 1
        return connection

    def dismiss(self) -> None:
        """A worker has ended by itself; with the last one the process ends."""
        self._workers -= 1
        if self._workers == 0:
            self.end()

    def frozen(self) -> bool:
        """Whether the process shows no sign of life any more."""
        return self._process is not None and self._process.frozen()

    def kill(self) -> None:
        """End the process at once."""
        process = self._process
        if process is not None:
            process.kill()

    def kill_frozen(self) -> Failed | None:
        """End a process that shows no sign of life, and say so."""
        if self._process is None:
            return None
        self._process.kill_frozen()
        return self._process.exit_message

    def release(self) -> None:
        """Let the process end, and do not wait for it."""
        if self._process is not None:
            self._process.release()

    def end(self) -> int | None:
        """Make sure that the process has ended: its exit status, negative for a signal's number, None if it does not end."""
        process, self._process, self._workers = self._process, None, 0
        return None if process is None else process.end().exit_code
