"""Reads NUMA nodes and the places of PCI devices from Linux's /sys. Returns nothing on other systems."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from framefleet.engine.devices.topology.types import Gpu, NumaNode, read_list

SYS = Path("/sys")

_NVIDIA = "0x10de"
_DISPLAY = "0x03"
"""First byte of the PCI class of display and 3D controllers."""
_GENERATIONS = {"2.5": 1, "5.0": 2, "8.0": 3, "16.0": 4, "32.0": 5, "64.0": 6}
"""PCIe generation by gigatransfers per second and lane."""


def numa_nodes(sys: Path) -> tuple[NumaNode, ...]:
    """The nodes that are online and have processors or memory, by number; empty if Linux reports none."""
    nodes = []
    for folder in (sys / "devices/system/node").glob("node[0-9]*"):
        cpus, memory = _numbers(folder / "cpulist"), _memory(folder / "meminfo")
        if cpus or memory:
            nodes.append(NumaNode(int(folder.name.removeprefix("node")), cpus, memory))
    return tuple(sorted(nodes, key=lambda node: node.number))


def place(gpu: Gpu, sys: Path = SYS) -> Gpu:
    """The same GPU, with unknown values of its place filled in from /sys."""
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


def find_gpus(sys: Path) -> Iterator[Gpu]:
    """NVIDIA's GPUs that Linux lists, even without their driver, in the order of the bus."""
    number = 0
    for folder in sorted((sys / "bus/pci/devices").glob("*")):
        if _text(folder / "vendor") == _NVIDIA and _text(folder / "class").startswith(_DISPLAY):
            yield place(Gpu(number, pci=folder.name), sys)
            number += 1


def numa_node(pci: str, sys: Path) -> int | None:
    """The NUMA node of a PCI device ("0000:00:06.0"); the only node if there is just one; None if unknown."""
    number = _number(sys / "bus/pci/devices" / pci / "numa_node")
    if number is not None and number >= 0:
        return number
    nodes = numa_nodes(sys)  # firmware of machines with one node does not report it
    return nodes[0].number if len(nodes) == 1 else None


def pci_address(text: str) -> str:
    """A PCI address as Linux writes it, from any form that NVML and CUDA use. Raises ValueError if the text is not a PCI address."""
    *domain, bus, last = text.split(":")
    device, _, function = last.partition(".")
    numbers = int(domain[0], 16) if domain else 0, int(bus, 16), int(device, 16), int(function or "0", 16)
    return "{:04x}:{:02x}:{:02x}.{:x}".format(*numbers)


def _bridges(folder: Path, sys: Path) -> tuple[str, ...]:
    """The names of the bridges above a PCI device: its folder lies in its bridge's folder."""
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
