"""The benchmarks of CPU devices, by NumPy: how well the cores use the memory, which all CPU devices share.

Use it in a separate process in which NumPy's libraries have one thread (``OPENBLAS_NUM_THREADS=1``): this module starts a thread for
each core. As in a run, each of n devices has 1/n of the cores. The ideal speedup is 1.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from framefleet.engine.bench.devices_run import Measurement, Spread, Test, counts
from framefleet.engine.devices import affinity, host_memory
from framefleet.engine.types import DeviceId

LARGEST = 1 << 30
VECTORS = (1 << 20, 1 << 24, 1 << 28)
_ROWS, _WARM_UP = 8192, 2
_USUAL_MEMORY = 8 << 30  # bytes, where the memory is unknown

Outcome: TypeAlias = tuple[Spread, str | None]
"""The time and the problem of a ``Measurement``."""


class CpuDevices:
    """CPU devices that share the cores.

    largest: bytes of the largest array, None = an eighth of the memory, at most LARGEST. root: folder of the system's files.
    """

    def __init__(self, devices: Sequence[DeviceId], largest: int | None, root: Path = Path("/")) -> None:
        self._devices = tuple(devices)
        self._cores = affinity.usable_cores()
        memory = host_memory.read_host_memory(root)
        self._memory = _USUAL_MEMORY if memory is None else memory.total
        self._room = largest or min(self._memory // 8, LARGEST)

    @property
    def names(self) -> dict[DeviceId, str]:
        """The names of the devices."""
        return dict.fromkeys(self._devices, f"{self._cores} cores")

    def measure(self, repetitions: int) -> Iterator[Measurement]:
        """Yield each measurement as soon as it is taken. All CPU devices are equal: only the first is measured alone."""
        sharing = [self._devices[:count] for count in counts(len(self._devices))]
        with ThreadPoolExecutor(max(self._cores, len(self._devices))) as threads:
            yield self._measure(Test.MEMORY, self._devices[:1], 2 * (self._room // 2), self._copy, threads, repetitions)
            columns = self._room // (4 * _ROWS)
            for some in sharing:
                yield self._measure(Test.PRODUCT, some, 4 * _ROWS * columns, self._product, threads, len(some), columns, repetitions)
            for nbytes in [size for size in VECTORS if size <= self._room] or [self._room]:
                for some in sharing:
                    yield self._measure(Test.SUM, some, nbytes, self._sum, threads, len(some), nbytes // 4, repetitions)

    def _measure(self, test: Test, devices: Sequence[DeviceId], nbytes: int, run: Callable[..., Outcome], *arguments: Any) -> Measurement:
        count = max(1, self._cores // len(devices))
        note = f"{count} thread{'s' if count > 1 else ''} each"
        try:
            if nbytes > self._memory:  # the system may grant more than exists, and kill the process that uses it
                raise MemoryError
            spread, problem = run(*arguments)
            return Measurement(test, tuple(devices), nbytes, spread, None, note, problem)
        except MemoryError:
            return Measurement(test, tuple(devices), nbytes, problem=f"not enough memory for {nbytes / 1e9:.1f} GB")

    def _copy(self, threads: ThreadPoolExecutor, repetitions: int) -> Outcome:
        source = np.ones(self._room // 8, np.float32)
        target = np.empty_like(source)
        parts = [(target[part], source[part]) for part in self._parts(len(source), 1)]
        spread = _timed(threads, [partial(np.copyto, *part) for part in parts], repetitions)
        return spread, None if np.array_equal(target, source) else "the copy is not what was copied"

    def _product(self, threads: ThreadPoolExecutor, devices: int, columns: int, repetitions: int) -> Outcome:
        """Each device has a block of columns, each of its threads some rows of the block."""
        random = np.random.default_rng(0)
        bounds = np.linspace(0, columns, devices + 1).astype(int)
        xs = [random.random(after - first, np.float32) for first, after in pairwise(bounds)]
        blocks = [np.empty((_ROWS, len(x)), np.float32) for x in xs]
        for block in blocks:
            block[:] = random.random((64, block.shape[1]), np.float32)[np.arange(_ROWS) % 64]
        ys = np.empty((devices, _ROWS), np.float32)
        jobs = [
            partial(np.dot, block[rows], x, out=y[rows])
            for block, x, y in zip(blocks, xs, ys, strict=True)
            for rows in self._parts(_ROWS, devices)
        ]
        result = np.empty(_ROWS, np.float32)
        spread = _timed(threads, jobs, repetitions, lambda: np.add.reduce(ys, axis=0, out=result))
        few = slice(0, 64)
        expected = sum(block[few].astype(np.float64) @ x for block, x in zip(blocks, xs, strict=True))
        return spread, _wrong(result[few], expected)

    def _sum(self, threads: ThreadPoolExecutor, devices: int, count: int, repetitions: int) -> Outcome:
        values = np.resize(np.random.default_rng(0).random(1 << 16, np.float32), count)
        parts = [
            part for share in self._parts(count, 1, devices) for part in self._parts(share.stop - share.start, devices, at=share.start)
        ]
        sums = np.empty(len(parts), np.float64)

        def add(number: int, part: slice) -> None:
            sums[number] = np.add.reduce(values[part])

        jobs = [partial(add, number, part) for number, part in enumerate(parts)]
        totals: list[float] = []
        spread = _timed(threads, jobs, repetitions, lambda: totals.append(float(sums.sum())))
        return spread, _wrong(np.array(totals[-1:]), values.sum(dtype=np.float64))

    def _parts(self, length: int, devices: int, pieces: int | None = None, at: int = 0) -> list[slice]:
        """Cut a range into equal parts: ``pieces``, or one for each thread of one of ``devices`` devices."""
        bounds = np.linspace(at, at + length, (pieces or max(1, self._cores // devices)) + 1).astype(int).tolist()
        return [slice(first, after) for first, after in pairwise(bounds)]


def _timed(
    threads: ThreadPoolExecutor, jobs: Sequence[Callable[[], Any]], repetitions: int, last: Callable[[], Any] | None = None
) -> Spread:
    """Time all jobs at once, followed by ``last``."""
    samples = []
    for _ in range(_WARM_UP + repetitions):
        started = time.perf_counter()
        for done in wait([threads.submit(job) for job in jobs]).done:
            done.result()
        if last is not None:
            last()
        samples.append(1000 * (time.perf_counter() - started))
    return Spread.of(samples[_WARM_UP:])


def _wrong(result: NDArray[Any], expected: Any) -> str | None:
    off = float(np.max(np.abs(result / expected - 1)))
    return None if off <= 1e-4 else f"its result is off by {off:.2g} of what it should be"
