from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from framefleet.engine.devices.recording import read_recording
from framefleet.engine.devices.topology import Level, Link, Topology, level_between, list_text, read_list
from framefleet.engine.devices.topology_search import join, read_gpus
from framefleet.engine.types import DeviceId
from tests.support.devices.machines import nvlink

CUDA = [DeviceId("cuda", str(number)) for number in range(8)]


def test_a_list_of_processors_is_written_as_linux_does() -> None:
    assert list_text([]) == ""
    assert list_text({3}) == "3"
    assert list_text({0, 1, 2, 5, 7, 8}) == "0-2,5,7-8"
    assert read_list("0-2,5,7-8\n") == {0, 1, 2, 5, 7, 8}
    assert read_list("\n") == frozenset()
    with pytest.raises(ValueError, match="invalid literal"):
        read_list("0-x")


@given(st.frozensets(st.integers(0, 300)))
def test_lists_of_processors_come_back(cpus: frozenset[int]) -> None:
    assert read_list(list_text(cpus)) == cpus


@pytest.mark.parametrize(
    ("one", "other", "same_node", "level"),
    [
        ("pci/port/up/a", "pci/port/up/b", True, Level.PIX),
        ("pci/port", "pci/port", True, Level.PIX),  # a card with two GPUs
        ("pci/port/up/a", "pci/port/up/a/up/b", True, Level.PXB),
        ("pci/port/up/a/up/a", "pci/port/up/b/up/a", True, Level.PXB),
        ("pci/a", "pci/b", True, Level.PHB),
        ("pci/a", "pci", True, Level.PHB),
        ("pci0/a", "pci1/a", True, Level.NODE),
        ("pci0/a", "pci1/a", False, Level.SYS),
    ],
)
def test_bridges_decide_how_far_gpus_are_from_each_other(one: str, other: str, same_node: bool, level: Level) -> None:
    assert level_between(one.split("/"), other.split("/"), same_node) is level
    assert level_between(other.split("/"), one.split("/"), same_node) is level
    assert level_between((), other.split("/"), same_node) is None


def codes(links: list[list[dict[str, object]]], **pairs: list[list[object]]) -> tuple[tuple[str, ...], ...]:
    values = {"gpus": [{"pci": {"busId": f"00000000:0{place}:00.0"}, "links": each} for place, each in enumerate(links)], **pairs}
    gpus = read_gpus(values)
    return Topology((), gpus, join(gpus, values)).codes()


def test_nvlinks_between_gpus_are_counted_by_their_ends() -> None:
    to = [f"00000000:0{place}:00.0" for place in range(3)]
    links = [[nvlink(to[1], 0)] * 2, [nvlink(to[0], 0)] * 2 + [nvlink(to[2], 0)], [nvlink(to[1], 0)]]
    assert codes(links, topology=[["SELF", 50, 50], [50, "SELF", 50], [50, 50, "SELF"]]) == (
        ("X", "NV2", "SYS"),
        ("NV2", "X", "NV1"),
        ("SYS", "NV1", "X"),
    )


def test_links_are_direct_or_through_switches() -> None:
    ends = [[nvlink(None)] * 2, [nvlink(None)] * 2, [nvlink("00000000:03:00.0", 0)], [nvlink("00000000:02:00.0", 0)]]
    values = {"gpus": [{"pci": {"busId": f"00000000:0{place}:00.0"}, "links": links} for place, links in enumerate(ends)]}
    values |= {"p2p_nvlink": [[0] * 4] * 4}
    gpus = read_gpus(values)
    topology = Topology((), gpus, join(gpus, values))
    assert (topology.links[0][1], topology.links[2][3]) == (Link(None, 2, None, False), Link(None, 1, None, True))
    assert [link for link in json.loads(json.dumps(topology.as_json()))["links"] if link["nvlinks"]] == [
        {"gpus": gpus, "level": None, "nvlinks": nvlinks, "peer": None, "direct": direct, "code": f"NV{nvlinks}"}
        for gpus, nvlinks, direct in (([0, 1], 2, False), ([1, 0], 2, False), ([2, 3], 1, True), ([3, 2], 1, True))
    ]


def test_through_switches_it_is_as_many_as_both_have_if_they_reach_each_other() -> None:
    links = [[nvlink(None)] * 18, [nvlink("00000000:C4:00.0")] * 12, [nvlink(None)] * 18]
    down = {"state": 0, "remote_pci": None}
    links[2].append(down)
    ok, no = 0, 5
    assert codes(links, p2p_nvlink=[["SELF", ok, no], [ok, "SELF", no], [no, no, "SELF"]], topology=[[30] * 3] * 3) == (
        ("X", "NV12", "PHB"),
        ("NV12", "X", "PHB"),
        ("PHB", "PHB", "X"),
    )


def test_an_nvlink_to_a_processor_joins_no_gpus() -> None:
    links = [[nvlink("00000004:04:00.0", remote_type=1)] * 2] * 2
    assert codes(links, p2p_nvlink=[["SELF", 0], [0, "SELF"]], topology=[[50, 50], [50, 50]]) == (("X", "SYS"), ("SYS", "X"))


@pytest.mark.parametrize(("answer", "code"), [(0, "PIX"), (10, "PIX"), (20, "PXB"), (30, "PHB"), (40, "NODE"), (50, "SYS"), ("ERR", "N/A")])
def test_the_drivers_levels(answer: object, code: str) -> None:
    assert codes([[], []], topology=[["SELF", answer], [answer, "SELF"]])[0][1] == code


def test_peers_are_those_that_read_each_others_memory() -> None:
    values = {"gpus": [{}, {}, {}], "p2p_read": [["SELF", 0, "ERR"], [4, "SELF", 0]]}
    assert [[None if link is None else link.peer for link in row] for row in join(read_gpus(values), values)] == [
        [None, True, None],
        [False, None, True],
        [None, None, None],
    ]


def test_a_matrix_of_another_size_is_refused() -> None:
    with pytest.raises(ValueError, match="0 GPUs need"):
        Topology(links=((None,),))


@pytest.mark.data
def test_the_recorded_eight(recordings: Path) -> None:
    topology = read_recording(recordings / "nvml-8xH200.json").topology
    assert [(node.number, node.cpus, node.memory) for node in topology.nodes] == [(0, frozenset(range(128)), None)]
    assert (topology.links[0][7], topology.links[3][3]) == (Link(Level.PHB, 18, True), None)
    assert [gpu.device for gpu in topology.gpus] == [DeviceId("cuda", str(number)) for number in range(8)]
    assert {(gpu.node, gpu.own_node, gpu.nvlinks, gpu.generation, gpu.width) for gpu in topology.gpus} == {(0, None, 18, 5, 16)}
    assert topology.gpus[2].pci == "0000:00:08.0"
