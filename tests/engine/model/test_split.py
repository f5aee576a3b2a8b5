from __future__ import annotations

from itertools import combinations

import pytest

from framefleet.engine.model.network import Yolo
from framefleet.engine.model.split import PICTURES, split, transfers
from tests.support.models import tiny_network


@pytest.mark.parametrize("stages", [2, 3, 4])
def test_every_part_receives_exactly_the_values_that_it_needs(stages: int) -> None:
    network = tiny_network()
    heads = {index for index, layer in enumerate(network.layers) if isinstance(layer, Yolo)}
    for cuts in combinations(range(1, len(network.layers), 2), stages - 1):
        parts = split(network, *cuts)
        moves = transfers(network, parts)
        assert len(set(moves)) == len(moves)
        for place, part in enumerate(parts):
            arriving = {move.layer for move in moves if move.destination == place}
            needed = {index for layer in part.layers for index in network.layers[layer].inputs if index not in part.layers}
            if part is parts[-1]:
                needed |= heads - set(part.layers)
            assert arriving == (needed if place else set())
        for move in moves:
            assert move.source < move.destination
            assert move.layer in parts[move.source].outputs


def test_the_pictures_come_from_the_first_part() -> None:
    network = tiny_network()
    parts = split(network, 3)
    later = [parts[0], type(parts[1])(parts[1].layers, (PICTURES, *parts[1].inputs), parts[1].outputs)]
    assert (PICTURES, 0, 1) in [(move.layer, move.source, move.destination) for move in transfers(network, later)]
