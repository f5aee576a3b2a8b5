from __future__ import annotations

import math
from dataclasses import replace
from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some
from numpy.typing import NDArray

from framefleet.engine.model.network import Network
from framefleet.engine.model.split import PICTURES, Rates, StageTime, arriving_bytes, best_cuts, find_balance, layer_costs, split, transfers
from framefleet.engine.notices import UsageError
from tests.support.models import tiny_network

NOTHING = np.zeros((25, 25))


def periods(costs: NDArray[np.float64], receiving: NDArray[np.float64], cuts: tuple[int, ...]) -> list[float]:
    return [max(costs[start:stop].sum(), receiving[start, stop]) for start, stop in pairwise((0, *cuts, len(costs)))]


@given(
    some.lists(some.floats(0.01, 10), min_size=2, max_size=9),
    some.integers(2, 5),
    some.integers(0, 2**32 - 1),
)
def test_no_other_cuts_are_better(numbers: list[float], stages: int, seed: int) -> None:
    costs, stages = np.array(numbers), min(stages, len(numbers))
    receiving = np.random.default_rng(seed).random((len(costs) + 1,) * 2) * 5
    all_cuts = list(combinations(range(1, len(costs)), stages - 1))
    least = min(max(periods(costs, receiving, cuts)) for cuts in all_cuts)
    found = best_cuts(costs, receiving, stages)
    assert max(periods(costs, receiving, found)) <= 1.01 * least * (1 + 1e-9)

    def received(cuts: tuple[int, ...]) -> float:
        return sum(receiving[start, stop] for start, stop in pairwise((0, *cuts, len(costs))))

    good = [cuts for cuts in all_cuts if max(periods(costs, receiving, cuts)) <= 1.01 * least * (1 - 1e-9)]
    assert all(received(found) <= received(cuts) + 1e-9 for cuts in good)


def test_as_many_stages_as_layers() -> None:
    assert best_cuts(np.ones(4), np.zeros((5, 5)), 4) == (1, 2, 3)


def test_the_received_bytes_equal_the_transfers() -> None:
    network = tiny_network()
    table = arriving_bytes(network, 2)
    for cuts in combinations(range(1, len(network.layers)), 2):
        parts = split(network, *cuts)
        arriving = [0] * len(parts)
        for move in transfers(network, parts):
            assert move.layer != PICTURES
            arriving[move.destination] += 2 * math.prod(network.layers[move.layer].shape)
        assert arriving == [0 if part.layers.start == 0 else table[part.layers.start, part.layers.stop] for part in parts]


def test_costs_follow_arithmetic_or_memory_whichever_is_slower() -> None:
    network = tiny_network()
    first = network.layers[0]
    operations = 2 * 4 * first.shape[0] * first.shape[1] * first.shape[2] * 27
    assert layer_costs(network, 4, 2, Rates(1e9, 1e15))[0] == pytest.approx(operations / 1e6)
    moved = 2 * (4 * (math.prod(first.shape) + 3 * 96 * 96) + 27 * first.shape[0])
    assert layer_costs(network, 4, 2, Rates(1e15, 1e9))[0] == pytest.approx(moved / 1e6)


class Machine:
    """Devices whose true costs of the layers are hidden from the search."""

    def __init__(self, network: Network, seed: int, speeds: tuple[float, ...], link: float = 0.0) -> None:
        self.costs = np.random.default_rng(seed).gamma(1.0, size=len(network.layers))
        self.speeds, self.link, self.built = speeds, link * arriving_bytes(network, 1), list[tuple[int, ...]]()

    def measure(self, cuts: tuple[int, ...]) -> list[StageTime]:
        self.built.append(cuts)
        stretches = pairwise((0, *cuts, len(self.costs)))
        return [
            StageTime(self.costs[a:b].sum() / speed, self.link[a, b] if a else 0.0)
            for (a, b), speed in zip(stretches, self.speeds, strict=True)
        ]


@pytest.mark.parametrize("stages", [2, 3, 4])
@pytest.mark.parametrize("seed", range(5))
def test_wrong_guesses_are_corrected_by_measuring(stages: int, seed: int) -> None:
    network = tiny_network()
    machine = Machine(network, seed, (1.0,) * stages)
    found = find_balance(network, stages, 1, 4, Rates(1e12, 5e10), machine.measure)
    first = max(time.period for time in machine.measure(machine.built[0]))
    best = max(periods(machine.costs, NOTHING, best_cuts(machine.costs, NOTHING, stages)))
    assert found.period == max(time.period for time in machine.measure(found.cuts))
    assert found.period <= first
    assert found.period < 1.4 * best
    assert len(set(machine.built)) <= 6


def test_a_slower_device_gets_less() -> None:
    network = tiny_network()
    slow_last, slow_first = (
        find_balance(network, 2, 1, 4, Rates(1e12, 5e10), Machine(network, 1, each).measure) for each in ((4, 1), (1, 4))
    )
    assert slow_first.cuts < slow_last.cuts


def test_a_slow_link_moves_the_cut_to_where_less_crosses() -> None:
    network = tiny_network()
    quick, slow = (find_balance(network, 2, 1, 1, Rates(1e12, 5e10, 1e9), Machine(network, 3, (1, 1), link).measure) for link in (0, 1e-2))
    table = arriving_bytes(network, 1)
    assert table[slow.cuts[0], len(network.layers)] < table[quick.cuts[0], len(network.layers)]


def test_more_stages_than_layers_are_rejected() -> None:
    network = tiny_network()
    short = replace(network, layers=network.layers[:3])
    with pytest.raises(UsageError, match=r"3 layers.*4 stages"):
        find_balance(short, 4, 1, 4, Rates(1e12, 5e10), lambda _: [])
