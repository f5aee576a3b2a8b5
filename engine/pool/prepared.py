"""A process for the next worker that is started before its run is known. Meanwhile it imports what workers need.

A run that finds such a process begins sooner: a new process first has to start an interpreter and to load the libraries. As soon as the
model is known, the process loads that, too.
"""

from __future__ import annotations

import logging
import multiprocessing
import os
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from importlib import import_module
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING, Any

from framefleet.engine.cuda import has_driver, open_context, open_driver
from framefleet.engine.logs import follow_environment
from framefleet.engine.processes.child import ChildProcess
from framefleet.engine.processes.outcome import THE_WORKER, memory_limit

if TYPE_CHECKING:
    from framefleet.engine.model.onnx.network import Model
    from framefleet.engine.settings import ModelFiles

_MODULES = (
    "framefleet.engine.model.load",
    "framefleet.engine.pool.hosts",
    "framefleet.engine.pool.worker.worker",
    "framefleet.engine.media.probe",
)
"""What every worker imports, beside the library of its device."""

_NVIDIA_MODULES = ("framefleet.engine.backends.nvidia.backend", "framefleet.engine.media.nvdec.decoder")
_CPU_MODULES = ("framefleet.engine.backends.openvino.backend",)

_log = logging.getLogger(__name__)
_lock = threading.Lock()
_waiting: list[ChildProcess] = []
_again = False

_imported = threading.Event()
"""In the process: whether the modules are imported, as far as that is not left to the work."""

_loading: dict[ModelFiles, Future[Model]] = {}
"""In the process: the model that it was told to load."""


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


def preload(files: ModelFiles) -> None:
    """Let the waiting process load a model that the next worker needs. Does nothing if no process waits, or memory is limited."""
    _tell(files)


def open_early(index: int) -> None:
    """Let the waiting process open the CUDA device that the next worker needs. Does nothing if no process waits, or memory is limited."""
    _tell(index)


def _tell(message: ModelFiles | int) -> None:
    with _lock:
        if _waiting and memory_limit() is None:
            _waiting[0].send(message)


def load(files: ModelFiles) -> Model:
    """Load a model in a worker's process, unless it has been loaded by ``preload``. Errors: see ``load_model``."""
    from framefleet.engine.model.load import load_model

    loading = _loading.pop(files, None)
    _loading.clear()
    model = load_model(files) if loading is None else loading.result()
    _log.debug("the model is loaded")
    return model


def release() -> None:
    """End the waiting process, if there is one."""
    with _lock:
        process = _waiting.pop() if _waiting else None
    if process is not None:
        process.kill()  # it has no work that could be lost
        process.end()


def main(connection: Connection[Any, Any]) -> None:
    """Run in the process: import, then do the work that ``take`` sends."""
    try:
        name, environment, work, arguments = _import_until_work(connection)
    except (EOFError, OSError):
        return
    multiprocessing.current_process().name = f"framefleet {name}"
    os.environ.update(environment)
    follow_environment()
    work(connection, *arguments)


def _import_until_work(connection: Connection[Any, Any]) -> Any:
    """Import modules, load models and open devices that are sent, until work comes. Returns the work.

    Where memory is limited, the work alone imports: Python may wait for ever for a thread that starts while another one has no memory left.
    """
    if memory_limit() is not None:
        return connection.recv()
    nvidia = has_driver()
    if nvidia:
        threading.Thread(target=open_driver, name="driver", daemon=True).start()
    modules, working = (*_MODULES, *(_NVIDIA_MODULES if nvidia else _CPU_MODULES)), threading.Event()
    importing = threading.Thread(target=_import, args=(modules, working), name="import", daemon=True)
    importing.start()
    while (work := _next_work(connection)) is None:
        pass
    working.set()
    importing.join()
    return work


def _import(modules: Iterable[str], working: threading.Event) -> None:
    """Import modules until the work has come, which imports the others that it needs."""
    for module in modules:
        with suppress(Exception):  # the worker meets the same error, and says what is missing
            import_module(module)
        if working.is_set():
            break
    _log.debug("modules are imported")
    _imported.set()


def _next_work(connection: Connection[Any, Any]) -> Any:
    """The work, if that is the next message. None: it was a model to load, or a device to open."""
    message = connection.recv()
    if isinstance(message, tuple):
        return message
    if isinstance(message, int):
        threading.Thread(target=_open_device, args=(message,), name="device", daemon=True).start()
    else:
        _start_loading(message)
    return None


def _open_device(index: int) -> None:
    """Open a CUDA device, then load the libraries of its engine."""
    open_context(index)
    _log.debug("cuda:%d is open", index)
    _imported.wait()  # two threads that import the same modules hinder each other
    with suppress(Exception):  # the worker meets the same error, and says what is missing
        from framefleet.engine.backends.nvidia.backend import load_libraries

        load_libraries(index)
    with suppress(Exception):
        import_module("PyNvVideoCodec")
    _log.debug("libraries of cuda:%d are loaded", index)


def _start_loading(files: ModelFiles) -> None:
    future = _loading[files] = Future()

    def work() -> None:
        from framefleet.engine.model.load import load_model

        try:
            future.set_result(load_model(files))
        except Exception as problem:  # the worker tells it
            future.set_exception(problem)

    threading.Thread(target=work, name="load", daemon=True).start()
