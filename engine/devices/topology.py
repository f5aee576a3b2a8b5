"""The topology of a machine: how GPUs, PCIe switches, NUMA nodes and processors are connected. Codes as in ``nvidia-smi topo -m``.

Values of it, what Linux's /sys says of it (nothing on other systems), and the nested boxes in which it is drawn.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Any

from framefleet.engine.notices import Notice
from framefleet.engine.types import DeviceId

SELF = "X"


class Level(StrEnum):
    """The PCIe path between two GPUs, the shortest first."""

    PIX = "PIX"
    PXB = "PXB"
    PHB = "PHB"
    NODE = "NODE"
    SYS = "SYS"


LEVELS: Mapping[Level, str] = {
    Level.PIX: "through one PCIe switch",
    Level.PXB: "through several PCIe switches, not through a processor",
    Level.PHB: "through a processor's PCIe host bridge",
    Level.NODE: "through several PCIe host bridges of one NUMA node",
    Level.SYS: "through the connection between NUMA nodes",
}
"""In words."""


@dataclass(frozen=True)
class Link:
    """The connection of two GPUs.

    Attributes
    ----------
    level
        The path over PCIe; None = unknown.
    nvlinks
        Number of NVLinks.
    peer
        Whether one can read the other's memory; None = unknown.
    direct
        Whether the NVLinks pass no switch.
    """

    level: Level | None = None
    nvlinks: int = 0
    peer: bool | None = None
    direct: bool = False

    @property
    def code(self) -> str:
        """NV18, PIX, SYS, …; "N/A" if nothing is known."""
        return f"NV{self.nvlinks}" if self.nvlinks else str(self.level or "N/A")


@dataclass(frozen=True)
class NumaNode:
    """Processors and their local memory.

    Attributes
    ----------
    memory
        Bytes, None = unknown.
    """

    number: int
    cpus: frozenset[int] = frozenset()
    memory: int | None = None


@dataclass(frozen=True)
class Gpu:
    """One GPU and its place in the machine.

    Unknown values are None or empty.

    Attributes
    ----------
    number
        The driver's, as in nvidia-smi.
    device
        The id here, None = CUDA does not number it.
    pci
        The PCI address, "0000:00:06.0".
    bridges
        From the PCIe root complex ("pci0000:00") down to the GPU.
    node
        NUMA node of its host bridge.
    cpus
        Processors near the GPU.
    nodes
        NUMA nodes with near memory.
    own_node
        The node of its own memory, if processors can address that.
    generation, width
        Of its PCIe link at its fastest.
    nvlinks
        Number of active NVLinks.
    """

    number: int
    name: str = "NVIDIA GPU"
    device: DeviceId | None = None
    uuid: str | None = None
    pci: str | None = None
    bridges: tuple[str, ...] = ()
    node: int | None = None
    cpus: frozenset[int] = frozenset()
    nodes: frozenset[int] = frozenset()
    own_node: int | None = None
    generation: int | None = None
    width: int | None = None
    nvlinks: int = 0


@dataclass(frozen=True)
class Topology:
    """One machine.

    Attributes
    ----------
    links
        ``links[i][j]`` leads from GPU i to GPU j; None where i = j.
    problem
        Why GPUs are missing, None = all are there.
    """

    nodes: tuple[NumaNode, ...] = ()
    gpus: tuple[Gpu, ...] = ()
    links: tuple[tuple[Link | None, ...], ...] = ()
    problem: Notice | None = None

    def __post_init__(self) -> None:
        count = len(self.gpus)
        if len(self.links) != count or any(len(row) != count for row in self.links):
            raise ValueError(f"{count} GPUs need {count} × {count} links")

    def codes(self) -> tuple[tuple[str, ...], ...]:
        """The codes of all links, as the matrix of ``nvidia-smi topo -m``."""
        return tuple(tuple(SELF if link is None else link.code for link in row) for row in self.links)

    def as_json(self) -> dict[str, Any]:
        """The topology as a JSON object, with the matrix of codes."""
        pairs = [(row, column, link) for row, links in enumerate(self.links) for column, link in enumerate(links) if link is not None]
        return {
            "nodes": [{"number": node.number, "cpus": list_text(node.cpus), "memory": node.memory} for node in self.nodes],
            "gpus": [
                {
                    **vars(gpu),
                    "device": None if gpu.device is None else str(gpu.device),
                    "bridges": list(gpu.bridges),
                    "cpus": list_text(gpu.cpus),
                    "nodes": list_text(gpu.nodes),
                }
                for gpu in self.gpus
            ],
            "matrix": self.codes(),
            "links": [{"gpus": [row, column], **vars(link), "code": link.code} for row, column, link in pairs],
            "problem": None if self.problem is None else str(self.problem),
        }


def read_list(text: str) -> frozenset[int]:
    """The numbers of a list in Linux's form, "0-3,8". Raises ValueError if the text has another form."""
    numbers: set[int] = set()
    for part in filter(None, text.strip().split(",")):
        first, _, last = part.partition("-")
        numbers.update(range(int(first), int(last or first) + 1))
    return frozenset(numbers)


def list_text(numbers: Iterable[int]) -> str:
    """The inverse of ``read_list``."""
    runs: list[list[int]] = []
    for number in sorted(numbers):
        if runs and number == runs[-1][-1] + 1:
            runs[-1][1:] = [number]
        else:
            runs.append([number])
    return ",".join("-".join(map(str, run)) for run in runs)


def level_between(one: Sequence[str], other: Sequence[str], same_node: bool) -> Level | None:
    """The level between two GPUs by the bridges above each; None if they are unknown.

    A switch consists of one bridge towards the root and one for each port: two GPUs of one switch share all bridges but the last.
    """
    if not one or not other:
        return None
    shared = next((place for place, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    if shared == 0:
        return Level.NODE if same_node else Level.SYS
    if shared == 1:
        return Level.PHB
    return Level.PIX if max(len(one), len(other)) - shared <= 1 else Level.PXB


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


class Kind(StrEnum):
    """The kind of a box."""

    NODE = "NUMA node"
    BRIDGE = "PCIe host bridge"
    SWITCH = "PCIe switch"


@dataclass(frozen=True)
class Box:
    """A box with GPUs in it.

    Attributes
    ----------
    parts
        In the order of the GPUs.
    node
        The node of a NUMA box; None = these GPUs' node is unknown.
    """

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

    Attributes
    ----------
    nvlinks
        The largest number of links of a pair.
    alike
        Every pair has this number.
    direct
        The links of each pair pass no switch.
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
