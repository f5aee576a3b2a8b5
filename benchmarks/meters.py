"""Measures processor time, memory, and the speed of a backend that always has work. Several benchmarks use it."""

from __future__ import annotations

import contextlib
import faulthandler
import multiprocessing
import os
import signal
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import ParamSpec, TypeVar

from framefleet.engine.backends.base import Backend
from framefleet.engine.types import Image

P = ParamSpec("P")
T = TypeVar("T")


def family() -> list[int]:
    """The ids of this process and of all living processes that descend from it. Linux only."""
    parents = {}
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # the process has just ended
            parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])

    def descends(pid: int) -> bool:
        return pid == os.getpid() or (pid in parents and descends(parents[pid]))

    return [pid for pid in parents if descends(pid)]


def processor_seconds() -> float:
    """Processor time so far, in seconds, of the processes of ``family``."""
    ticks = 0
    for pid in family():
        with contextlib.suppress(OSError):
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def memory() -> float:
    """Proportional set size, in MB, of the processes of ``family``: shared pages count once."""
    total = 0
    for pid in family():
        with contextlib.suppress(OSError):
            lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
            total += next(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
    return total / 1000


def in_new_process(function: Callable[P, T], *args: P.args, **options: P.kwargs) -> T:
    """Call a function in a new process, which may start other processes.

    Raises ChildProcessError, with the exit code or signal, if the process ends without a result. A crash prints its stack.
    """
    context = multiprocessing.get_context("spawn")
    results, sender = context.Pipe(duplex=False)
    with results:
        process = context.Process(target=_call, args=(sender, function, args, options))
        process.start()
        sender.close()  # so that the end of the process ends the wait
        result: list[T] = []
        with contextlib.suppress(EOFError):
            result.append(results.recv())
        process.join()
    if not result or process.exitcode:
        code = process.exitcode or 0
        how = f"by {signal.Signals(-code).name}" if code < 0 else f"with exit code {code}"
        after = "after" if result else "without"
        raise ChildProcessError(f"the process of {function.__name__} ended {how} {after} its result")
    return result[0]


def _call(sender: Connection, function: Callable[..., object], args: Sequence[object], options: Mapping[str, object]) -> None:
    faulthandler.enable()
    sender.send(function(*args, **options))


@dataclass(frozen=True)
class Speed:
    """images_per_s: by the wall clock. processor_ms: processor time per image. stages: ms of a batch in each stage of the device."""

    images_per_s: float
    processor_ms: float
    stages: dict[str, float]


def keep_busy(backend: Backend, pictures: Sequence[Sequence[Image]], seconds: float) -> Speed:
    """Measure a backend all of whose slots are busy. pictures: batches, submitted in turn."""
    waiting = deque(backend.submit(pictures[number % len(pictures)]) for number in range(backend.info.slots))

    def turn(number: int) -> None:
        waiting.popleft().result()
        waiting.append(backend.submit(pictures[number % len(pictures)]))

    for number in range(3):
        turn(number)
    backend.timings()
    started, used, batches = time.perf_counter(), time.process_time(), 0
    while time.perf_counter() - started < seconds:
        turn(batches)
        batches += 1
    elapsed, used, spent = time.perf_counter() - started, time.process_time() - used, backend.timings()
    for future in waiting:
        future.result()
    images = batches * len(pictures[0])
    return Speed(images / elapsed, 1000 * used / images, {stage: ms / batches for stage, ms in spent.items()})
