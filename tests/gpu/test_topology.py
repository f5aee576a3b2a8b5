"""What is found here is what nvidia-smi says, and what flows is seen."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median

import pytest

from framefleet.engine.devices.affinity import bind_near
from framefleet.engine.devices.discovery import DeviceDescription
from framefleet.engine.devices.nvml import ALL_LINKS, Nvml
from framefleet.engine.devices.telemetry import RATE, GpuSampler, Telemetry, TelemetryMonitor
from framefleet.engine.devices.topology import Gpu, Topology, list_text
from framefleet.engine.devices.topology_search import find_topology
from tests.support.devices.machines import make_system

pytestmark = pytest.mark.gpu


@pytest.fixture(scope="module")
def topology() -> Topology:
    return find_topology()


def test_it_equals_nvidia_smi_cell_by_cell(topology: Topology) -> None:
    printed = subprocess.run(["nvidia-smi", "topo", "-m"], capture_output=True, text=True, check=True).stdout
    plain = printed.replace("\x1b[4m", "").replace("\x1b[0m", "")
    lines = [line.split("\t") for line in plain.split("Legend")[0].splitlines()]
    columns = lines[0]
    rows = [line for line in lines[1:] if line[0].startswith("GPU")]
    gpus = [place for place, column in enumerate(columns) if column.startswith("GPU") and column != "GPU NUMA ID"]
    assert [tuple(row[place].strip() for place in gpus) for row in rows] == list(topology.codes())
    affinity = columns.index("CPU Affinity")
    assert [(row[affinity], row[affinity + 1]) for row in rows] == [(list_text(gpu.cpus), list_text(gpu.nodes)) for gpu in topology.gpus]
    own = ["N/A" if gpu.own_node is None else str(gpu.own_node) for gpu in topology.gpus]
    assert [[cell for cell in row if cell][-1] for row in rows] == own


def test_gpus_have_cudas_numbers(topology: Topology) -> None:
    """GPUs that ``CUDA_VISIBLE_DEVICES`` hides have the numbers after those."""
    devices = pytest.importorskip("cuda.core").Device.get_all_devices()
    assert topology.problem is None
    numbers = {int(gpu.device.name): gpu.uuid for gpu in topology.gpus if gpu.device is not None}
    assert [numbers[number] for number in range(len(devices))] == [f"GPU-{device.uuid}" for device in devices]
    assert sorted(numbers) == list(range(len(topology.gpus)))
    assert all(gpu.bridges and gpu.generation and gpu.width and gpu.node is not None for gpu in topology.gpus)


def test_a_thread_is_bound_by_cudas_name_of_a_place(tmp_path: Path, topology: Topology) -> None:
    device = pytest.importorskip("cuda.core").Device(0)
    mine = sorted(os.sched_getaffinity(0))
    address = next(gpu.pci for gpu in topology.gpus if str(gpu.device) == "cuda:0")
    nodes = {0: (",".join(map(str, mine[:-1])), 8), 1: (str(mine[-1]), 8)}
    system = make_system(tmp_path, nodes, [(f"pci0000:00/{address}", 1)])
    try:
        assert bind_near(device.pci_bus_id, system) == {mine[-1]} == os.sched_getaffinity(0)
    finally:
        os.sched_setaffinity(0, mine)


def test_what_flows_is_seen(topology: Topology) -> None:
    torch = pytest.importorskip("torch")
    if len(topology.gpus) < 2 or not topology.gpus[0].nvlinks:
        pytest.skip("no two GPUs with NVLink")
    watched = [DeviceDescription(gpu.device, gpu.name, "", (), uuid=gpu.uuid) for gpu in topology.gpus[:2] if gpu.device]
    here = torch.empty(2**28, dtype=torch.uint8, device="cuda:0")
    there, host = torch.empty_like(here, device="cuda:1"), torch.empty(2**28, dtype=torch.uint8, pin_memory=True)
    monitor = TelemetryMonitor(watched)
    seen: list[dict[str, Telemetry]] = []

    def most(device: str, counter: str) -> float:
        return max((getattr(snapshots.get(device), counter, None) or 0.0 for snapshots in seen), default=0.0)

    # PCIe is counted for 20 ms at a time, which may be ones in which nothing is copied
    wanted = ("cuda:0", "nvlink_tx"), ("cuda:1", "nvlink_rx"), ("cuda:1", "pcie_tx")
    try:
        end = time.monotonic() + 30
        while time.monotonic() < end and any(most(*counter) <= 1e9 for counter in wanted):
            there.copy_(here)
            host.copy_(there)
            torch.cuda.synchronize(0)
            torch.cuda.synchronize(1)
            seen.append({str(device): snapshot for device, snapshot in monitor.latest.items()})
    finally:
        monitor.close()

    for counter in wanted:
        assert most(*counter) > 1e9, counter


@pytest.fixture
def nvml() -> Iterator[Nvml]:
    library = Nvml()
    yield library
    library.close()


def joined(topology: Topology) -> tuple[Gpu, Gpu]:
    """Two GPUs with NVLink between them."""
    for one, links in zip(topology.gpus, topology.links, strict=True):
        for other, link in zip(topology.gpus, links, strict=True):
            if link is not None and link.nvlinks and one.device and other.device:
                return one, other
    pytest.skip("no two GPUs with NVLink")


def test_links_carry_what_is_copied_and_no_others_do(topology: Topology, nvml: Nvml) -> None:
    from framefleet.engine.bench.devices_cuda import Card

    source, target = joined(topology)
    idle = next((gpu for gpu in topology.gpus if gpu.device and gpu not in (source, target)), None)
    watched = [gpu for gpu in (source, target, idle) if gpu is not None]
    samplers = {}
    for gpu in watched:
        assert gpu.device is not None
        handle = nvml.gpu(gpu.uuid or "")
        assert handle is not None
        samplers[gpu] = GpuSampler(gpu.device, handle)
    assert source.device is not None
    assert target.device is not None
    here, there = Card(source.device), Card(target.device)
    assert here.reaches(there)
    nbytes = 1 << 30
    try:
        ends = there.memory(nbytes), here.memory(nbytes)
        here.copy_to(there, *ends, nbytes)
        here.stream.sync()
        begins = {}
        for gpu in watched:
            begins[gpu] = time.monotonic()
            samplers[gpu].sample()
        copied, end = 0, time.monotonic() + 3
        while time.monotonic() < end:
            for _ in range(16):
                here.copy_to(there, *ends, nbytes)
            here.stream.sync()
            copied += 16 * nbytes
        seconds, snapshots = {}, {}
        for gpu in watched:
            seconds[gpu] = time.monotonic() - begins[gpu]
            snapshots[gpu] = samplers[gpu].sample()
    finally:
        there.give_back()
        here.give_back()
    sent, received = snapshots[source], snapshots[target]
    print(f"copied {copied / 1e9:.0f} GB from {source.device} to {target.device}")
    for gpu, snapshot in snapshots.items():
        links = [f"{link.number}: {(link.rx or 0) / 1e9:.1f}/{(link.tx or 0) / 1e9:.1f}" for link in snapshot.nvlink_traffic]
        print(f"{gpu.device}: rx/tx of all {(snapshot.nvlink_rx or 0) / 1e9:.1f}/{(snapshot.nvlink_tx or 0) / 1e9:.1f} GB/s; links {links}")
    assert (sent.nvlink_tx or 0) * seconds[source] == pytest.approx(copied, rel=0.2)
    assert (received.nvlink_rx or 0) * seconds[target] == pytest.approx(copied, rel=0.2)
    if idle is not None:
        quiet = snapshots[idle]
        assert ((quiet.nvlink_rx or 0) + (quiet.nvlink_tx or 0)) * seconds[idle] < 0.01 * copied
    if not sent.nvlink_traffic or not received.nvlink_traffic:
        pytest.skip("this driver counts links together only; the totals are right")
    assert len(sent.nvlink_traffic) == sent.nvlinks == source.nvlinks
    # links that are joined directly carry it alone; through switches all do, and none more than twice its part
    direct = any(link.end == target.pci for link in sent.nvlink_traffic)
    way = [link for link in sent.nvlink_traffic if not direct or link.end == target.pci]
    assert sum(link.tx or 0 for link in way) * seconds[source] == pytest.approx(copied, rel=0.2)
    assert max(link.tx or 0 for link in way) < 2 * sum(link.tx or 0 for link in way) / len(way)


def test_all_links_are_read_many_times_in_the_time_of_a_snapshot(topology: Topology, nvml: Nvml) -> None:
    for place in topology.gpus:
        gpu = nvml.gpu(place.uuid or "")
        assert gpu is not None
        links = [*(gpu.nvlink_ends() or {})]
        if not links:
            pytest.skip("a GPU without NVLink")
        times = []
        for _ in range(20):
            begin = time.perf_counter()
            counters = gpu.counters(links)
            times.append(1000 * (time.perf_counter() - begin))
        told = len(counters.nvlinks) - (ALL_LINKS in counters.nvlinks)
        print(f"GPU {place.number}: {told} of {len(links)} links counted in {median(times):.2f} ms (at most {max(times):.2f})")
        assert median(times) < 1000 / RATE / 4
