"""How this machine's GPUs, PCIe switches, NUMA nodes and processors hang together: the values, without where they come from.

The codes are those of ``nvidia-smi topo -m``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Self

from engine.types import DeviceId

SELF = "X"


class Level(StrEnum):
    """What the way between two GPUs passes over PCIe, the nearest first."""

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
    """Between two GPUs.

    level: over PCIe, None = unknown. nvlinks: bonded ones, each way. peer: whether one may read the other's memory, None = unknown.
    direct: the NVLinks go from one to the other, not through switches.
    """

    level: Level | None = None
    nvlinks: int = 0
    peer: bool | None = None
    direct: bool = False

    @property
    def code(self) -> str:
        """NV18, PIX, SYS, …; "N/A" where nothing is known."""
        return f"NV{self.nvlinks}" if self.nvlinks else str(self.level or "N/A")


@dataclass(frozen=True)
class NumaNode:
    """Processors and the memory that is theirs. memory: bytes, None = unknown."""

    number: int
    cpus: frozenset[int] = frozenset()
    memory: int | None = None


@dataclass(frozen=True)
class Gpu:
    """One GPU and its place.

    number: by which the driver counts it, as in nvidia-smi. device: its name here, None = it cannot be named (CUDA does not count it).
    pci: its place on the bus, "0000:00:06.0". bridges: from the PCIe root complex ("pci0000:00") down to it, empty = unknown.
    node: of which its host bridge is a part. cpus: those near it. nodes: whose memory is near. own_node: that its memory is a part of,
    where processors address it. generation, width: of its PCIe link at its best. nvlinks: that are up. Unknown: None, or empty.
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
    """One machine. links: of each GPU to each, in their order, None to itself. problem: why GPUs are missing, None = none is."""

    nodes: tuple[NumaNode, ...] = ()
    gpus: tuple[Gpu, ...] = ()
    links: tuple[tuple[Link | None, ...], ...] = ()
    problem: str | None = None

    def __post_init__(self) -> None:
        count = len(self.gpus)
        if len(self.links) != count or any(len(row) != count for row in self.links):
            raise ValueError(f"{count} GPUs need {count} × {count} links")

    def codes(self) -> tuple[tuple[str, ...], ...]:
        """The matrix."""
        return tuple(tuple(SELF if link is None else link.code for link in row) for row in self.links)

    def gpu(self, device: DeviceId) -> Gpu | None:
        """The GPU of this name."""
        return next((gpu for gpu in self.gpus if gpu.device == device), None)

    def link(self, one: DeviceId, other: DeviceId) -> Link | None:
        """Between two devices; None where one of them is no GPU of this machine, or both are the same."""
        places = {gpu.device: place for place, gpu in enumerate(self.gpus)}
        return self.links[places[one]][places[other]] if one in places and other in places else None

    def as_json(self) -> dict[str, Any]:
        """The same as a JSON object, with the matrix beside it."""
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
            "problem": self.problem,
        }

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Self:
        """The inverse of ``as_json``."""
        gpus = [
            {
                **gpu,
                "device": None if gpu["device"] is None else DeviceId.parse(gpu["device"]),
                "bridges": tuple(gpu["bridges"]),
                "cpus": read_list(gpu["cpus"]),
                "nodes": read_list(gpu["nodes"]),
            }
            for gpu in values["gpus"]
        ]
        links = {
            tuple(link["gpus"]): Link(
                None if link["level"] is None else Level(link["level"]), link["nvlinks"], link["peer"], link["direct"]
            )
            for link in values["links"]
        }
        places = range(len(gpus))
        return cls(
            tuple(NumaNode(node["number"], read_list(node["cpus"]), node["memory"]) for node in values["nodes"]),
            tuple(Gpu(**gpu) for gpu in gpus),
            tuple(tuple(links.get((row, column)) for column in places) for row in places),
            values["problem"],
        )


def read_list(text: str) -> frozenset[int]:
    """Numbers as Linux writes lists of processors, "0-3,8".

    Raises:
        ValueError: it is no such list.
    """
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
    """By the bridges above two GPUs; None where they are unknown.

    A switch is a bridge towards the root and one bridge a port: two GPUs of one switch have all bridges but the last in common.
    """
    if not one or not other:
        return None
    shared = next((place for place, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    if shared == 0:
        return Level.NODE if same_node else Level.SYS
    if shared == 1:
        return Level.PHB
    return Level.PIX if max(len(one), len(other)) - shared <= 1 else Level.PXB
