"""The parent's side of a child process: start, talk, notice that it is frozen, stop in stages."""

from __future__ import annotations

import logging
import multiprocessing
import pickle
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection
from typing import Any, ClassVar

from engine.processes.child_main import TERMINAL_SIGNALS, run
from engine.processes.heartbeat import INTERVAL_SECONDS, Heartbeat
from engine.processes.outcome import Failed, Outcome

NICE = 5
"""Background work gives way to the window and to other programs: a detection may take a moment longer, a click may not."""

STOP_SECONDS = 0.3

KILL_SECONDS = 5.0
"""A process inside a broken driver or file system may not even react to SIGKILL. Nothing waits longer for it."""

_log = logging.getLogger(__name__)
_context = multiprocessing.get_context("spawn")  # a forked child would inherit threads' locks and a CUDA context


class Conversation:
    """Messages to and from a child. exit_message: the last one that came, after which there is none."""

    last_types: ClassVar[tuple[type, ...]] = (Failed,)

    def __init__(self) -> None:
        self.exit_message: Any = None

    @property
    def connection(self) -> Connection[Any, Any]:
        """What ``multiprocessing.connection.wait`` should watch."""
        raise NotImplementedError

    def frozen(self) -> bool:
        """Whether the process shows no sign of life any more. To be called about once per second."""
        raise NotImplementedError

    def kill_frozen(self) -> None:
        """End a process that shows no sign of life; its outcome says so."""
        raise NotImplementedError

    def send(self, message: Any) -> None:
        """Send; to a dead process nothing, which ``receive`` tells."""
        try:
            self.connection.send(message)
        except OSError as error:
            _log.debug("%s was not sent: %s", message, error)

    def receive(self) -> Any:
        """The next message, waiting for it; None when there are no more."""
        try:
            message = self.connection.recv()
        except (EOFError, OSError):
            return None
        if isinstance(message, self.last_types):
            self.exit_message = message
        return message

    def messages(self) -> Iterator[Any]:
        """All messages up to the last one, which is not among them. A process that is frozen is killed."""
        while True:
            if not self.connection.poll(INTERVAL_SECONDS):
                if self.frozen():
                    self.kill_frozen()
                    return
                continue
            message = self.receive()
            if message is None or self.exit_message is not None:
                return
            yield message


class ChildProcess(Conversation):
    """A process that runs ``main(connection, *arguments)``, started at once.

    name: of the process. main, arguments: picklable. words: the process as outcomes name it. patience: seconds without a heartbeat after
    which it counts as frozen. nice: added to this process's niceness. quiet: what it prints is thrown away.

    It ends when ``main`` returns or raises, and when this process ends, however that happens. It ignores what a terminal sends. Except
    for ``send`` and ``receive``, which belong to one thread each, all methods may be called from any thread.

    Raises:
        OSError: it cannot be started.
    """

    def __init__(
        self,
        name: str,
        main: Callable[..., None],
        *arguments: Any,
        words: str,
        patience: float = 60.0,
        nice: int = NICE,
        quiet: bool = False,
    ) -> None:
        super().__init__()
        self.exit_message: Failed | None = None
        self.words = words
        self._heartbeat = Heartbeat(patience)
        self._ending = threading.Lock()
        self._outcome: Outcome | None = None
        self._connection, theirs = _context.Pipe()
        self._process = _context.Process(
            target=run,
            args=(theirs, self._heartbeat.counter, nice, quiet, pickle.dumps((main, arguments))),
            name=f"framefleet {name}",
            daemon=True,  # should nothing stop it, the interpreter does at its end
        )
        with theirs, _terminal_signals_blocked():
            self._process.start()
        assert self._process.pid is not None
        self.pid: int = self._process.pid

    @property
    def connection(self) -> Connection[Any, Any]:
        """See ``Conversation``."""
        return self._connection

    @property
    def patience(self) -> float:
        """Seconds without a heartbeat after which it counts as frozen."""
        return self._heartbeat.patience

    def frozen(self) -> bool:
        """See ``Conversation``."""
        return self._heartbeat.stopped()

    def kill_frozen(self) -> None:
        """See ``Conversation``."""
        self.exit_message = Failed(f"{self.words} gave no sign of life for {self.patience:.0f} s", retry=True)
        self.kill()

    def kill(self) -> None:
        """End it at once; harmless when it has ended."""
        with self._ending:
            if self._outcome is None:
                self._process.kill()

    def release(self) -> None:
        """Close the connection, upon which it ends, and do not wait."""
        self._connection.close()

    def end(self, seconds: float = STOP_SECONDS) -> Outcome:
        """Make sure that it has ended: close the connection, wait, terminate, kill. seconds: how long each of the first two may take."""
        self.release()
        with self._ending:
            if self._outcome is None:
                self._outcome = Outcome(self._stop(seconds), self.exit_message, self.words)
            return self._outcome

    def _stop(self, seconds: float) -> int | None:
        process = self._process
        for how, level, patience in (
            (None, 0, seconds),
            (process.terminate, logging.INFO, seconds),
            (process.kill, logging.WARNING, KILL_SECONDS),
        ):
            if how is not None:
                _log.log(level, "%s does not end by itself: %s", self.words, how.__name__)
                how()
            process.join(patience)
            if process.exitcode is not None:
                break
        exit_code = process.exitcode
        if exit_code is not None:
            process.close()
        return exit_code


@contextmanager
def _terminal_signals_blocked() -> Iterator[None]:
    """A child started inside begins with these signals blocked: they must not kill it before it ignores them."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    resource_tracker.ensure_running()  # multiprocessing starts this helper with its first child, and unblocks SIGINT in doing so
    before = signal.pthread_sigmask(signal.SIG_BLOCK, TERMINAL_SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
