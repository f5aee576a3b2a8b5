"""Runs the work of several GPUs with one launch and one wait.

A launch, a copy and a wait per device and step would take most of the time. Instead, all work is recorded as one CUDA graph with a branch
for each GPU; GPUs wait for each other by events, and the host waits once. If no GPU needs another one's result, each GPU can have its
own graph, which can start faster. If the results are a few numbers in host memory, polling them is faster than waiting for the driver.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import isnan

import numpy as np
from cuda.core import Stream
from numpy.typing import NDArray

from framefleet.engine.bench.devices.cuda_card import Card
from framefleet.engine.bench.devices.measurement import Spread
from framefleet.engine.cuda.graph import Mark, Step, record

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
        """See ``Step.launch``."""
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
