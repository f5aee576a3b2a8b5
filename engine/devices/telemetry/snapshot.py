"""What a device is doing at one moment."""

from __future__ import annotations

from dataclasses import dataclass

from engine.types import DeviceId

RATE = 2.0
"""Snapshots a second."""


@dataclass(frozen=True)
class LinkTraffic:
    """What flows through one NVLink, bytes/s that the device receives and sends; None for a moment after its counters were reset.

    number: of the link, as its GPU counts. end: the place on the bus of the GPU it leads to, "0000:07:00.0"; None = a switch, or unknown.
    """

    number: int
    end: str | None
    rx: float | None
    tx: float | None


@dataclass(frozen=True)
class Telemetry:
    """One snapshot. Everything but the device is None where it is not available, be it for a moment.

    utilization: share of the time in which the device computed; memory_utilization: in which its memory was read or written;
    decoder, encoder: in which its video engines worked; all in percent, over about the last half second. memory_used,
    memory_total: bytes. power, power_limit: watts. temperature: °C. sm_clock, sm_clock_limit, memory_clock: MHz. pcie_rx,
    pcie_tx: bytes/s that the device receives and sends; pcie_generation, pcie_width: of the link as it is now. nvlinks: links
    that are up; nvlink_rx, nvlink_tx: bytes/s over all of them; nvlink_traffic: of each that the driver tells of. throttling: what
    keeps the clocks down, in words; empty = nothing does.
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
    throttling: tuple[str, ...] | None = None
