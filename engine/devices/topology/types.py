"""The topology of a machine as values: GPUs, the links between them, and NUMA nodes. Codes as in ``nvidia-smi topo -m``."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
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

    level: over PCIe. nvlinks: their number. peer: whether one can read the other's memory. direct: the NVLinks pass no switch.
    None = unknown.
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
    """Processors and their local memory. memory: bytes, None = unknown."""

    number: int
    cpus: frozenset[int] = frozenset()
    memory: int | None = None


@dataclass(frozen=True)
class Gpu:
    """One GPU and its place in the machine. Unknown values are None or empty.

    number: the driver's, as in nvidia-smi. device: the id here, None = CUDA does not number it. pci: the PCI address, "0000:00:06.0".
    bridges: from the PCIe root complex ("pci0000:00") down to the GPU. node: NUMA node of its host bridge. cpus: near processors.
    nodes: NUMA nodes with near memory. own_node: the node of its own memory, if processors can address that. generation, width:
    of its PCIe link at best. nvlinks: active ones.
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
    """One machine. links[i][j]: from GPU i to GPU j, None where i = j. problem: why GPUs are missing, None = all are there."""

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
