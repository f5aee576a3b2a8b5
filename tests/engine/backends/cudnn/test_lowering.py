"""How a network is lowered for cuDNN: which operations there are, what they fuse, and that they compute the same in shared memory."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from framefleet.engine.backends.cudnn.lowering import UnsupportedError, lower
from framefleet.engine.backends.cudnn.program import (
    Chain,
    Convolve,
    Enlarge,
    FirstConvolve,
    Operation,
    Pool,
    Program,
    chained,
    cut_operations,
    plan_memory,
)
from framefleet.engine.model.load import load_network
from framefleet.engine.model.network import Activation, Network
from framefleet.engine.settings import ModelFiles
from framefleet.plugins.pointwise import SINGLE
from tests.support.faults.counts import others_slow
from tests.support.models import TINY_CFG, run_by_definition
from tests.support.networks.cudnn import run_program

CSP_CFG = TINY_CFG.with_name("csp.cfg")
INPUTS = np.random.default_rng(1).random((2, 3, 32, 32), np.float32)

CUTS = [(1,), (4,), (9,), (15,), (19,), (5, 12), (2, 3, 4), (1000,), (1, 999, 1000)]

FEW, MANY = 2, 100_000
"""Batches with too few pixels for kernels of single convolutions, and with enough."""

Computed = list[tuple[Program, list[NDArray[np.float64]]]]


@pytest.fixture(scope="module")
def network() -> Network:
    return load_network(ModelFiles(CSP_CFG, "random:1", size=(32, 32)))


@pytest.fixture(scope="module")
def program(network: Network) -> Program:
    return lower(network)


@pytest.fixture(scope="module")
def computed(network: Network, program: Program) -> Computed:
    """All forms of the program, each with what it computes as a whole."""
    return [(each, run_program(each, network, INPUTS)) for each in (program, chained(program, FEW), chained(program, MANY))]


@pytest.mark.parametrize("cuts", others_slow(CUTS, (9,), (5, 12), (1, 999, 1000)))
def test_stages_with_memory_of_their_own_compute_the_network(cuts: tuple[int, ...], network: Network, computed: Computed) -> None:
    """Also where a raw output or one input of a concatenation comes from an earlier stage than the others."""
    for each, reference in computed:
        stages = cut_operations(each, cuts)
        assert len(stages) == len(cuts) + 1
        assert all(len(stage.operations) for stage in stages)
        assert [number for stage in stages for number in stage.operations] == [*range(len(each.operations))]
        for head, whole in zip(run_program(each, network, INPUTS, cuts), reference, strict=True):
            np.testing.assert_array_equal(head, whole)


def convolutions(program: Program) -> dict[tuple[int, ...], Convolve]:
    return {each.layers: each for each in program.operations if isinstance(each, Convolve)}


def test_both_programs_compute_the_network(network: Network, computed: Computed) -> None:
    expected = run_by_definition(network, INPUTS)
    for _, heads in computed:
        for head, reference in zip(heads, expected, strict=True):
            np.testing.assert_allclose(head, reference, atol=1e-4)


def test_convolutions_of_one_input_are_computed_together(program: Program) -> None:
    """At the start of both stages; the second one's value lies where the stage's end is written later."""
    found = convolutions(program)
    first, last = found[4, 2], found[8,]
    assert first.weights.shape == (128, 64, 1, 1)
    assert (first.output.channels, first.output.pitch) == (128, 128)
    assert last.output == replace(first.output, channels=64)
    assert (14, 12) in found


def test_a_sum_belongs_to_its_convolution(program: Program) -> None:
    found = convolutions(program)
    assert found[6,].residual == replace(found[4, 2].output, channels=64)
    assert found[19,].residual == found[16,].output
    assert found[18,].residual is None


def test_concatenations_are_written_in_place(program: Program) -> None:
    (copied,) = [each for each in program.operations if isinstance(each, Enlarge) and each.factor == 1]
    assert copied.output.offset == 32 + 128 + 32  # only the second time that one value is concatenated
    pools = [each for each in program.operations if isinstance(each, Pool)]
    assert [(pool.size, pool.output.offset) for pool in pools] == [(2, 64), (5, 32), (5, 0)]
    assert pools[2].input == pools[1].output  # 9 pixels = 5 of 5


def test_pairs_of_pointwise_convolutions(program: Program) -> None:
    pairs = [each for each in chained(program, FEW).operations if isinstance(each, Chain)]
    assert [pair.layers for pair in pairs] == [(4, 2, 5), (8, 10), (14, 12, 15), (21, 23)]
    start, end, *_ = pairs
    assert start.form.stores
    assert not end.form.stores
    assert start.input_activation is Activation.MISH  # moved from the convolution before
    assert end.residual == start.middle.__class__(**{**vars(start.middle), "channels": 64})
    found = convolutions(chained(program, FEW))
    assert [found[layers].activation for layers in ((1,), (6,), (11,))] == [Activation.LINEAR] * 3
    assert found[16,].activation is Activation.MISH  # others read its value, too


def with_first(program: Program, **changes: Any) -> list[Operation]:
    """The chained operations from the first convolution after the pictures on, if that one were different."""
    first, second, *others = program.operations
    assert isinstance(second, Convolve)
    return list(chained(replace(program, operations=(first, replace(second, **changes), *others)), FEW).operations[1:])


def test_an_activation_or_a_sum_that_the_kernel_lacks_stays(program: Program) -> None:
    second = program.operations[1]
    assert isinstance(second, Convolve)
    for changes in ({"activation": Activation.LOGISTIC}, {"residual": replace(second.output, buffer=0)}):
        convolution, chain, *_ = with_first(program, **changes)
        assert isinstance(convolution, Convolve)
        assert isinstance(chain, Chain)
        assert chain.form.stores
        assert all(getattr(convolution, name) == value for name, value in changes.items())
        assert (chain.input_activation, chain.residual) == (Activation.LINEAR, None)


def test_single_convolutions_have_kernels_in_large_batches(program: Program) -> None:
    few, many = ([each.form for each in chained(program, batch).operations if isinstance(each, Chain)] for batch in (FEW, MANY))
    assert [form for form in many if not form.output] == [SINGLE[0]]
    assert few == [form for form in many if form.output]


def test_pairs_are_kept_where_no_kernel_suits(program: Program) -> None:
    plain = replace(program, operations=tuple(each for each in program.operations if not isinstance(each, Convolve)))
    assert chained(plain, MANY) is plain


def test_heads_have_a_multiple_of_eight_channels(network: Network, program: Program) -> None:
    heads = [buffer for buffer in program.buffers if buffer.head is not None]
    assert [head.shape[0] for head in network.heads] == [21, 21]
    assert [buffer.channels for buffer in heads] == [24, 24]


def test_values_in_use_together_do_not_overlap(program: Program) -> None:
    places, total = plan_memory(program, 3)
    alone = sum(2 * 3 * buffer.size for buffer in program.buffers if buffer.head is None)
    assert total < alone / 2
    assert [place < 0 for place in places] == [buffer.head is not None for buffer in program.buffers]


def test_the_first_convolution_is_our_kernel(program: Program) -> None:
    assert isinstance(program.operations[0], FirstConvolve)


@pytest.mark.parametrize(
    ("cfg", "reason"),
    [(TINY_CFG.read_text(), "the first convolution"), (None, "layer 7: a sum that does not follow")],
)
def test_other_networks_are_refused(cfg: str | None, reason: str, tmp_path: Path) -> None:
    path = tmp_path / "other.cfg"
    path.write_text(cfg or CSP_CFG.read_text().replace("from=-3\nactivation=linear", "from=-3\nactivation=leaky", 1))
    with pytest.raises(UnsupportedError, match=reason):
        lower(load_network(ModelFiles(path, "random:1")))


CONVOLUTION = "[convolutional]\nsize=3\npad=1\nactivation=mish\n"


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ("[reorg]\nstride=2\n", r"layer 1 \(Reorg"),
        ("[route]\nlayers=-1,-1\ngroups=2\ngroup_id=0\n", "layer 1: a concatenation of channel groups"),
        (f"{CONVOLUTION}filters=36\n", "layer 1: 36 channels, which is not a multiple of 8"),
        (f"{CONVOLUTION}filters=32\ngroups=2\n", "layer 1: a convolution of 2 groups with mish"),
    ],
)
def test_layers_that_cudnn_does_not_get(change: str, reason: str, tmp_path: Path) -> None:
    """change: a layer behind the first one."""
    (tmp_path / "other.cfg").write_text(CSP_CFG.read_text().replace("# a stage as", f"{change}\n# a stage as", 1))
    with pytest.raises(UnsupportedError, match=reason):
        lower(load_network(ModelFiles(tmp_path / "other.cfg", "random:1")))


def test_a_head_that_follows_a_pooling(tmp_path: Path) -> None:
    before, _, last = CSP_CFG.read_text().replace("filters=21", "filters=24").replace("classes=2", "classes=3").rpartition("[yolo]")
    (tmp_path / "other.cfg").write_text(f"{before}[maxpool]\nsize=1\nstride=1\n\n[yolo]{last}")
    with pytest.raises(UnsupportedError, match="a YOLO layer that follows no convolution"):
        lower(load_network(ModelFiles(tmp_path / "other.cfg", "random:1")))
