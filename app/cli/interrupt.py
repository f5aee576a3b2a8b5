"""Ctrl-C, SIGTERM and a closed terminal: the first asks the run to stop in order, the second ends it at once."""

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
    """number: the signal that came, None if none did."""

    number: int | None = None

    @property
    def exit_status(self) -> int:
        """What a shell expects of a program that this signal ended."""
        return 128 + (self.number or 0)


@contextmanager
def interruptible(cancel: Callable[[], None]) -> Iterator[Interruption]:
    """Call ``cancel`` at the first signal, in a thread of its own: the main thread may hold the very locks it needs."""
    interruption = Interruption()

    def handle(number: int, _: FrameType | None) -> None:
        if interruption.number is not None:
            raise KeyboardInterrupt
        interruption.number = number
        print("\nframefleet: stopping, what is detected is kept (once more: stop at once)", file=sys.stderr)
        Thread(target=cancel, name="cancel", daemon=True).start()

    with handling(SIGNALS, handle):
        yield interruption


@contextmanager
def ending_in_order() -> Iterator[None]:
    """SIGTERM and a closed terminal end what runs inside as Ctrl-C does: processes are stopped, and temporary files go."""

    def end(number: int, _: FrameType | None) -> None:
        raise SystemExit(128 + number)

    with handling([number for number in SIGNALS if number != signal.SIGINT], end):
        yield


@contextmanager
def handling(numbers: Iterable[signal.Signals], handle: Callable[[int, FrameType | None], object]) -> Iterator[None]:
    """Call ``handle`` at these signals, unless one is meant to be ignored; afterwards they are as before."""
    # nohup has SIGHUP ignored, and means it; a shell's background job has SIGINT ignored, and may be sent it all the same
    heeded = [number for number in numbers if number == signal.SIGINT or signal.getsignal(number) is not signal.SIG_IGN]
    before = {number: signal.signal(number, handle) for number in heeded}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
