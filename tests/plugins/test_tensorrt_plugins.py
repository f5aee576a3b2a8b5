"""Mish as it is handed to a full TensorRT, which no test machine has: a stand-in for its documented API takes it, and looks at it."""

from __future__ import annotations

import re
import sys

import pytest

pytest.importorskip("cuda.core")

from plugins.errors import KernelError
from plugins.tensorrt_plugins import add_bias_mish, add_mish, mish_ptx, register
from tests.support.tensorrt_runner import Network, Tensor
from tests.support.tensorrt_stand_in import TensorRt, parameters


@pytest.fixture
def tensorrt(monkeypatch: pytest.MonkeyPatch) -> TensorRt:
    stand_in = TensorRt()
    stand_in.install(monkeypatch)
    return stand_in


@pytest.mark.parametrize(
    ("name", "shapes"), [("mish", [(32, 64, 13, 13)]), ("bias_mish", [(32, 64, 13, 13), (64,)]), ("mish", [(1, 7, 3)])]
)
def test_kernels_take_what_tensorrt_passes(tensorrt: TensorRt, name: str, shapes: list[tuple[int, ...]]) -> None:
    register("sm_90")
    network = Network(tensorrt)
    values, *bias = [Tensor(shape, kind) for shape, kind in zip(shapes, ("FP16", "FP32"), strict=False)]
    output = add_bias_mish(network, values, *bias) if bias else add_mish(network, values)
    assert (output.shape, output.dtype) == (values.shape, "FP16")
    (layer,) = network.layers
    for layouts in layer.layouts():
        kernel, ptx, (grid, block, shared), numbers = layer.launched(layouts)
        assert kernel == name
        assert parameters(ptx, kernel) == ["u64"] * len(shapes) + ["u32"] * len(numbers) + ["u64"]
        count = 32 * 64 * 169 if len(shapes[0]) == 4 else 21
        assert numbers == [count, 64, 169][: len(numbers)]
        assert block[0] * 8 * (grid[0] - 1) < count <= block[0] * 8 * grid[0]
        assert (*grid[1:], *block[1:], shared) == (1, 1, 1, 1, 0)


def test_formats_without_padding(tensorrt: TensorRt) -> None:
    register("sm_90")
    for shape, layouts in (((32, 64, 13, 13), ["LINEAR", "HWC8"]), ((32, 255, 13, 13), ["LINEAR"]), ((32, 64), ["LINEAR"])):
        network = Network(tensorrt)
        add_mish(network, Tensor(shape, "FP16"))
        assert network.layers[0].layouts() == [[layout] * 2 for layout in layouts]


def test_only_the_first_registration_counts(tensorrt: TensorRt) -> None:
    register("sm_90")
    register("sm_90")
    assert set(tensorrt.plugins) == {"framefleet::mish", "framefleet::bias_mish"}


def test_an_old_tensorrt_is_named(tensorrt: TensorRt, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(sys.modules["tensorrt.plugin"], "aot_impl")
    with pytest.raises(KernelError, match=r"10\.8"):
        register("sm_90")


def test_nothing_else_is_in_the_ptx() -> None:
    assert set(re.findall(r"\.entry (\w+)", mish_ptx("sm_75").decode())) == {"mish", "bias_mish"}
