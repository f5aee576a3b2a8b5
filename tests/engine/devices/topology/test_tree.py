from __future__ import annotations

from framefleet.engine.devices.topology import Box, Fabric, Kind, NumaNode, Topology, boxes, fabrics
from tests.support.devices.machines import SWITCHES, gpu, machine

NODES = [NumaNode(0, frozenset({0})), NumaNode(1, frozenset({1}))]
SOCKETS = [gpu(number, place, node) for number, (place, node) in enumerate(SWITCHES)]


def shape(box: Box) -> list[object]:
    return [str(box.kind), *(shape(part) if isinstance(part, Box) else part.number for part in box.parts)]


def test_switches_within_bridges_within_nodes() -> None:
    made = boxes(machine(SOCKETS, {}, NODES))
    assert [shape(box) for box in made] == [
        [Kind.NODE, [Kind.BRIDGE, [Kind.SWITCH, 0, 1], 2], 3],
        [Kind.NODE, [Kind.SWITCH, [Kind.SWITCH, 4, 5], 6]],
    ]
    assert [one.number for one in made[1].gpus()] == [4, 5, 6]


def test_a_host_bridge_that_has_the_node_to_itself_is_left_out_and_so_is_what_holds_one_gpu() -> None:
    gpus = [gpu(number, f"pci0/port{number}/card", 0) for number in range(4)]
    assert [shape(box) for box in boxes(machine(gpus, {}, NODES))] == [[Kind.NODE, 0, 1, 2, 3], [Kind.NODE]]
    apart = [gpu(number, f"pci{number}/port", 0) for number in range(2)]
    assert [shape(box) for box in boxes(machine(apart, {}, NODES[:1]))] == [[Kind.NODE, 0, 1]]


def test_gpus_whose_node_is_unknown_are_in_a_box_of_their_own() -> None:
    made = boxes(machine([gpu(0, "pci0/a", None), gpu(1, "pci0/b", 7)], {}, NODES))
    assert [(box.node, [one.number for one in box.gpus()]) for box in made] == [(NODES[0], []), (NODES[1], []), (None, [0, 1])]


def test_a_machine_without_gpus() -> None:
    assert [shape(box) for box in boxes(Topology(tuple(NODES)))] == [[Kind.NODE], [Kind.NODE]]


def test_what_nvlink_joins() -> None:
    all_alike = {(one, other): 18 for one in range(4) for other in range(one + 1, 4)}
    assert fabrics(machine(SOCKETS, all_alike, NODES)) == (Fabric((0, 1, 2, 3), 18, True),)
    assert fabrics(machine(SOCKETS, {(0, 1): 4, (4, 6): 2}, NODES)) == (Fabric((0, 1), 4, True), Fabric((4, 6), 2, True))
    assert fabrics(machine(SOCKETS, {(0, 1): 2, (1, 2): 1}, NODES)) == (Fabric((0, 1, 2), 2, False),)
    assert fabrics(machine(SOCKETS, {(0, 1): 2, (0, 2): 1, (1, 2): 1}, NODES)) == (Fabric((0, 1, 2), 2, False),)
    assert fabrics(machine(SOCKETS, {}, NODES)) == ()


def test_what_nvlink_joins_without_a_switch() -> None:
    assert fabrics(machine(SOCKETS, {(0, 1): 2, (1, 2): 1}, NODES, direct=True)) == (Fabric((0, 1, 2), 2, False, True),)
    assert fabrics(machine(SOCKETS, {(4, 6): 4}, NODES, direct=True)) == (Fabric((4, 6), 4, True, True),)
