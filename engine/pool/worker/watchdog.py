"""In a worker: notices what does not come to an end, be it a decoder, a driver or a disk that hangs.

Such a worker ends, as if it had crashed: its engine is built anew, and its work is done again with suspicion.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from threading import Event, Lock
from typing import NoReturn

from engine.pool.protocol import Failed

_TICKS = 60
"""The clocks are looked at so often while that time passes."""


class Clock:
    """Times one thing at a time. what: its name in words. limit: seconds."""

    __slots__ = ("limit", "passed", "running", "what")

    def __init__(self) -> None:
        self.what, self.limit, self.passed, self.running = "", 0.0, 0.0, False

    def start(self, what: str, limit: float) -> None:
        """From now on."""
        self.what, self.limit, self.passed, self.running = what, limit, 0.0, True

    def stop(self) -> None:
        """It has come to an end."""
        self.running = False


class Watchdog:
    """Looks after all clocks of a worker.

    seconds: what takes longer than that hangs, unless there is a reason to have more patience. held_up: whether the worker
    waits for the pool to take its messages; no time passes then, since everything that waits for everything behind it is all
    right. die: called when a clock has run out.
    """

    def __init__(self, seconds: float, held_up: Callable[[], bool], die: Callable[[Failed], NoReturn]) -> None:
        self.seconds = seconds
        self._held_up = held_up
        self._die = die
        self._lock = Lock()
        self._clocks: set[Clock] = set()
        self._stopped = Event()

    def add(self) -> Clock:
        """A clock that does not run yet."""
        clock = Clock()
        with self._lock:
            self._clocks.add(clock)
        return clock

    def remove(self, clock: Clock) -> None:
        """A clock that is no longer needed."""
        with self._lock:
            self._clocks.discard(clock)

    def reset(self) -> None:
        """There is a sign of life: an engine is being built anew, and tells so."""
        with self._lock:
            for clock in self._clocks:
                clock.passed = 0.0

    def stop(self) -> None:
        """The worker is over: let ``run`` return."""
        self._stopped.set()

    def run(self) -> None:
        """The thread's life, until ``stop``."""
        tick = self.seconds / _TICKS
        before = time.monotonic()
        while not self._stopped.wait(tick):
            now = time.monotonic()
            passed, before = min(now - before, 2 * tick), now  # longer: this process was stopped, or the machine slept
            if self._held_up():
                continue
            with self._lock:
                clocks = [clock for clock in self._clocks if clock.running]
            for clock in clocks:
                clock.passed += passed
                if clock.running and clock.passed > clock.limit:
                    self._die(Failed(f"{clock.what} did not come to an end within {clock.limit:.0f} s", retry=True))
