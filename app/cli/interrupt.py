"""Handles Ctrl-C, SIGTERM and a closed terminal: the first signal stops the run in order, the second ends it at once."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Thread
from types import FrameType

from engine.processes.child_main import TERMINAL_SIGNALS

SIGNALS = (*TERMINAL_SIGNALS, signal.SIGTERM)


@dataclass
class Interruption:
    """Whether a signal interrupted the run. number: of the signal, None = none came."""

    number: int | None = None

    @property
    def exit_status(self) -> int:
        """The exit status by which a shell recognises the signal."""
        return 128 + (self.number or 0)


@contextmanager
def interruptible(cancel: Callable[[], None]) -> Iterator[Interruption]:
    """Call ``cancel`` at the first signal, in a new thread, since the main thread may hold locks that ``cancel`` needs."""
    interruption = Interruption()

    def handle(number: int, _: FrameType | None) -> None:
        if interruption.number is not None:
            raise KeyboardInterrupt
        interruption.number = number
        print("\nframefleet: stopping; results so far are kept (interrupt again to stop at once)", file=sys.stderr)
        Thread(target=cancel, name="cancel", daemon=True).start()

    with handling(SIGNALS, handle):
        yield interruption


@contextmanager
def ending_in_order() -> Iterator[None]:
    """In the block, SIGTERM and a closed terminal raise SystemExit, so that processes are stopped and temporary files removed."""

    def end(number: int, _: FrameType | None) -> None:
        raise SystemExit(128 + number)

    with handling([number for number in SIGNALS if number != signal.SIGINT], end):
        yield


@contextmanager
def handling(numbers: Iterable[signal.Signals], handle: Callable[[int, FrameType | None], object]) -> Iterator[None]:
    """In the block, call ``handle`` at these signals, except those that the process ignores. Restores the earlier handlers."""
    # nohup ignores SIGHUP on purpose. A shell's background job ignores SIGINT, but a user who sends SIGINT means it.
    handled = [number for number in numbers if number == signal.SIGINT or signal.getsignal(number) is not signal.SIG_IGN]
    before = {number: signal.signal(number, handle) for number in handled}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
