"""Cutting a network into parts that are built on their own: in different precision, with other layers between, on several devices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from engine.model.network import Network, Yolo

PICTURES = -1
"""The number of the network's input among those of the layers."""


@dataclass(frozen=True)
class Part:
    """A run of layers. inputs, outputs: the layers whose values enter and leave it, in order; its YOLO heads leave it, too."""

    layers: range
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]


def split(network: Network, *cuts: int) -> list[Part]:
    """The network in parts that begin at 0 and at each of these layers."""
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
    """A value on its way between two parts, by their places in the list. layer: whose value it is, or ``PICTURES``."""

    layer: int
    source: int
    destination: int


def transfers(network: Network, parts: Sequence[Part]) -> list[Transfer]:
    """Every value straight from the part that makes it to each part that needs it, once. All heads are needed in the last part.

    The network's input is taken to be made in the first part.
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
