"""The parent's side of a child process: start, messages, detection of a frozen process, staged stop."""

from __future__ import annotations

import atexit
import logging
import multiprocessing
import os
import pickle
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from typing import Any, ClassVar

from framefleet.engine.notices import Notice
from framefleet.engine.processes.child_main import GROUP_SIGNALS, INTERVAL_SECONDS, MIN_PATIENCE, Heartbeat, run
from framefleet.engine.processes.outcome import Failed, Outcome

NICE = 5
"""Niceness that a child adds to its parent's: the window and other programs get the processor before background work."""

STOP_SECONDS = 0.3
"""How long ``ChildProcess.end`` waits before it kills the process."""

KILL_SECONDS = 5.0
"""The longest wait for a killed process: inside a broken driver or file system, a process may not even react to SIGKILL."""

_log = logging.getLogger(__name__)
CONTEXT = multiprocessing.get_context("spawn")
"""How child processes start. A forked child would inherit threads' locks and a CUDA context."""


class Conversation:
    """Messages to and from a child. exit_message: the child's last message; None until it has arrived."""

    last_types: ClassVar[tuple[type, ...]] = (Failed,)

    def __init__(self) -> None:
        self.exit_message: Any = None

    @property
    def connection(self) -> Connection[Any, Any]:
        """The connection to the child, for ``multiprocessing.connection.wait``."""
        raise NotImplementedError

    def send(self, message: Any) -> None:
        """Send a message. Does nothing if the process has ended; ``receive`` then returns None."""
        try:
            self.connection.send(message)
        except OSError as error:
            _log.debug("%s was not sent: %s", message, error)

    def receive(self) -> Any:
        """Wait for the next message. Returns None when there are no more."""
        try:
            message = self.connection.recv()
        except (EOFError, OSError):
            return None
        if isinstance(message, self.last_types):
            self.exit_message = message
        return message

    def messages(self) -> Iterator[Any]:
        """Yield all messages before the exit message."""
        while (message := self.receive()) is not None and self.exit_message is None:
            yield message


class ChildProcess(Conversation):
    """A process that runs ``main(connection, *arguments)``, started at once.

    name: of the process. main, arguments: picklable. words: the process's name in outcomes. patience: seconds without a heartbeat after
    which the process counts as frozen and is killed; ``receive`` then returns, also in the middle of a message. nice: added to this
    process's niceness. quiet: discard the process's output.

    The child ends when ``main`` returns or raises, and when this process ends for any reason. The child ignores ``GROUP_SIGNALS``.
    ``send`` and ``receive`` belong to one thread each; all other methods may be called from any thread.

    Raises OSError if the process cannot be started.
    """

    def __init__(
        self,
        name: str,
        main: Callable[..., None],
        *arguments: Any,
        words: Notice,
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
        self._connection, theirs = CONTEXT.Pipe()
        self._process = CONTEXT.Process(
            target=run,
            args=(theirs, self._heartbeat.counter, nice, quiet, pickle.dumps((main, arguments))),
            name=f"framefleet {name}",
            daemon=True,  # the interpreter does not wait for it at exit
        )
        with theirs, _group_signals_blocked(), _large_pages():
            self._process.start()
        assert self._process.pid is not None
        self.pid: int = self._process.pid
        self._watcher = threading.Thread(target=self._watch, name=f"watch {name}", daemon=True)
        self._watcher.start()

    @property
    def connection(self) -> Connection[Any, Any]:
        """The connection to the child, for ``multiprocessing.connection.wait``."""
        return self._connection

    @property
    def ended(self) -> bool:
        """Whether the process has ended."""
        with self._ending:
            return self._outcome is not None or not self._process.is_alive()

    def reassign(self, name: str, patience: float) -> None:
        """Give the process a name and a patience for other work: see ``ChildProcess``."""
        self._process.name = f"framefleet {name}"
        self._heartbeat.patience = max(MIN_PATIENCE, patience)

    def kill(self) -> None:
        """Kill the process; harmless if it has ended."""
        with self._ending:
            if self._outcome is None:
                self._process.kill()

    def release(self) -> None:
        """Close the connection, so that the process ends. Does not wait."""
        self._connection.close()

    def end(self, seconds: float = STOP_SECONDS) -> Outcome:
        """End the process: close the connection, then kill. seconds: how long to wait before that."""
        self.release()
        with self._ending:
            if self._outcome is None:
                self._outcome = Outcome(self._stop(seconds), self.exit_message, self.words)
            return self._outcome

    def _watch(self) -> None:
        """Kill the process if it is frozen. Runs in a thread until the process has ended."""
        while not wait([self._process.sentinel], INTERVAL_SECONDS):
            if self._heartbeat.stopped(self.pid):
                silence = self._heartbeat.silence
                self.exit_message = Failed(Notice("processes.no_sign_of_life", name=self.words, seconds=int(silence)), True, silence)
                self._process.kill()

    def _stop(self, seconds: float) -> int | None:
        process = self._process
        process.join(seconds)
        if process.exitcode is None:
            _log.info("%s does not end by itself: kill", self.words)
            process.kill()
            process.join(KILL_SECONDS)
        exit_code = process.exitcode
        if exit_code is not None:
            self._watcher.join()
            process.close()
        return exit_code


@atexit.register
def _kill_all() -> None:
    """Kill the children that are left. multiprocessing would send SIGTERM, which they ignore, and wait for them."""
    for process in multiprocessing.active_children():
        if process.name.startswith("framefleet "):
            process.kill()


@contextmanager
def _group_signals_blocked() -> Iterator[None]:
    """Block these signals in children started inside, so that none kills a child before it ignores them."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    resource_tracker.ensure_running()  # multiprocessing starts this helper with its first child, and unblocks SIGINT in doing so
    before = signal.pthread_sigmask(signal.SIG_BLOCK, GROUP_SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


_TUNABLES = "GLIBC_TUNABLES"
_starting = threading.Lock()


@contextmanager
def _large_pages() -> Iterator[None]:
    """Let children started inside put large buffers into pages of 2 MB: with those of 4 KB, a decoded 8K picture costs 25,000 page faults.

    glibc reads the setting when a process starts. Other libraries ignore it, and one that the user has made stays.
    """
    with _starting:
        if _TUNABLES in os.environ:
            yield
            return
        os.environ[_TUNABLES] = "glibc.malloc.hugetlb=1"
        try:
            yield
        finally:
            del os.environ[_TUNABLES]
