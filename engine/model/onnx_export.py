"""Exports a ``Network`` to ONNX, for other tools; its metadata says how Framefleet reads it.

Operators: https://onnx.ai/onnx/operators. Mish is exported as x · tanh(softplus(x)), because the operator Mish needs opset 18. OpenVINO
builds the same engine from both.
"""

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from framefleet.engine.model import network as net
from framefleet.engine.model.onnx.recognise import heads_as_json
from framefleet.engine.notices import ExportError, Notice

OPSET, IR_VERSION = 13, 7
"""Versions of 2020, which all current runtimes support."""

MAX_EMBEDDED_BYTES = 2_000_000_000
"""Maximum size of weights inside the model file. Larger weights go into a second file, ``NAME.onnx.data``: protobuf allows 2 GiB."""

INPUT = "images"
PRODUCER = "framefleet"


def export_onnx(network: net.Network, path: Path) -> None:
    """Write a network as an ONNX file, which appears complete and checked, or not at all.

    Input ``images``: float32 (batch, channels, height, width), RGB, 0..1, any batch. Outputs ``head_0``, ``head_1``, …: the raw outputs,
    float32 (batch, anchors · (5 + classes), rows, columns), in the network's order.

    Raises
    ------
    ExportError
        The file cannot be written.
    """
    model = to_onnx(network)
    external = sum(len(tensor.raw_data) for tensor in model.graph.initializer) > MAX_EMBEDDED_BYTES
    data = data_file(path).name
    try:
        with tempfile.TemporaryDirectory(dir=path.parent, prefix=".onnx-") as folder:
            made = Path(folder, path.name)
            onnx.save_model(model, made, save_as_external_data=external, location=data, size_threshold=1024)
            onnx.checker.check_model(made, full_check=True)
            if external:
                Path(folder, data).replace(data_file(path))
            made.replace(path)
    except (OSError, ValueError) as error:
        # str(error) would name the temporary file
        if isinstance(error, OSError) and error.strerror:
            raise ExportError(Notice("model.onnx_not_stored", path=path, reason=error.strerror)) from error
        raise ExportError(Notice("general.not_written", path=path, error=str(error))) from error


def data_file(path: Path) -> Path:
    """Return the path of the second file, for large weights."""
    return path.with_name(f"{path.name}.data")


def is_own_export(path: Path) -> bool:
    """Whether Framefleet wrote an ONNX file. False if it cannot be read."""
    try:
        with path.open("rb") as file:
            return PRODUCER.encode() in file.read(len(PRODUCER) + 16)  # the producer is the second field of the file
    except OSError:
        return False


def to_onnx(network: net.Network) -> onnx.ModelProto:
    """Convert a network to an ONNX model in memory."""
    graph = _Graph()
    values: list[str] = []
    for index, layer in enumerate(network.layers):
        inputs = [INPUT if source < 0 else values[source] for source in layer.inputs]
        values.append(graph.add(f"layer_{index}", layer, inputs, [network.shape_of(source) for source in layer.inputs]))
    heads = []
    for number, head in enumerate(network.heads):
        graph.node("Identity", [values[network.layers.index(head)]], f"head_{number}")
        heads.append(helper.make_tensor_value_info(f"head_{number}", TensorProto.FLOAT, ["batch", *head.shape]))
    picture = helper.make_tensor_value_info(INPUT, TensorProto.FLOAT, ["batch", *network.shape_of(-1)])
    made = helper.make_graph(graph.nodes, network.name, [picture], heads, graph.tensors)
    model = helper.make_model(made, producer_name=PRODUCER, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR_VERSION)
    own = {"labels": "\n".join(network.labels), "heads": heads_as_json(network.heads), "letter_box": str(int(network.letter_box))}
    helper.set_model_props(model, {"digest": network.digest, **own})
    return model


class _Graph:
    """Collects the nodes and constants of a graph. Every method returns the name of the value it adds."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.tensors: list[onnx.TensorProto] = []

    def node(self, operator: str, inputs: Sequence[str], name: str, **attributes: Any) -> str:
        self.nodes.append(helper.make_node(operator, inputs, [name], name=name, **attributes))
        return name

    def constant(self, name: str, values: NDArray[Any]) -> str:
        self.tensors.append(numpy_helper.from_array(np.ascontiguousarray(values), name))
        return name

    def add(self, name: str, layer: net.Layer, inputs: list[str], shapes: list[net.Shape]) -> str:
        match layer:
            case net.Convolution():
                return self._convolution(name, layer, inputs)
            case net.MaxPool() | net.LocalAveragePool():
                before, after = layer.padding // 2, layer.padding - layer.padding // 2
                window = {"kernel_shape": [layer.size] * 2, "strides": [layer.stride] * 2, "pads": [before, before, after, after]}
                return self.node("MaxPool" if isinstance(layer, net.MaxPool) else "AveragePool", inputs, name, **window)
            case net.Reorg():
                return self._reorg(name, layer, inputs[0])
            case net.Upsample():
                scales = self.constant(f"{name}_scales", np.array([1, 1, layer.stride, layer.stride], np.float32))
                nearest = {"mode": "nearest", "coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}
                return self.node("Resize", [inputs[0], "", scales], name, **nearest)
            case net.Route():
                return self._route(name, layer, inputs, shapes)
            case net.Shortcut():
                return self._shortcut(name, layer, inputs, shapes)
            case net.ScaleChannels() | net.Sam():
                return self._activate(name, self.node("Mul", inputs, f"{name}_mul"), layer.activation)
            case net.AveragePool():
                return self.node("GlobalAveragePool", inputs, name)
            case net.Region():
                return self._region(name, layer, inputs[0])
            case net.Identity() | net.Yolo():
                return inputs[0]
        raise TypeError(f"no ONNX for {type(layer).__name__}")

    def _convolution(self, name: str, layer: net.Convolution, inputs: list[str]) -> str:
        weights, bias = self.constant(f"{name}_weights", layer.weights), self.constant(f"{name}_bias", layer.bias)
        window = {"kernel_shape": list(layer.weights.shape[2:]), "strides": [layer.stride] * 2, "pads": [layer.padding] * 4}
        value = self.node("Conv", [inputs[0], weights, bias], f"{name}_convolution", group=layer.groups, **window)
        return self._activate(name, value, layer.activation)

    def _route(self, name: str, layer: net.Route, inputs: list[str], shapes: list[net.Shape]) -> str:
        parts = inputs
        if layer.groups > 1:
            parts = []
            for number, (value, shape) in enumerate(zip(inputs, shapes, strict=True)):
                width = shape[0] // layer.groups
                parts.append(self._slice(f"{name}_part_{number}", value, layer.group * width, (layer.group + 1) * width))
        return parts[0] if len(parts) == 1 else self.node("Concat", parts, name, axis=1)

    def _shortcut(self, name: str, layer: net.Shortcut, inputs: list[str], shapes: list[net.Shape]) -> str:
        total, channels = inputs[0], layer.shape[0]
        for number, (other, (count, *_)) in enumerate(zip(inputs[1:], shapes[1:], strict=True)):
            step = f"{name}_add_{number}"
            if count >= channels:
                added = other if count == channels else self._slice(f"{step}_first", other, 0, channels)
                total = self.node("Add", [total, added], step)
            else:
                first = self.node("Add", [self._slice(f"{step}_first", total, 0, count), other], f"{step}_sum")
                total = self.node("Concat", [first, self._slice(f"{step}_rest", total, count, channels)], step, axis=1)
        return self._activate(name, total, layer.activation)

    def _reorg(self, name: str, layer: net.Reorg, value: str) -> str:
        stride, (channels, height, width) = layer.stride, layer.view
        squares = self._reshape(f"{name}_squares", value, (channels, height // stride, stride, width // stride, stride))
        moved = self.node("Transpose", [squares], f"{name}_moved", perm=[0, 3, 5, 1, 2, 4])
        return self._reshape(name, moved, layer.shape)

    def _region(self, name: str, layer: net.Region, value: str) -> str:
        _, height, width = layer.shape
        boxes = self._reshape(f"{name}_boxes", value, (len(layer.anchors), 5 + layer.classes, height * width))
        probability = self.node("Softmax", [self._slice(f"{name}_classes", boxes, 5, 5 + layer.classes, 2)], f"{name}_softmax", axis=2)
        one = self.constant(f"{name}_one", np.array(1, np.float32))
        least = self.constant(f"{name}_least", np.array(net.MIN_PROBABILITY, np.float32))
        others = self.node("Sub", [one, probability], f"{name}_others")
        yes, no = (self.node("Log", [self.node("Max", [p, least], f"{p}_limited")], f"{p}_logarithm") for p in (probability, others))
        parts = [self._slice(f"{name}_place", boxes, 0, 5, 2), self.node("Sub", [yes, no], f"{name}_logit")]
        return self._reshape(name, self.node("Concat", parts, f"{name}_joined", axis=2), layer.shape)

    def _slice(self, name: str, value: str, start: int, stop: int, axis: int = 1) -> str:
        numbers = {"start": start, "end": stop, "axis": axis}
        bounds = [self.constant(f"{name}_{key}", np.array([number], np.int64)) for key, number in numbers.items()]
        return self.node("Slice", [value, *bounds], name)

    def _reshape(self, name: str, value: str, shape: Sequence[int]) -> str:
        """Give each picture's values another shape. The batch stays."""
        return self.node("Reshape", [value, self.constant(f"{name}_shape", np.array([0, *shape], np.int64))], name)

    def _activate(self, name: str, value: str, activation: net.Activation) -> str:
        match activation:
            case net.Activation.LINEAR:
                return value
            case net.Activation.LEAKY:
                return self.node("LeakyRelu", [value], name, alpha=0.1)
            case net.Activation.RELU:
                return self.node("Relu", [value], name)
            case net.Activation.RELU6:
                low, high = (self.constant(f"{name}_{end}", np.array(end, np.float32)) for end in (0, 6))
                return self.node("Clip", [value, low, high], name)
            case net.Activation.LOGISTIC:
                return self.node("Sigmoid", [value], name)
            case net.Activation.SWISH:
                return self.node("Mul", [value, self.node("Sigmoid", [value], f"{name}_sigmoid")], name)
            case net.Activation.MISH:
                softplus = self.node("Softplus", [value], f"{name}_softplus")
                return self.node("Mul", [value, self.node("Tanh", [softplus], f"{name}_tanh")], name)
