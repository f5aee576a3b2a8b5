"""Handles Ctrl-C, SIGTERM and a closed terminal."""

import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from queue import SimpleQueue
from types import FrameType

from framefleet.engine.processes.child_main import GROUP_SIGNALS

SIGNALS = tuple(GROUP_SIGNALS)


class Interrupted(KeyboardInterrupt):
    """A signal ends the command. exit_status: the one by which a shell recognises the signal."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.exit_status = 128 + number


class Interruption:
    """What signals do. In the block of ``cancelling``, the first one asks for an orderly end. Any other one raises ``Interrupted``.

    number: of the first signal, None = none came.
    """

    def __init__(self) -> None:
        self.number: int | None = None
        self._cancelled: SimpleQueue[bool] | None = None
        self._over = False

    @property
    def exit_status(self) -> int:
        """The exit status of the interrupted command."""
        return Interrupted(self.number or signal.SIGINT).exit_status

    def handle(self, number: int, _: FrameType | None) -> None:
        """The signal handler."""
        if self._over:
            return
        first, self.number = self.number is None, self.number or number
        if not first or self._cancelled is None:
            raise Interrupted(self.number)
        self._cancelled.put(True)  # reentrant, as a signal handler needs it

    @contextmanager
    def cancelling(self, cancel: Callable[[], None]) -> Iterator[None]:
        """In the block, call ``cancel`` at the first signal, in a thread, since the main thread may hold locks that ``cancel`` needs."""
        cancelled: SimpleQueue[bool] = SimpleQueue()

        def wait() -> None:
            if cancelled.get():
                print("\nframefleet: stopping; finished results are kept (interrupt again to stop at once)", file=sys.stderr)
                cancel()

        threading.Thread(target=wait, name="cancel", daemon=True).start()
        self._cancelled = cancelled
        try:
            yield
        finally:
            self._cancelled = None
            cancelled.put(False)

    def ignore(self) -> None:
        """Ignore all later signals: the command is over, and its exit status is known."""
        self._over = True


_current: list[Interruption] = []


@contextmanager
def interruptible(ends: bool = False) -> Iterator[Interruption]:
    """In the block, let signals do what ``Interruption`` says. A block in another one has the same interruption.

    ends: the program ends after the block, so that later signals are ignored: its exit status is known.
    """
    if _current:
        yield _current[0]
        return
    interruption = Interruption()
    _current.append(interruption)
    try:
        with handling(interruption.handle, restore=not ends):
            yield interruption
    finally:
        _current.clear()


@contextmanager
def handling(handle: Callable[[int, FrameType | None], object], restore: bool = True) -> Iterator[None]:
    """In the block, call ``handle`` at the signals, except those that the process ignores.

    restore: set the earlier handlers again afterwards; if not, ignore the signals.
    """
    before = {}
    if threading.current_thread() is threading.main_thread():
        # nohup ignores SIGHUP on purpose. A shell's background job ignores SIGINT, but a user who sends SIGINT means it.
        handled = [number for number in SIGNALS if number == signal.SIGINT or signal.getsignal(number) is not signal.SIG_IGN]
        before = {number: signal.signal(number, handle) for number in handled}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler if restore else signal.SIG_IGN)
