"""The processes that workers run in: one for each device, or one for all of them.

A worker is a thread of its process, with a connection of its own to the pool, so that the pool sees the same in both cases. What differs
is who dies together: a crash, an error that CUDA does not recover from or a worker that hangs ends the process, and so all workers in it.
"""

from __future__ import annotations

import contextlib
import faulthandler
import logging
import multiprocessing
import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing import reduction, resource_tracker
from multiprocessing.connection import Connection
from typing import Any, NoReturn, TypeAlias

from engine.pool.protocol import FromWorker, Setup, ToWorker

NICE = 5
"""Workers give way to the window and to whatever else the user does: a detection may take a moment longer, a click may not."""

TERMINAL_SIGNALS = {signal.SIGINT, *([signal.SIGHUP] if hasattr(signal, "SIGHUP") else [])}
"""A terminal sends them to every process of a run, at Ctrl-C and at its own end: the one that was started answers for all."""

TERMINATE_SECONDS = 0.3

KILL_SECONDS = 5.0
"""A process inside a broken driver or file system may not even die; nobody waits for it for ever."""

WorkerMain: TypeAlias = "Callable[[Connection[FromWorker, ToWorker], Setup], None]"
"""A worker's life."""

_log = logging.getLogger(__name__)
_context = multiprocessing.get_context("spawn")  # a forked child would inherit threads' locks and a CUDA context


def leave(status: int) -> NoReturn:
    """End this process, whatever its threads are doing: the interpreter's own shutdown would wait for those inside libraries."""
    with contextlib.suppress(OSError, ValueError):
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(status)


def ignore_terminal() -> None:
    """Whoever started this process stops it in stages; what a terminal sends must not be quicker."""
    for number in TERMINAL_SIGNALS:
        signal.signal(number, signal.SIG_IGN)


def main(control: Connection[Any, Setup], worker_main: WorkerMain) -> None:
    """The process's life: a thread for every worker that the pool sends, until the pool, or its end of ``control``, is gone.

    That is seen as the end of the connection, not by ``PR_SET_PDEATHSIG``: that signal comes when the *thread* that started the
    process ends, and the pool may be driven by a thread of the window's.
    """
    ignore_terminal()
    faulthandler.enable()
    if hasattr(os, "nice"):
        os.nice(NICE)
    threading.excepthook = _crash
    while True:
        try:
            setup = control.recv()
            connection: Connection[FromWorker, ToWorker] = type(control)(reduction.recv_handle(control))  # type: ignore[assignment]
        except (EOFError, OSError):
            leave(0)
        threading.Thread(target=worker_main, args=(connection, setup), name=str(setup.device), daemon=True).start()


def _crash(problem: threading.ExceptHookArgs) -> None:
    traceback.print_exception(problem.exc_value)
    leave(1)


class Host:
    """A process for workers, from the pool's side: started when the first one comes, and anew when it has ended."""

    def __init__(self, name: str, worker_main: WorkerMain) -> None:
        self._name = name
        self._worker_main = worker_main
        self._process: multiprocessing.process.BaseProcess | None = None
        self._control: Connection[Setup, Any] | None = None
        self._workers = 0

    def admit(self, setup: Setup) -> Connection[ToWorker, FromWorker]:
        """Start a worker; messages follow."""
        if self._process is None:
            self._start()
        assert self._process is not None
        assert self._process.pid is not None
        assert self._control is not None
        connection, theirs = _context.Pipe()
        with theirs:
            try:
                self._control.send(setup)
                reduction.send_handle(self._control, theirs.fileno(), self._process.pid)
            except (OSError, RuntimeError) as error:  # it has died, and the connection's end tells so
                _log.debug("%s: %s was not started: %s", self._name, setup.device, error)
        self._workers += 1
        return connection

    def dismiss(self) -> None:
        """A worker has ended by itself; with the last one the process ends."""
        self._workers -= 1
        if self._workers == 0:
            self.end()

    def kill(self) -> None:
        """End a process that hangs."""
        if self._process is not None:
            self._process.kill()

    def release(self) -> None:
        """Let the process end, and do not wait for it."""
        if self._control is not None:
            self._control.close()

    def end(self) -> int | None:
        """Make sure that the process is over: its exit status, negative for a signal's number, None if it does not end."""
        process, self._process, self._workers = self._process, None, 0
        if process is None:
            return None
        self.release()
        stages = (
            (None, 0, TERMINATE_SECONDS),
            (process.terminate, logging.INFO, TERMINATE_SECONDS),
            (process.kill, logging.WARNING, KILL_SECONDS),
        )
        for how, level, seconds in stages:
            if how is not None:
                _log.log(level, "%s: the process does not end by itself: %s", self._name, how.__name__)
                how()
            process.join(seconds)
            if process.exitcode is not None:
                break
        exit_code = process.exitcode
        if exit_code is not None:
            process.close()
        return exit_code

    def _start(self) -> None:
        self._control, child = _context.Pipe()
        # daemon: should the pool never be closed, the interpreter ends it
        self._process = _context.Process(target=main, args=(child, self._worker_main), name=f"framefleet {self._name}", daemon=True)
        with child, interrupts_held():
            self._process.start()


@contextmanager
def interrupts_held() -> Iterator[None]:
    """A child started inside begins with these signals blocked: they must not kill it before it has said that it ignores them."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    resource_tracker.ensure_running()  # multiprocessing starts this helper with its first child, and unblocks SIGINT in doing so
    before = signal.pthread_sigmask(signal.SIG_BLOCK, TERMINAL_SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
