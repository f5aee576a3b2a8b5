"""Tiny ONNX files whose outputs are known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from framefleet.engine.settings import ModelFiles

SIDE = 64
"""Width and height of the input: 8×8, 4×4 and 2×2 cells, 84 in all."""

CELLS = 84


def write_model(
    path: Path,
    outputs: Mapping[str, NDArray[Any]],
    metadata: Mapping[str, str] | None = None,
    size: Sequence[int | str] = (1, 3, SIDE, SIDE),
    others: Sequence[onnx.ValueInfoProto] = (),
    declared: Mapping[str, Sequence[int | str]] | None = None,
) -> ModelFiles:
    """Write a network whose outputs are these arrays, whatever the picture is. declared: shapes that the file claims instead."""
    nodes = [helper.make_node("ReduceMean", ["images"], ["mean"], keepdims=0), helper.make_node("Mul", ["mean", "zero"], ["nothing"])]
    tensors = [numpy_helper.from_array(np.array(0, np.float32), "zero")]
    values = []
    for name, array in outputs.items():
        tensors.append(numpy_helper.from_array(array, f"{name}_values"))
        kind = helper.np_dtype_to_tensor_dtype(array.dtype)
        if array.dtype == np.float32:
            nodes.append(helper.make_node("Add", [f"{name}_values", "nothing"], [name]))
        else:
            nodes += [
                helper.make_node("Cast", ["nothing"], [f"{name}_nothing"], to=kind),
                helper.make_node("Add", [f"{name}_values", f"{name}_nothing"], [name]),
            ]
        values.append(helper.make_tensor_value_info(name, kind, (declared or {}).get(name, array.shape)))
    return save(path, nodes, tensors, values, metadata, size, others)


def save(
    path: Path,
    nodes: Sequence[onnx.NodeProto],
    tensors: Sequence[onnx.TensorProto],
    outputs: Sequence[onnx.ValueInfoProto],
    metadata: Mapping[str, str] | None = None,
    size: Sequence[int | str] = (1, 3, SIDE, SIDE),
    others: Sequence[onnx.ValueInfoProto] = (),
) -> ModelFiles:
    """Write a graph with the input ``images``."""
    pictures = helper.make_tensor_value_info("images", TensorProto.FLOAT, size)
    graph = helper.make_graph(nodes, "tiny", [pictures, *others], outputs, tensors)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    helper.set_model_props(model, dict(metadata or {}))
    path.write_bytes(model.SerializeToString())
    return ModelFiles(path, path)


def write_yolox(path: Path) -> ModelFiles:
    """Write a network for one class with YOLOX's outputs. A red pixel at the top left of a cell is an object of the cell's size.

    It takes blue, green, red from 0 to 255. Its box has the centre (column + 0.5, row + 0.5) · stride.
    """
    nodes, tensors, parts = [], [], []
    for stride in (8, 16, 32):
        red = np.zeros((1, 3, stride, stride), np.float32)
        red[0, 2, 0, 0] = 1
        boxes = np.zeros((4, 3, stride, stride), np.float32)
        for name, weights, bias in (
            (f"box_{stride}", boxes, [0.5, 0.5, 0, 0]),
            (f"object_{stride}", red, [-250]),
            (f"class_{stride}", np.zeros_like(red), [4]),
        ):
            tensors += [numpy_helper.from_array(weights, f"{name}_w"), numpy_helper.from_array(np.array(bias, np.float32), f"{name}_b")]
            nodes.append(helper.make_node("Conv", ["images", f"{name}_w", f"{name}_b"], [name], strides=[stride, stride]))
        nodes += [helper.make_node("Sigmoid", [name], [f"{name}_p"]) for name in (f"object_{stride}", f"class_{stride}")]
        nodes.append(helper.make_node("Concat", [f"box_{stride}", f"object_{stride}_p", f"class_{stride}_p"], [f"head_{stride}"], axis=1))
        nodes.append(helper.make_node("Reshape", [f"head_{stride}", "flat"], [f"flat_{stride}"]))
        parts.append(f"flat_{stride}")
    tensors.append(numpy_helper.from_array(np.array([0, 6, -1], np.int64), "flat"))
    nodes.append(helper.make_node("Concat", parts, ["all"], axis=2))
    nodes.append(helper.make_node("Transpose", ["all"], ["output"], perm=[0, 2, 1]))
    return save(path, nodes, tensors, [helper.make_tensor_value_info("output", TensorProto.FLOAT, (1, CELLS, 6))])


def sizes_input() -> onnx.ValueInfoProto:
    """The second input of D-FINE and RT-DETR."""
    return helper.make_tensor_value_info("orig_target_sizes", TensorProto.INT64, ("N", 2))
