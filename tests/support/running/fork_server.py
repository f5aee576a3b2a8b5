"""Starts the child processes of tests by forking a process that has imported the workers' libraries.

The program spawns its children: each one starts an interpreter and imports NumPy, OpenVINO, PyAV and OpenCV, which takes 0.35 s of
processor time. The tests start more than a thousand children. Programs that tests start still spawn theirs, except the one that
takes golden pictures, and ``--spawn`` lets all tests do so.
"""

from __future__ import annotations

import multiprocessing
import os
import resource
import sys
from collections.abc import Callable
from multiprocessing import forkserver
from multiprocessing.context import ForkServerContext
from multiprocessing.reduction import DupFd
from pathlib import Path
from typing import Any

from framefleet.engine.processes import child
from tests.support.running import codes

# No module here may import one whose functions tests replace in a worker by ``module.name = ...``.
PRELOAD = [
    "framefleet.engine.backends.openvino.backend",
    "framefleet.engine.backends.openvino.engine",
    "framefleet.engine.bench.tune",
    "framefleet.engine.media.images",
    "framefleet.engine.media.probe",
    "framefleet.engine.media.cpu_decoding",
    "framefleet.engine.media.live.sources",
    "framefleet.engine.pool.worker.worker",
    "framefleet.engine.store.exporters.pictures_process",
    "framefleet.engine.store.exporters.video_process",
    "tests.support.running.fork_server",
    "tests.support.pool",
    "tests.support.running.warm",
]

SPAWN = child.CONTEXT


class _Context(ForkServerContext):
    def Process(self, *, target: Callable[..., None], args: tuple[Any, ...], **options: Any) -> Any:  # noqa: N802
        inherited = dict(os.environ), resource.getrlimit(resource.RLIMIT_FSIZE), _Descriptor(1), _Descriptor(2)
        return super().Process(target=_begin, args=(os.getpid(), inherited, target, args), **options)


class _Descriptor:
    """An open file of this process. In a child process it has the same number."""

    def __init__(self, number: int) -> None:
        self.number = number

    def __reduce__(self) -> tuple[Any, ...]:
        return _take, (DupFd(self.number), self.number)


def _take(passed: Any, number: int) -> None:
    os.dup2(passed.detach(), number)


def _begin(parent: int, inherited: tuple[Any, ...], target: Callable[..., None], args: tuple[Any, ...]) -> None:
    """In the child: set what a spawned process inherits, shorten trials and measurements of engines, then call ``target``.

    Tests of the trials run them in their own process. Elsewhere it does not matter which engine is the faster one.
    """
    from framefleet.engine.backends.openvino import backend as trials
    from framefleet.engine.bench import tune

    trials.TRIAL_SECONDS, trials.ROUND_SECONDS, tune.SECONDS = 0.03, 0.005, 0.05
    environment, file_size, _, _ = inherited
    os.environ.clear()
    os.environ.update(environment)
    resource.setrlimit(resource.RLIMIT_FSIZE, file_size)
    sys.dont_write_bytecode |= file_size[0] != resource.RLIM_INFINITY  # Python keeps bytecode that a limit cut
    Path("/proc/self/comm").write_text(_name(parent))
    forkserver._forkserver.ensure_running = lambda: None  # type: ignore[attr-defined] # the server that forked this process runs
    child.CONTEXT = _Context()
    codes.record()
    target(*args)


def _name(parent: int) -> str:
    return f"child of {parent}"[:15]


def install() -> None:
    """Let ``ChildProcess`` fork from now on."""
    multiprocessing.set_forkserver_preload(PRELOAD)
    child.CONTEXT = _Context()


def forked_by(parent: int, process: Path) -> bool:
    """Whether this process forked for ``parent``, whose child it is not. process: its folder in /proc."""
    return (process / "comm").read_text() == f"{_name(parent)}\n"
