"""Measures processor time, memory, and the speed of a backend that always has work. Several benchmarks use it."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import ParamSpec, TypeVar

from engine.backends.base import Backend
from engine.types import Image

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
    """Call a function in a new process, which may start other processes."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as process:
        return process.submit(function, *args, **options).result()


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
