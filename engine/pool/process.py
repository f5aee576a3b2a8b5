"""One device's worker process as the pool sees it: start, talk, bury, and the staged shutdown of all of them."""

from __future__ import annotations

import logging
import multiprocessing
import signal
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from typing import Any

from engine.pool import worker
from engine.pool.outcome import RestartBudget, WorkerOutcome
from engine.pool.protocol import Failed, FromWorker, Ready, Setup, Stop, ToWorker

STOP_SECONDS = 1.0
"""How long workers get to stop by themselves; they hurry (``worker.STOP_SECONDS``)."""

TERMINATE_SECONDS = 0.3

KILL_SECONDS = 5.0
"""A process inside a broken driver or file system may not even die; nobody waits for it for ever."""

_log = logging.getLogger(__name__)
_context = multiprocessing.get_context("spawn")  # a forked child would inherit threads' locks and a CUDA context


class WorkerProcess:
    """A device's current process. attempt: how many were started. target: what runs in it."""

    def __init__(self, setup: Setup, target: Callable[[Connection[FromWorker, ToWorker], Setup], None] = worker.main) -> None:
        self.device = setup.device
        self.attempt = 0
        self.budget = RestartBudget()
        self._setup = setup
        self._target = target
        self._process: multiprocessing.process.BaseProcess | None = None
        self._connection: Connection[ToWorker, FromWorker] | None = None
        self._last_words: Failed | None = None
        self._silence: float | None = None

    @property
    def alive(self) -> bool:
        """Whether there is a process that has not been buried."""
        return self._process is not None

    @property
    def awaited(self) -> tuple[Connection[ToWorker, FromWorker], int]:
        """What ``multiprocessing.connection.wait`` should watch: messages and the process's end."""
        assert self._process is not None
        assert self._connection is not None
        return self._connection, self._process.sentinel

    def start(self) -> None:
        """Start a process; messages follow."""
        self.attempt += 1
        self._last_words = self._silence = None
        self._connection, child = _context.Pipe()
        # daemon: should the pool never be closed, the interpreter ends them
        self._process = _context.Process(target=self._target, args=(child, self._setup), name=f"framefleet {self.device}", daemon=True)
        with child, _interrupts_held():
            self._process.start()

    def send(self, message: ToWorker) -> None:
        """Send; to a dead process nothing, which is noticed elsewhere."""
        assert self._connection is not None
        try:
            self._connection.send(message)
        except OSError as error:
            _log.debug("%s: %s was not sent: %s", self.device, message, error)

    def receive(self) -> FromWorker | None:
        """The next message; None when there will be no more."""
        assert self._connection is not None
        try:
            message = self._connection.recv()
        except (EOFError, OSError):
            return None
        if isinstance(message, Failed):
            self._last_words = message
        if self._silence is not None or isinstance(message, Ready):
            self._silence = 0.0
        return message

    def silent(self, seconds: float) -> bool:
        """Nothing came for so many seconds more. Whether it hangs: once its engine is built, a worker reports twice a second."""
        if self._silence is None:
            return False
        self._silence += seconds
        return self._silence > self._setup.stall_seconds

    def kill(self) -> None:
        """End a process that hangs."""
        assert self._process is not None
        self._last_words = Failed(f"the worker gave no sign of life for {self._setup.stall_seconds:.0f} s", retry=True)
        self._process.kill()

    def remaining(self) -> Iterator[FromWorker]:
        """What a dead process had sent."""
        assert self._connection is not None
        while self._connection.poll() and (message := self.receive()) is not None:
            yield message

    def bury(self) -> WorkerOutcome:
        """Make sure that the process is over, and release what belongs to it."""
        assert self._process is not None
        assert self._connection is not None
        for how, seconds in ((None, TERMINATE_SECONDS), (self._process.terminate, TERMINATE_SECONDS), (self._process.kill, KILL_SECONDS)):
            if how is not None:
                _log.warning("%s: the worker does not end by itself: %s", self.device, how.__name__)
                how()
            self._process.join(seconds)
            if self._process.exitcode is not None:
                break
        exit_code = self._process.exitcode
        self._connection.close()
        if exit_code is not None:
            self._process.close()
        self._connection = self._process = None
        if self._last_words is None:
            return WorkerOutcome(exit_code)
        return WorkerOutcome(exit_code, self._last_words.message, self._last_words.retry)


def stop_all(workers: Iterable[WorkerProcess]) -> Iterator[tuple[WorkerProcess, FromWorker]]:
    """Staged shutdown of the processes that are alive. Yields their last messages; it has to be exhausted.

    Ask, so that statistics arrive and the device is released in order. Keep reading: a worker that is sending cannot
    stop. Past ``STOP_SECONDS`` terminate, then kill: the user is waiting, and nothing of value is left in there.
    """
    left = [process for process in workers if process.alive]
    try:
        for process in left:
            process.send(Stop())
        deadline = time.monotonic() + STOP_SECONDS
        awaited: dict[Any, WorkerProcess] = {thing: process for process in left for thing in process.awaited}
        while awaited and (ready := wait(list(awaited), max(0.0, deadline - time.monotonic()))):
            for thing in ready:
                process = awaited[thing]
                message = process.receive() if isinstance(thing, Connection) else None
                if message is not None:
                    yield process, message
                else:
                    del awaited[thing]
    finally:
        for process in left:
            process.bury()


@contextmanager
def _interrupts_held() -> Iterator[None]:
    """A child started inside begins with SIGINT blocked: Ctrl-C must not kill it before it has said that it ignores it."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    resource_tracker.ensure_running()  # multiprocessing starts this helper with its first child, and unblocks SIGINT in doing so
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
