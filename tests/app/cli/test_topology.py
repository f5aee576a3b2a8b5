from __future__ import annotations

import json
from pathlib import Path

import pytest

from framefleet.app.cli import topology as command
from framefleet.app.cli.topology import matrix, text
from framefleet.engine.devices.topology import NumaNode, Topology
from framefleet.engine.devices.topology_search import find_topology
from tests.support.cli import run_main
from tests.support.devices.machines import GIB, SWITCH_CODES, SWITCHES, TWO_SOCKETS, gpu, machine, make_system

NODES = [NumaNode(0, frozenset(range(16)), 64 * GIB), NumaNode(1, frozenset(range(16, 32)), 64 * GIB)]


@pytest.mark.data
def test_the_recorded_machine_equals_nvidia_smi_cell_by_cell(data: Path) -> None:
    recordings = data.parent / "device" / "recordings"
    if not recordings.is_dir():
        pytest.skip(f"no recordings in {recordings}")
    run = run_main("topology", "--recording", recordings / "nvml-8xH200.json")
    expected = (recordings / "nvidia-smi-topo-m-8xH200.txt").read_text()
    cells = [line.split("\t") for line in expected.splitlines()]
    assert len(cells[0]) == 12  # a corner, eight GPUs, three more columns
    assert [line.split("\t") for line in run.out.splitlines()[: len(cells)]] == cells
    assert run.out.startswith(expected)
    assert "NUMA node 0: CPUs 0-127\n  cuda:0 = GPU 0: NVIDIA H200, 0000:00:06.0, PCIe 5.0 ×16, 18 NVLinks\n" in run.out
    assert run.out.endswith("Peer-to-peer access: between all GPUs\n")


def show(monkeypatch: pytest.MonkeyPatch, topology: Topology, *options: str) -> str:
    monkeypatch.setattr(command, "find_topology", lambda: topology)
    run = run_main("topology", *options)
    assert run.status == 0
    return run.out


def test_without_a_gpu_there_are_nodes(monkeypatch: pytest.MonkeyPatch) -> None:
    assert show(monkeypatch, Topology(tuple(NODES))) == (
        "There is no NVIDIA GPU.\n\nNUMA node 0: CPUs 0-15, 64.0 GiB\nNUMA node 1: CPUs 16-31, 64.0 GiB\n"
    )


def test_two_sockets_with_switches(tmp_path: Path) -> None:
    nobody = ("true",)
    topology = find_topology(program=nobody, system=make_system(tmp_path, TWO_SOCKETS, SWITCHES))
    rows = [line.split("\t") for line in matrix(topology)]
    assert [tuple(cell.strip() for cell in row[1:8]) for row in rows[1:]] == list(SWITCH_CODES)
    assert rows[6][8:] == ["16-31,48-63", "1", "", "N/A"]
    outline = text(topology).split("PIX  = ")[1].splitlines()[3:]
    assert [line.split(":")[0] for line in outline[: outline.index("")]] == [
        "NUMA node 0",
        "  PCIe host bridge",
        "    PCIe switch",
        "      GPU 0",
        "      GPU 1",
        "    GPU 2",
        "  GPU 3",
        "NUMA node 1",
        "  PCIe switch",
        "    PCIe switch",
        "      GPU 4",
        "      GPU 5",
        "    GPU 6",
    ]
    assert text(topology).startswith("Not all is known: ")


def test_who_reads_whose_memory() -> None:
    gpus = [gpu(0, "pci0/a", 0), gpu(1, "pci0/b", 0), gpu(2, "pci1/a", 1)]
    for peer, words in ((True, "between all GPUs"), (False, "between no GPUs"), (None, "unknown")):
        assert text(machine(gpus, {}, NODES, peer)).endswith(f"Peer-to-peer access: {words}")
    some = machine(gpus, {}, NODES)
    none = machine(gpus, {}, NODES, peer=False)
    mixed = Topology(some.nodes, some.gpus, (some.links[0], some.links[1], none.links[2]))
    assert text(mixed).splitlines()[-4:] == ["\tGPU0\tGPU1\tGPU2", "GPU0\t X \tyes\tyes", "GPU1\tyes\t X \tyes", "GPU2\tno\tno\t X "]


def test_json(monkeypatch: pytest.MonkeyPatch) -> None:
    topology = machine([gpu(0, "pci0/a", 0), gpu(1, "pci1/b", 1)], {(0, 1): 4}, NODES)
    values = json.loads(show(monkeypatch, topology, "--json"))
    assert values["links"][0] == {"gpus": [0, 1], "level": "SYS", "nvlinks": 4, "peer": True, "direct": False, "code": "NV4"}
    assert values["matrix"] == [["X", "NV4"], ["NV4", "X"]]
    assert values["gpus"][1]["device"] == "cuda:1"
    assert values["nodes"][1] == {"number": 1, "cpus": "16-31", "memory": 64 * GIB}


def test_a_recording_that_is_not_there(tmp_path: Path) -> None:
    run = run_main("topology", "--recording", tmp_path / "none.json")
    assert run.status == 2
    assert "none.json cannot be read" in run.err
