"""Topologies of simulated machines."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import combinations

from framefleet.engine.devices.topology import NumaNode, Topology
from tests.support.devices.machines import GIB, SWITCHES, gpu, machine

NODES = [NumaNode(0, frozenset(range(16)), 64 * GIB), NumaNode(1, frozenset(range(16, 32)), 64 * GIB)]
ALONE = Topology((NODES[0],))
"""Without a GPU."""
SOCKETS = machine([gpu(number, place, node) for number, (place, node) in enumerate(SWITCHES)], {}, NODES, peer=False)
"""Without NVLink."""


def eight(nvlinks: int = 18) -> Topology:
    """Eight GPUs that NVSwitches join. nvlinks: of each GPU."""
    gpus = [replace(gpu(number, f"pci{number}/port", number // 4), nvlinks=nvlinks) for number in range(8)]
    return machine(gpus, dict.fromkeys(combinations(range(8), 2), nvlinks), NODES)


def meshed(pairs: Mapping[tuple[int, int], int]) -> Topology:
    """GPUs that NVLink joins directly. pairs: the number of links by pair, lower number first."""
    counts = [sum(count for pair, count in pairs.items() if number in pair) for number in range(max(map(max, pairs)) + 1)]
    gpus = [replace(gpu(number, f"pci{number}/0000:0{number}:00.0", number // 4), nvlinks=count) for number, count in enumerate(counts)]
    return machine(gpus, pairs, NODES, direct=True)


MESH = meshed(dict.fromkeys(combinations(range(4), 2), 4))
"""Each GPU joined with each other one, as in servers with four A100."""
CUBES = meshed(
    {(0, 1): 1, (0, 2): 1, (0, 3): 2, (1, 2): 2, (1, 3): 1, (2, 3): 2}
    | {(0, 4): 2, (1, 5): 2, (2, 6): 1, (3, 7): 1}
    | {(4, 5): 1, (4, 6): 1, (4, 7): 2, (5, 6): 2, (5, 7): 1, (6, 7): 2}
)
"""Two groups of four GPUs, fully joined within, and in pairs between the groups, as in a DGX-1."""
