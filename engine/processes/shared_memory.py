"""Shared memory that is really there, so that no process dies of SIGBUS when it writes to it."""

import errno
import logging
import os
from multiprocessing.shared_memory import SharedMemory
from pathlib import Path

FOLDER = Path("/dev/shm")
"""Where Linux shows shared memory as files."""

_log = logging.getLogger(__name__)


def create_shared_memory(nbytes: int) -> SharedMemory | None:
    """Create shared memory, and reserve its pages. None: the system has too little, as in a container with a small ``/dev/shm``."""
    try:
        memory = SharedMemory(create=True, size=nbytes)
    except OSError as error:
        _log.warning("no shared memory of %d bytes: %s", nbytes, error)
        return None
    try:
        _reserve(FOLDER / memory.name, nbytes)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.EOPNOTSUPP):  # these: this system cannot reserve, which says nothing about its memory
            _log.warning("no shared memory of %d bytes: %s", nbytes, error)
            memory.close()
            memory.unlink()
            return None
    return memory


def _reserve(file: Path, nbytes: int) -> None:
    if not file.exists():  # not Linux
        return
    descriptor = os.open(file, os.O_RDWR)
    try:
        os.posix_fallocate(descriptor, 0, nbytes)
    finally:
        os.close(descriptor)
