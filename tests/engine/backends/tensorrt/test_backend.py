"""What TensorRT code does without a GPU: choosing the library, lowering, building. TensorRT-RTX builds plans on any machine."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from framefleet.engine.backends.tensorrt.library import find_library, refusal
from framefleet.engine.model.load import load_network
from framefleet.engine.model.network import Convolution, MaxPool, Network
from framefleet.engine.model.split import PICTURES, split
from framefleet.engine.notices import DeviceError, ModelError
from framefleet.engine.settings import ModelFiles
from tests.support.models import OLDER_CFG

HOPPER = (9, 0)

BLOCKS = """
[net]
width=64
height=64
channels=3

[convolutional]
batch_normalize=1
filters=16
size=3
stride=2
pad=1
activation=mish

[convolutional]
filters=16
size=3
stride=2
pad=1
groups=2
activation=swish

[route]
layers=-1
groups=2
group_id=1

[maxpool]
stride=1
size=5

[route]
layers=-2

[maxpool]
stride=1
size=9

[route]
layers=-1,-3,-4

[maxpool]
size=2
stride=2

[convolutional]
filters=16
size=1
stride=1
activation=leaky

[convolutional]
filters=16
size=1
stride=1
activation=logistic

[shortcut]
from=-2
activation=relu

[upsample]
stride=2

[convolutional]
filters=21
size=1
stride=1
activation=linear

[yolo]
mask=0,1,2
anchors=4,4, 8,8, 16,16
classes=2
num=3
"""


@pytest.fixture
def network(tmp_path: Path) -> Network:
    cfg = tmp_path / "blocks.cfg"
    cfg.write_text(BLOCKS)
    return load_network(ModelFiles(cfg, "random:1"))


TAKERS = """
import sys
from pathlib import Path
import tensorrt_rtx as trt
from framefleet.engine.backends.tensorrt.lowering import Lowering
from framefleet.engine.model.load import load_network
from framefleet.engine.model.split import split
from framefleet.engine.settings import ModelFiles

network = load_network(ModelFiles(Path(sys.argv[1]), "random:1"))
builder = trt.Builder(trt.Logger(trt.Logger.VERBOSE))
for channels_last in (frozenset(), frozenset({0})):
    definition = builder.create_network(1 << int(trt.NetworkDefinitionCreationFlag.STRONGLY_TYPED))
    lowering = Lowering(trt, definition, 2, channels_last=channels_last)
    lowering.write(network, split(network, 1)[1])
    config = builder.create_builder_config()
    config.profiling_verbosity = trt.ProfilingVerbosity.DETAILED
    assert builder.build_serialized_network(definition, config)
"""
"""Builds all but the first layer, and says much."""


@pytest.fixture
def rtx() -> Any:
    pytest.importorskip("tensorrt_rtx", reason="the extra 'rtx' is not installed")
    return find_library(HOPPER)


def definition_of(library: Any, network: Network, **options: Any) -> tuple[Any, Any]:
    from framefleet.engine.backends.tensorrt.library import logger
    from framefleet.engine.backends.tensorrt.lowering import Lowering

    builder = library.trt.Builder(logger(library.trt))
    definition = builder.create_network(1 << int(library.trt.NetworkDefinitionCreationFlag.STRONGLY_TYPED))
    lowering = Lowering(library.trt, definition, 2, **options)
    lowering.write(network, split(network)[0])
    return definition, lowering


@pytest.mark.parametrize(
    ("name", "version", "capability", "says"),
    [
        ("TensorRT-RTX", (1, 7, 0), (9, 0), "tensorrt-rtx==1.6.1.120"),
        ("TensorRT-RTX", (1, 3), (8, 9), "1.4"),
        ("TensorRT", (10, 7, 0), (9, 0), "10.8"),
        ("TensorRT", (11, 4), (7, 0), "7.5"),
    ],
)
def test_an_unsupported_pair_is_refused_with_what_to_do(
    name: str, version: tuple[int, ...], capability: tuple[int, int], says: str
) -> None:
    assert says in str(refusal(name, version, capability))


@pytest.mark.parametrize(("name", "version"), [("TensorRT-RTX", (1, 6, 1)), ("TensorRT", (10, 8)), ("TensorRT", (11, 0))])
def test_a_supported_pair_is_taken(name: str, version: tuple[int, ...]) -> None:
    assert refusal(name, version, HOPPER) is None


def test_without_a_library_that_takes_the_device_the_error_says_what_to_install() -> None:
    with pytest.raises(DeviceError, match=r"compute capability 5\.2.*install .*\[rtx\]'"):
        find_library((5, 2))


def test_every_kind_of_layer_is_lowered_and_builds(rtx: Any, network: Network) -> None:
    from framefleet.engine.backends.tensorrt.plan import build_plan

    phases: list[tuple[str, float]] = []
    for exact in (False, True):
        plan = build_plan(rtx, network, split(network)[0], 2, exact=exact, progress=lambda phase, done: phases.append((str(phase), done)))
        assert len(plan) > 10_000
    assert any(fraction == 1.0 for _, fraction in phases)
    assert all(0.0 <= fraction <= 1.0 for _, fraction in phases)


def test_older_layers_are_lowered_and_build(rtx: Any) -> None:
    from framefleet.engine.backends.tensorrt.plan import build_plan

    older = load_network(ModelFiles(OLDER_CFG, "random:2"))
    for exact in (False, True):
        definition, _ = definition_of(rtx, older, exact=exact)
        assert tuple(definition.get_output(0).shape) == (2, *older.heads[0].shape)
        assert definition.get_output(0).dtype == (rtx.trt.float32 if exact else rtx.trt.float16)
        assert len(build_plan(rtx, older, split(older)[0], 2, exact=exact)) > 10_000


def test_pictures_layers_and_heads_have_the_type_of_the_precision(rtx: Any, network: Network) -> None:
    for exact in (False, True):
        definition, _ = definition_of(rtx, network, exact=exact)
        number = rtx.trt.float32 if exact else rtx.trt.float16
        assert definition.get_input(0).dtype == number
        assert tuple(definition.get_input(0).shape) == (2, 3, 64, 64)
        assert [definition.get_output(i).dtype for i in range(definition.num_outputs)] == [number]
        convolutions = [
            definition.get_layer(i) for i in range(definition.num_layers) if definition.get_layer(i).type == rtx.trt.LayerType.CONVOLUTION
        ]
        assert {layer.get_output(0).dtype for layer in convolutions} == {number}


def test_a_pool_of_a_pyramid_goes_on_from_the_smaller_one(rtx: Any, network: Network) -> None:
    definition, _ = definition_of(rtx, network)
    pools = [definition.get_layer(i) for i in range(definition.num_layers) if definition.get_layer(i).type == rtx.trt.LayerType.POOLING]
    windows = []
    for pool in pools:
        pool.__class__ = rtx.trt.IPoolingLayer
        windows.append(tuple(pool.window_size_nd))
    assert windows == [(5, 5), (5, 5), (2, 2)]
    assert pools[1].get_input(0).name == pools[0].get_output(0).name
    assert sorted(layer.size for layer in network.layers if isinstance(layer, MaxPool)) == [2, 5, 9]


def test_a_pool_of_a_pool_is_the_larger_pool() -> None:
    import cv2

    picture = np.random.default_rng(1).normal(size=(13, 13)).astype(np.float32)

    def pool(size: int, data: Any) -> Any:
        return cv2.dilate(data, np.ones((size, size), np.uint8), borderType=cv2.BORDER_CONSTANT, borderValue=-1e30)

    assert np.array_equal(pool(9, picture), pool(5, pool(5, picture)))


def test_an_activation_can_be_left_to_a_custom_layer(rtx: Any, network: Network) -> None:
    whole, _ = definition_of(rtx, network)
    without, _ = definition_of(rtx, network, linear=frozenset({0}))
    assert without.num_layers < whole.num_layers


@pytest.mark.parametrize("mish", [False, True])
def test_the_first_convolution_can_be_left_to_a_custom_layer(mish: bool, network: Network) -> None:
    pytest.importorskip("cuda.core")
    from framefleet.engine.backends.nvidia.engine import CustomLayers
    from framefleet.engine.backends.tensorrt.engine import cut

    uncut, pieces = cut(network, CustomLayers(mish=mish)), cut(network, CustomLayers(True, mish))
    assert uncut.first is None
    assert uncut.parts[0].inputs == (PICTURES,)
    assert (0 in uncut.linear) is mish
    assert pieces.first is network.layers[0]
    assert pieces.parts[0].inputs == (0,)
    assert pieces.channels_last == {0}
    assert 0 not in pieces.linear
    assert [i for part in pieces.parts for i in part.layers] == list(range(1, len(network.layers)))
    odd = replace(network, height=48)
    assert cut(odd, CustomLayers(True, mish)).first is None


@pytest.mark.usefixtures("rtx")
def test_a_value_that_lies_channels_last_enters_a_convolution_as_it_is(tmp_path: Path) -> None:
    """TensorRT's own list of a plan's layers tells: a copy would be one without a convolution (``Corr``) in its name."""
    cfg = tmp_path / "blocks.cfg"
    cfg.write_text(BLOCKS)
    shown = subprocess.run([sys.executable, "-c", TAKERS, cfg], capture_output=True, text=True, check=True).stdout
    (linear, channels_last) = re.findall(r"^Name: (\w+),.*Inputs: \[ { Name: layer0,", shown, re.MULTILINE)
    assert "Corr" not in linear
    assert "Corr" in channels_last


def test_a_network_cut_in_two_gives_two_plans(rtx: Any, network: Network) -> None:
    from framefleet.engine.backends.tensorrt.plan import build_plan

    first, second = split(network, 7)
    assert first.outputs == second.inputs
    assert all(len(build_plan(rtx, network, part, 1)) > 1000 for part in (first, second))


def test_a_weight_beyond_fp16_is_named(rtx: Any, network: Network) -> None:
    from framefleet.engine.backends.tensorrt.plan import build_plan

    first = network.layers[0]
    assert isinstance(first, Convolution)
    weights = first.weights.copy()
    weights[0, 0, 0, 0] = 1e5
    large = replace(network, layers=(replace(first, weights=weights), *network.layers[1:]))
    with pytest.raises(ModelError, match=r"layer 0.*fp32"):
        build_plan(rtx, large, split(large)[0], 1)
    assert build_plan(rtx, large, split(large)[0], 1, exact=True)
