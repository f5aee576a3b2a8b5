"""Reads the telemetry of devices. ``monitor`` runs it in a separate process: a crash of the driver's library ends only that process."""

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TypeAlias

from framefleet.engine.devices.nvml.driver import Nvml
from framefleet.engine.devices.nvml.gpu import ALL_LINKS, Counter, Gpu
from framefleet.engine.devices.processor import ProcessorSampler
from framefleet.engine.devices.telemetry.snapshot import RATE, LinkTraffic, Telemetry
from framefleet.engine.devices.topology.linux import pci_address
from framefleet.engine.errors import DeviceError
from framefleet.engine.notices import Notice
from framefleet.engine.processes import AnyConnection
from framefleet.engine.processes.watchdog import start_clock
from framefleet.engine.types import DeviceId

STALL_SECONDS = 30.0
"""A driver that does not answer for so long hangs."""

_UNCOUNTED = Counter(None, None)


Sampler: TypeAlias = Callable[[], Telemetry]
"""Returns the current state of one device, and its traffic since the last call."""


class GpuSampler:
    """Reads one GPU. Traffic is the counters' increase between two snapshots; without PCIe counters, a measurement of 20 ms."""

    def __init__(self, device: DeviceId, gpu: Gpu) -> None:
        self._device, self._gpu = device, gpu
        ends = gpu.nvlink_ends()
        self._nvlinks = None if ends is None else len(ends)
        self._ends = {link: None if end is None else pci_address(end) for link, end in (ends or {}).items()}
        self._counters, self._time = gpu.counters([*self._ends]), time.monotonic()

    def sample(self) -> Telemetry:
        """The current state, and the traffic since the last call."""
        gpu, then, before = self._gpu, self._time, self._counters
        self._counters, self._time = now, at = gpu.counters([*self._ends]), time.monotonic()
        pcie = _rates(before.pcie, now.pcie, at - then) if now.pcie.rx is not None else gpu.pcie_throughput()
        links = {link: _rates(before.nvlinks.get(link, _UNCOUNTED), counter, at - then) for link, counter in now.nvlinks.items()}
        nvlink_rx, nvlink_tx = links[ALL_LINKS] if ALL_LINKS in links else (_sum(rates) for rates in zip(*links.values(), strict=True))
        return Telemetry(
            self._device,
            **gpu.telemetry(),
            pcie_rx=pcie[0],
            pcie_tx=pcie[1],
            nvlinks=self._nvlinks,
            nvlink_rx=nvlink_rx,
            nvlink_tx=nvlink_tx,
            nvlink_traffic=tuple(LinkTraffic(link, self._ends[link], *rates) for link, rates in links.items() if link != ALL_LINKS),
        )


def _rates(before: Counter, now: Counter, seconds: float) -> tuple[float | None, float | None]:
    return rate(before.rx, now.rx, seconds), rate(before.tx, now.tx, seconds)


def _sum(rates: Sequence[float | None]) -> float | None:
    """The sum, None if a rate is unknown."""
    known = [one for one in rates if one is not None]
    return sum(known) if len(known) == len(rates) else None


def rate(before: int | None, now: int | None, seconds: float) -> float | None:
    """Bytes/s from two values of a counter; None if a value is missing or the counter was reset."""
    return None if before is None or now is None or now < before else (now - before) / max(seconds, 1e-6)


def make_samplers(wanted: Sequence[tuple[DeviceId, str]]) -> tuple[list[Sampler], Notice | None]:
    """A sampler for each device and its UUID ("" = none), and why NVML cannot be used (None = it can, or is not needed)."""
    nvml, problem = None, None
    if any(uuid for _, uuid in wanted):
        try:
            nvml = Nvml()
        except DeviceError as error:
            problem = error.notice
    samplers: list[Sampler] = []
    for device, uuid in wanted:
        gpu = nvml.gpu(uuid) if nvml is not None and uuid else None
        if gpu is not None:
            samplers.append(GpuSampler(device, gpu).sample)
        else:  # of a device that cannot be read, only its id is known
            samplers.append(ProcessorSampler(device).sample if device.kind == "cpu" else partial(Telemetry, device))
    return samplers, problem


def main(connection: AnyConnection, wanted: Sequence[tuple[DeviceId, str]]) -> None:
    """Send why GPUs report nothing (None = they do) and all snapshots, twice a second, until the other end is closed."""
    clock = start_clock(connection, STALL_SECONDS)
    clock.start("opening the driver's library", STALL_SECONDS)
    samplers, problem = make_samplers(wanted)
    due = time.monotonic()
    with ThreadPoolExecutor(max(len(samplers), 1)) as threads:
        while True:
            clock.stop()
            due = max(due + 1 / RATE, time.monotonic())
            time.sleep(due - time.monotonic())
            clock.start("asking the driver", STALL_SECONDS)
            snapshots = tuple(threads.map(lambda sample: sample(), samplers))
            clock.stop()
            try:
                connection.send((problem, snapshots))
            except OSError:
                return
