"""The heartbeat of a child process: a counter in shared memory that the child increases and the parent watches.

The counter needs no messages, so neither a full pipe nor a busy parent disturbs it. A process that is stopped (SIGSTOP), or in which a
library never gives back the interpreter's lock, no longer increases it.
"""

from __future__ import annotations

import ctypes
import multiprocessing
import time
from multiprocessing.connection import wait
from multiprocessing.sharedctypes import RawValue
from typing import TypeAlias

INTERVAL_SECONDS = 0.5

LEAST_PATIENCE = 5.0
"""Seconds. An import of a large library on a busy machine may stop the heartbeat for a moment."""

START_PATIENCE = 60.0
"""Seconds, at least, up to the first heartbeat: an interpreter has to start."""

_LONGEST_PERIOD = 4 * INTERVAL_SECONDS
"""Seconds that count, at most, between two looks. After a longer pause the parent itself was stopped or busy, or the machine slept."""

Counter: TypeAlias = "ctypes.c_uint64"


def beat_until_parent_ends(counter: Counter) -> None:
    """In the child: increase the counter until the parent process is gone."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    while True:
        counter.value += 1
        if wait([parent.sentinel], INTERVAL_SECONDS):
            return


class Heartbeat:
    """In the parent: notices when a child's counter stands still. patience: seconds."""

    def __init__(self, patience: float) -> None:
        self.patience = max(LEAST_PATIENCE, patience)
        self.counter: Counter = RawValue(ctypes.c_uint64, 0)
        self._seen = 0
        self._silence = 0.0
        self._looked = time.monotonic()

    def stopped(self) -> bool:
        """Whether the counter has stood still for longer than ``patience``. To be called about once per second."""
        now = time.monotonic()
        passed, self._looked = min(now - self._looked, _LONGEST_PERIOD), now
        if (count := self.counter.value) != self._seen:
            self._seen, self._silence = count, 0.0
            return False
        self._silence += passed
        return self._silence > (self.patience if self._seen else max(START_PATIENCE, self.patience))
