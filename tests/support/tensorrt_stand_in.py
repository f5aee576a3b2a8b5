"""A stand-in for ``tensorrt`` and ``tensorrt.plugin``, as far as documented, that looks at what it is given.

Rules for signatures and values: ``_validate.py``, ``_tensor.py`` and ``_plugin_class.py`` in NVIDIA/TensorRT.
"""

from __future__ import annotations

import inspect
import math
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from types import ModuleType, SimpleNamespace
from typing import Any, get_args, get_origin

import numpy as np
import pytest

DTYPES = {"FP16": np.float16, "FP32": np.float32, "INT32": np.int32}


class Symbol:
    """A ``ShapeExpr``: no number, and nothing but this can be done with it."""

    def __init__(self, value: int | Symbol) -> None:
        assert type(value) in (int, Symbol)
        self.value: int = value.value if isinstance(value, Symbol) else value

    def __add__(self, other: int | Symbol) -> Symbol:
        return Symbol(self.value + Symbol(other).value)

    def __mul__(self, other: int | Symbol) -> Symbol:
        return Symbol(self.value * Symbol(other).value)

    def __floordiv__(self, other: int | Symbol) -> Symbol:
        return Symbol(self.value // Symbol(other).value)


def cdiv(one: int | Symbol, other: int | Symbol) -> Symbol:
    assert isinstance(one, Symbol) or isinstance(other, Symbol), "both arguments cannot be int"
    return Symbol(-(-Symbol(one).value // Symbol(other).value))


class ShapeExprs(tuple[Symbol, ...]):
    def numel(self) -> Symbol:
        return Symbol(math.prod(each.value for each in self))


class TensorDesc:
    """concrete: whether shape and layout are known yet, as they are when formats and launches are asked for."""

    def __init__(self, shape: Sequence[int | Symbol], dtype: str, layout: str = "LINEAR", concrete: bool = False) -> None:
        assert dtype in DTYPES
        self.shape_expr, self.dtype = ShapeExprs(map(Symbol, shape)), dtype
        self._layout, self._concrete = layout, concrete

    @property
    def ndim(self) -> int:
        return len(self.shape_expr)

    @property
    def shape(self) -> tuple[int, ...]:
        assert self._concrete, "no shape information is available at this stage"
        return tuple(each.value for each in self.shape_expr)

    @property
    def format(self) -> str:
        assert self._concrete, "no shape information is available at this stage"
        return self._layout

    def like(self) -> TensorDesc:
        return TensorDesc(self.shape_expr, self.dtype)

    def known(self, layout: str) -> TensorDesc:
        assert layout == "LINEAR" or (layout == "HWC8" and self.dtype == "FP16" and self.ndim >= 3)
        return TensorDesc(self.shape_expr, self.dtype, layout, concrete=True)


@dataclass
class KernelLaunchParams:
    grid_x: Any = 1
    grid_y: Any = 1
    grid_z: Any = 1
    block_x: Any = 1
    block_y: Any = 1
    block_z: Any = 1
    shared_mem: Any = 0

    def sizes(self) -> tuple[tuple[int, int, int], tuple[int, int, int], int]:
        x, y, z, a, b, c, shared = (Symbol(value).value for value in vars(self).values())
        return (x, y, z), (a, b, c), shared


class SymIntExprs(list[Symbol]):
    @classmethod
    def from_tuple(cls, values: list[Symbol]) -> SymIntExprs:
        assert all(isinstance(value, Symbol) for value in values)
        return cls(values)


class AutoTuneCombination:
    def __init__(self, types: str, layouts: str = "LINEAR") -> None:
        self.types = [each.strip() for each in types.split(",")]
        self.layouts = [each.strip() for each in layouts.split(",")]
        if len(self.layouts) == 1:
            self.layouts *= len(self.types)
        assert len(self.layouts) == len(self.types)

    def expanded(self) -> list[list[str]]:
        """Layouts of all tensors; those separated by ``|`` change together, those by ``*`` on their own."""
        together = max(len(each.split("|")) for each in self.layouts)
        found = [[each.split("|")[index] if "|" in each else each for each in self.layouts] for index in range(together)]
        for place, each in enumerate(self.layouts):
            if "*" in each:
                found = [[*some[:place], one, *some[place + 1 :]] for one in each.split("*") for some in found]
        return found


@dataclass
class Plugin:
    describe: Callable[..., Any]
    formats: Callable[..., Any] | None = None
    launch: Callable[..., Any] | None = None

    def outputs(self, inputs: Sequence[TensorDesc]) -> list[TensorDesc]:
        found = self.describe(*(TensorDesc(each.shape_expr, each.dtype) for each in inputs))
        outputs = list(found) if isinstance(found, tuple) else [found]
        returned = inspect.signature(self.describe).return_annotation
        assert len(outputs) == (1 if returned is TensorDesc else len(get_args(returned)))
        return outputs

    def layouts(self, inputs: Sequence[TensorDesc]) -> list[list[str]]:
        """Of all tensors, each way that is offered."""
        outputs = self.outputs(inputs)
        if self.formats is None:
            return [["LINEAR"] * (len(inputs) + len(outputs))]
        every = [*inputs, *outputs]
        combinations = self.formats(*(each.known("LINEAR") for each in inputs), outputs)
        assert all(each.types == [tensor.dtype for tensor in every] for each in combinations)
        return [layouts for each in combinations for layouts in each.expanded()]

    def launched(self, inputs: Sequence[TensorDesc], layouts: Sequence[str]) -> tuple[str, bytes, Any, list[int]]:
        """Name and code of the kernel, sizes of the launch, and numbers."""
        assert self.launch is not None
        every = [tensor.known(layout) for tensor, layout in zip([*inputs, *self.outputs(inputs)], layouts, strict=True)]
        kernel, ptx, launch, numbers = self.launch(*every[: len(inputs)], tuple(every[len(inputs) :]), 0)
        assert isinstance(kernel, bytes)
        assert isinstance(ptx, bytes)
        assert isinstance(numbers, SymIntExprs)
        return kernel.decode(), ptx, launch.sizes(), [number.value for number in numbers]


@dataclass
class TensorRt:
    """``tensorrt.plugin``'s decorators."""

    plugins: dict[str, Plugin] = field(default_factory=dict)
    op: Any = field(default_factory=SimpleNamespace)

    def register(self, plugin_id: str) -> Callable[..., Any]:
        def keep(function: Callable[..., Any]) -> None:
            namespace, name = plugin_id.split("::")
            signature = inspect.signature(function)
            for each in signature.parameters.values():
                assert each.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD
                assert each.default is inspect.Parameter.empty
                assert issubclass(each.annotation, TensorDesc)
            returned = signature.return_annotation
            assert all(issubclass(each, TensorDesc) for each in (get_args(returned) if get_origin(returned) is tuple else [returned]))
            assert "." not in plugin_id
            assert namespace not in ("", "trt", "tensorrt", "std")
            ours = vars(self.op).setdefault(namespace, SimpleNamespace())
            assert not hasattr(ours, name), "already defined"
            setattr(ours, name, lambda *tensors: (plugin_id, tensors))
            self.plugins[plugin_id] = Plugin(function)

        return keep

    def autotune(self, plugin_id: str) -> Callable[..., Any]:
        def keep(function: Callable[..., Any]) -> None:
            signature = inspect.signature(function)
            assert list(signature.parameters) == [*self._inputs(plugin_id), "outputs"]
            assert signature.return_annotation is inspect.Signature.empty
            self.plugins[plugin_id].formats = function

        return keep

    def aot_impl(self, plugin_id: str) -> Callable[..., Any]:
        def keep(function: Callable[..., Any]) -> None:
            signature = inspect.signature(function)
            assert list(signature.parameters) == [*self._inputs(plugin_id), "outputs", "tactic"]
            assert get_origin(signature.return_annotation) is tuple
            first, second, launch, arguments = get_args(signature.return_annotation)
            assert {first, second} <= {str, bytes}
            assert (launch, arguments) == (KernelLaunchParams, SymIntExprs)
            self.plugins[plugin_id].launch = function

        return keep

    def _inputs(self, plugin_id: str) -> list[str]:
        return list(inspect.signature(self.plugins[plugin_id].describe).parameters)

    def install(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Be what ``import tensorrt`` finds."""
        module, package = ModuleType("tensorrt.plugin"), ModuleType("tensorrt")
        for name in ("register", "autotune", "aot_impl", "op"):
            setattr(module, name, getattr(self, name))
        for kind in (TensorDesc, KernelLaunchParams, SymIntExprs, AutoTuneCombination):
            setattr(module, kind.__name__, kind)
        module.__dict__.update(SymInt32=Symbol, cdiv=cdiv, from_shape_expr=lambda shape, dtype: TensorDesc(shape, dtype))
        package.__dict__.update(plugin=module, float16="FP16", float32="FP32", int32="INT32")
        package.__dict__["TensorFormat"] = SimpleNamespace(LINEAR="LINEAR", HWC8="HWC8")
        monkeypatch.setitem(sys.modules, "tensorrt", package)
        monkeypatch.setitem(sys.modules, "tensorrt.plugin", module)


def parameters(ptx: bytes, kernel: str) -> list[str]:
    """The types of a kernel's parameters."""
    match = re.search(rf"\.visible \.entry {kernel}\((.*?)\)", ptx.decode(), re.DOTALL)
    assert match is not None
    return re.findall(r"\.param (?:\.align \d+ )?\.(\w+)", match[1])
