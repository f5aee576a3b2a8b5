"""What is handed to a full TensorRT, which no test machine has: a stand-in for its documented API takes it, and looks at it."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from types import ModuleType, SimpleNamespace
from typing import Any, get_args, get_origin

import pytest

from plugins.errors import KernelError
from plugins.tensorrt_plugins import add_bias_mish, add_mish, mish_ptx, register

pytest.importorskip("cuda.core")


class ShapeExprs(tuple[int, ...]):
    def numel(self) -> int:
        total = 1
        for size in self:
            total *= size
        return total


@dataclass
class TensorDesc:
    shape: ShapeExprs
    dtype: str = "FP16"

    @property
    def shape_expr(self) -> ShapeExprs:
        return self.shape

    @property
    def ndim(self) -> int:
        return len(self.shape)

    def like(self) -> TensorDesc:
        return TensorDesc(self.shape, self.dtype)


@dataclass
class KernelLaunchParams:
    grid_x: int = 1
    block_x: int = 1


class SymIntExprs(list[int]):
    @classmethod
    def from_tuple(cls, values: list[int]) -> SymIntExprs:
        return cls(values)


@dataclass
class Plugin:
    describe: Callable[..., Any]
    formats: Callable[..., Any] | None = None
    launch: Callable[..., Any] | None = None


@dataclass
class TensorRt:
    """``tensorrt.plugin``, as far as documented; its rules for signatures are those of ``_validate.py`` in NVIDIA/TensorRT."""

    plugins: dict[str, Plugin] = field(default_factory=dict)

    def register(self, name: str) -> Callable[..., Any]:
        def keep(function: Callable[..., Any]) -> None:
            signature = inspect.signature(function)
            assert all(each.annotation is TensorDesc for each in signature.parameters.values())
            assert signature.return_annotation is TensorDesc
            self.plugins[name] = Plugin(function)

        return keep

    def autotune(self, name: str) -> Callable[..., Any]:
        def keep(function: Callable[..., Any]) -> None:
            assert list(inspect.signature(function).parameters) == [*self.inputs(name), "outputs"]
            self.plugins[name].formats = function

        return keep

    def aot_impl(self, name: str) -> Callable[..., Any]:
        def keep(function: Callable[..., Any]) -> None:
            signature = inspect.signature(function)
            assert list(signature.parameters) == [*self.inputs(name), "outputs", "tactic"]
            assert get_origin(signature.return_annotation) is tuple
            first, second, launch, arguments = get_args(signature.return_annotation)
            assert {first, second} <= {str, bytes}
            assert (launch, arguments) == (KernelLaunchParams, SymIntExprs)
            self.plugins[name].launch = function

        return keep

    def inputs(self, name: str) -> list[str]:
        return list(inspect.signature(self.plugins[name].describe).parameters)


@pytest.fixture
def tensorrt(monkeypatch: pytest.MonkeyPatch) -> TensorRt:
    stand_in = TensorRt()
    module = ModuleType("tensorrt.plugin")
    for name in ("register", "autotune", "aot_impl"):
        setattr(module, name, getattr(stand_in, name))
    module.__dict__.update(TensorDesc=TensorDesc, KernelLaunchParams=KernelLaunchParams, SymIntExprs=SymIntExprs)
    module.__dict__.update(SymInt32=int, cdiv=lambda a, b: -(-a // b), AutoTuneCombination=lambda types, layouts: (types, layouts))
    module.__dict__["op"] = SimpleNamespace(
        framefleet=SimpleNamespace(mish=lambda *inputs: ("mish", *inputs), bias_mish=lambda *inputs: ("bias_mish", *inputs))
    )
    package = ModuleType("tensorrt")
    package.__dict__["plugin"] = module
    monkeypatch.setitem(sys.modules, "tensorrt", package)
    monkeypatch.setitem(sys.modules, "tensorrt.plugin", module)
    return stand_in


def parameters(ptx: bytes, kernel: str) -> list[str]:
    """The types of a kernel's parameters."""
    match = re.search(rf"\.visible \.entry {kernel}\((.*?)\)", ptx.decode(), re.DOTALL)
    assert match is not None
    return re.findall(r"\.param (?:\.align \d+ )?\.(\w+)", match[1])


@pytest.mark.parametrize(
    ("name", "shapes"), [("mish", [(32, 64, 13, 13)]), ("bias_mish", [(32, 64, 13, 13), (64,)]), ("mish", [(1, 7, 3)])]
)
def test_kernels_take_what_tensorrt_passes(tensorrt: TensorRt, name: str, shapes: list[tuple[int, ...]]) -> None:
    register("sm_90")
    plugin = tensorrt.plugins[f"framefleet::{name}"]
    inputs = [TensorDesc(ShapeExprs(shape)) for shape in shapes]
    output = plugin.describe(*inputs)
    assert output.shape == inputs[0].shape
    assert plugin.launch is not None
    kernel, ptx, launch, numbers = plugin.launch(*inputs, (output,), None)
    assert parameters(ptx, kernel.decode()) == ["u64"] * len(inputs) + ["u32"] * len(numbers) + ["u64"]
    count = output.shape.numel()
    assert list(numbers) == [count, 64, 169][: len(numbers)]
    assert launch.block_x * 8 * (launch.grid_x - 1) < count <= launch.block_x * 8 * launch.grid_x


def test_formats_without_padding(tensorrt: TensorRt) -> None:
    register("sm_90")
    formats = tensorrt.plugins["framefleet::mish"].formats
    assert formats is not None
    for shape, layouts in (((32, 64, 13, 13), ["LINEAR", "HWC8"]), ((32, 255, 13, 13), ["LINEAR"]), ((32, 64), ["LINEAR"])):
        found = formats(TensorDesc(ShapeExprs(shape)), ())
        assert found == [("FP16, FP16", layout) for layout in layouts]


def test_layers_are_added_ahead_of_time(tensorrt: TensorRt) -> None:
    class Network:
        def add_plugin(self, plugin: Any, aot: bool) -> Any:
            assert aot
            return SimpleNamespace(get_output=lambda index: (plugin, index))

    assert add_mish(Network(), "x") == (("mish", "x"), 0)
    assert add_bias_mish(Network(), "x", "b") == (("bias_mish", "x", "b"), 0)


def test_an_old_tensorrt_is_named(tensorrt: TensorRt, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(sys.modules["tensorrt.plugin"], "aot_impl")
    with pytest.raises(KernelError, match=r"10\.8"):
        register("sm_90")


def test_nothing_else_is_in_the_ptx() -> None:
    assert set(re.findall(r"\.entry (\w+)", mish_ptx("sm_75").decode())) == {"mish", "bias_mish"}
