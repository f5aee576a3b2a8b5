"""Entry point and exit of every child process, and its heartbeat: a counter that the child increases and the parent watches.

The counter is in shared memory and needs no messages, so neither a full pipe nor a busy parent disturbs it. A stopped process (SIGSTOP) no
longer increases the counter, nor does one in which a library never releases the lock of the interpreter.
"""

from __future__ import annotations

import contextlib
import ctypes
import faulthandler
import gc
import multiprocessing
import os
import pickle
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable
from multiprocessing.connection import Connection, wait
from multiprocessing.sharedctypes import RawValue
from pathlib import Path
from typing import Any, NoReturn, TypeAlias

from framefleet.engine.logs import follow_environment
from framefleet.engine.notices import unexpected
from framefleet.engine.processes.outcome import LACK_STATUS, Failed, lack_of_resources

INTERVAL_SECONDS = 0.5

MIN_PATIENCE = 5.0
"""Least patience, seconds: importing a large library on a busy machine may stop the heartbeat for a moment.

A process that was stopped by a signal (SIGSTOP) gets no more than that.
"""

START_PATIENCE = 60.0
"""Least patience before the first heartbeat, seconds: the interpreter has to start."""

_LONGEST_PERIOD = 4 * INTERVAL_SECONDS
"""Most seconds that count between two checks. After a longer pause the parent itself was stopped or busy, or the machine slept."""

Counter: TypeAlias = "ctypes.c_uint64"


def beat_until_parent_ends(counter: Counter, react: Callable[[int], None]) -> None:
    """In the child: increase the counter until the parent process has ended. react: called with each new count."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    while True:
        counter.value += 1
        react(counter.value)
        if wait([parent.sentinel], INTERVAL_SECONDS):
            return


class Heartbeat:
    """In the parent: detects that a child's counter no longer increases. patience: seconds. silence: seconds since the last increase.

    clock: in seconds.
    """

    def __init__(self, patience: float, clock: Callable[[], float] = time.monotonic) -> None:
        self.patience, self._clock = max(MIN_PATIENCE, patience), clock
        self.counter: Counter = RawValue(ctypes.c_uint64, 0)
        self.silence = 0.0
        self._seen = 0
        self._checked = clock()

    def stopped(self, pid: int) -> bool:
        """Whether the counter of this process has not increased for longer than ``patience``. Call this about once per second."""
        now = self._clock()
        passed, self._checked = min(now - self._checked, _LONGEST_PERIOD), now
        if (count := self.counter.value) != self._seen:
            self._seen, self.silence = count, 0.0
            return False
        self.silence += passed
        patience = self.patience if self._seen else max(START_PATIENCE, self.patience)
        return self.silence > (MIN_PATIENCE if _is_suspended(pid) else patience)


def _is_suspended(pid: int) -> bool:
    """Whether a signal stopped the process. Always False where the system has no /proc."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "T"
    except OSError:
        return False


GROUP_SIGNALS = {signal.SIGINT, signal.SIGTERM, *([signal.SIGHUP] if hasattr(signal, "SIGHUP") else [])}
"""Signals that terminals, systemd and ``timeout`` send to all processes of a run. Only the process that the user started reacts."""

COLLECTING_BEAT = 10
"""The heartbeat, two each second, from which on the garbage collector works. What imports create before it is never garbage."""

_cleanups: list[Callable[[], None]] = []


def run(connection: Connection[Any, Any], counter: Counter, nice: int, quiet: bool, job: bytes) -> NoReturn:
    """Run ``main(connection, *arguments)``, then end the process. See ``ChildProcess``.

    job: ``(main, arguments)``, pickled, so that the heartbeat begins before the modules of both are imported.
    """
    for number in GROUP_SIGNALS:
        signal.signal(number, signal.SIG_IGN)
    if quiet:
        _discard_output()
    follow_environment()
    faulthandler.enable()
    multiprocessing.current_process().daemon = False  # it ends with its parent anyway, and may now start children of its own
    if nice and hasattr(os, "nice"):
        os.nice(nice)
    threading.excepthook = lambda problem: _crash(problem.exc_value, None)
    # NumPy's linear algebra: its threads would wait in busy loops, and no process here multiplies large matrices
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    gc.disable()  # until COLLECTING_BEAT
    try:
        threading.Thread(target=_beat, args=(counter,), name="heartbeat", daemon=True).start()
        main, arguments = pickle.loads(job)
        main(connection, *arguments)
    except Exception as problem:
        _crash(problem, connection)
    leave(0)


def leave(status: int) -> NoReturn:
    """End this process without waiting for its threads. The interpreter's own shutdown would wait for threads inside libraries."""
    with contextlib.suppress(OSError, ValueError):
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(status)


def name_thread(name: str) -> None:
    """Show the calling thread under this name, cut to 15 bytes, in the system's tools. Only Linux supports it; others ignore it."""
    with contextlib.suppress(OSError):
        Path(f"/proc/self/task/{threading.get_native_id()}/comm").write_text(name[:15])


def when_parent_ends(cleanup: Callable[[], None]) -> None:
    """Register a function to call before this process ends because its parent has ended."""
    _cleanups.append(cleanup)


def _beat(counter: Counter) -> None:
    # not PR_SET_PDEATHSIG: that signal comes when the *thread* that started the process ends
    beat_until_parent_ends(counter, lambda beat: gc.enable() if beat == COLLECTING_BEAT else None)
    for cleanup in _cleanups:
        with contextlib.suppress(Exception):
            cleanup()
    leave(0)


def failed(problem: BaseException) -> Failed:
    """The exit message for an unexpected error. Prints its traceback, unless the machine lacks something."""
    if (lack := lack_of_resources(problem)) is not None:
        return Failed(lack, retry=True, external=True)
    traceback.print_exception(problem)
    return Failed(unexpected(problem), retry=True)


def _crash(problem: BaseException | None, connection: Connection[Any, Any] | None) -> NoReturn:
    last = failed(problem) if problem is not None else None
    if connection is not None and last is not None:
        with contextlib.suppress(OSError):
            connection.send(last)
    leave(LACK_STATUS if last is not None and last.external else 1)


def _discard_output() -> None:
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for descriptor in (1, 2):
        os.dup2(nowhere, descriptor)
    os.close(nowhere)
