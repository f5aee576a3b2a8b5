"""The topology in words. Pure values, no Qt."""

from __future__ import annotations

from app.window.devices.telemetry_text import details
from app.window.widgets import formats
from engine.devices.telemetry.snapshot import Telemetry
from engine.devices.topology.tree import Box, Kind
from engine.devices.topology.types import LEVELS, Gpu, Link, NumaNode, Topology, list_text

_LANE = {1: 0.25e9, 2: 0.5e9, 3: 0.985e9, 4: 1.969e9, 5: 3.938e9, 6: 7.563e9}
"""Bytes/s of a PCIe lane each way, by generation (PCI-SIG)."""
_NVLINK = 25e9
"""Bytes/s of one NVLink each way, generations 2 to 4."""
_PEERS = {
    True: "Each may read the other's memory.",
    False: "Neither reads the other's memory: what they exchange goes through the processors' memory.",
    None: "",
}


def gpu_name(gpu: Gpu) -> str:
    """A GPU's device id, or the driver's number if it has none."""
    return str(gpu.device or f"GPU {gpu.number}")


def gpu_title(gpu: Gpu) -> str:
    """``cuda:0 · GPU 0 · NVIDIA H200``."""
    return " · ".join([*([str(gpu.device)] if gpu.device else []), f"GPU {gpu.number}", gpu.name])


def pcie_link(gpu: Gpu) -> str:
    """``PCIe 5.0 ×16``."""
    generation = "" if gpu.generation is None else f" {gpu.generation}.0"
    return f"PCIe{generation}" + ("" if gpu.width is None else f" ×{gpu.width}")


def pcie_capacity(gpu: Gpu) -> float:
    """The capacity of a GPU's PCIe link, bytes/s each way; that of a common link if unknown."""
    return _LANE.get(gpu.generation or 4, _LANE[4]) * (gpu.width or 16)


def nvlink_capacity(count: int) -> float:
    """The capacity of this many NVLinks, bytes/s each way."""
    return _NVLINK * max(count, 1)


def traffic(received: float | None, sent: float | None) -> str | None:
    """Received and sent bytes/s as ``↓ 1.7  ↑ 0.6 MB/s``; None if both are unknown."""
    if received is None and sent is None:
        return None
    greatest = max(received or 0.0, sent or 0.0)
    unit, scale = next((unit, scale) for unit, scale in (("GB/s", 1e9), ("MB/s", 1e6), ("kB/s", 1e3)) if greatest >= scale or scale == 1e3)
    down, up = (formats.DASH if value is None else _figure(value / scale) for value in (received, sent))
    return f"↓ {down}  ↑ {up} {unit}"


def _figure(value: float) -> str:
    return "0" if value < 0.05 else f"{value:.1f}" if value < 9.95 else f"{value:.0f}"


def node_name(box: Box) -> str:
    """``NUMA node 0``, or the kind of another box."""
    if box.node is not None:
        return f"{Kind.NODE} {box.node.number}"
    return "NUMA node unknown" if box.kind is Kind.NODE else str(box.kind)


def node_facts(node: NumaNode | None) -> str:
    """``CPUs 0-127 · 256.0 GiB``."""
    if node is None:
        return "The system does not tell where they are"
    facts = [f"{'CPU' if len(node.cpus) == 1 else 'CPUs'} {list_text(node.cpus)}" if node.cpus else "no CPUs"]
    if node.memory is not None:
        facts.append(formats.gib(node.memory))
    return " · ".join(facts)


def about_box(box: Box) -> str:
    """A box's tooltip."""
    inside = ", ".join(map(gpu_name, box.gpus()))
    meaning = {
        Kind.NODE: "Processors and the memory that is nearest to them",
        Kind.BRIDGE: "Where PCIe comes out of a processor",
        Kind.SWITCH: "What is behind it exchanges data without a processor",
    }[box.kind]
    lines = [node_name(box), meaning]
    if box.kind is Kind.NODE:
        lines.append(node_facts(box.node))
    return "\n".join([*lines, f"GPUs: {inside}" if inside else "No GPU"])


def about_gpu(gpu: Gpu, telemetry: Telemetry | None) -> str:
    """A GPU's tooltip: its place, then its telemetry."""
    near = f"near NUMA node {list_text(gpu.nodes)}" if gpu.nodes else "NUMA node unknown"
    lines = [gpu_title(gpu), f"{gpu.pci or 'place unknown'}, {pcie_link(gpu)}", f"{near}, CPUs {list_text(gpu.cpus) or 'unknown'}"]
    if gpu.bridges:
        lines.append(" › ".join([*gpu.bridges, gpu.pci or ""]))
    return "\n".join(lines + ([details(telemetry)] if telemetry is not None else []))


def about_link(one: Gpu, other: Gpu, link: Link | None) -> str:
    """The tooltip of a link in the matrix."""
    if link is None:
        return gpu_title(one)
    way = LEVELS[link.level] if link.level is not None else None
    nvlinks = formats.plural(link.nvlinks, "NVLink") + (" bonded" if link.nvlinks > 1 else "")
    over = f"{nvlinks}; over PCIe {way or 'in an unknown way'}" if link.nvlinks else f"over PCIe {way}" if way else "nothing is known"
    return "\n".join(filter(None, [f"{gpu_name(one)} and {gpu_name(other)}: {over}.", _PEERS[link.peer]]))


def peers(topology: Topology) -> str:
    """A note if not all GPUs read each other's memory, else ""."""
    found = {link.peer for links in topology.links for link in links if link is not None}
    if False not in found:
        return ""
    which = "No GPU reads another's memory" if found == {False} else "Not all GPUs read each other's memory"
    return f"{which}: what they exchange goes through the processors' memory."
