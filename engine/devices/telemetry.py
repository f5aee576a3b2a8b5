"""Telemetry of devices: load, memory, clocks, power.

A separate process takes it for the window and the command line, so that a crash of a driver's library ends only that process.
"""

import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from threading import Thread
from typing import TypeAlias

from framefleet.engine.devices.discovery import DeviceDescription
from framefleet.engine.devices.host_memory import read_host_memory
from framefleet.engine.devices.nvml import ALL_LINKS, Counter, Gpu, Nvml
from framefleet.engine.devices.topology import pci_address
from framefleet.engine.notices import DeviceError, Notice
from framefleet.engine.processes import AnyConnection
from framefleet.engine.processes.child import ChildProcess
from framefleet.engine.processes.watchdog import start_clock
from framefleet.engine.types import DeviceId

RATE = 2.0
"""Snapshots a second."""


@dataclass(frozen=True)
class LinkTraffic:
    """Traffic over one NVLink.

    Attributes
    ----------
    rx, tx
        Bytes/s that the device receives and sends; None once after its counters were reset.
    number
        The GPU's number of the link.
    end
        PCI address of the GPU at the other end, "0000:07:00.0"; None = a switch, or unknown.
    """

    number: int
    end: str | None
    rx: float | None
    tx: float | None


@dataclass(frozen=True)
class Telemetry:
    """One snapshot.

    Every value but the device may be None: not available, perhaps only now.

    Attributes
    ----------
    utilization, memory_utilization, decoder, encoder
        Percent of the last half second in which the device computed, its memory was read or written, and its video engines worked.
    memory_used, memory_total
        Bytes.
    power, power_limit
        Watts.
    temperature
        °C.
    sm_clock, sm_clock_limit, memory_clock
        MHz.
    pcie_rx, pcie_tx
        Bytes/s that the device receives and sends.
    pcie_generation, pcie_width
        Of the link now; idle GPUs lower them.
    nvlinks
        Number of active links.
    nvlink_rx, nvlink_tx
        Bytes/s over all links.
    nvlink_traffic
        Of each link with its own counters.
    throttling
        Why the clocks are lowered; empty = they are not.
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


class ProcessorSampler:
    """Samples the processors that this process may use, and the memory.

    Parameters
    ----------
    root
        Folder of the system's files.
    """

    def __init__(self, device: DeviceId, root: Path = Path("/")) -> None:
        self._device, self._root = device, root
        self._before = self._ticks()

    def sample(self) -> Telemetry:
        """The utilization since the last call, and the memory. On systems other than Linux all values are None."""
        before, self._before = self._before, self._ticks()
        utilization = None
        if before is not None and self._before is not None and self._before[1] > before[1]:
            utilization = 100 * (self._before[0] - before[0]) / (self._before[1] - before[1])
        memory = read_host_memory(self._root)
        used, total = (None, None) if memory is None else (memory.used, memory.total)
        return Telemetry(self._device, utilization=utilization, memory_used=used, memory_total=total)

    def _ticks(self) -> tuple[int, int] | None:
        """Busy ticks and all ticks of the processors that this process may use."""
        try:
            usable = {f"cpu{number}" for number in os.sched_getaffinity(0)}
            lines = [line.split() for line in (self._root / "proc/stat").read_text().splitlines()]
            times = [list(map(int, line[1:9])) for line in lines if line and line[0] in usable]
        except (OSError, AttributeError, ValueError):
            return None  # not Linux
        total = sum(map(sum, times))
        return total - sum(idle + waiting for _, _, _, idle, waiting, *_ in times), total


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
    clock.start(Notice("devices.opening_library"), STALL_SECONDS)
    samplers, problem = make_samplers(wanted)
    due = time.monotonic()
    with ThreadPoolExecutor(max(len(samplers), 1)) as threads:
        while True:
            clock.stop()
            due = max(due + 1 / RATE, time.monotonic())
            time.sleep(due - time.monotonic())
            clock.start(Notice("devices.asking_driver"), STALL_SECONDS)
            snapshots = tuple(threads.map(lambda sample: sample(), samplers))
            clock.stop()
            try:
                connection.send((problem, snapshots))
            except OSError:
                return


class TelemetryMonitor:
    """Holds the latest snapshot of each device, twice a second, until closed.

    Parameters
    ----------
    devices
        All but CPUs are known by their UUIDs.
    main
        What its process runs, as the function ``main``.

    Attributes
    ----------
    latest
        The newest snapshots; empty before the first and after the end.
    problem
        Why there are no snapshots, or none of GPUs; None if nothing is wrong.
    """

    def __init__(self, devices: Iterable[DeviceDescription], main: Callable[..., None] = main) -> None:
        self.latest: Mapping[DeviceId, Telemetry] = {}
        self.problem: Notice | None = None
        self._closed = False
        wanted = tuple((device.id, device.uuid or "") for device in devices)
        try:
            self._process = ChildProcess("telemetry", main, wanted, words=Notice("devices.reads_telemetry"), nice=0, quiet=True)
        except OSError as error:
            self.problem = Notice("devices.telemetry_not_started", error=str(error))
            self._closed = True
            return
        self._thread = Thread(target=self._read, name="framefleet telemetry", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """End the process; harmless when repeated."""
        if self._closed:
            return
        self._closed = True
        self._process.kill()
        self._thread.join()

    def _read(self) -> None:
        for problem, snapshots in self._process.messages():
            self.problem = problem
            self.latest = {snapshot.device: snapshot for snapshot in snapshots}
        outcome = self._process.end()
        self.latest = {}
        if not self._closed:
            self.problem = Notice("devices.telemetry_ended", reason=outcome.reason)
