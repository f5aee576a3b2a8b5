"""The benchmarks of NVIDIA GPUs. Use it in a separate process: it loads CUDA."""

from collections.abc import Callable, Iterator, Sequence
from itertools import permutations
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from framefleet.engine.bench.devices.cuda_card import Card
from framefleet.engine.bench.devices.cuda_together import Together, time_on
from framefleet.engine.bench.devices.measurement import Measurement, Spread, Test
from framefleet.engine.bench.devices.shares import COLUMNS, ROWS, counts, shares, vectors
from framefleet.engine.cuda.graph import Copy, copy
from framefleet.engine.errors import FramefleetError
from framefleet.engine.types import DeviceId, without_device
from framefleet.plugins.bandwidth import AddParts, Fill, Product, Sum

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
