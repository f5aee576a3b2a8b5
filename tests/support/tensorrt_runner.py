"""Detectors, and networks of plugins, for the stand-in of TensorRT, and what runs them."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.detection.preprocess import Fit
from engine.model.network import Yolo
from plugins.preprocess import RGB8, describe_frame
from plugins.tensorrt_plugins_detection import Detector
from plugins.yolo_layer import Head
from tests.support.cuda import POISON
from tests.support.tensorrt_stand_in import DTYPES, Plugin, TensorDesc, TensorRt


@dataclass(eq=False)
class Tensor:
    """An ``ITensor``. address: of what is in it, when it runs."""

    shape: tuple[int, ...]
    dtype: str
    address: int = 0
    layout: str = "LINEAR"

    @property
    def desc(self) -> TensorDesc:
        return TensorDesc(self.shape, self.dtype)

    @property
    def stored(self) -> tuple[int, ...]:
        """The shape as it lies in memory."""
        if self.layout == "LINEAR":
            return self.shape
        batch, channels, *place = self.shape
        return (batch, *place, -(-channels // 8) * 8)


@dataclass
class PluginLayer:
    """What ``INetworkDefinition.add_plugin`` gives."""

    plugin: Plugin
    inputs: list[Tensor]
    outputs: list[Tensor]

    @property
    def num_outputs(self) -> int:
        return len(self.outputs)

    def get_output(self, index: int) -> Tensor:
        return self.outputs[index]

    def layouts(self) -> list[list[str]]:
        """Of inputs and outputs, each way that is offered."""
        return self.plugin.layouts([tensor.desc for tensor in self.inputs])

    def launched(self, layouts: list[str]) -> tuple[str, bytes, Any, list[int]]:
        """See ``Plugin.launched``."""
        return self.plugin.launched([tensor.desc for tensor in self.inputs], layouts)


@dataclass
class Network:
    """As much of an ``INetworkDefinition`` as plugins need."""

    trt: TensorRt
    layers: list[PluginLayer] = field(default_factory=list)

    def add_plugin(self, asked: tuple[str, tuple[Tensor, ...]], aot: bool) -> PluginLayer:
        assert aot
        plugin, inputs = self.trt.plugins[asked[0]], list(asked[1])
        outputs = plugin.outputs([each.desc for each in inputs])
        tensors = [Tensor(tuple(size.value for size in each.shape_expr), each.dtype) for each in outputs]
        self.layers.append(PluginLayer(plugin, inputs, tensors))
        return self.layers[-1]


class Runner:
    """Runs the layers of a network. gpu: its memory. arch: what plugins are registered for. margin: bytes around each output left alone.

    launch: runs the kernel of this name in this code, with sizes of grid, block and shared memory, and these arguments.
    """

    margin = 1 << 14

    def __init__(self, gpu: Any, launch: Callable[[bytes, str, Any, list[Any]], None], arch: str) -> None:
        self._gpu, self._launch, self.arch = gpu, launch, arch

    def fill(self, tensor: Tensor, values: NDArray[Any]) -> Tensor:
        assert (values.shape, values.dtype) == (tensor.shape, DTYPES[tensor.dtype])
        tensor.address = self._gpu.upload(values)
        return tensor

    def read(self, tensor: Tensor) -> NDArray[Any]:
        values = self._gpu.download(tensor.address, tensor.stored, DTYPES[tensor.dtype])
        return values if tensor.layout == "LINEAR" else np.moveaxis(values, -1, 1)[:, : tensor.shape[1]]

    def run(self, layer: PluginLayer, way: int) -> None:
        """way: which of the layouts that the layer offers, the last one where there are not so many."""
        ways = layer.layouts()
        layouts = ways[min(way, len(ways) - 1)]
        kernel, code, sizes, numbers = layer.launched(layouts)
        for tensor, layout in zip([*layer.inputs, *layer.outputs], layouts, strict=True):
            if tensor in layer.inputs and tensor.layout != layout:
                self._reformat(tensor, layout)
            tensor.layout = layout
        guarded = [self._gpu.poisoned(self._nbytes(tensor) + 2 * self.margin) for tensor in layer.outputs]
        for tensor, start in zip(layer.outputs, guarded, strict=True):
            tensor.address = start + self.margin
        inputs, outputs = ([np.uint64(tensor.address) for tensor in tensors] for tensors in (layer.inputs, layer.outputs))
        arguments = [*inputs, *map(np.int32, numbers), *outputs]
        self._launch(code, kernel, sizes, arguments)
        for tensor, start in zip(layer.outputs, guarded, strict=True):
            for place in (start, tensor.address + self._nbytes(tensor)):
                around = self._gpu.download(place, self.margin, np.uint8)
                assert (around == POISON).all(), f"{kernel} wrote beside its output"

    def _nbytes(self, tensor: Tensor) -> int:
        return math.prod(tensor.stored) * np.dtype(DTYPES[tensor.dtype]).itemsize

    def _reformat(self, tensor: Tensor, layout: str) -> None:
        values = self.read(tensor)
        tensor.layout = layout
        if layout == "HWC8":
            padded = np.full(tensor.stored, np.nan, np.float16)  # nobody may look at the padding
            padded[..., : tensor.shape[1]] = np.moveaxis(values, 1, -1)
            values = padded
        tensor.address = self._gpu.upload(values)


def detector_of(layers: list[Yolo], placed: Fit, size: tuple[int, int], confidence: float, kind: int = RGB8, **more: Any) -> Detector:
    """One for frames placed so, or for those of ``frame``. more: of ``Detector``."""
    frame = more.pop("frame", None)
    if frame is None:
        inside = placed.left, placed.top, placed.inner_width, placed.inner_height
        frame = describe_frame(kind, (placed.width, placed.height), (placed.width, placed.height), inside)
    heads = [Head(0, *layer.shape[1:], layer.anchors, layer.scale_x_y, layer.new_coords) for layer in layers]
    return Detector(heads, layers[0].classes, size, frame, confidence, more.pop("iou", 0.45), layers[-1].diou_beta, **more)
