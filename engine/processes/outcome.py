"""How a child process ended, as data: whether it crashed, why it ended, what is to blame, and whether and how often it is started again."""

import errno
import signal
import sys
from collections import deque
from dataclasses import dataclass
from pathlib import Path

from framefleet.engine.notices import Notice

if sys.platform != "win32":
    import resource  # now: a process that has reached a limit of its memory can load no further library

THE_WORKER = Notice("processes.worker")

_EXTERNAL = {-getattr(signal, name) for name in ("SIGKILL", "SIGTERM", "SIGINT", "SIGHUP", "SIGXCPU") if hasattr(signal, name)}
"""Exit codes of processes that a user or the system ended."""

_CRASHES = {-getattr(signal, name) for name in ("SIGABRT", "SIGSEGV", "SIGBUS") if hasattr(signal, name)}
"""Exit codes of processes that crashed by themselves. Libraries also end so when they get no memory."""

_LIBRARY_EXITS = {1, 127}
"""Exit statuses with which OpenBLAS and the C library end a process that gets no memory."""

LACK_STATUS = 75
"""Exit status of a process in which a thread got no memory, no descriptor or no further thread (EX_TEMPFAIL of sysexits.h).

Such a thread cannot send an exit message: another one may be sending.
"""

_NO_MEMORY = ("can't alloc", "cannot allocate memory", "bad_alloc", "failed to map segment")
"""What the loader and C++ libraries say when an allocation fails. They give no number."""

_SHORT_BYTES = 128 * 2**20
"""With less address space left than this, an allocation may fail: the C library asks for 64 MB at once for a thread's memory."""

_LITTLE_BYTES = 256 * 2**20
"""With less free memory than this, a failed allocation is no fault of what asked for it."""


@dataclass(frozen=True)
class Failed:
    """A child's exit message: why it ends.

    retry: whether another try may succeed. waited: seconds until a hang was noticed, else 0. external: whether the machine lacks something,
    so that the child's work is not to blame. crashed: the child ended without a message, and another process says so for it.
    """

    message: Notice
    retry: bool
    waited: float = 0.0
    external: bool = False
    crashed: bool = False


@dataclass(frozen=True)
class Outcome:
    """A child process that has ended.

    exit_code: its status, a signal's number as a negative value, or None if it did not end. exit_message: what it sent before, if
    anything. name: the process in words.
    """

    exit_code: int | None
    exit_message: Failed | None = None
    name: Notice = THE_WORKER

    @property
    def crashed(self) -> bool:
        """Whether the process ended without an exit message of its own."""
        return self.exit_message is None or self.exit_message.crashed

    @property
    def retry(self) -> bool:
        """Whether another try may succeed."""
        if self.exit_message is not None:
            return self.exit_message.retry
        return not (self.exit_code == LACK_STATUS or (self.exit_code in _LIBRARY_EXITS and memory_limit() is not None))

    @property
    def waited(self) -> float:
        """Seconds until a hang was noticed; 0 if the process did not hang."""
        return 0.0 if self.exit_message is None else self.exit_message.waited

    @property
    def external(self) -> bool:
        """Whether something outside ended the process: a user, the system, or a lack of memory. Its work is then not to blame."""
        if self.exit_message is not None:
            return self.exit_message.external
        return self.exit_code in _EXTERNAL or self.exit_code == LACK_STATUS or self._may_lack_memory

    @property
    def _may_lack_memory(self) -> bool:
        """Whether it ended without a word, as processes do that get no memory for their libraries, and its memory is limited."""
        return (self.exit_code in _LIBRARY_EXITS or self.exit_code in _CRASHES) and memory_limit() is not None

    @property
    def reason(self) -> Notice:
        """Why the process ended, for the user."""
        if self.exit_message is not None:
            return self.exit_message.message
        if self.exit_code is None:
            return Notice("processes.not_ended", name=self.name)
        if self.exit_code == LACK_STATUS:
            return _no_memory_left() or Notice("processes.no_memory")
        limit = memory_limit() if self._may_lack_memory else None
        if limit is None:
            return self._end
        return Notice("processes.crashed_with_limit", crash=self._end, advice=Notice("processes.memory_limited", limit=limit >> 20))

    @property
    def _end(self) -> Notice:
        """How the process ended without a message."""
        code = self.exit_code or 0
        if code >= 0:
            return Notice("processes.status", name=self.name, exit_code=code)
        try:
            signal_name = signal.Signals(-code).name
        except ValueError:
            signal_name = f"signal {-code}"
        if signal_name == "SIGKILL":
            return Notice("processes.killed", name=self.name)
        return Notice("processes.terminated" if signal_name == "SIGTERM" else "processes.crashed", name=self.name, signal=signal_name)


def lack_of_resources(problem: BaseException) -> Notice | None:
    """What the machine lacks, if that caused an error.

    Parameters
    ----------
    problem : BaseException
        Any error. Its causes count, too.

    Returns
    -------
    Notice or None
        The limit, and what to raise. None if the error has another cause. An allocation that fails although there is memory has one: the
        file or the model asked for too much.
    """
    seen: BaseException | None = problem
    while seen is not None:
        # an import fails, too, if another thread that imports the same module has no memory left
        import_broke = isinstance(seen, ImportError) and not isinstance(seen, ModuleNotFoundError)
        without_memory = isinstance(seen, MemoryError) or import_broke or getattr(seen, "errno", None) == errno.ENOMEM
        if without_memory or any(map(str(seen).lower().count, _NO_MEMORY)):
            if (limited := _no_memory_left()) is not None:
                return limited
            if _free_memory() < _LITTLE_BYTES:
                return Notice("processes.no_memory")
        if isinstance(seen, OSError) and seen.errno in (errno.EMFILE, errno.ENFILE):
            return Notice("processes.no_descriptors", limit=_limit("RLIMIT_NOFILE") or 0)
        if isinstance(seen, OSError) and seen.errno == errno.EFBIG and (largest := file_limit()) is not None:
            return largest
        if _lacks_thread(seen):
            return _no_memory_left() or Notice("processes.no_threads")
        seen = seen.__cause__ or (None if seen.__suppress_context__ else seen.__context__)
    return None


def file_limit() -> Notice | None:
    """The limit of the size of a file that this process writes, and what to raise; None if there is none."""
    limit = _limit("RLIMIT_FSIZE")
    return None if limit is None else Notice("processes.file_limit", limit=limit >> 10)


def _lacks_thread(problem: BaseException) -> bool:
    """Whether no thread could start: Python's error, or EAGAIN of pthread_create, which FFmpeg's libraries pass on."""
    return isinstance(problem, BlockingIOError) or (isinstance(problem, RuntimeError) and "can't start new thread" in str(problem))


def _no_memory_left() -> Notice | None:
    """The limit of this process's memory, and what to raise; None if there is none. A new thread needs memory, too."""
    limit = memory_limit()
    return None if limit is None else Notice("processes.no_memory_left", limit=limit >> 20)


def address_space_is_short() -> bool:
    """Whether this process's memory is limited, and almost all of it in use. FFmpeg then calls good data invalid."""
    limit = memory_limit()
    if limit is None:
        return False
    try:
        used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    except OSError:
        return False
    return limit - used < _SHORT_BYTES


def memory_limit() -> int | None:
    """The limit of this process's address space, bytes, None if there is none."""
    return _limit("RLIMIT_AS")


def _limit(name: str) -> int | None:
    if sys.platform == "win32":
        return None
    soft, _ = resource.getrlimit(getattr(resource, name))
    return None if soft == resource.RLIM_INFINITY else soft


def _free_memory() -> float:
    """Free memory of the machine, bytes; infinite where the system does not tell it."""
    try:
        content = Path("/proc/meminfo").read_text()
    except OSError:
        return float("inf")
    return int(content.partition("MemAvailable:")[2].split()[0]) * 1024


RESTARTS = 5
RESTART_SECONDS = 60.0


class RestartBudget:
    """Allows a limited number of restarts within any period of ``seconds``.

    The time that passes until a hang is noticed does not count: else a process that always hangs would be restarted for ever.
    """

    def __init__(self, restarts: int = RESTARTS, seconds: float = RESTART_SECONDS) -> None:
        self.restarts = restarts
        self.seconds = seconds
        self._times: deque[float] = deque()

    def spend(self, now: float, waited: float = 0.0) -> bool:
        """Whether a restart is within the budget; if so, counts it. now: monotonic time. waited: for a hang. Both in seconds."""
        self._times = deque(time + waited for time in self._times)
        while self._times and now - self._times[0] > self.seconds:
            self._times.popleft()
        if len(self._times) == self.restarts:
            return False
        self._times.append(now)
        return True
