"""Tiny ONNX files whose outputs are known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
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

CENTRES = np.array([[32, 32, 16, 8], [33, 32, 16, 8], [16, 24, 8, 8]], np.float32)
"""Centre and size of three boxes in the input; the second one overlaps the first."""

LETTERBOXED = [[48, 24, 80, 40], [24, 8, 40, 24]]
"""The first and the third box in a letterboxed picture of 128 × 64 pixels."""

STRETCHED = [[48, 28, 80, 36], [24, 20, 40, 28]]
"""The same in a stretched picture."""

SCORES = np.array([[0.1, 0.9], [0.1, 0.8], [0.7, 0.2]], np.float32)

KEPT = np.array([[0.9, 1], [0.7, 0]], np.float32)
"""Score and class of the first and the third box."""


def corners(boxes: NDArray[np.float32] = CENTRES) -> NDArray[np.float32]:
    return np.concatenate([boxes[:, :2] - boxes[:, 2:] / 2, boxes[:, :2] + boxes[:, 2:] / 2], axis=1)


def cells(values: NDArray[np.float32], count: int) -> NDArray[np.float32]:
    """The rows as the last cells of a grid, with zeros before them."""
    found = np.zeros((count, values.shape[1]), np.float32)
    found[-len(values) :] = values
    return found


SORTED = np.concatenate([corners()[[0, 2]], KEPT], axis=1)
_FRACTIONS = CENTRES / SIDE
_LOGITS = np.log(SCORES / (1 - SCORES))

KNOWN: list[tuple[str, dict[str, NDArray[Any]], list[list[float]]]] = [
    ("yolov8", {"o": cells(np.hstack([CENTRES, SCORES]), CELLS).T[None]}, LETTERBOXED),
    ("end2end", {"o": SORTED[None]}, LETTERBOXED),
    ("rtdetr", {"o": np.hstack([_FRACTIONS, SCORES])[[0, 2]][None]}, STRETCHED),
    ("rf-detr", {"dets": _FRACTIONS[None, [0, 2]], "labels": _LOGITS[None, [0, 2]]}, STRETCHED),
    ("detr-logits", {"pred_boxes": _FRACTIONS[None, [0, 2]], "logits": _LOGITS[None, [0, 2]]}, STRETCHED),
    ("detr", {"labels": np.array([[1, 0]]), "boxes": corners()[None, [0, 2]], "scores": KEPT[None, :, 0]}, STRETCHED),
    (
        "efficient-nms",
        {
            "num_dets": np.array([[2]], np.int32),
            "boxes": corners()[None, [0, 2, 1]],
            "scores": np.array([[0.9, 0.7, 0.8]], np.float32),
            "classes": np.array([[1, 0, 1]], np.int32),
        },
        LETTERBOXED,
    ),
    ("nms-rows", {"o": np.hstack([np.zeros((2, 1)), SORTED[:, :4], KEPT[:, ::-1]]).astype(np.float32)}, LETTERBOXED),
]
"""A reading, outputs of a network, and their boxes in a picture of 128 × 64 pixels, with the scores and classes of ``KEPT``."""


def write_known(folder: Path, reading: str, outputs: Mapping[str, NDArray[Any]]) -> ModelFiles:
    """Write a network of ``KNOWN`` with two labels."""
    labels = folder / "two.names"
    labels.write_text("cat\ndog\n")
    others = [sizes_input()] if reading == "detr" else []
    files = write_model(folder / "a.onnx", {name: np.ascontiguousarray(array) for name, array in outputs.items()}, others=others)
    return replace(files, labels=labels, reading=reading)


def objectness_rows() -> NDArray[np.float32]:
    """Outputs (1, CELLS, 7) with objectness. Their boxes are those of ``CENTRES`` with the scores 0.5 and 0.4."""
    scores = np.array([[0.1, 1], [0.1, 0.9], [0.8, 0.2]], np.float32)
    rows = np.hstack([CENTRES, np.full((3, 1), 0.5, np.float32), scores])
    return cells(rows.astype(np.float32), CELLS)[None]


def write_nms(path: Path, coding: int) -> ModelFiles:
    """Write a network with TensorRT's suppression. coding: of its boxes; 0 for corners, 1 for centre and size."""
    attributes: dict[str, Any] = {"box_coding": coding, "max_output_boxes": 100, "score_threshold": 0.25, "iou_threshold": 0.5}
    results = ["num_dets", "det_boxes", "det_scores", "det_classes"]
    nodes = [
        helper.make_node("ReduceMean", ["images"], ["mean"], keepdims=0),
        helper.make_node("Mul", ["mean", "zero"], ["nothing"]),
        helper.make_node("Add", ["box_values", "nothing"], ["boxes_before"]),
        helper.make_node("Add", ["score_values", "nothing"], ["scores_before"]),
        helper.make_node("EfficientNMS_TRT", ["boxes_before", "scores_before"], results, domain="TRT", **attributes),
    ]
    tensors = [
        numpy_helper.from_array(np.array(0, np.float32), "zero"),
        numpy_helper.from_array((CENTRES if coding else corners())[None], "box_values"),
        numpy_helper.from_array(SCORES[None], "score_values"),
    ]
    outputs = [
        helper.make_tensor_value_info("num_dets", TensorProto.INT32, (1, 1)),
        helper.make_tensor_value_info("det_boxes", TensorProto.FLOAT, (1, 100, 4)),
        helper.make_tensor_value_info("det_scores", TensorProto.FLOAT, (1, 100)),
        helper.make_tensor_value_info("det_classes", TensorProto.INT32, (1, 100)),
    ]
    return save(path, nodes, tensors, outputs, {"names": "['cat', 'dog']"})


def write_several(path: Path) -> ModelFiles:
    """Write a network with YOLOv8's outputs that takes any number of pictures, and gives ``CENTRES`` for each."""
    values = {"o": np.ascontiguousarray(cells(np.hstack([CENTRES, SCORES]), CELLS).T[None])}
    files = write_model(path, values, size=("batch", 3, SIDE, SIDE), declared={"o": ("batch", 6, CELLS)})
    model = onnx.load(path)
    # the constant alone has one picture: give the mean of each picture an axis, so that the sum has all of them
    model.graph.node[0].attribute[0].i = 1
    model.graph.node[0].attribute.append(helper.make_attribute("axes", [1, 2, 3]))
    model.graph.node.insert(1, helper.make_node("Squeeze", ["mean", "last"], ["mean_3"]))
    model.graph.node[2].input[0] = "mean_3"
    model.graph.initializer.append(numpy_helper.from_array(np.array([3], np.int64), "last"))
    path.write_bytes(model.SerializeToString())
    return files


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
