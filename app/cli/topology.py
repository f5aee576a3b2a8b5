"""``framefleet topology``: shows how this machine's GPUs, NUMA nodes and processors are connected."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

from framefleet.app.cli.options import make_parser
from framefleet.engine.devices.recording import read_recording
from framefleet.engine.devices.topology import SELF, Box, Gpu, Topology, boxes, list_text
from framefleet.engine.devices.topology_search import find_topology

GIB = 1 << 30
NOTHING = "N/A"
_PEER = {True: "yes", False: "no", None: NOTHING}
_LEGEND = """\

Legend:

  X    = Self
  SYS  = Connection traversing PCIe as well as the SMP interconnect between NUMA nodes (e.g., QPI/UPI)
  NODE = Connection traversing PCIe as well as the interconnect between PCIe Host Bridges within a NUMA node
  PHB  = Connection traversing PCIe as well as a PCIe Host Bridge (typically the CPU)
  PXB  = Connection traversing multiple PCIe bridges (without traversing the PCIe Host Bridge)
  PIX  = Connection traversing at most a single PCIe bridge
  NV#  = Connection traversing a bonded set of # NVLinks
"""
"""The codes in the words of nvidia-smi, which people search for."""


def run(argv: Sequence[str]) -> int:
    """Show the topology. Exit status 0. Raises UsageError if the recording cannot be read."""
    description = "Show how GPUs, NUMA nodes and processors are connected: the matrix of 'nvidia-smi topo -m', and the machine."
    parser = make_parser("topology", description, examples=("", "--json"), json="print one JSON object instead of text")
    parser.add_argument("--recording", type=Path, metavar="FILE", help="show a recorded machine instead of this one")
    arguments = parser.parse_args(argv)
    topology = find_topology() if arguments.recording is None else read_recording(arguments.recording).topology
    print(json.dumps(topology.as_json()) if arguments.json else text(topology))
    return 0


def text(topology: Topology) -> str:
    """The topology as text."""
    lines = [*matrix(topology), _LEGEND] if topology.gpus else ["There is no NVIDIA GPU.", ""]
    if topology.problem is not None:
        lines[:0] = [f"Not all is known: {topology.problem}", ""]
    lines += [line for box in boxes(topology) for line in _outline(box)]
    if len(topology.gpus) > 1:
        lines += ["", *_peers(topology)]
    return "\n".join(lines)


def matrix(topology: Topology) -> list[str]:
    """The matrix as ``nvidia-smi topo -m`` prints it, with tabs between cells."""
    names = [f"GPU{gpu.number}" for gpu in topology.gpus]
    lines = ["\t".join(["", *names, "CPU Affinity", "NUMA Affinity", "GPU NUMA ID"])]
    for name, gpu, codes in zip(names, topology.gpus, topology.codes(), strict=True):
        own_node = NOTHING if gpu.own_node is None else str(gpu.own_node)
        cells = [f"{code:^3}" for code in codes]
        lines.append("\t".join([name, *cells, list_text(gpu.cpus) or NOTHING, list_text(gpu.nodes) or NOTHING, "", own_node]))
    return lines


def _outline(box: Box, depth: int = 0) -> Iterator[str]:
    """The machine as an indented outline."""
    facts = []
    name = f"{box.kind} {box.node.number}" if box.node is not None else f"{box.kind} unknown" if depth == 0 else str(box.kind)
    if box.node is not None:
        facts = [f"CPUs {list_text(box.node.cpus)}" if box.node.cpus else "no CPUs"]
        if box.node.memory is not None:
            facts.append(f"{box.node.memory / GIB:.1f} GiB")
    yield f"{'':{2 * depth}}{name}{': ' if facts else ''}{', '.join(facts)}"
    for part in box.parts:
        if isinstance(part, Box):
            yield from _outline(part, depth + 1)
        else:
            yield f"{'':{2 * depth + 2}}{_describe(part)}"


def _describe(gpu: Gpu) -> str:
    facts = [gpu.name]
    if gpu.pci is not None:
        facts.append(gpu.pci)
    if gpu.generation is not None:
        facts.append(f"PCIe {gpu.generation}.0" + (f" ×{gpu.width}" if gpu.width is not None else ""))
    if gpu.nvlinks:
        facts.append(f"{gpu.nvlinks} NVLinks")
    name = f"GPU {gpu.number}"
    return f"{f'{gpu.device} = {name}' if gpu.device is not None else name}: {', '.join(facts)}"


def _peers(topology: Topology) -> Iterator[str]:
    """Which GPUs can read each other's memory. If pairs differ, a matrix: the GPU of the row reads that of the column."""
    found = {link.peer for links in topology.links for link in links if link is not None}
    words = {frozenset({True}): "between all GPUs", frozenset({False}): "between no GPUs", frozenset({None}): "unknown"}
    answer = words.get(frozenset(found))
    yield f"Peer-to-peer access: {answer or ''}".rstrip()
    if answer is None:
        names = [f"GPU{gpu.number}" for gpu in topology.gpus]
        yield "\t".join(["", *names])
        for name, links in zip(names, topology.links, strict=True):
            yield "\t".join([name, *(f" {SELF} " if link is None else _PEER[link.peer] for link in links)])
