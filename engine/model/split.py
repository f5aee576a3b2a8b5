"""Cuts a network into parts that are built separately: in other precisions, around custom layers, on several devices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from engine.model.network import Network, Yolo

PICTURES = -1
"""The index of the network's input."""


@dataclass(frozen=True)
class Part:
    """Consecutive layers. inputs, outputs: indices of the layers whose values enter and leave it, in order; YOLO heads always leave."""

    layers: range
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]


def split(network: Network, *cuts: int) -> list[Part]:
    """Cut before each of these layers. Returns the parts in order."""
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
    """A value that moves between two parts, given by their positions. layer: that computed the value, or ``PICTURES``."""

    layer: int
    source: int
    destination: int


def transfers(network: Network, parts: Sequence[Part]) -> list[Transfer]:
    """The values that move from the part that computes them to each part that needs them. The last part needs all YOLO heads.

    The network's input counts as computed by the first part.
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
