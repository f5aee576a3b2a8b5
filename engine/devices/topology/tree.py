"""The topology as nested boxes: NUMA nodes contain host bridges and switches, which contain GPUs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from framefleet.engine.devices.topology.types import Gpu, Level, NumaNode, Topology


class Kind(StrEnum):
    """The kind of a box."""

    NODE = "NUMA node"
    BRIDGE = "PCIe host bridge"
    SWITCH = "PCIe switch"


@dataclass(frozen=True)
class Box:
    """A box with GPUs in it. parts: in the order of the GPUs. node: of a NUMA box; None = these GPUs' node is unknown."""

    kind: Kind
    parts: tuple[Box | Gpu, ...]
    node: NumaNode | None = None

    def gpus(self) -> Iterator[Gpu]:
        """All GPUs in the box, at any depth."""
        for part in self.parts:
            if isinstance(part, Box):
                yield from part.gpus()
            else:
                yield part


@dataclass(frozen=True)
class Fabric:
    """GPUs that NVLink connects, by their positions in the topology.

    nvlinks: the largest number of links of a pair. alike: every pair has this number. direct: the links of each pair pass no switch.
    """

    gpus: tuple[int, ...]
    nvlinks: int
    alike: bool
    direct: bool = False


_INSIDE = ((Level.PHB, Kind.BRIDGE), (Level.PXB, Kind.SWITCH), (Level.PIX, Kind.SWITCH))
"""The box around GPUs that are at most this level apart."""


def boxes(topology: Topology) -> tuple[Box, ...]:
    """A box for each NUMA node, and one for GPUs whose node is unknown.

    Left out: a bridge or switch with one GPU, and a host bridge with all GPUs of its node.
    """
    places = range(len(topology.gpus))
    numbers = {node.number for node in topology.nodes}
    homes = [(node, [place for place in places if topology.gpus[place].node == node.number]) for node in topology.nodes]
    lost = [place for place in places if topology.gpus[place].node not in numbers]
    made = [Box(Kind.NODE, _parts(topology, inside, 0), node) for node, inside in homes]
    return (*made, Box(Kind.NODE, _parts(topology, lost, 0))) if lost else tuple(made)


def _parts(topology: Topology, places: Sequence[int], depth: int) -> tuple[Box | Gpu, ...]:
    if depth == len(_INSIDE) or len(places) < 2:
        return tuple(topology.gpus[place] for place in places)
    level, kind = _INSIDE[depth]
    parts: list[Box | Gpu] = []
    groups = _joined(topology, places, level)
    for group in groups:
        inside = _parts(topology, group, depth + 1)
        # a host bridge with the whole node adds nothing; a switch does
        plain = len(group) == 1 or (kind is Kind.BRIDGE and len(groups) == 1) or (len(inside) == 1 and isinstance(inside[0], Box))
        parts += inside if plain else [Box(kind, inside)]
    return tuple(parts)


def _joined(topology: Topology, places: Sequence[int], level: Level) -> list[list[int]]:
    """Groups of GPUs that are at most this level apart."""
    near = list(Level)[: list(Level).index(level) + 1]
    groups: list[list[int]] = []
    for place in places:
        links = topology.links[place]
        home = next((group for group in groups if any((link := links[other]) and link.level in near for other in group)), None)
        if home is None:
            groups.append([place])
        else:
            home.append(place)
    return groups


def fabrics(topology: Topology) -> tuple[Fabric, ...]:
    """The groups of GPUs that NVLink connects."""
    left, found = set(range(len(topology.gpus))), []
    while left:
        group = _reached(topology, min(left))
        left -= group
        if len(group) > 1:
            pairs = [link for one in group for other in group if (link := topology.links[one][other]) is not None]
            counts = {link.nvlinks for link in pairs}
            direct = all(link.direct for link in pairs if link.nvlinks)
            found.append(Fabric(tuple(sorted(group)), max(counts), len(counts) == 1, direct))
    return tuple(found)


def _reached(topology: Topology, start: int) -> set[int]:
    reached, new = {start}, {start}
    while new:
        new = {other for one in new for other, link in enumerate(topology.links[one]) if link and link.nvlinks} - reached
        reached |= new
    return reached
