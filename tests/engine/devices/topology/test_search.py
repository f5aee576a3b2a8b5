from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from framefleet.engine.devices import topology_search as topology_probe
from framefleet.engine.devices.cuda import CudaDevice
from framefleet.engine.devices.nvml import Nvml
from framefleet.engine.devices.topology import NumaNode, Topology, find_gpus, numa_node, numa_nodes, pci_address
from framefleet.engine.devices.topology_search import ask_driver, find_topology
from framefleet.engine.notices import DeviceError, Notice, literal
from framefleet.engine.types import DeviceId
from tests.support.devices.machines import GIB, SWITCH_CODES, SWITCHES, TWO_SOCKETS, make_system, words
from tests.support.devices.nvml import H200, Library, NVMLError_LibraryNotFound, NVMLError_LibRmVersionMismatch

NOBODY = (sys.executable, "-c", 'print(\'{"gpus": [], "problem": null}\')')


def says(values: object) -> tuple[str, ...]:
    """A program that prints these."""
    return (sys.executable, "-c", f"print('warning: a driver speaks'); print({json.dumps(values)!r})")


def test_two_sockets_with_switches_by_the_system_alone(tmp_path: Path) -> None:
    topology = find_topology(program=NOBODY, system=make_system(tmp_path, TWO_SOCKETS, SWITCHES))
    assert topology.codes() == SWITCH_CODES
    assert [gpu.node for gpu in topology.gpus] == [0, 0, 0, 0, 1, 1, 1]
    assert topology.nodes[1] == NumaNode(1, frozenset([*range(16, 32), *range(48, 64)]), 256 * GIB)
    assert topology.gpus[4].cpus == topology.nodes[1].cpus
    assert (topology.gpus[0].generation, topology.gpus[0].width, topology.gpus[0].device) == (5, 16, None)
    assert topology.problem == Notice("devices.driver_not_installed")


def test_a_machine_without_a_gpu(tmp_path: Path) -> None:
    topology = find_topology(program=NOBODY, system=make_system(tmp_path, {0: ("0-3", 8)}))
    assert topology == Topology((NumaNode(0, frozenset(range(4)), 8 * GIB),))


def test_a_system_that_tells_nothing_is_one_node(tmp_path: Path) -> None:
    assert find_topology(program=NOBODY, system=tmp_path).nodes == (NumaNode(0, frozenset(range(os.cpu_count() or 1))),)


def test_this_machine() -> None:
    topology = find_topology()
    assert topology.nodes
    if hasattr(os, "sched_getaffinity"):
        assert os.sched_getaffinity(0) <= frozenset[int]().union(*(node.cpus for node in topology.nodes))


def test_only_gpus_of_nvidia_count(tmp_path: Path) -> None:
    system = make_system(tmp_path, TWO_SOCKETS, SWITCHES[:3])
    (system / "bus/pci/devices/0000:03:00.0/vendor").write_text("0x8086\n")
    (system / "bus/pci/devices/0000:04:00.0/class").write_text("0x020700\n")
    assert [gpu.pci for gpu in find_gpus(system)] == ["0000:05:00.0"]


def test_firmware_of_one_node_tells_none(tmp_path: Path) -> None:
    one = make_system(tmp_path / "one", {0: ("0-7", 16)}, [("pci0000:00/0000:01:00.0", -1)])
    two = make_system(tmp_path / "two", TWO_SOCKETS, [("pci0000:00/0000:01:00.0", -1)])
    assert (numa_node("0000:01:00.0", one), numa_node("0000:01:00.0", two), numa_node("0000:09:00.0", two)) == (0, None, None)


def test_nodes_without_processors_have_their_memory_and_broken_entries_are_left_out(tmp_path: Path) -> None:
    make_system(tmp_path, {0: ("0-3", 8), 10: ("", 96), 2: ("what?", 0)})
    assert numa_nodes(tmp_path) == (NumaNode(0, frozenset(range(4)), 8 * GIB), NumaNode(10, frozenset(), 96 * GIB))


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("00000000:0A:1f.0", "0000:0a:1f.0"),
        ("0000:3b:00.1", "0000:3b:00.1"),
        ("3B:00.0", "0000:3b:00.0"),
        ("00010000:01:00.0", "10000:01:00.0"),
    ],
)
def test_places_on_the_bus_have_one_form(text: str, address: str) -> None:
    assert pci_address(text) == address


def machine(ancestor: int) -> list[dict[str, Any]]:
    """Two GPUs of the second node, without NVLink and without peer-to-peer access."""
    return [
        {
            **H200,
            "nvmlDeviceGetName": f"NVIDIA X{number}",
            "nvmlDeviceGetUUID": f"GPU-{number}",
            "nvmlDeviceGetPciInfo": SimpleNamespace(busId=f"00000000:8{number + 5}:00.0"),
            "nvmlDeviceGetCpuAffinity": lambda size: words([*range(16, 32), *range(48, 64)]) + [0] * (size - 1),
            "nvmlDeviceGetMemoryAffinity": lambda size, _scope: words([1]) + [0] * (size - 1),
            "nvmlDeviceGetMaxPcieLinkGeneration": 4,
            "nvmlDeviceGetMaxPcieLinkWidth": 8,
            "nvmlDeviceGetTopologyCommonAncestor": lambda _other: ancestor,
            "nvmlDeviceGetP2PStatus": lambda _other, _index: 1,
        }
        for number in range(2)
    ]


def test_the_driver_and_the_system_together(tmp_path: Path) -> None:
    values = ask_driver(Nvml(Library(*machine(20))), {"GPU-1": DeviceId("cuda", "0"), "GPU-0": DeviceId("cuda", "1")})
    topology = find_topology(program=says(values), system=make_system(tmp_path, TWO_SOCKETS, SWITCHES))
    assert topology.codes() == (("X", "PXB"), ("PXB", "X"))  # as the driver says: it knows better
    assert [(gpu.number, str(gpu.device), gpu.name) for gpu in topology.gpus] == [(0, "cuda:1", "NVIDIA X0"), (1, "cuda:0", "NVIDIA X1")]
    assert {(gpu.node, gpu.generation, gpu.width, gpu.nvlinks) for gpu in topology.gpus} == {(1, 4, 8, 0)}
    assert topology.gpus[0].bridges[-1] == "0000:84:00.0"
    assert topology.gpus[0].cpus == topology.nodes[1].cpus
    assert topology.links[0][1] is not None
    assert topology.links[0][1].peer is False
    assert topology.problem is None


@pytest.mark.parametrize(
    ("program", "problem"),
    [
        ((sys.executable, "-c", "import os; os.abort()"), r"crashed \(signal 6\)"),
        ((sys.executable, "-c", "print('{'); raise SystemExit('no such library')"), "ended with status 1: no such library"),
        ((sys.executable, "-c", "import time; time.sleep(60)"), "no answer within 0.5 s"),
        (("/no/such/program",), "cannot be asked"),
    ],
)
def test_a_driver_that_fails_is_told_of_and_the_rest_is_shown(tmp_path: Path, program: tuple[str, ...], problem: str) -> None:
    timeout = 0.5 if "sleep" in program[-1] else 30.0
    topology = find_topology(timeout, program, make_system(tmp_path, TWO_SOCKETS, SWITCHES))
    assert topology.problem is not None
    assert len(topology.gpus) == 7
    assert re.search(problem, str(topology.problem))


def probe(monkeypatch: pytest.MonkeyPatch, library: Library, devices: object, driver: Path) -> dict[str, Any]:
    """What the process would print where these libraries are."""

    def cuda_devices() -> object:
        if isinstance(devices, Exception):
            raise devices
        return devices

    monkeypatch.setattr(topology_probe, "Nvml", lambda: Nvml(library))
    monkeypatch.setattr(topology_probe, "cuda_devices", cuda_devices)
    monkeypatch.setattr(topology_probe, "DRIVER", driver)
    return dict(topology_probe.probe())


def told(values: dict[str, Any]) -> str:
    return str(Notice.from_json(values["problem"]))


def test_gpus_have_the_names_that_cuda_gives_them(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    visible = [CudaDevice(0, "1", "X", (9, 0), 132, "0000:86:00.0")]
    assert [gpu["device"] for gpu in probe(monkeypatch, Library(*machine(20)), visible, tmp_path)["gpus"]] == ["cuda:1", "cuda:0"]
    without = probe(monkeypatch, Library(*machine(20)), DeviceError(literal("no cuda-python")), tmp_path)
    assert [gpu["device"] for gpu in without["gpus"]] == ["cuda:0", "cuda:1"]


def test_the_parts_of_a_gpu_that_is_cut_are_where_it_is(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    whole = {**machine(20)[0], "nvmlDeviceGetMigMode": [1, 1], "instances": [{"nvmlDeviceGetUUID": "MIG-a"}]}
    values = probe(monkeypatch, Library(whole), [CudaDevice(0, "a", "X", (9, 0), 60, "0000:85:00.0")], tmp_path)
    assert [gpu["device"] for gpu in values["gpus"]] == ["cuda:0"]


def test_why_the_driver_tells_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    missing = Library(refusing=NVMLError_LibraryNotFound)
    assert probe(monkeypatch, missing, [], tmp_path / "none") == {"gpus": [], "problem": None}
    assert "cannot be found" in told(probe(monkeypatch, missing, [], tmp_path))
    mismatch = Library(refusing=NVMLError_LibRmVersionMismatch)
    assert "restart the machine" in told(probe(monkeypatch, mismatch, [], tmp_path / "none"))
