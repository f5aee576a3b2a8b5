"""The loads of a topology's links, and the topology and its traffic as text. No Qt."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TypeAlias

from framefleet.app.window.devices.telemetry import bandwidth, details
from framefleet.app.window.widgets import formats
from framefleet.app.window.widgets.translation import marked, translate
from framefleet.engine.devices.telemetry import LinkTraffic, Telemetry
from framefleet.engine.devices.topology import LEVELS, Box, Gpu, Kind, Level, Link, NumaNode, Topology, list_text
from framefleet.engine.types import DeviceId

Snapshots: TypeAlias = Mapping[DeviceId, Telemetry]

_LANE = {1: 0.25e9, 2: 0.5e9, 3: 0.985e9, 4: 1.969e9, 5: 3.938e9, 6: 7.563e9}
"""Bytes/s of a PCIe lane each way, by generation (PCI-SIG)."""
_NVLINK = 25e9
"""Bytes/s of one NVLink each way, generations 2 to 4."""


def pcie_capacity(gpu: Gpu) -> float:
    """The capacity of a GPU's PCIe link, bytes/s each way; PCIe 4.0 ×16 if unknown."""
    return _LANE.get(gpu.generation or 4, _LANE[4]) * (gpu.width or 16)


def nvlink_capacity(count: int) -> float:
    """The capacity of this many NVLinks, bytes/s each way."""
    return _NVLINK * max(count, 1)


def telemetry_of(gpu: Gpu, telemetry: Snapshots) -> Telemetry | None:
    """The snapshot of a GPU, None if unknown."""
    return telemetry.get(gpu.device) if gpu.device is not None else None


def between(one: Gpu, other: Gpu, telemetry: Snapshots) -> tuple[float, float] | None:
    """Bytes/s from the first GPU to the second and back over the links that join them; None if unknown.

    Both ends count the same bytes at different moments, so the greater number is returned.
    """
    received, sent = _with(one, other, telemetry)
    received_there, sent_there = _with(other, one, telemetry)
    there = [rate for rate in (sent, received_there) if rate is not None]
    back = [rate for rate in (received, sent_there) if rate is not None]
    return (max(there), max(back)) if there and back else None


def _with(gpu: Gpu, other: Gpu, telemetry: Snapshots) -> tuple[float | None, float | None]:
    """Bytes/s that a GPU receives from another and sends to it, from its own counters."""
    snapshot = telemetry_of(gpu, telemetry)
    links = [link for link in snapshot.nvlink_traffic if link.end == other.pci] if snapshot is not None and other.pci else []
    rates = [(link.rx, link.tx) for link in links if link.rx is not None and link.tx is not None]
    if not links or len(rates) < len(links):
        return None, None
    return sum(rx for rx, _ in rates), sum(tx for _, tx in rates)


def nvlink_share(gpu: Gpu, telemetry: Snapshots) -> float:
    """The load of all NVLinks of a GPU, both ways together, 0..1."""
    snapshot = telemetry_of(gpu, telemetry)
    if snapshot is None:
        return 0.0
    return ((snapshot.nvlink_rx or 0.0) + (snapshot.nvlink_tx or 0.0)) / (2 * nvlink_capacity(gpu.nvlinks))


def nvlink_share_between(one: Gpu, other: Gpu, nvlinks: int, telemetry: Snapshots) -> float | None:
    """The load of the NVLinks between two GPUs, both ways together, 0..1; None if unknown."""
    flows = between(one, other, telemetry)
    return None if flows is None else sum(flows) / (2 * nvlink_capacity(nvlinks))


_PEERS = {
    True: marked("topology", "Each may read the other's memory."),
    False: marked("topology", "Neither reads the other's memory: they exchange data through the processors' memory."),
    None: "",
}


def gpu_name(gpu: Gpu) -> str:
    """A GPU's device id, or the driver's number if it has none."""
    return str(gpu.device or f"GPU {gpu.number}")


def gpu_title(gpu: Gpu) -> str:
    """``cuda:0 · GPU 0 · NVIDIA H200``."""
    return " · ".join([*([str(gpu.device)] if gpu.device else []), f"GPU {gpu.number}", gpu.name])


def short_names(name: str) -> tuple[str, ...]:
    """A GPU's name without its maker, without its brand, and without form and memory: ``GeForce RTX 4090``, ``RTX 4090``, ``A100``."""
    plain = name.removeprefix("NVIDIA ")
    model = re.sub(r"^(GeForce|Quadro|Tesla) | (Laptop GPU|Generation|(Blackwell )?\w+ Edition)$", "", plain)
    return plain, model, re.sub(r"[- ](SXM\d?|PCIe?|NVL|HGX|\d+ ?GB|HBM\d?\w?)\b", "", model)


def gpu_list(topology: Topology) -> str:
    """All GPUs by name: ``8 × NVIDIA H200``; "" for fewer than two."""
    counts = Counter(gpu.name for gpu in topology.gpus)
    return ", ".join(f"{count} × {name}" for name, count in counts.items()) if len(topology.gpus) > 1 else ""


def pcie_link(gpu: Gpu) -> str:
    """``PCIe 5.0 ×16``."""
    generation = "" if gpu.generation is None else f" {gpu.generation}.0"
    return f"PCIe{generation}" + ("" if gpu.width is None else f" ×{gpu.width}")


def traffic(received: float | None, sent: float | None) -> str | None:
    """Received and sent bytes/s as ``↓ 1.7  ↑ 0.6 MB/s``; None if both are unknown."""
    if received is None and sent is None:
        return None
    greatest = max(received or 0.0, sent or 0.0)
    unit, scale = next((unit, scale) for unit, scale in (("GB/s", 1e9), ("MB/s", 1e6), ("kB/s", 1e3)) if greatest >= scale or scale == 1e3)
    down, up = (formats.DASH if value is None else _figure(value / scale) for value in (received, sent))
    return f"↓ {down}  ↑ {up} {unit}"


def _figure(value: float) -> str:
    return "0" if value < 0.05 else formats.decimal(value, 1 if value < 9.95 else 0)


def node_name(box: Box) -> str:
    """``NUMA node 0``, or the kind of another box."""
    if box.node is not None:
        return translate("topology", "NUMA node {node}").format(node=box.node.number)
    return translate("topology", "NUMA node unknown") if box.kind is Kind.NODE else translate("topology", str(box.kind))


def node_facts(node: NumaNode | None) -> list[str]:
    """``CPUs 0-127`` and ``256.0 GiB``."""
    if node is None:
        return [translate("topology", "The system does not report their location")]
    facts = [translate("topology", "CPUs {cpus}").format(cpus=list_text(node.cpus)) if node.cpus else translate("topology", "no CPUs")]
    if node.memory is not None:
        facts.append(formats.gib(node.memory))
    return facts


def about_box(box: Box) -> str:
    """A box's tooltip."""
    inside = ", ".join(map(gpu_name, box.gpus()))
    meaning = {
        Kind.NODE: translate("topology", "Processors and the memory that is nearest to them"),
        Kind.BRIDGE: translate("topology", "Connects PCIe to a processor"),
        Kind.SWITCH: translate("topology", "Devices behind it exchange data without a processor"),
    }[box.kind]
    lines = [node_name(box), meaning]
    if box.kind is Kind.NODE:
        lines.append(" · ".join(node_facts(box.node)))
    return "\n".join([*lines, translate("topology", "GPUs: {inside}").format(inside=inside) if inside else translate("topology", "No GPU")])


def about_gpu(gpu: Gpu, telemetry: Telemetry | None) -> str:
    """A GPU's tooltip: its location, then its telemetry."""
    near = (
        translate("topology", "near NUMA node {nodes}").format(nodes=list_text(gpu.nodes))
        if gpu.nodes
        else translate("topology", "NUMA node unknown")
    )
    lines = [
        gpu_title(gpu),
        f"{gpu.pci or translate('topology', 'place unknown')}, {pcie_link(gpu)}",
        translate("topology", "{near}, CPUs {cpus}").format(near=near, cpus=list_text(gpu.cpus) or translate("topology", "unknown")),
    ]
    if gpu.bridges:
        lines.append(" › ".join([*gpu.bridges, gpu.pci or ""]))
    return "\n".join(lines + ([details(telemetry)] if telemetry is not None else []))


def about_link(one: Gpu, other: Gpu, link: Link | None) -> str:
    """The tooltip of a link in the matrix."""
    if link is None:
        return gpu_title(one)
    way = translate("topology", LEVELS[link.level]) if link.level is not None else None
    nvlinks = formats.plural(link.nvlinks, "NVLink") + (translate("topology", " bonded") if link.nvlinks > 1 else "")
    over = (
        translate("topology", "{nvlinks}; over PCIe {way}").format(nvlinks=nvlinks, way=way or translate("topology", "in an unknown way"))
        if link.nvlinks
        else translate("topology", "over PCIe {way}").format(way=way)
        if way
        else translate("topology", "nothing is known")
    )
    return "\n".join(
        filter(
            None,
            [
                translate("topology", "{one} and {other}: {over}.").format(one=gpu_name(one), other=gpu_name(other), over=over),
                _PEERS[link.peer] and translate("topology", _PEERS[link.peer]),
            ],
        )
    )


def links_text(topology: Topology) -> str:
    """How the GPUs are joined, in a few words: ``18 NVLinks``; for different links, the codes of the matrix."""
    found = {link.code: link for links in topology.links for link in links if link is not None and (link.nvlinks or link.level)}
    if len(found) != 1:
        return ", ".join(sorted(found))
    (link,) = found.values()
    return formats.plural(link.nvlinks, "NVLink") if link.nvlinks else translate("topology", LEVELS[link.level or Level.SYS])


def codes_text(topology: Topology) -> str:
    """The meaning of each code of the matrix, one per line: ``NV18: 18 NVLinks``."""
    found = {link.code: link for links in topology.links for link in links if link is not None}
    meanings = {code: formats.plural(link.nvlinks, "NVLink") for code, link in found.items() if link.nvlinks}
    meanings |= {code: translate("topology", LEVELS[link.level]) for code, link in found.items() if link.level and code not in meanings}
    return "\n".join(f"{code}: {meaning}" for code, meaning in sorted(meanings.items()))


def peers(topology: Topology) -> str:
    """A note if some GPUs cannot read each other's memory, else ""."""
    found = {link.peer for links in topology.links for link in links if link is not None}
    if False not in found:
        return ""
    which = (
        translate("topology", "No GPU reads another's memory")
        if found == {False}
        else translate("topology", "Not all GPUs read each other's memory")
    )
    return translate("topology", "{which}: they exchange data through the processors' memory.").format(which=which)


_MUCH, _NOTHING = 2.0, 1e6
"""The busiest link is named if it carries at least this multiple of the mean, and at least this many bytes/s."""


def about_rail(gpus: Sequence[Gpu], nvlinks: int, telemetry: Snapshots) -> str:
    """The tooltip of a rail: the traffic between two GPUs if known, else the traffic of all links of each GPU."""
    links = formats.plural(nvlinks, "link")
    if len(gpus) > 2:
        return "\n".join(
            [
                translate("topology", "NVLink"),
                translate("topology", "{names}: each pair by {links}").format(names=", ".join(map(gpu_name, gpus)), links=links),
                *_totals(gpus, telemetry),
            ]
        )
    one, other = gpus
    lines = [
        translate("topology", "NVLink"),
        translate("topology", "{one} and {other}: {links}").format(one=gpu_name(one), other=gpu_name(other), links=links),
    ]
    flows = between(one, other, telemetry)
    if flows is None:
        totals = _totals(gpus, telemetry)
        return "\n".join([*lines, *([translate("topology", "All links of each:"), *totals] if totals else [])])
    there, back = map(bandwidth, flows)
    return "\n".join([*lines, f"{gpu_name(one)} → {gpu_name(other)}: {there}", f"{gpu_name(other)} → {gpu_name(one)}: {back}"])


def _totals(gpus: Sequence[Gpu], telemetry: Snapshots) -> list[str]:
    lines = []
    for gpu in gpus:
        snapshot = telemetry_of(gpu, telemetry)
        total = traffic(snapshot.nvlink_rx, snapshot.nvlink_tx) if snapshot is not None else None
        if snapshot is not None and total is not None:
            lines.append(f"{gpu_name(gpu)}: {total}{_busiest(snapshot.nvlink_traffic)}")
    return lines


def _busiest(links: Sequence[LinkTraffic]) -> str:
    """The busiest link, if it carries much more than the others."""
    flows = {link: (link.rx or 0.0) + (link.tx or 0.0) for link in links}
    most = max(links, key=flows.__getitem__, default=None)
    if most is None or flows[most] < max(_NOTHING, _MUCH * sum(flows.values()) / len(flows)):
        return ""
    return translate("topology", "; the most on link {number}: {rx}").format(number=most.number, rx=traffic(most.rx, most.tx))
