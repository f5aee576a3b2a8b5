"""In a child process: clocks that notice work that does not come to an end, be it a decoder, a driver or a disk that hangs.

Such a process ends, as if it had crashed, and its parent starts another one.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection
from threading import Event, Lock
from typing import Any, NoReturn

from engine.processes.child_main import leave
from engine.processes.outcome import Failed

_TICKS = 60
"""How often the clocks are looked at while ``Watchdog.seconds`` pass."""

_running = threading.local()


class Clock:
    """Times one thing at a time. what: its name in words. limit: seconds. paused: no time passes."""

    __slots__ = ("limit", "passed", "paused", "running", "what")

    def __init__(self) -> None:
        self.what, self.limit, self.passed, self.running, self.paused = "", 0.0, 0.0, False, False

    def start(self, what: str, limit: float) -> None:
        """From now on. While the calling thread waits for room, the clock stands still (see ``waiting_for_room``)."""
        self.what, self.limit, self.passed, self.running, self.paused = what, limit, 0.0, True, False
        _running.clock = self

    def stop(self) -> None:
        """It has come to an end."""
        self.running = False
        _running.clock = None


@contextmanager
def waiting_for_room() -> Iterator[None]:
    """The calling thread waits inside until others free memory: no time passes for the clock that it started."""
    clock: Clock | None = getattr(_running, "clock", None)
    if clock is None:
        yield
        return
    clock.paused = True
    try:
        yield
    finally:
        clock.paused = False


def start_clock(connection: Connection[Any, Any], seconds: float) -> Clock:
    """A clock for a process that does one thing at a time. seconds: what it should be able to notice.

    When it has run out, the reason goes over ``connection``, and the process ends. It must not run while the process sends.
    """

    def die(why: Failed) -> NoReturn:
        with suppress(OSError):
            connection.send(why)
        leave(1)

    watchdog = Watchdog(seconds, lambda: False, die)
    threading.Thread(target=watchdog.run, name="watch", daemon=True).start()
    return watchdog.add()


class Watchdog:
    """Looks after all clocks of a process.

    seconds: what takes longer hangs, unless there is a reason to have more patience. held_up: whether the process waits for its parent to
    take its messages; then no time passes, since everything else waits, too. die: called when a clock has run out.
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
        """Begin all limits again: an engine is being built, and reports progress."""
        with self._lock:
            for clock in self._clocks:
                clock.passed = 0.0

    def stop(self) -> None:
        """Let ``run`` return."""
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
                clocks = [clock for clock in self._clocks if clock.running and not clock.paused]
            for clock in clocks:
                clock.passed += passed
                if clock.running and clock.passed > clock.limit:
                    self._die(Failed(f"{clock.what} did not come to an end within {clock.limit:.0f} s", retry=True))
