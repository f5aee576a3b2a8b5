"""A process for the next worker that is started before its run is known. Meanwhile it imports what workers need.

A run that finds such a process begins sooner: a new process first has to start an interpreter and to load the libraries.
"""

from __future__ import annotations

import multiprocessing
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from framefleet.engine.logs import follow_environment
from framefleet.engine.processes.child import ChildProcess
from framefleet.engine.processes.outcome import THE_WORKER

_MODULES = (
    "framefleet.engine.pool.hosts",
    "framefleet.engine.pool.worker.worker",
    "framefleet.engine.model.load",
    "framefleet.engine.media.probe",
)
"""What every worker imports, beside the library of its device."""

_NVIDIA_DRIVER = Path("/proc/driver/nvidia")

_lock = threading.Lock()
_waiting: list[ChildProcess] = []
_again = False


@contextmanager
def prepared(again: bool = False) -> Iterator[None]:
    """In the block, let a process wait for the next worker.

    Parameters
    ----------
    again : bool
        Whether another one waits after a worker's process has ended: a window starts one run after the other.
    """
    global _again  # the block is that of the whole program
    _again = again
    prepare()
    try:
        yield
    finally:
        _again = False
        release()


def prepare_again() -> None:
    """A worker's process has ended: start a process for the next one, if a program wants that, see ``prepared``."""
    if _again:
        prepare()


def prepare() -> None:
    """Start a process for the next worker, unless one waits already. Does nothing if the system cannot start one."""
    with _lock:
        if _waiting and not _waiting[0].ended:
            return
        _waiting.clear()
        try:
            _waiting.append(ChildProcess("worker", main, words=THE_WORKER))
        except OSError:  # a worker that cannot start says why
            return


def take(name: str, patience: float, work: Callable[..., None], *arguments: Any) -> ChildProcess | None:
    """Let the waiting process run ``work(connection, *arguments)``. Parameters: see ``ChildProcess``.

    Returns
    -------
    ChildProcess or None
        The process, which the caller ends. None: no process waits.
    """
    with _lock:
        process = _waiting.pop() if _waiting else None
    if process is None or process.ended:
        return None
    process.reassign(name, patience)
    process.send((name, dict(os.environ), work, arguments))
    return process


def release() -> None:
    """End the waiting process, if there is one."""
    with _lock:
        process = _waiting.pop() if _waiting else None
    if process is not None:
        process.kill()  # it has no work that could be lost
        process.end()


def main(connection: Connection[Any, Any]) -> None:
    """Run in the process: import, then do the work that ``take`` sends."""
    library = "nvidia" if _NVIDIA_DRIVER.exists() else "openvino"
    for module in (*_MODULES, f"framefleet.engine.backends.{library}.backend"):
        with suppress(Exception):  # the worker meets the same error, and says what is missing
            import_module(module)
    try:
        name, environment, work, arguments = connection.recv()
    except (EOFError, OSError):
        return
    multiprocessing.current_process().name = f"framefleet {name}"
    os.environ.update(environment)
    follow_environment()
    work(connection, *arguments)
