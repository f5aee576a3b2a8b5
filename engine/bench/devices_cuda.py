"""The benchmarks of NVIDIA GPUs. Use it in a separate process: it loads CUDA.

A launch, a copy and a wait per device and step would take most of the time of work on several GPUs. Instead, all work is recorded as one
CUDA graph with a branch for each GPU; GPUs wait for each other by events, and the host waits once. If no GPU needs another one's result,
each GPU can have its own graph, which can start faster. If the results are a few numbers in host memory, polling them is faster than
waiting for the driver.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import permutations, product
from math import isnan
from typing import Any, Self, TypeAlias

import numpy as np
from cuda.bindings import driver
from cuda.core import Event, EventOptions, Stream
from numpy.typing import NDArray

from framefleet.engine.bench.devices_run import COLUMNS, ROWS, Measurement, Spread, Test, counts, shares, vectors
from framefleet.engine.cuda.device import open_device
from framefleet.engine.cuda.graph import Copy, Mark, Step, copy, record
from framefleet.engine.notices import FramefleetError
from framefleet.engine.types import DeviceId, without_device
from framefleet.plugins.bandwidth import SOURCES, AddParts, Fill, Product, Sum
from framefleet.plugins.kernels import Kernels


def ask(answer: tuple[Any, ...], doing: str) -> Any:
    """The result of a driver call.

    Raises
    ------
    MemoryError
        Not enough memory.
    RuntimeError
        The call failed.
    """
    status, *values = answer
    if status == driver.CUresult.CUDA_ERROR_OUT_OF_MEMORY:
        raise MemoryError(f"not enough memory to {doing}")
    if status != driver.CUresult.CUDA_SUCCESS:
        raise RuntimeError(f"CUDA cannot {doing}: {status.name}")
    return values[0] if values else None


class Card:
    """A GPU. Uses plain device memory: enabling peer access to a device does not include CUDA's memory pools.

    Raises DeviceError: there is no driver, or no such device. Raises KernelError: the kernels cannot be compiled.
    """

    def __init__(self, device: DeviceId) -> None:
        self.id, self.number = device, int(device.name)
        self.device = open_device(device, sleep=False)
        self._context = ask(driver.cuCtxGetCurrent(), "name its context")
        self.name = str(self.device.name)
        self.stream = self.device.create_stream()
        self.kernels = Kernels(f"sm_{self.device.arch}", names=SOURCES)
        self._memory: list[int] = []
        self._host: list[int] = []
        self._peers: dict[int, bool] = {self.number: True}

    def use(self) -> None:
        """Make this GPU the thread's current device."""
        ask(driver.cuCtxSetCurrent(self._context), f"turn to {self.id}")

    def event(self, timing: bool = False) -> Event:
        """A new event."""
        self.use()
        return self.device.create_event(EventOptions(timing_enabled=timing))

    @property
    def free(self) -> int:
        """Bytes of free memory."""
        self.use()
        status, free, _ = driver.cuMemGetInfo()
        ask((status,), "tell its free memory")
        return int(free)

    def memory(self, nbytes: int) -> int:
        """Allocate device memory. Returns its address."""
        self.use()
        address = int(ask(driver.cuMemAlloc(nbytes), f"hold {nbytes / 1e9:.1f} GB on {self.id}"))
        self._memory.append(address)
        return address

    def pinned(self, nbytes: int) -> NDArray[np.uint8]:
        """Pinned host memory that all devices access at the same address, uint8 (nbytes,)."""
        import ctypes

        self.use()
        flags = driver.CU_MEMHOSTALLOC_PORTABLE | driver.CU_MEMHOSTALLOC_DEVICEMAP
        address = int(ask(driver.cuMemHostAlloc(nbytes, flags), f"pin {nbytes / 1e9:.1f} GB of host memory"))
        self._host.append(address)
        return np.ctypeslib.as_array((ctypes.c_uint8 * nbytes).from_address(address))

    def reaches(self, other: Self) -> bool:
        """Enable access to the other card's memory. Returns whether that is possible."""
        if other.number not in self._peers:
            can = bool(self.device.can_access_peer(other.device))
            if can:
                self.use()
                (status,) = driver.cuCtxEnablePeerAccess(other._context, 0)
                already = driver.CUresult.CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED
                can = status in (driver.CUresult.CUDA_SUCCESS, already)
            self._peers[other.number] = can
        return self._peers[other.number]

    def copy_to(self, other: Self, destination: int, source: int, nbytes: int) -> None:
        """Queue a copy to the other card on this card's stream; it goes through host memory without peer access."""
        self.use()
        answer = driver.cuMemcpyPeerAsync(destination, other._context, source, self._context, nbytes, self.stream.handle)
        ask(answer, f"copy from {self.id} to {other.id}")

    def give_back(self) -> None:
        """Free all memory. No work may be queued."""
        self.use()
        self.stream.sync()
        for address in self._memory:
            ask(driver.cuMemFree(address), "free memory")
        for address in self._host:
            ask(driver.cuMemFreeHost(address), "free host memory")
        self._memory.clear()
        self._host.clear()


WARM_UP = 5
_TRIALS = 10
_PATIENCE_SECONDS = 10.0


@dataclass(frozen=True)
class _Way:
    """A way to run the work. awaited: the cards whose streams end last."""

    name: str
    launch: Callable[[], None]
    awaited: Sequence[Card]


class Together:
    """The work of several cards. Chooses the fastest way that the driver supports, and runs once to load the kernels.

    phases: for each phase the steps of each card; between two phases every card waits for all others. results: a few float64 in
    pinned host memory, written by the last phase, never NaN; None = wait for the streams. how: the chosen way, "step by step",
    "one graph" or, with a single phase, "a graph each".
    """

    def __init__(self, cards: Sequence[Card], phases: Sequence[Sequence[Step]], results: NDArray[np.float64] | None = None) -> None:
        self._cards, self._phases = cards, phases
        self._lead = cards[0]
        self._forked = self._lead.event()
        self._passed = [[card.event() for card in cards] for _ in phases]
        self._marks = [(card.event(timing=True), card.event(timing=True)) for card in cards]
        self._results = results
        self._way = _Way("step by step", self._enqueue, [self._lead])
        self.run()
        self._choose()

    @property
    def how(self) -> str:
        """The chosen way."""
        return self._way.name

    def run(self) -> None:
        """Run once and wait for the end."""
        self._way.launch()
        for card in self._way.awaited:
            card.stream.sync()

    def measure(self, repetitions: int) -> tuple[Spread, Spread]:
        """The time by the host's clock, and the slowest card's time by its own clock."""
        for _ in range(WARM_UP):
            self.run()
        run = self.run if self._results is None else self._run_until_seen
        wall, own = [], []
        for _ in range(repetitions):
            started = time.perf_counter()
            run()
            wall.append(1000 * (time.perf_counter() - started))
            for card in self._cards:
                card.stream.sync()
            own.append(max(end - begin for begin, end in self._marks))
        return Spread.of(wall), Spread.of(own)

    def _run_until_seen(self) -> None:
        assert self._results is not None
        self._results.fill(np.nan)
        seen = self._results.data
        self._way.launch()
        deadline = time.perf_counter() + _PATIENCE_SECONDS
        while any(map(isnan, seen)):
            if time.perf_counter() > deadline:
                raise RuntimeError(f"no result came within {_PATIENCE_SECONDS:.0f} s")

    def _choose(self) -> None:
        """Measure the other ways and keep the fastest."""
        fastest, least = self._way, self.measure(_TRIALS)[0].median
        ways = {"one graph": self._one_graph}
        if len(self._cards) > 1 and len(self._phases) == 1:
            ways["a graph each"] = self._graph_each
        for name, recorded in ways.items():
            try:
                self._way = _Way(name, *recorded())
            except Exception as problem:  # the driver does not support a graph over several devices
                fastest = replace(fastest, name=f"{fastest.name} (no graph: {problem})")
                continue
            if (median := self.measure(_TRIALS)[0].median) <= least:
                fastest, least = self._way, median
        self._way = fastest

    def _one_graph(self) -> tuple[Callable[[], None], Sequence[Card]]:
        self._lead.use()
        graph = record([_Enqueue(self._enqueue)], self._lead.stream)
        return lambda: graph.launch(self._lead.stream), [self._lead]

    def _graph_each(self) -> tuple[Callable[[], None], Sequence[Card]]:
        graphs = []
        for card, step, (begin, end) in zip(self._cards, self._phases[0], self._marks, strict=True):
            card.use()
            graphs.append((record([Mark(begin), step, Mark(end)], card.stream), card.stream))
        self._lead.use()

        def launch() -> None:
            for graph, stream in graphs:
                graph.launch(stream)

        return launch, self._cards

    def _enqueue(self) -> None:
        lead, others = self._lead, self._cards[1:]
        lead.use()
        lead.stream.record(self._forked)
        for card in others:
            card.use()
            card.stream.wait(self._forked)
        for number, (steps, passed) in enumerate(zip(self._phases, self._passed, strict=True)):
            for card, step, event, (begin, end) in zip(self._cards, steps, passed, self._marks, strict=True):
                card.use()
                if number == 0:
                    Mark(begin).launch(card.stream)
                step.launch(card.stream)
                if number == len(self._phases) - 1:
                    Mark(end).launch(card.stream)
                if card is not lead or number < len(self._phases) - 1:
                    card.stream.record(event)
            awaiting = self._cards if number < len(self._phases) - 1 else [lead]
            for card, (other, event) in product(awaiting, zip(self._cards, passed, strict=True)):
                if other is not card:
                    card.use()
                    card.stream.wait(event)
        lead.use()


class _Enqueue:
    """All work as one step: it is recorded on the first card's stream, which the other streams join."""

    def __init__(self, enqueue: Callable[[], None]) -> None:
        self._enqueue = enqueue

    def launch(self, _stream: Stream) -> None:
        """Put the work on a stream."""
        self._enqueue()


def time_on(card: Card, enqueue: Callable[[], None], repetitions: int) -> Spread:
    """The time on the card's stream, by the card's clock."""
    begin, end = card.event(timing=True), card.event(timing=True)
    samples = []
    for _ in range(WARM_UP + repetitions):
        card.use()
        card.stream.record(begin)
        enqueue()
        card.stream.record(end)
        card.stream.sync()
        samples.append(end - begin)
    return Spread.of(samples[WARM_UP:])


COPIED = 256 << 20
LARGEST = 32 << 30
_SMALL = 16
_LATENCY_COPIES = 32
_TOLERANCE = 1e-4  # relative: float32 sums of up to 10⁵ products

Outcome: TypeAlias = tuple[Spread, Spread | None, str, str | None]
"""The time, device time, note and problem of a ``Measurement``."""


class CudaDevices:
    """CUDA devices. largest: bytes of the largest array, None = a quarter of the free memory, at most LARGEST."""

    def __init__(self, devices: Sequence[DeviceId], largest: int | None) -> None:
        self._cards: list[Card] = []
        self._problems: list[Measurement] = []
        for device in devices:
            try:
                self._cards.append(Card(device))
            except Exception as problem:  # a broken device must not stop the measurement of the others
                said = without_device(problem.notice) if isinstance(problem, FramefleetError) else problem
                self._problems.append(Measurement(Test.MEMORY, (device,), 0, problem=str(said)))
        room = min((card.free for card in self._cards), default=0) // 4
        self._room = min(room, LARGEST) if largest is None else largest
        self._copied = min(COPIED, self._room)
        self._speeds: dict[int, float] = {}
        self._singles: dict[tuple[Test, int], NDArray[Any]] = {}

    @property
    def names(self) -> dict[DeviceId, str]:
        """The names of the usable devices."""
        return {card.id: card.name for card in self._cards}

    def measure(self, repetitions: int) -> Iterator[Measurement]:
        """Yield each measurement as soon as it is taken."""
        yield from self._problems
        cards = self._cards
        for card in cards:
            measured = self._measure(Test.MEMORY, [card], 2 * self._copied, self._within, card, repetitions)
            self._speeds[card.number] = measured.rate or 0.0
            yield measured
        for test in (Test.UPLOAD, Test.DOWNLOAD):
            for card in cards:
                yield self._measure(test, [card], self._copied, self._host, test, [card], repetitions)
            if len(cards) > 1:
                yield self._measure(test, cards, self._copied * len(cards), self._host, test, cards, repetitions)
        for pair in permutations(cards, 2):
            yield self._measure(Test.PEER, pair, self._copied, self._peer, pair, self._copied, 1, repetitions)
        for pair in permutations(cards, 2):
            yield self._measure(Test.PEER_LATENCY, pair, _SMALL, self._peer, pair, _SMALL, _LATENCY_COPIES, repetitions)
        sharing = [[card] for card in cards] + [cards[:count] for count in counts(len(cards)) if count > 1]
        columns = max(self._room // (4 * ROWS * COLUMNS), 10 * len(cards)) * COLUMNS  # the slowest device has a tenth of a share
        for some in sharing:
            yield self._measure(Test.PRODUCT, some, 4 * ROWS * columns, self._product, some, columns, repetitions)
        for nbytes in vectors(self._room):
            for some in sharing:
                yield self._measure(Test.SUM, some, nbytes, self._sum, some, nbytes // 4, repetitions)

    def _measure(self, test: Test, cards: Sequence[Card], nbytes: int, run: Callable[..., Outcome], *arguments: Any) -> Measurement:
        ids = tuple(card.id for card in cards)
        try:
            return Measurement(test, ids, nbytes, *run(*arguments))
        except Exception as problem:  # a failure is a result
            return Measurement(test, ids, nbytes, problem=str(problem) or type(problem).__name__)
        finally:
            for card in self._cards:
                card.give_back()

    def _within(self, card: Card, repetitions: int) -> Outcome:
        source, target = card.memory(self._copied), card.memory(self._copied)
        card.use()
        Fill(card.kernels, source, 1, self._copied // 4, 0, self._copied // 4).launch(card.stream)
        return time_on(card, lambda: copy(target, source, self._copied, card.stream), repetitions), None, "", None

    def _host(self, test: Test, cards: Sequence[Card], repetitions: int) -> Outcome:
        steps = []
        for card in cards:
            device, host = card.memory(self._copied), card.pinned(self._copied)
            host[:] = 1
            ends = (device, host.ctypes.data) if test is Test.UPLOAD else (host.ctypes.data, device)
            steps.append(Copy(*ends, self._copied))
        if len(cards) == 1:
            return time_on(cards[0], lambda: steps[0].launch(cards[0].stream), repetitions), None, "", None
        return *Together(cards, [steps]).measure(repetitions), "all at once", None

    def _peer(self, pair: Sequence[Card], nbytes: int, times: int, repetitions: int) -> Outcome:
        source, target = pair
        direct = source.reaches(target)
        ends = target.memory(nbytes), source.memory(nbytes)

        def enqueue() -> None:
            for _ in range(times):
                source.copy_to(target, *ends, nbytes)

        spread = time_on(source, enqueue, repetitions)
        each = Spread(repetitions, spread.median / times, spread.p5 / times, spread.p95 / times, spread.variance / times**2)
        return each, None, "direct" if direct else "through host memory", None

    def _product(self, cards: Sequence[Card], columns: int, repetitions: int) -> Outcome:
        result = cards[0].pinned(4 * ROWS).view(np.float32)
        y, one = result.ctypes.data, len(cards) == 1
        direct = all(card.reaches(other) for card in cards for other in cards)
        parts, products = [], []
        for card, (first, count) in zip(cards, shares(columns, self._speeds_of(cards)), strict=True):
            matrix, x = card.memory(4 * ROWS * count), card.memory(4 * count)
            card.use()
            Fill(card.kernels, matrix, ROWS, count, first, columns).launch(card.stream)
            Fill(card.kernels, x, 1, count, ROWS * columns + first, columns).launch(card.stream)
            card.stream.sync()
            # without access to the other cards' memory the parts go through host memory
            parts.append(y if one else card.memory(4 * ROWS) if direct else card.pinned(4 * ROWS).ctypes.data)
            products.append(Product(card.kernels, matrix, x, ROWS, count, parts[-1]))
        phases: list[list[Product] | list[AddParts]] = [products]
        if not one:
            phases.append(self._additions(cards, parts, y))
        together = Together(cards, phases)
        spreads = together.measure(repetitions)
        note = together.how if one else f"{together.how}, parts {'from peer to peer' if direct else 'through host memory'}"
        return *spreads, note, self._wrong(Test.PRODUCT, columns, result)

    def _additions(self, cards: Sequence[Card], parts: Sequence[int], y: int) -> list[AddParts]:
        """Each card sums its share of the rows and writes the result into host memory."""
        steps = []
        for card, (first, count) in zip(cards, shares(ROWS, [1.0] * len(cards)), strict=True):
            addresses = card.memory(8 * len(parts))
            table = np.array(parts, np.uint64)
            card.use()
            copy(addresses, table.ctypes.data, table.nbytes, card.stream)
            card.stream.sync()
            steps.append(AddParts(card.kernels, addresses, len(parts), first, count, y))
        return steps

    def _sum(self, cards: Sequence[Card], count: int, repetitions: int) -> Outcome:
        totals = cards[0].pinned(8 * len(cards)).view(np.float64)
        steps = []
        for number, (card, (first, length)) in enumerate(zip(cards, shares(count, self._speeds_of(cards)), strict=True)):
            values, parts = card.memory(4 * length), card.memory(Sum.PARTS)
            card.use()
            Fill(card.kernels, values, 1, length, first, count).launch(card.stream)
            card.stream.sync()
            steps.append(Sum(card.kernels, values, length, parts, totals.ctypes.data + 8 * number))
        together = Together(cards, [steps], totals)
        spreads = together.measure(repetitions)
        return *spreads, together.how, self._wrong(Test.SUM, count, totals.sum(keepdims=True))

    def _speeds_of(self, cards: Sequence[Card]) -> list[float]:
        speeds = [self._speeds[card.number] for card in cards]
        return speeds if min(speeds) else [1.0] * len(cards)

    def _wrong(self, test: Test, size: int, result: NDArray[Any]) -> str | None:
        """Compare with the first single device's result, which must be near the expected value."""
        key = (test, size)
        if key not in self._singles:
            # the mean of products of two such numbers is ¼, of the numbers ½
            expected = np.full(len(result), size * (0.25 if test is Test.PRODUCT else 0.5))
            self._singles[key] = result.copy()
            tolerance = 10 / np.sqrt(size)
        else:
            expected, tolerance = self._singles[key], _TOLERANCE
        off = float(np.max(np.abs(result / expected - 1)))
        return None if off <= tolerance else f"its result is off by {off:.2g} of what it should be"
