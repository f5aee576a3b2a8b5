"""Simulated machines: as files under /sys, as values of NVIDIA's driver, and as topologies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from framefleet.engine.devices.topology import Gpu, Link, NumaNode, Topology, level_between
from framefleet.engine.types import DeviceId

GIB = 1 << 30

SWITCHES = (
    ("pci0000:00/0000:00:01.0/0000:01:00.0/0000:02:00.0/0000:03:00.0", 0),
    ("pci0000:00/0000:00:01.0/0000:01:00.0/0000:02:01.0/0000:04:00.0", 0),
    ("pci0000:00/0000:00:02.0/0000:05:00.0", 0),
    ("pci0000:40/0000:40:01.0/0000:41:00.0", 0),
    ("pci0000:80/0000:80:01.0/0000:81:00.0/0000:82:00.0/0000:83:00.0/0000:84:00.0/0000:85:00.0", 1),
    ("pci0000:80/0000:80:01.0/0000:81:00.0/0000:82:00.0/0000:83:00.0/0000:84:01.0/0000:86:00.0", 1),
    ("pci0000:80/0000:80:01.0/0000:81:00.0/0000:82:01.0/0000:87:00.0/0000:88:00.0/0000:89:00.0", 1),
)
"""The sysfs paths and NUMA nodes of seven GPUs. On node 0: two at one switch, one at the same host bridge, one at another bridge. On
node 1: two at a switch behind a switch, and one at the neighbouring switch."""

SWITCH_CODES = (
    ("X", "PIX", "PHB", "NODE", "SYS", "SYS", "SYS"),
    ("PIX", "X", "PHB", "NODE", "SYS", "SYS", "SYS"),
    ("PHB", "PHB", "X", "NODE", "SYS", "SYS", "SYS"),
    ("NODE", "NODE", "NODE", "X", "SYS", "SYS", "SYS"),
    ("SYS", "SYS", "SYS", "SYS", "X", "PIX", "PXB"),
    ("SYS", "SYS", "SYS", "SYS", "PIX", "X", "PXB"),
    ("SYS", "SYS", "SYS", "SYS", "PXB", "PXB", "X"),
)
"""The matrix of ``nvidia-smi topo -m`` for SWITCHES."""

TWO_SOCKETS = {0: ("0-15,32-47", 256), 1: ("16-31,48-63", 256)}


def make_system(root: Path, nodes: Mapping[int, tuple[str, int]], gpus: Sequence[tuple[str, int]] = ()) -> Path:
    """Write the files of a /sys. nodes: processors and GiB by node. gpus: the path below devices/ and the node of each, -1 = unknown."""
    for number, (cpus, memory) in nodes.items():
        folder = root / f"devices/system/node/node{number}"
        folder.mkdir(parents=True)
        (folder / "cpulist").write_text(f"{cpus}\n")
        (folder / "meminfo").write_text(f"Node {number} MemTotal:       {memory * GIB // 1024} kB\nNode {number} MemFree: 1 kB\n")
    bus = root / "bus/pci/devices"
    bus.mkdir(parents=True)
    for place, node in gpus:
        folder = root / "devices" / place
        folder.mkdir(parents=True)
        facts = {
            "vendor": "0x10de",
            "class": "0x030200",
            "numa_node": str(node),
            "local_cpulist": nodes[max(node, 0)][0],
            "max_link_speed": "32.0 GT/s PCIe",
            "max_link_width": "16",
        }
        for name, fact in facts.items():
            (folder / name).write_text(f"{fact}\n")
        (bus / folder.name).symlink_to(folder)
    return root


def words(cpus: Sequence[int]) -> list[int]:
    """A set of processors as NVML reports it: a bit mask in words of 64 bits."""
    return [sum(1 << cpu - start for cpu in cpus if start <= cpu < start + 64) for start in range(0, max(cpus) + 1, 64)]


def nvlink(end: str | None, remote_type: int = 2) -> dict[str, Any]:
    """An active NVLink in the form of ``Nvml.Gpu.place``. end: the PCI address at the other end, None = hidden."""
    return {"state": 1, "remote_pci": {"busId": end or "FFFFFFFF:FF:FF.0"}, "remote_type": remote_type}


def machine(
    gpus: Sequence[Gpu], nvlinks: Mapping[tuple[int, int], int], nodes: Sequence[NumaNode], peer: bool | None = True, direct: bool = False
) -> Topology:
    """The topology of GPUs whose bridges are known. nvlinks: by pair, lower number first. direct: NVLinks join GPUs without a switch."""

    def link(row: int, column: int) -> Link | None:
        if row == column:
            return None
        one, other = gpus[row], gpus[column]
        level = level_between(one.bridges, other.bridges, one.node == other.node)
        count = nvlinks.get((min(row, column), max(row, column)), 0)
        return Link(level, count, peer, direct and count > 0)

    return Topology(tuple(nodes), tuple(gpus), tuple(tuple(link(row, column) for column in range(len(gpus))) for row in range(len(gpus))))


def gpu(number: int, place: str, node: int | None, name: str = "NVIDIA RTX 6000 Ada") -> Gpu:
    """A GPU with the same number in CUDA. place: as in ``SWITCHES``."""
    *bridges, pci = place.split("/")
    return Gpu(number, name, DeviceId("cuda", str(number)), f"GPU-{number}", pci, tuple(bridges), node, generation=4, width=16)
