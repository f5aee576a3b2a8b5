"""Finds where to cut a network so that its stages, each on its own device, take equally long.

Stages work at the same time, each on another batch: the slowest one limits the throughput. Devices compute and receive at the same
time, so a stage takes the longer of the two times. For given costs of the layers the best cuts are exact. The costs start as an
estimate and are corrected by the measured times of the stages.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from engine.errors import UsageError
from engine.model.network import Convolution, Identity, Layer, Network, Route, Shape, Yolo
from engine.model.split import PICTURES

_SLACK = 1.01
"""The slowest stage may take this much longer than necessary if fewer bytes move then."""

_EVEN = 1.01
"""No further attempt is made if the slowest stage is within this factor of the mean."""

_ATTEMPTS = 6
"""Cuts that are built and timed at most; on four H200s four attempts reached 85 % evenness."""


@dataclass(frozen=True)
class Rates:
    """Approximate rates of a device per second. arithmetic: operations. memory: bytes read and written. link: bytes received."""

    arithmetic: float
    memory: float
    link: float = math.inf


@dataclass(frozen=True)
class StageTime:
    """Time of one stage for a batch, ms: to compute it and to receive its inputs."""

    computing: float
    receiving: float = 0.0

    @property
    def period(self) -> float:
        """ms from one batch to the next."""
        return max(self.computing, self.receiving)


@dataclass(frozen=True)
class Balance:
    """Cuts and their measured times. cuts: the first layer of every stage but the first."""

    cuts: tuple[int, ...]
    times: tuple[StageTime, ...]

    @property
    def period(self) -> float:
        """ms from one batch to the next."""
        return max(time.period for time in self.times)

    @property
    def evenness(self) -> float:
        """Mean of the stages' computing times ÷ the period: the share of the devices' time that is used."""
        return sum(time.computing for time in self.times) / len(self.times) / self.period


def find_balance(
    network: Network,
    stages: int,
    batch: int,
    value_bytes: int,
    rates: Rates,
    measure: Callable[[tuple[int, ...]], Sequence[StageTime]],
) -> Balance:
    """The best measured cuts. value_bytes: size of one number between layers. measure: builds the stages and times them.

    Raises:
        UsageError: the network has too few layers.
    """
    if stages > len(network.layers):
        raise UsageError(f"{network.name} has {len(network.layers)} layers: it cannot be cut into {stages} stages")
    costs = layer_costs(network, batch, value_bytes, rates)
    receiving = 1000 * batch * arriving_bytes(network, value_bytes) / rates.link
    known: dict[tuple[int, ...], Balance] = {}
    for _ in range(_ATTEMPTS):
        cuts = best_cuts(costs, receiving, stages)
        if cuts in known:
            break
        balance = known[cuts] = Balance(cuts, tuple(measure(cuts)))
        if balance.evenness * _EVEN >= 1:
            break
        stretches = list(pairwise((0, *cuts, len(costs))))
        expected = sum(receiving[stretch] for stretch in stretches)
        if expected:
            receiving = receiving * sum(time.receiving for time in balance.times) / expected
        for (start, stop), time in zip(stretches, balance.times, strict=True):
            costs[start:stop] *= time.computing / max(costs[start:stop].sum(), 1e-9)
    return min(known.values(), key=lambda balance: balance.period)


def best_cuts(costs: NDArray[np.float64], receiving: NDArray[np.float64], stages: int) -> tuple[int, ...]:
    """The cuts with the shortest period; among cuts within 1 % of it, those that receive least. Exact.

    costs: ms of each layer, float64 (n,). receiving: ms to receive the inputs of a stage of layers start..stop - 1, float64
    (n + 1, n + 1).
    """
    before = np.concatenate([[0.0], np.cumsum(costs)])
    period = np.maximum(before[None, :] - before[:, None], receiving)
    period[np.tril_indices(len(period))] = np.inf  # a stage has at least one layer
    slowest = period[0].copy()
    for _ in range(stages - 1):
        slowest = np.maximum(slowest[:, None], period).min(axis=0)
    effort = np.where(period <= _SLACK * slowest[-1], receiving, np.inf)
    least, choices = effort[0].copy(), []
    for _ in range(stages - 1):
        total = least[:, None] + effort
        choices.append(total.argmin(axis=0))
        least = total.min(axis=0)
    cuts, stop = [], len(costs)
    for choice in reversed(choices):
        stop = int(choice[stop])
        cuts.append(stop)
    return tuple(reversed(cuts))


def layer_costs(network: Network, batch: int, value_bytes: int, rates: Rates) -> NDArray[np.float64]:
    """Estimated ms of each layer, float64 (n,): the longer of arithmetic and memory time (the roofline model)."""
    costs = []
    for layer in network.layers:
        shapes = [_shape(network, index) for index in layer.inputs]
        values = batch * (math.prod(layer.shape) + sum(map(math.prod, shapes)))
        moved = 0.0 if _hands_on(layer) else float(value_bytes * values)
        operations = 0.0
        if isinstance(layer, Convolution):
            moved += value_bytes * layer.weights.size
            operations = 2.0 * batch * layer.weights.size * layer.shape[1] * layer.shape[2]
        costs.append(1000 * max(operations / rates.arithmetic, moved / rates.memory))
    return np.array(costs)


def arriving_bytes(network: Network, value_bytes: int) -> NDArray[np.float64]:
    """Bytes of one picture that a stage of layers start..stop - 1 receives, float64 (n + 1, n + 1): see ``transfers``."""
    count = len(network.layers)
    table = np.zeros((count + 1, count + 1))
    for start in range(1, count):
        entered: set[int] = set()
        for stop in range(start + 1, count + 1):
            entered |= {index for index in network.layers[stop - 1].inputs if index < start}
            if stop == count:
                entered |= {index for index in range(start) if isinstance(network.layers[index], Yolo)}
            table[start, stop] = value_bytes * sum(math.prod(_shape(network, index)) for index in entered)
    return table


def _shape(network: Network, index: int) -> Shape:
    return (network.channels, network.height, network.width) if index == PICTURES else network.layers[index].shape


def _hands_on(layer: Layer) -> bool:
    return isinstance(layer, Identity | Yolo) or (isinstance(layer, Route) and len(layer.inputs) == layer.groups == 1)
