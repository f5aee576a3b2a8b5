"""Rewrites an ``OnnxNetwork`` for libraries that fix its inputs when they build it: number of pictures, sizes, and FP16 numbers."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import onnx
from onnx import AttributeProto, TensorProto, helper, numpy_helper, shape_inference

from framefleet.engine.model.onnx.network import OnnxNetwork, Reading
from framefleet.engine.notices import ModelError, Notice

_MAX_HALF = float(np.finfo(np.float16).max)

_EXACT = frozenset({"Range", "CumSum"})
"""Operators that need FP32."""

_EXACT_INPUTS = {"Resize": (1, 2)}
"""Inputs that need FP32."""

_WITHOUT_HALF = frozenset({"DequantizeLinear", "If", "Loop", "Scan"})
"""Operators whose numbers cannot be replaced by FP16."""


def with_fixed_inputs(network: OnnxNetwork, batch: int, half: bool = False) -> bytes:
    """Write the network for this number of pictures, as ONNX. Its only input is that for pictures.

    Parameters
    ----------
    half
        Whether its numbers become FP16, also those of inputs and outputs.

    Raises
    ------
    ModelError
        FP16 is asked for, and the network has operators that cannot compute it.
    """
    model = onnx.load_model_from_string(network.content)
    graph = model.graph
    for value in list(graph.input):
        if value.name == network.input:
            sizes = (batch, network.channels, network.height, network.width)
            for dim, size in zip(value.type.tensor_type.shape.dim, sizes, strict=True):
                dim.dim_value = size
        elif value.name == network.sizes_input:  # boxes refer to the network's input
            kind = helper.tensor_dtype_to_np_dtype(value.type.tensor_type.elem_type)
            array = np.tile(np.array([[network.width, network.height]], kind), (batch, 1))
            graph.initializer.append(numpy_helper.from_array(array, value.name))
            graph.input.remove(value)
    del graph.value_info[:]  # they may have another batch
    for dim in (dim for value in graph.output for dim in value.type.tensor_type.shape.dim):
        dim.Clear()
    _take_whole_floats(graph, network.input)
    if half:
        _to_half(model, network.name)
    if half or all(tensor.data_type != TensorProto.FLOAT16 for tensor in graph.initializer):
        _rewrite_mish(graph, half)
    content: bytes = model.SerializeToString()
    return content


def _take_whole_floats(graph: onnx.GraphProto, pictures: str) -> None:
    """Round pictures down instead of converting them to bytes, which TensorRT has only in quantized networks."""
    moved = {pictures}
    for node in graph.node:
        if not node.input or node.input[0] not in moved:
            continue
        if node.op_type == "Transpose":
            moved.update(node.output)
        elif node.op_type == "Cast" and node.attribute[0].i == TensorProto.UINT8:
            node.CopyFrom(helper.make_node("Floor", list(node.input), list(node.output)))


def without_suppression(network: OnnxNetwork) -> OnnxNetwork:
    """Cut off the suppression of a network, if it can be, for devices that lack its operators. Its thresholds stay with the network."""
    found = network.suppression
    if found is None or network.reading is Reading.BEFORE_NMS:
        return network
    model = onnx.load_model_from_string(network.content)
    keep_outputs(model, (found.boxes, found.scores))
    digest = f"{network.digest} before suppression"
    return replace(network, content=model.SerializeToString(), reading=Reading.BEFORE_NMS, digest=digest)


def keep_outputs(model: onnx.ModelProto, outputs: Sequence[str]) -> None:
    """Make these values the only outputs, in this order, and remove what computes nothing else."""
    known = {value.name: value for value in model.graph.output}
    values = [known.get(name) or onnx.ValueInfoProto(name=name) for name in outputs]
    for value in values:
        if not value.HasField("type"):
            value.type.tensor_type.elem_type = TensorProto.FLOAT
    del model.graph.output[:]
    model.graph.output.extend(values)
    needed, kept = set(outputs), []
    for node in reversed(model.graph.node):
        if needed.intersection(node.output):
            kept.append(node)
            needed.update(node.input)
            needed.update(_captured(node))
    del model.graph.node[:]
    model.graph.node.extend(reversed(kept))


def _captured(node: onnx.NodeProto) -> set[str]:
    """Names of values that graphs in attributes of a node read."""
    found: set[str] = set()
    for attribute in node.attribute:
        for graph in (*([attribute.g] if attribute.HasField("g") else []), *attribute.graphs):
            found.update(value.name for value in graph.output)
            for inner in graph.node:
                found.update(inner.input)
                found |= _captured(inner)
    return found


def _to_half(model: onnx.ModelProto, name: str) -> None:
    """Replace all FP32 numbers by FP16, except where an operator needs FP32."""
    graph = model.graph
    refused = sorted({node.op_type for node in graph.node if node.op_type in _WITHOUT_HALF})
    if refused:
        raise ModelError(Notice("model.onnx_no_half", name=name, operators=tuple(refused)))
    _name_constants(graph)
    inferred = shape_inference.infer_shapes(model).graph
    values = (*inferred.value_info, *inferred.output, *inferred.input)
    floats = {value.name for value in values if value.type.tensor_type.elem_type == TensorProto.FLOAT}
    constants = {tensor.name: tensor for tensor in graph.initializer if tensor.data_type == TensorProto.FLOAT}
    halves: dict[str, str] = {}
    casts = _Casts()
    nodes: list[onnx.NodeProto] = []
    for node in graph.node:
        for place, value in enumerate(node.input):
            exact = node.op_type in _EXACT or place in _EXACT_INPUTS.get(node.op_type, ())
            if value in constants:
                if not exact:
                    node.input[place] = halves.setdefault(value, f"{value}/half")
            elif exact and value in floats:
                node.input[place] = casts.before(nodes, value)
        _set_type(node)
        nodes.append(node)
        if node.op_type in _EXACT:
            casts.after(nodes, node, floats)
    outputs = {value.name for value in graph.output}
    for value, half in halves.items():
        array = np.clip(numpy_helper.to_array(constants[value]), -_MAX_HALF, _MAX_HALF).astype(np.float16)
        graph.initializer.append(numpy_helper.from_array(array, half))
    used = {value for node in nodes for value in node.input} | outputs
    kept = [tensor for tensor in graph.initializer if tensor.name in used]
    del graph.node[:], graph.initializer[:]
    graph.node.extend(nodes)
    graph.initializer.extend(kept)
    for value in (*graph.input, *graph.output):
        if value.type.tensor_type.elem_type == TensorProto.FLOAT:
            value.type.tensor_type.elem_type = TensorProto.FLOAT16


def _name_constants(graph: onnx.GraphProto) -> None:
    """Turn the constants of operators into constants of the graph."""
    nodes = []
    for node in graph.node:
        tensor = _tensor_of(node) if node.op_type == "Constant" else None
        if tensor is None:
            nodes.append(node)
            continue
        tensor.name = node.output[0]
        graph.initializer.append(tensor)
    del graph.node[:]
    graph.node.extend(nodes)


def _tensor_of(node: onnx.NodeProto) -> onnx.TensorProto | None:
    for attribute in node.attribute:
        if attribute.name == "value":
            found = TensorProto()
            found.CopyFrom(attribute.t)
            return found
        if attribute.name in ("value_float", "value_floats"):
            return numpy_helper.from_array(np.array(helper.get_attribute_value(attribute), np.float32))
    return None


def _set_type(node: onnx.NodeProto) -> None:
    """Change the type that an operator's attributes name."""
    for attribute in node.attribute:
        if attribute.name in ("to", "dtype") and attribute.type == AttributeProto.INT and attribute.i == TensorProto.FLOAT:
            attribute.i = TensorProto.FLOAT16
        elif node.op_type == "ConstantOfShape" and attribute.name == "value" and attribute.t.data_type == TensorProto.FLOAT:
            attribute.t.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(attribute.t).astype(np.float16)))
    if node.op_type == "ConstantOfShape" and not node.attribute:  # its default is FP32
        node.attribute.append(helper.make_attribute("value", numpy_helper.from_array(np.zeros(1, np.float16))))


_MISH_BOUND = 10.0
"""Above this bound, mish(x) is x in FP32."""


def _rewrite_mish(graph: onnx.GraphProto, half: bool) -> None:
    """Write x · tanh(softplus(x)) as x · n / (n + 2) with n = e (e + 2), e = eˣ, in FP32: TensorRT fuses that into the convolution.

    See ``engine/backends/tensorrt/lowering.py``.
    """
    users: dict[str, list[onnx.NodeProto]] = {}
    for node in graph.node:
        for value in node.input:
            users.setdefault(value, []).append(node)
    outputs = {value.name for value in graph.output}

    def only_user(value: str, operator: str) -> onnx.NodeProto | None:
        found = users.get(value, [])
        return found[0] if value not in outputs and len(found) == 1 and found[0].op_type == operator else None

    replaced: dict[str, tuple[str, str]] = {}  # the last node's output: x, and the name of the first output
    gone: set[str] = set()
    for node in graph.node:
        if node.op_type == "Softplus":
            tanh = only_user(node.output[0], "Tanh")
            product = only_user(tanh.output[0], "Mul") if tanh is not None else None
            if tanh is not None and product is not None and node.input[0] in product.input:
                replaced[product.output[0]] = node.input[0], node.output[0]
                gone |= {node.output[0], tanh.output[0]}
        elif node.op_type == "Mish":
            replaced[node.output[0]] = node.input[0], f"{node.output[0]}/mish"
    if not replaced:
        return
    nodes: list[onnx.NodeProto] = []
    for node in graph.node:
        if node.output[0] in replaced:
            nodes += _mish_nodes(*replaced[node.output[0]], node.output[0], half)
        elif node.output[0] not in gone:
            nodes.append(node)
    del graph.node[:]
    graph.node.extend(nodes)
    for name, number in ((_BOUND_NAME, _MISH_BOUND), (_TWO_NAME, 2.0)):
        graph.initializer.append(numpy_helper.from_array(np.array(number, np.float32), name))


_BOUND_NAME, _TWO_NAME = "framefleet/mish_bound", "framefleet/two"


def _mish_nodes(x: str, name: str, y: str, half: bool) -> list[onnx.NodeProto]:
    """The operators that compute mish(x). name: begins the names of the values between. y: the name of the result."""
    exact, result = (f"{name}/x", f"{name}/y") if half else (x, y)
    steps = [
        ("Min", [exact, _BOUND_NAME], f"{name}/bounded"),
        ("Exp", [f"{name}/bounded"], f"{name}/e"),
        ("Add", [f"{name}/e", _TWO_NAME], f"{name}/e2"),
        ("Mul", [f"{name}/e", f"{name}/e2"], f"{name}/n"),
        ("Mul", [exact, f"{name}/n"], f"{name}/xn"),
        ("Add", [f"{name}/n", _TWO_NAME], f"{name}/n2"),
        ("Div", [f"{name}/xn", f"{name}/n2"], result),
    ]
    nodes = [helper.make_node(operator, inputs, [output]) for operator, inputs, output in steps]
    if half:
        before = helper.make_node("Cast", [x], [exact], to=TensorProto.FLOAT)
        nodes = [before, *nodes, helper.make_node("Cast", [result], [y], to=TensorProto.FLOAT16)]
    return nodes


class _Casts:
    """Conversions around operators that need FP32."""

    def __init__(self) -> None:
        self._known: dict[str, str] = {}

    def before(self, nodes: list[onnx.NodeProto], value: str) -> str:
        """The name of a value in FP32."""
        if value not in self._known:
            self._known[value] = f"{value}/exact"
            nodes.append(helper.make_node("Cast", [value], [self._known[value]], to=TensorProto.FLOAT))
        return self._known[value]

    def after(self, nodes: list[onnx.NodeProto], node: onnx.NodeProto, floats: set[str]) -> None:
        """Convert an operator's outputs to FP16."""
        for place, value in enumerate(node.output):
            if value in floats:
                node.output[place] = f"{value}/computed"
                nodes.append(helper.make_node("Cast", [node.output[place]], [value], to=TensorProto.FLOAT16))
