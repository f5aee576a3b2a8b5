"""Splits a network into parts that are built separately: with different precisions, around custom layers, or for several devices."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from framefleet.engine.model.network import Network, Yolo

PICTURES = -1
"""The index of the network's input."""


@dataclass(frozen=True)
class Part:
    """Consecutive layers of a network.

    inputs: indices of the earlier layers whose outputs it needs, ascending; ``PICTURES`` is the network's input. outputs: indices of its
    layers whose outputs later parts need, and of its YOLO heads, ascending.
    """

    layers: range
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]


def split(network: Network, *cuts: int) -> list[Part]:
    """Split a network before each of these layers (indices, ascending). Returns the parts in order."""
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
