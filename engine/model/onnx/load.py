"""Loads a recognised ONNX file for the backends. Beside ``onnx_export.py``, the only module that imports onnx."""

import hashlib
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from google.protobuf.message import DecodeError, EncodeError  # type: ignore[import-untyped]
from numpy.typing import NDArray
from onnx import TensorProto, helper, inliner, shape_inference

from framefleet.engine.model.files import read_start
from framefleet.engine.model.onnx import prepare
from framefleet.engine.model.onnx.network import OnnxNetwork, Reading, Suppression
from framefleet.engine.model.onnx.recognise import OnnxDescription, check_data, describe_onnx
from framefleet.engine.model.onnx.structure import MAX_BYTES, UINT8
from framefleet.engine.model.onnx.suppression import find_suppression
from framefleet.engine.notices import ModelError, Notice
from framefleet.engine.settings import ModelFiles

MAX_VALUES = 1 << 32
"""Maximum number of values that all operators compute for one picture, as for a cfg."""

_SMALL = 1_024
"""Constants up to this number of bytes may be shapes, which decide the shapes of other values."""


def load_onnx(files: ModelFiles) -> OnnxNetwork:
    """Recognise and load an ONNX file.

    Raises
    ------
    ModelError
        The file is damaged or unsupported, or computes more values than ``MAX_VALUES``.
    UsageError
        The size or the reading of ``files`` does not suit the file.
    """
    described = describe_onnx(files)
    path, candidate = files.cfg, described.candidate
    digest = hashlib.sha256(described.file.digest.encode())
    try:
        model = onnx.load_model_from_string(path.read_bytes())
        if described.file.data is not None:
            digest.update(_read_data(model, path, described.file.data, files.weights))
        _sort(model.graph, described.file.order)
        if model.functions:
            model = inliner.inline_local_functions(model)
        suppression = _suppression(model, described)
        prepare.keep_outputs(model, candidate.outputs)
        values = _check_values(model, described)
        _do_as_plugin(model.graph, described, values)
        _take_float_pictures(model.graph, described)
        if candidate.transposed:
            _transpose_output(model.graph)
        if candidate.reading is Reading.DETR_SOFTMAX:
            _append_softmax(model.graph)
        content = model.SerializeToString()
    except (OSError, DecodeError, EncodeError, ValueError, RuntimeError, shape_inference.InferenceError) as error:
        raise ModelError(Notice("model.onnx_not_loaded", path=path, problem=str(error)[:500])) from error
    deciding = (candidate, described.preprocessing, described.width, described.height, [vars(head) for head in described.heads])
    digest.update(repr(deciding).encode())
    return OnnxNetwork(
        name=path.stem,
        width=described.width,
        height=described.height,
        labels=described.labels,
        digest=digest.hexdigest(),
        content=content,
        reading=candidate.reading,
        preprocessing=described.preprocessing,
        input=described.input.name,
        sizes_input=described.sizes_input,
        fixed_batch=described.fixed_batch,
        parameters=described.file.parameters,
        heads=described.heads,
        centre_boxes=candidate.centre_boxes,
        suppression=suppression,
    )


def _sort(graph: onnx.GraphProto, order: Sequence[int]) -> None:
    """Put the nodes into this order."""
    if any(number != place for place, number in enumerate(order)):
        nodes = list(graph.node)
        del graph.node[:]
        graph.node.extend(nodes[number] for number in order)


def _read_data(model: onnx.ModelProto, path: Path, name: str, weights: Path | str) -> bytes:
    """Read the constants that are in another file. Returns the SHA-256 of its content. weights: that file; or ``path``, if it is beside."""
    data = path.with_name(name) if weights == path else Path(weights)
    if data.name != name:
        raise ModelError(Notice("model.onnx_no_data", path=path, data=path.with_name(name)))
    check_data(path, data)
    read_start(data, 1)
    content = np.memmap(data, np.uint8, "r")
    if len(content) > MAX_BYTES:
        raise ModelError(Notice("model.onnx_too_large", path=data, most=MAX_BYTES))
    for tensor in onnx.external_data_helper._get_all_tensors(model):
        if tensor.data_location != TensorProto.EXTERNAL:
            continue
        place = {entry.key: entry.value for entry in tensor.external_data}
        offset, length = int(place.get("offset", "0")), _nbytes(tensor)
        if offset + length > len(content):
            raise ModelError(Notice("model.onnx_data_too_short", path=path, data=data, name=tensor.name[:100]))
        tensor.raw_data = content[offset : offset + length].tobytes()
        tensor.data_location = TensorProto.DEFAULT
        tensor.ClearField("external_data")
    return hashlib.sha256(content.data).digest()


def _nbytes(tensor: onnx.TensorProto) -> int:
    return int(math.prod(tensor.dims)) * int(np.dtype(onnx.helper.tensor_dtype_to_np_dtype(tensor.data_type)).itemsize)


def _suppression(model: onnx.ModelProto, described: OnnxDescription) -> Suppression | None:
    """The suppression in the graph, if the values before it are known, and its thresholds are constants."""
    plugin = described.file.plugin
    if plugin is not None:  # the defaults are TensorRT's, plugin/efficientNMSPlugin/efficientNMSParameters.h
        iou, confidence = (plugin.floats.get(name, (0.5,))[0] for name in ("iou_threshold", "score_threshold"))
        boxes, scores = described.candidate.outputs
        return Suppression(boxes, scores, iou, confidence, plugin.integers.get("max_output_boxes", 100))
    found = find_suppression(described.file.graph)
    if found is None:
        return None
    constants = {tensor.name: tensor for tensor in model.graph.initializer}
    constants |= {node.output[0]: node.attribute[0].t for node in model.graph.node if node.op_type == "Constant"}
    if not {found.limit, found.iou, *found.minima} <= constants.keys():
        return None
    limit, iou, *minima = (onnx.numpy_helper.to_array(constants[name]).item() for name in (found.limit, found.iou, *found.minima))
    rows = described.file.graph.outputs[0].dims
    if described.candidate.reading is Reading.END2END and rows is not None:
        limit = min(limit, rows[1] or limit)
    return Suppression(found.boxes, found.scores, iou, max(minima, default=0.0), limit)


def _do_as_plugin(graph: onnx.GraphProto, described: OnnxDescription, values: Sequence[onnx.ValueInfoProto]) -> None:
    """Append what TensorRT's suppression does with its inputs. values: the outputs, with their inferred types."""
    plugin = described.file.plugin
    if plugin is None:
        return
    boxes, scores = (value.type.tensor_type for value in values)
    if len(boxes.shape.dim) == 4 and boxes.shape.dim[2].dim_value == 1:  # each class may have its own boxes
        _append(graph, 0, "Reshape", np.array([0, -1, 4]))
    if plugin.integers.get("score_activation"):
        _append(graph, 1, "Sigmoid")
    background = plugin.integers.get("background_class", -1)
    if 0 <= background < len(described.labels):
        kept = np.arange(len(described.labels)) != background
        _append(graph, 1, "Mul", kept.astype(helper.tensor_dtype_to_np_dtype(scores.elem_type or TensorProto.FLOAT)))


def _append(graph: onnx.GraphProto, output: int, operator: str, *constants: NDArray[Any]) -> None:
    """Replace an output by what an operator computes of it and constants."""
    value = graph.output[output]
    before, value.name = value.name, f"{value.name}/{operator}"
    names = [f"{value.name}/{number}" for number in range(len(constants))]
    graph.initializer.extend(onnx.numpy_helper.from_array(array, name) for name, array in zip(names, constants, strict=True))
    graph.node.append(helper.make_node(operator, [before, *names], [value.name]))
    value.type.tensor_type.ClearField("shape")


def _take_float_pictures(graph: onnx.GraphProto, described: OnnxDescription) -> None:
    """Let a network that takes bytes, or channels last, take float32 (batch, 3, height, width)."""
    bytes_, last = described.input.element_type == UINT8, described.channels_last
    if not (bytes_ or last):
        return
    name = described.input.name
    (value,) = (each for each in graph.input if each.name == name)
    before, nodes = f"{name}/pictures", []
    kind = value.type.tensor_type
    for node in graph.node:
        for place, each in enumerate(node.input):
            if each == name:
                node.input[place] = before
    source = name
    if last:
        rows, columns, channels = (kind.shape.dim[place].dim_value for place in (1, 2, 3))
        for dim, size in zip(list(kind.shape.dim)[1:], (channels, rows, columns), strict=True):
            dim.dim_value = size
        nodes.append(helper.make_node("Transpose", [source], [f"{name}/last"], perm=[0, 2, 3, 1]))
        source = f"{name}/last"
    nodes.append(helper.make_node("Cast", [source], [before], to=kind.elem_type))
    if bytes_:
        kind.elem_type = TensorProto.FLOAT
    kept = list(graph.node)
    del graph.node[:]
    graph.node.extend([*nodes, *kept])


def _transpose_output(graph: onnx.GraphProto) -> None:
    """Swap rows and columns of the output."""
    (value,) = graph.output
    rows, value.name = value.name, f"{value.name}/columns"
    graph.node.append(helper.make_node("Transpose", [rows], [value.name], perm=[0, 2, 1]))
    for dim in list(value.type.tensor_type.shape.dim)[1:]:
        dim.Clear()


def _append_softmax(graph: onnx.GraphProto) -> None:
    """Replace the second output, logits of classes and of no object, by the probabilities of the classes."""
    _append(graph, 1, "Softmax")
    graph.node[-1].attribute.append(helper.make_attribute("axis", 2))
    _append(graph, 1, "Slice", np.array([0]), np.array([-1]), np.array([2]))


def _check_values(model: onnx.ModelProto, described: OnnxDescription) -> list[onnx.ValueInfoProto]:
    """Check the number of values that the network computes for one picture, as far as shapes are known without computing any.

    Returns the outputs, with their types as far as they are known.
    """
    skeleton = onnx.ModelProto()
    skeleton.CopyFrom(model)
    for tensor in skeleton.graph.initializer:
        if len(tensor.raw_data) > _SMALL:
            tensor.raw_data = b""
    for value in skeleton.graph.input:
        if value.name == described.input.name:
            sides = (described.height, described.width)
            shape = (1, *sides, 3) if described.channels_last else (1, 3, *sides)
            for dim, size in zip(value.type.tensor_type.shape.dim, shape, strict=True):
                dim.dim_value = size
    for value in skeleton.graph.output:
        if not value.type.tensor_type.HasField("shape"):  # a value from inside of the graph, whose type is not known either
            value.ClearField("type")
    inferred = shape_inference.infer_shapes(skeleton, data_prop=True)
    total = 0
    for value in (*inferred.graph.value_info, *inferred.graph.output):
        total += math.prod(max(1, dim.dim_value) for dim in value.type.tensor_type.shape.dim)
        if total > MAX_VALUES:
            raise ModelError(Notice("model.onnx_too_many_values", path=described.file.path, most=MAX_VALUES))
    return list(inferred.graph.output)
