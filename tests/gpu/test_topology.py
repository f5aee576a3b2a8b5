"""What is found here is what nvidia-smi says, and what flows is seen."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

import pytest

from engine.devices.affinity import bind_near
from engine.devices.description import DeviceDescription
from engine.devices.monitor import TelemetryMonitor
from engine.devices.topology import Topology, list_text
from engine.devices.topology_search import find_topology
from tests.support.machines import make_system

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
    devices = pytest.importorskip("cuda.core").Device.get_all_devices()
    assert topology.problem is None
    assert {f"cuda:{number}": f"GPU-{device.uuid}" for number, device in enumerate(devices)} == {
        str(gpu.device): gpu.uuid for gpu in topology.gpus
    }
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
    seen = []
    try:
        end = time.monotonic() + 6
        while time.monotonic() < end:
            there.copy_(here)
            host.copy_(there)
            torch.cuda.synchronize(0)
            torch.cuda.synchronize(1)
            seen.append({str(device): snapshot for device, snapshot in monitor.latest.items()})
    finally:
        monitor.close()
    last = seen[-1]
    print({name: (snapshot.pcie_rx, snapshot.pcie_tx, snapshot.nvlink_rx, snapshot.nvlink_tx) for name, snapshot in last.items()})
    assert (last["cuda:0"].nvlink_tx or 0) > 1e9
    assert (last["cuda:1"].nvlink_rx or 0) > 1e9
    assert (last["cuda:1"].pcie_tx or 0) > 1e9
