"""The heartbeat of a child process: a counter in shared memory that the child increases and the parent watches.

The counter needs no messages, so neither a full pipe nor a busy parent disturbs it. A stopped process (SIGSTOP) no longer
increases the counter, nor does one in which a library never releases the interpreter's lock.
"""

import ctypes
import multiprocessing
import time
from collections.abc import Callable
from multiprocessing.connection import wait
from multiprocessing.sharedctypes import RawValue
from pathlib import Path
from typing import TypeAlias

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
    """In the parent: detects that a child's counter no longer increases. patience: seconds. silence: seconds since the last increase."""

    def __init__(self, patience: float) -> None:
        self.patience = max(MIN_PATIENCE, patience)
        self.counter: Counter = RawValue(ctypes.c_uint64, 0)
        self.silence = 0.0
        self._seen = 0
        self._checked = time.monotonic()

    def stopped(self, pid: int) -> bool:
        """Whether the counter of this process has not increased for longer than ``patience``. Call this about once per second."""
        now = time.monotonic()
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
