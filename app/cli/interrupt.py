"""Ctrl-C, SIGTERM and a closed terminal: the first asks the run to stop in order, the second ends it at once."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Thread
from types import FrameType

SIGNALS = [signal.SIGINT, signal.SIGTERM, *([signal.SIGHUP] if hasattr(signal, "SIGHUP") else [])]


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

    # nohup has SIGHUP ignored, and means it
    ignored = [number for number in SIGNALS if number != signal.SIGINT and signal.getsignal(number) is signal.SIG_IGN]
    before = {number: signal.signal(number, handle) for number in SIGNALS if number not in ignored}
    try:
        yield interruption
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def ending_in_order() -> Iterator[None]:
    """SIGTERM ends what runs inside as Ctrl-C does: processes are stopped, and temporary files go."""

    def end(number: int, _: FrameType | None) -> None:
        raise SystemExit(128 + number)

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
