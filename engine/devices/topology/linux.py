"""What Linux tells of NUMA nodes, and of where PCI devices are, under /sys. Other systems tell nothing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from engine.devices.topology.types import Gpu, NumaNode, read_list

SYS = Path("/sys")

_NVIDIA = "0x10de"
_DISPLAY = "0x03"
"""First byte of the class of everything that draws or computes graphics."""
_GENERATIONS = {"2.5": 1, "5.0": 2, "8.0": 3, "16.0": 4, "32.0": 5, "64.0": 6}
"""Of PCIe, by gigatransfers a second and lane."""


def numa_nodes(sys: Path = SYS) -> tuple[NumaNode, ...]:
    """All that are online and have processors or memory, by their numbers; one of unknown number of processors is never made up."""
    nodes = []
    for folder in (sys / "devices/system/node").glob("node[0-9]*"):
        cpus, memory = _numbers(folder / "cpulist"), _memory(folder / "meminfo")
        if cpus or memory:
            nodes.append(NumaNode(int(folder.name.removeprefix("node")), cpus, memory))
    return tuple(sorted(nodes, key=lambda node: node.number))


def place(gpu: Gpu, sys: Path = SYS) -> Gpu:
    """The same GPU with what is unknown of its place filled in."""
    if gpu.pci is None:
        return gpu
    folder = sys / "bus/pci/devices" / gpu.pci
    node = gpu.node if gpu.node is not None else numa_node(gpu.pci, sys)
    return replace(
        gpu,
        bridges=gpu.bridges or _bridges(folder, sys),
        node=node,
        cpus=gpu.cpus or _numbers(folder / "local_cpulist"),
        nodes=gpu.nodes or frozenset(() if node is None else (node,)),
        generation=gpu.generation or _GENERATIONS.get(_text(folder / "max_link_speed").partition(" ")[0]),
        width=gpu.width or _number(folder / "max_link_width"),
    )


def find_gpus(sys: Path = SYS) -> Iterator[Gpu]:
    """NVIDIA's, as far as the system knows them without their driver, in the order of the bus."""
    number = 0
    for folder in sorted((sys / "bus/pci/devices").glob("*")):
        if _text(folder / "vendor") == _NVIDIA and _text(folder / "class").startswith(_DISPLAY):
            yield place(Gpu(number, pci=folder.name), sys)
            number += 1


def numa_node(pci: str, sys: Path = SYS) -> int | None:
    """The node of a PCI device ("0000:00:06.0"); where there is but one, that; None if it is unknown."""
    number = _number(sys / "bus/pci/devices" / pci / "numa_node")
    if number is not None and number >= 0:
        return number
    nodes = numa_nodes(sys)  # firmware of machines with one node tells none
    return nodes[0].number if len(nodes) == 1 else None


def pci_address(text: str) -> str:
    """A place on the bus as Linux writes it, by any of the forms that NVML and CUDA use.

    Raises:
        ValueError: it is none.
    """
    *domain, bus, last = text.split(":")
    device, _, function = last.partition(".")
    numbers = int(domain[0], 16) if domain else 0, int(bus, 16), int(device, 16), int(function or "0", 16)
    return "{:04x}:{:02x}:{:02x}.{:x}".format(*numbers)


def _bridges(folder: Path, sys: Path) -> tuple[str, ...]:
    """Each PCI device is a folder within that of the bridge it hangs on."""
    try:
        steps = folder.resolve(strict=True).relative_to((sys / "devices").resolve()).parts[:-1]
    except (OSError, ValueError):
        return ()
    return steps[next((start for start, step in enumerate(steps) if step.startswith("pci")), len(steps)) :]


def _memory(path: Path) -> int | None:
    for line in _text(path).splitlines():
        words = line.split()
        if "MemTotal:" in words and words[-2].isdecimal():
            return int(words[-2]) * 1024
    return None


def _numbers(path: Path) -> frozenset[int]:
    try:
        return read_list(_text(path))
    except ValueError:
        return frozenset()


def _number(path: Path) -> int | None:
    try:
        return int(_text(path))
    except ValueError:
        return None


def _text(path: Path) -> str:
    try:
        return path.read_text("ascii").strip()
    except (OSError, ValueError):
        return ""
