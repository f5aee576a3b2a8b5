"""Splits a network into parts that are built separately: with different precisions, around custom layers, or for several devices.

Stages on several devices run in parallel, each on a different batch, so the slowest stage limits the throughput. A device computes and
receives in parallel, so the longer of the two times counts. For given costs of the layers the cuts are optimal. The costs are estimates
at first, then corrected by the measured times of the stages.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from framefleet.engine.model.network import Convolution, Identity, Layer, Network, Route, Yolo
from framefleet.engine.notices import Notice, UsageError

PICTURES = -1
"""The index of the network's input."""


@dataclass(frozen=True)
class Part:
    """Consecutive layers of a network.

    Attributes
    ----------
    inputs
        Indices of the earlier layers whose outputs it needs, ascending; ``PICTURES`` is the network's input.
    outputs
        Indices of its layers whose outputs later parts need, and of its YOLO heads, ascending.
    """

    layers: range
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]


def split(network: Network, *cuts: int) -> list[Part]:
    """Split a network before each of these layers (indices, ascending).

    Returns
    -------
    list[Part]
        The parts in order.
    """
    borders = (0, *cuts, len(network.layers))
    parts = []
    for start, stop in pairwise(borders):
        entering = {i for layer in network.layers[start:stop] for i in layer.inputs if i < start}
        needed = {i for layer in network.layers[stop:] for i in layer.inputs}
        leaving = [i for i in range(start, stop) if i in needed or isinstance(network.layers[i], Yolo)]
        parts.append(Part(range(start, stop), tuple(sorted(entering)), tuple(leaving)))
    return parts


@dataclass(frozen=True)
class Transfer:
    """The transfer of a layer's output between two parts. layer: index, or ``PICTURES``. source, destination: indices of the parts."""

    layer: int
    source: int
    destination: int


def transfers(network: Network, parts: Sequence[Part]) -> list[Transfer]:
    """Return the transfers from the parts that compute values to the parts that need them.

    The last part needs all YOLO heads. The network's input counts as computed by the first part.
    """
    found = []
    for destination, part in enumerate(parts):
        needed = set(part.inputs) if destination else set()
        if part is parts[-1]:
            needed |= {i for i in range(part.layers.start) if isinstance(network.layers[i], Yolo)}
        for layer in sorted(needed):
            source = 0 if layer == PICTURES else next(place for place, other in enumerate(parts) if layer in other.layers)
            found.append(Transfer(layer, source, destination))
    return found


_SLACK = 1.01
"""The slowest stage may take this factor longer than the optimum, if less data is transferred then."""

_EVEN = 1.01
"""The search ends if the period is within this factor of the mean computing time."""

_ATTEMPTS = 6
"""Maximum number of cuts that are built and timed; on four H200s four attempts reached 85 % evenness."""


@dataclass(frozen=True)
class Rates:
    """Approximate rates of a device.

    Attributes
    ----------
    arithmetic
        operations/s.
    memory
        bytes/s, read and written.
    link
        bytes/s, received.
    """

    arithmetic: float
    memory: float
    link: float = math.inf


@dataclass(frozen=True)
class StageTime:
    """The time of one stage for a batch, ms.

    Attributes
    ----------
    computing
        To compute it.
    receiving
        To receive its inputs.
    """

    computing: float
    receiving: float = 0.0

    @property
    def period(self) -> float:
        """Time from one batch to the next, ms."""
        return max(self.computing, self.receiving)


@dataclass(frozen=True)
class Balance:
    """Cuts of a network and the measured times of its stages.

    Attributes
    ----------
    cuts
        The index of the first layer of each stage after the first.
    """

    cuts: tuple[int, ...]
    times: tuple[StageTime, ...]

    @property
    def period(self) -> float:
        """Time from one batch to the next, ms."""
        return max(time.period for time in self.times)

    @property
    def evenness(self) -> float:
        """Mean computing time of the stages / period: the utilization of the devices, 0..1."""
        return sum(time.computing for time in self.times) / len(self.times) / self.period


def find_balance(
    network: Network,
    stages: int,
    batch: int,
    value_bytes: int,
    rates: Rates,
    measure: Callable[[tuple[int, ...]], Sequence[StageTime]],
) -> Balance:
    """Measure several cuts and return the ones with the shortest period.

    Parameters
    ----------
    value_bytes
        Size of one number between layers.
    rates
        Of each device.
    measure
        Builds the stages for the given cuts and times them.

    Raises
    ------
    UsageError
        The network has too few layers.
    """
    if stages > len(network.layers):
        raise UsageError(Notice("model.too_few_layers", name=network.name, layers=len(network.layers), stages=stages))
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
    """Return the cuts with the shortest period. Among cuts within 1 % of it, return those that receive least. The result is optimal.

    costs: time of each layer, ms, float64 (n,). receiving: time to receive the inputs of a stage of layers start..stop - 1, ms, float64
    (n + 1, n + 1), indexed by start and stop.
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
    """Estimate the time of each layer, ms, float64 (n,): the longer of arithmetic and memory time (the roofline model)."""
    costs = []
    for layer in network.layers:
        values = batch * (math.prod(layer.shape) + sum(math.prod(network.shape_of(index)) for index in layer.inputs))
        moved = 0.0 if _copies_nothing(layer) else float(value_bytes * values)
        operations = 0.0
        if isinstance(layer, Convolution):
            moved += value_bytes * layer.weights.size
            operations = 2.0 * batch * layer.weights.size * layer.shape[1] * layer.shape[2]
        costs.append(1000 * max(operations / rates.arithmetic, moved / rates.memory))
    return np.array(costs)


def arriving_bytes(network: Network, value_bytes: int) -> NDArray[np.float64]:
    """Compute the bytes that a stage of layers start..stop - 1 receives per picture: see ``transfers``.

    Returns float64 (n + 1, n + 1), indexed by start and stop.
    """
    count = len(network.layers)
    table = np.zeros((count + 1, count + 1))
    for start in range(1, count):
        entered: set[int] = set()
        for stop in range(start + 1, count + 1):
            entered |= {index for index in network.layers[stop - 1].inputs if index < start}
            if stop == count:
                entered |= {index for index in range(start) if isinstance(network.layers[index], Yolo)}
            table[start, stop] = value_bytes * sum(math.prod(network.shape_of(index)) for index in entered)
    return table


def _copies_nothing(layer: Layer) -> bool:
    """Whether the output of a layer is its input."""
    return isinstance(layer, Identity | Yolo) or (isinstance(layer, Route) and len(layer.inputs) == layer.groups == 1)
