"""The traffic over NVLink: loads and tooltips. Pure values, no Qt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from app.window.devices.telemetry_text import bandwidth
from app.window.topology.text import gpu_name, nvlink_capacity, traffic
from app.window.widgets import formats
from engine.devices.telemetry.snapshot import LinkTraffic, Telemetry
from engine.devices.topology.types import Gpu
from engine.types import DeviceId

Snapshots = Mapping[DeviceId, Telemetry]

_MUCH, _NOTHING = 2.0, 1e6
"""The busiest link is named from this multiple of the mean on, unless it carries fewer bytes/s than this."""


def telemetry_of(gpu: Gpu, telemetry: Snapshots) -> Telemetry | None:
    """The snapshot of a GPU, None if there is none."""
    return telemetry.get(gpu.device) if gpu.device is not None else None


def between(one: Gpu, other: Gpu, telemetry: Snapshots) -> tuple[float, float] | None:
    """Bytes/s from the first GPU to the second and back over the links that join them; None if unknown.

    Both ends count the same bytes, but at different moments, so the greater number is used.
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


def about_rail(gpus: Sequence[Gpu], nvlinks: int, telemetry: Snapshots) -> str:
    """The tooltip of a rail: the traffic between two GPUs if known, else the traffic of all links of each GPU."""
    links = formats.plural(nvlinks, "link")
    if len(gpus) > 2:
        return "\n".join(["NVLink", f"{', '.join(map(gpu_name, gpus))}: each with each by {links}", *_totals(gpus, telemetry)])
    one, other = gpus
    lines = ["NVLink", f"{gpu_name(one)} and {gpu_name(other)}: {links}"]
    flows = between(one, other, telemetry)
    if flows is None:
        totals = _totals(gpus, telemetry)
        return "\n".join([*lines, *(["All links of each:", *totals] if totals else [])])
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
    return f"; the most on link {most.number}: {traffic(most.rx, most.tx)}"
