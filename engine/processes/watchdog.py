"""In a child process: clocks that detect work that hangs, for example in a decoder, a driver or a disk.

Such a process ends as after a crash, and its parent restarts it.
"""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import Event, Lock
from typing import NoReturn

from framefleet.engine.notices import Notice
from framefleet.engine.processes import AnyConnection
from framefleet.engine.processes.child_main import leave
from framefleet.engine.processes.outcome import Failed

_TICKS = 60
"""How often the clocks are checked within ``Watchdog.seconds``."""

_running = threading.local()


class Clock:
    """Times one operation at a time. what: the operation. limit: seconds. paused: no time is counted."""

    __slots__ = ("limit", "passed", "paused", "running", "what")

    def __init__(self) -> None:
        self.what: Notice | None = None
        self.limit, self.passed, self.running, self.paused = 0.0, 0.0, False, False

    def start(self, what: Notice, limit: float) -> None:
        """Start timing. The clock pauses while the calling thread waits for memory (see ``waiting_for_room``)."""
        self.what, self.limit, self.passed, self.running, self.paused = what, limit, 0.0, True, False
        _running.clock = self

    def stop(self) -> None:
        """Stop timing: the operation has ended."""
        self.running = False
        _running.clock = None


@contextmanager
def waiting_for_room() -> Iterator[None]:
    """Pause the calling thread's clock while the thread waits for others to free memory."""
    clock: Clock | None = getattr(_running, "clock", None)
    if clock is None:
        yield
        return
    clock.paused = True
    try:
        yield
    finally:
        clock.paused = False


def start_clock(connection: AnyConnection, seconds: float) -> Clock:
    """A clock for a process that does one operation at a time. seconds: the shortest limit that the process sets.

    When the clock passes its limit, the reason goes over ``connection``, and the process ends. Stop the clock before sending.
    """

    def die(why: Failed) -> NoReturn:
        with suppress(OSError):
            connection.send(why)
        leave(1)

    watchdog = Watchdog(seconds, lambda: False, die)
    threading.Thread(target=watchdog.run, name="watch", daemon=True).start()
    return watchdog.add()


class Watchdog:
    """Checks all clocks of a process.

    seconds: the usual limit of an operation. held_up: whether the process waits for its parent to take its messages; then no time is
    counted, since everything else waits, too. die: called when a clock has passed its limit.
    """

    def __init__(self, seconds: float, held_up: Callable[[], bool], die: Callable[[Failed], NoReturn]) -> None:
        self.seconds = seconds
        self._held_up = held_up
        self._die = die
        self._lock = Lock()
        self._clocks: set[Clock] = set()
        self._stopped = Event()

    def add(self) -> Clock:
        """Add a clock that does not run yet."""
        clock = Clock()
        with self._lock:
            self._clocks.add(clock)
        return clock

    def remove(self, clock: Clock) -> None:
        """Remove a clock."""
        with self._lock:
            self._clocks.discard(clock)

    def reset(self) -> None:
        """Restart all clocks at 0: an engine is being built, and has reported progress."""
        with self._lock:
            for clock in self._clocks:
                clock.passed = 0.0

    def stop(self) -> None:
        """Let ``run`` return."""
        self._stopped.set()

    def run(self) -> None:
        """Check the clocks until ``stop``."""
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
                    self._die(Failed(Notice("processes.too_slow", what=clock.what, limit=clock.limit), True, clock.passed))
