"""Loads a recognised ONNX file for the backends. Beside ``onnx_export.py``, the only module that imports onnx."""

import hashlib
import math
from pathlib import Path

import numpy as np
import onnx
from google.protobuf.message import DecodeError, EncodeError  # type: ignore[import-untyped]
from onnx import TensorProto, inliner, shape_inference

from framefleet.engine.errors import ModelError
from framefleet.engine.model.files import read_start
from framefleet.engine.model.onnx.network import OnnxNetwork
from framefleet.engine.model.onnx.recognise import OnnxDescription, describe_onnx
from framefleet.engine.model.onnx.structure import MAX_BYTES
from framefleet.engine.notices import Notice
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
        if model.functions:
            model = inliner.inline_local_functions(model)
        _cut(model, candidate.outputs)
        _check_values(model, described)
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
        input=described.input,
        sizes_input=described.sizes_input,
        fixed_batch=described.fixed_batch,
        parameters=described.file.parameters,
        heads=described.heads,
        centre_boxes=candidate.centre_boxes,
    )


def _read_data(model: onnx.ModelProto, path: Path, name: str, weights: Path | str) -> bytes:
    """Read the constants that are in another file. Returns the SHA-256 of its content. weights: that file; or ``path``, if it is beside."""
    data = path.with_name(name) if weights == path else Path(weights)
    if data.name != name or data.is_symlink() or not data.is_file():
        raise ModelError(Notice("model.onnx_no_data", path=path, data=path.with_name(name)))
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


def _cut(model: onnx.ModelProto, outputs: tuple[str, ...]) -> None:
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


def _check_values(model: onnx.ModelProto, described: OnnxDescription) -> None:
    """Check the number of values that the network computes for one picture, as far as shapes are known without computing any."""
    skeleton = onnx.ModelProto()
    skeleton.CopyFrom(model)
    for tensor in skeleton.graph.initializer:
        if len(tensor.raw_data) > _SMALL:
            tensor.raw_data = b""
    for value in skeleton.graph.input:
        if value.name == described.input:
            for dim, size in zip(value.type.tensor_type.shape.dim, (1, 3, described.height, described.width), strict=True):
                dim.dim_value = size
    inferred = shape_inference.infer_shapes(skeleton, data_prop=True)
    total = 0
    for value in (*inferred.graph.value_info, *inferred.graph.output):
        total += math.prod(max(1, dim.dim_value) for dim in value.type.tensor_type.shape.dim)
        if total > MAX_VALUES:
            raise ModelError(Notice("model.onnx_too_many_values", path=described.file.path, most=MAX_VALUES))
