from __future__ import annotations

from itertools import combinations

import pytest

from framefleet.app.window.topology.layout import Layout, Sizes, lay_out
from framefleet.engine.devices.topology import Topology
from tests.support.devices.machines import gpu, machine
from tests.support.devices.topologies import ALONE, CUBES, MESH, NODES, SOCKETS, eight, meshed

SIZES = Sizes(40, 20, 50)


def inside(layout: Layout) -> bool:
    """Whether each GPU is within some box, and boxes are within each other or apart."""
    areas = [placed.area for placed in layout.boxes]
    nested = all(one.contains(other) or other.contains(one) or not one.intersects(other) for one, other in combinations(areas, 2))
    return nested and all(any(area.contains(gpu_area) for area in areas) for gpu_area in layout.gpus.values())


@pytest.mark.parametrize("width", [270, 320, 600, 1200])
@pytest.mark.parametrize("topology", [ALONE, SOCKETS, eight(), MESH, CUBES])
def test_everything_is_in_its_box_and_nothing_covers_anything(topology: Topology, width: int) -> None:
    layout = lay_out(topology, width, SIZES)
    assert len(layout.gpus) == len(topology.gpus)
    assert inside(layout)
    assert not any(one.intersects(other) for one, other in combinations(layout.gpus.values(), 2))
    assert all(rail.area.right() <= width and rail.area.left() > area.right() for rail in layout.rails for area in layout.gpus.values())
    assert all(placed.area.bottom() <= layout.height and placed.area.right() <= width for placed in layout.boxes)


def test_one_rail_joins_gpus_that_are_joined_alike_across_nodes() -> None:
    layout = lay_out(eight(), 320, SIZES)
    (rail,) = layout.rails
    assert (rail.members, rail.nvlinks, rail.pair) == (tuple(range(8)), 18, False)
    assert rail.area.top() == layout.gpus[0].top()
    assert rail.area.bottom() == layout.gpus[7].bottom()


def test_pairs_have_rails_of_their_own_that_do_not_cover_each_other() -> None:
    four = [gpu(number, f"pci{number}/port", 0) for number in range(4)]
    bridges = lay_out(machine(four, {(0, 1): 4, (2, 3): 4}, NODES), 320, SIZES)
    assert [rail.members for rail in bridges.rails] == [(0, 1), (2, 3)]
    assert len({rail.area.x() for rail in bridges.rails}) == 1  # one beneath the other
    ring = lay_out(machine(four, {(0, 1): 1, (1, 2): 1, (2, 3): 1, (0, 3): 1}, NODES), 320, SIZES)
    assert len(ring.rails) == 4
    assert not any(one.area.intersects(other.area) for one, other in combinations(ring.rails, 2))


def test_gpus_that_are_joined_alike_but_without_a_switch_have_a_rail_a_pair() -> None:
    assert [(rail.members, rail.nvlinks, rail.pair) for rail in lay_out(MESH, 320, SIZES).rails] == [
        (pair, 4, True) for pair in combinations(range(4), 2)
    ]
    (bridge,) = lay_out(meshed({(0, 1): 4}), 320, SIZES).rails
    assert (bridge.members, bridge.pair) == ((0, 1), False)  # there is room for a word


@pytest.mark.parametrize("topology", [MESH, CUBES])
def test_rails_leave_a_gpu_apart_and_do_not_cross_there(topology: Topology) -> None:
    layout = lay_out(topology, 320, SIZES)
    for place, area in layout.gpus.items():
        rails = [(rail, rail.ends[rail.members.index(place)]) for rail in layout.rails if place in rail.members]
        heights = sorted(height for _, height in rails)
        assert all(below - above > 5 for above, below in zip([area.top(), *heights], [*heights, area.bottom()], strict=True))
        for rail, height in rails:
            nearer = [other for other, _ in rails if other.area.x() < rail.area.x()]
            assert not any(other.area.top() <= height <= other.area.bottom() for other in nearer)


def test_branches_lead_to_every_gpu() -> None:
    layout = lay_out(SOCKETS, 320, SIZES)
    node = layout.boxes[0]
    assert [branch.gpus for branch in node.branches] == [(0, 1, 2), (3,)]
    assert all(node.head.bottom() < branch.y < node.area.bottom() for branch in node.branches)
