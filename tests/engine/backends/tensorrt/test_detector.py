"""A whole detector in one plan: the network by TensorRT-RTX, and where plugins would be, a stand-in for the full TensorRT looks at them."""

from __future__ import annotations

from dataclasses import dataclass
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("cuda.core")
pytest.importorskip("tensorrt_rtx", reason="the extra 'rtx' is not installed")

import tensorrt_rtx as rtx

from engine.backends.tensorrt.detector import build_detector
from engine.backends.tensorrt.library import Library, find_library
from engine.errors import DeviceError
from engine.settings import EngineSettings
from plugins.nms import LIMIT
from plugins.preprocess import NV12, describe_frame
from tests.support.models import tiny_network
from tests.support.tensorrt_runner import Network, Tensor
from tests.support.tensorrt_stand_in import TensorRt

KINDS = {"FP16": rtx.float16, "FP32": rtx.float32, "INT32": rtx.int32}
NAMES = {kind: name for name, kind in KINDS.items()}
FRAME = describe_frame(NV12, (64, 48), (64, 48), (0, 12, 96, 72))


@dataclass
class Definition:
    """A definition of TensorRT-RTX; before a plugin it ends, and behind it begins anew."""

    real: Any
    plugins: Network

    def __getattr__(self, name: str) -> Any:
        return getattr(self.real, name)

    def add_plugin(self, asked: tuple[str, tuple[Any, ...]], aot: bool) -> Any:
        for tensor in asked[1]:
            if not tensor.is_network_input:
                self.real.mark_output(tensor)
        layer = self.plugins.add_plugin((asked[0], tuple(Tensor(tuple(each.shape), NAMES[each.dtype]) for each in asked[1])), aot)
        place = len(self.plugins.layers)
        outputs = [self.real.add_input(f"{place}.{i}", KINDS[each.dtype], each.shape) for i, each in enumerate(layer.outputs)]
        return SimpleNamespace(num_outputs=len(outputs), get_output=outputs.__getitem__)

    def mark_output(self, value: Any) -> None:
        self.real.mark_output(self.real.add_identity(value).get_output(0))


class Builder:
    """TensorRT-RTX's, of such definitions."""

    def __init__(self, stand_in: TensorRt, definitions: list[Definition], logger: Any) -> None:
        self.real, self._stand_in, self._definitions = rtx.Builder(logger), stand_in, definitions

    def __getattr__(self, name: str) -> Any:
        return getattr(self.real, name)

    def create_network(self, flags: int) -> Definition:
        self._definitions.append(Definition(self.real.create_network(flags), Network(self._stand_in)))
        return self._definitions[-1]

    def build_serialized_network(self, definition: Definition, config: Any) -> Any:
        return self.real.build_serialized_network(definition.real, config)


def test_a_detector_is_one_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in, definitions = TensorRt(), list[Definition]()
    stand_in.install(monkeypatch)
    trt = ModuleType("tensorrt_rtx with plugins")
    trt.__dict__.update(vars(rtx), Builder=lambda logger: Builder(stand_in, definitions, logger))
    network = tiny_network()
    plan = build_detector(Library(trt, "TensorRT", (10, 8)), network, 2, FRAME, 72, 64, EngineSettings(), "sm_90")
    assert len(plan) > 10_000
    (definition,) = definitions
    preprocess, count, layer, nms = definition.plugins.layers
    assert [each.shape for each in preprocess.inputs] == [(2, 72, 16)]
    assert [(each.shape, each.dtype) for each in preprocess.outputs] == [((2, 3, 96, 96), "FP16")]
    heads = [((2, *head.shape), "FP16") for head in network.heads]
    assert [(each.shape, each.dtype) for each in count.inputs] == heads
    assert [(each.shape, each.dtype) for each in layer.inputs[:-1]] == heads
    assert [(each.shape, each.dtype) for each in nms.outputs] == [((2, 2), "INT32"), ((2, LIMIT, 6), "INT32")]
    with pytest.raises(ValueError, match=r"66 bytes.*multiple of 4"):
        build_detector(Library(trt, "TensorRT", (10, 8)), network, 2, FRAME, 72, 66, EngineSettings(), "sm_90")
    real = definition.real
    entering = [real.get_input(index).name for index in range(real.num_inputs)]
    assert entering[:2] == ["surfaces", "1.0"]  # the network itself has no other input than the pictures that the plugin makes
    assert "pictures" not in entering
    assert {"layer" in real.get_output(index).name for index in range(2)} == {True}


def test_a_library_without_plugins_is_refused() -> None:
    library = find_library((9, 0))
    assert not library.full
    with pytest.raises(DeviceError, match=r"takes no plugins.*framefleet\[tensorrt\]"):
        build_detector(library, tiny_network(), 1, FRAME, 72, 64, EngineSettings(), "sm_90")
