"""Locks that one process holds at a time. The operating system releases a lock when its process ends, even after a crash.

A lock is a file that contains the number and the command of the process that holds it, so that others can name that process.
"""

import errno
import os
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from framefleet.engine.notices import Notice
from framefleet.engine.types import Closing

_FIRST_BYTE = 1 << 30
"""Windows locks bytes, and nobody can read them meanwhile. This byte is behind the text."""

_POLL_SECONDS = 0.05
_BUSY = {errno.EACCES, errno.EAGAIN, errno.EDEADLK}


class LockedError(Exception):
    """Another process holds a lock. holder: that process, in words."""

    def __init__(self, path: Path, holder: Notice) -> None:
        super().__init__(f"{path} is locked by {holder}")
        self.holder = holder


class FileLock(Closing):
    """Holds the lock file ``path`` until ``close``, which deletes the file. The file's folder must exist.

    Parameters
    ----------
    path : Path
        The lock file.
    waiting : callable, optional
        If given, wait for another process to release the lock. It is called once, with that process in words.

    Raises
    ------
    LockedError
        Another process holds the lock, and ``waiting`` is None.
    OSError
        The file cannot be made or locked.
    """

    def __init__(self, path: Path, waiting: Callable[[Notice], None] | None = None) -> None:
        self.path = path
        while (descriptor := self._take()) is None:
            holder = _holder(path)
            if waiting is None:
                raise LockedError(path, holder)
            waiting(holder)
            waiting = _ignore
            time.sleep(_POLL_SECONDS)
        self._descriptor: int | None = descriptor
        with suppress(OSError):  # a full disk: the lock works without the text
            os.truncate(descriptor, 0)
            os.write(descriptor, f"{os.getpid()} {_command()}".encode("utf-8", "replace"))

    def _take(self) -> int | None:
        """Open and lock the file. None if another process holds the lock."""
        while True:
            descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o644)
            try:
                _lock(descriptor)
                if _same(descriptor, self.path):
                    return descriptor
            except OSError as error:
                if error.errno in _BUSY:
                    os.close(descriptor)
                    return None
                os.close(descriptor)
                raise
            os.close(descriptor)  # its holder deleted it after it was opened here

    def close(self) -> None:
        """Release the lock. Repeated calls have no effect."""
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is None:
            return
        if sys.platform != "win32":
            with suppress(OSError):  # the folder was removed
                if _same(descriptor, self.path):
                    self.path.unlink()  # before the release: afterwards, it may be another process's file
        os.close(descriptor)
        if sys.platform == "win32":
            with suppress(OSError):  # another process has opened it meanwhile
                self.path.unlink()


def _lock(descriptor: int) -> None:
    if sys.platform == "win32":
        import msvcrt

        os.lseek(descriptor, _FIRST_BYTE, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        os.lseek(descriptor, 0, os.SEEK_SET)
    else:
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _same(descriptor: int, path: Path) -> bool:
    """Whether the open file is still the one at ``path``."""
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False


def _holder(path: Path) -> Notice:
    with suppress(OSError, ValueError):
        number, command = path.read_text("utf-8", "replace").split(" ", 1)
        return Notice("processes.holder", pid=int(number), command=command)
    return Notice("processes.other_holder")


def held_here(path: Path) -> bool:
    """Whether this process holds the lock file ``path``."""
    return _holder(path).fields.get("pid") == os.getpid()


def _command() -> str:
    """The command of this process: the program's name and its first argument, as in "framefleet detect"."""
    return " ".join([Path(sys.argv[0]).name or "python", *sys.argv[1:2]])[:100]


def _ignore(_: Notice) -> None:
    """Wait without telling anyone again."""
