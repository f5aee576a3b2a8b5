"""Telemetry of a device at one moment."""

from dataclasses import dataclass

from framefleet.engine.notices import Notice
from framefleet.engine.types import DeviceId

RATE = 2.0
"""Snapshots a second."""


@dataclass(frozen=True)
class LinkTraffic:
    """Traffic over one NVLink. rx, tx: bytes/s that the device receives and sends; None once after its counters were reset.

    number: the GPU's number of the link. end: PCI address of the GPU at the other end, "0000:07:00.0"; None = a switch, or unknown.
    """

    number: int
    end: str | None
    rx: float | None
    tx: float | None


@dataclass(frozen=True)
class Telemetry:
    """One snapshot. Every value but the device may be None: not available, perhaps only now.

    utilization, memory_utilization, decoder, encoder: percent of the last half second in which the device computed, its memory was
    read or written, and its video engines worked. memory_used, memory_total: bytes. power, power_limit: watts. temperature: °C.
    sm_clock, sm_clock_limit, memory_clock: MHz. pcie_rx, pcie_tx: bytes/s that the device receives and sends. pcie_generation,
    pcie_width: of the link now; idle GPUs lower them. nvlinks: number of active links. nvlink_rx, nvlink_tx: bytes/s over all links.
    nvlink_traffic: of each link with its own counters. throttling: why the clocks are lowered; empty = they are not.
    """

    device: DeviceId
    utilization: float | None = None
    memory_utilization: float | None = None
    decoder: float | None = None
    encoder: float | None = None
    memory_used: int | None = None
    memory_total: int | None = None
    power: float | None = None
    power_limit: float | None = None
    temperature: float | None = None
    sm_clock: int | None = None
    sm_clock_limit: int | None = None
    memory_clock: int | None = None
    pcie_rx: float | None = None
    pcie_tx: float | None = None
    pcie_generation: int | None = None
    pcie_width: int | None = None
    nvlinks: int | None = None
    nvlink_rx: float | None = None
    nvlink_tx: float | None = None
    nvlink_traffic: tuple[LinkTraffic, ...] = ()
    throttling: tuple[Notice, ...] | None = None
