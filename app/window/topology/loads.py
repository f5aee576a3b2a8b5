"""The loads of a topology's links: their traffic, as telemetry counts it, and their capacities."""

from collections.abc import Mapping
from typing import TypeAlias

from framefleet.engine.devices.telemetry.snapshot import Telemetry
from framefleet.engine.devices.topology.types import Gpu
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
