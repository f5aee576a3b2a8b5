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
    (
        "detr-softmax",
        {"pred_boxes": _FRACTIONS[None, [0, 2]], "logits": np.log(np.array([[[0.05, 0.9, 0.05], [0.7, 0.1, 0.2]]], np.float32)) + 3},
        STRETCHED,
    ),
    (
        "yolov4",
        {"boxes": cells(corners() / SIDE, 3 * CELLS)[None, :, None], "confs": cells(SCORES, 3 * CELLS)[None]},
        STRETCHED,
    ),
    ("nms-scored-rows", {"o": np.hstack([np.zeros((2, 1)), SORTED[:, :4], KEPT]).astype(np.float32)}, LETTERBOXED),
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


def write_nms(path: Path, coding: int, of_classes: bool = False, anchors: bool = False, **changes: Any) -> ModelFiles:
    """Write a network with TensorRT's suppression.

    coding: of its boxes; 0 for corners, 1 for centre and size. of_classes: whether boxes have an axis for classes, of size 1. anchors:
    whether it has a third input. changes: other attributes.
    """
    attributes: dict[str, Any] = {"box_coding": coding, "max_output_boxes": 100, "score_threshold": 0.25, "iou_threshold": 0.5, **changes}
    boxes, scores = CENTRES if coding else corners(), _LOGITS if attributes.get("score_activation") else SCORES
    inputs = ["boxes_before", "scores_before", *(["zero"] if anchors else [])]
    results = ["num_dets", "det_boxes", "det_scores", "det_classes"]
    nodes = [
        helper.make_node("ReduceMean", ["images"], ["mean"], keepdims=0),
        helper.make_node("Mul", ["mean", "zero"], ["nothing"]),
        helper.make_node("Add", ["box_values", "nothing"], ["boxes_before"]),
        helper.make_node("Add", ["score_values", "nothing"], ["scores_before"]),
        helper.make_node("EfficientNMS_TRT", inputs, results, domain="TRT", **attributes),
    ]
    tensors = [
        numpy_helper.from_array(np.array(0, np.float32), "zero"),
        numpy_helper.from_array(boxes[None, :, None] if of_classes else boxes[None], "box_values"),
        numpy_helper.from_array(scores[None], "score_values"),
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


_NOTHING = (
    helper.make_node("ReduceMean", ["images"], ["mean"], keepdims=0),
    helper.make_node("Mul", ["mean", "zero"], ["nothing"]),
)
"""Compute ``nothing``, 0, from the picture and from the constant ``zero``."""


def write_graph(
    path: Path,
    nodes: Sequence[onnx.NodeProto],
    constants: Mapping[str, NDArray[Any]],
    output: Sequence[int | str],
    metadata: Mapping[str, str] | None = None,
) -> ModelFiles:
    """Write operators that compute the output ``o``. Each float constant ``x`` is there as ``x``, and as ``x_seen``, after the picture."""
    given = {"zero": np.array(0, np.float32), **constants}
    seen = [helper.make_node("Add", [name, "nothing"], [f"{name}_seen"]) for name, array in constants.items() if array.dtype == np.float32]
    tensors = [numpy_helper.from_array(np.ascontiguousarray(array), name) for name, array in given.items()]
    declared = [helper.make_tensor_value_info("o", TensorProto.FLOAT, output)]
    return save(path, [*_NOTHING, *seen, *nodes], tensors, declared, metadata)


def write_sorted_fractions(path: Path, metadata: Mapping[str, str] | None = None) -> ModelFiles:
    """Write a network as RT-DETR of ultralytics since 8.4: centre and size from a logistic function, score, class id."""
    fractions = _FRACTIONS[None, [0, 2]]
    constants = {"raw": np.log(fractions / (1 - fractions)), "scores": KEPT[None, :, :1], "ids": KEPT[None, :, 1:].astype(np.int64)}
    nodes = [
        helper.make_node("Sigmoid", ["raw_seen"], ["boxes"]),
        helper.make_node("Cast", ["ids"], ["numbers"], to=TensorProto.FLOAT),
        helper.make_node("Concat", ["boxes", "scores_seen", "numbers"], ["o"], axis=2),
    ]
    return write_graph(path, nodes, constants, (1, 2, 6), metadata)


def write_distances(
    path: Path,
    corner: bool,
    rows: bool = False,
    output: Sequence[int | str] | None = None,
    ones: int = 0,
    behind: str | None = None,
) -> ModelFiles:
    """Write a network without anchors, whose boxes are computed from distances to the sides.

    corner: whether they are corners, not centre and size. rows: whether each box has a row, not a column. output: the declared shape.
    ones: how many channels between boxes and scores are 1, as an objectness. behind: the operator that computes two more channels.
    """
    boxes = cells(CENTRES, CELLS).T[None] / 8
    half = boxes[:, 2:] / 2
    constants = {"points": boxes[:, :2], "half": half, "scores": cells(SCORES, CELLS).T[None], "two": np.array(2, np.float32)}
    constants["stride"] = np.array(8, np.float32)
    nodes = [
        helper.make_node("Sub", ["points_seen", "half_seen"], ["first"]),
        helper.make_node("Add", ["points_seen", "half_seen"], ["second"]),
        helper.make_node("Sub", ["second", "first"], ["size"]),
        helper.make_node("Add", ["first", "second"], ["sum"]),
        helper.make_node("Div", ["sum", "two"], ["centre"]),
        helper.make_node("Concat", ["first", "second"] if corner else ["centre", "size"], ["boxes"], axis=1),
        helper.make_node("Mul", ["boxes", "stride"], ["pixels"]),
        helper.make_node("Concat", ["pixels", *["one"] * ones, "scores_seen"], ["columns"], axis=1),
        *([helper.make_node(behind, ["scores_seen", "weights" if behind == "Conv" else "stride"], ["more"])] if behind else []),
        *([helper.make_node("Concat", ["columns", "more"], ["longer"], axis=1)] if behind else []),
        helper.make_node("Transpose", ["longer" if behind else "columns"], ["o"], perm=[0, 2, 1] if rows else [0, 1, 2]),
    ]
    if ones:
        constants["one"] = np.ones((1, 1, CELLS), np.float32)
    if behind == "Conv":
        constants["weights"] = np.ones((2, 2, 1), np.float32)
    channels = 6 + ones + 2 * (behind is not None)
    return write_graph(path, nodes, constants, output or ((1, CELLS, channels) if rows else (1, channels, CELLS)))


def write_raw(path: Path, parts: Sequence[tuple[int, bool]], rows: bool = True) -> ModelFiles:
    """Write a network whose output joins those of convolutions, without the computation of boxes.

    parts: of each grid, the number of channels, and whether they are probabilities. rows: whether each cell has a row, not a column.
    """
    nodes, tensors, channels = [], [], sum(number for number, _ in parts)
    for stride in (8, 16, 32):
        names = [f"part_{stride}_{place}" for place in range(len(parts))]
        for name, (number, probable) in zip(names, parts, strict=True):
            tensors.append(numpy_helper.from_array(np.zeros((number, 3, stride, stride), np.float32), f"{name}_w"))
            nodes.append(helper.make_node("Conv", ["images", f"{name}_w"], [f"{name}_raw"], strides=[stride, stride]))
            nodes.append(helper.make_node("Sigmoid" if probable else "Identity", [f"{name}_raw"], [name]))
        nodes.append(helper.make_node("Concat", names, [f"head_{stride}"], axis=1))
        nodes.append(helper.make_node("Reshape", [f"head_{stride}", "flat"], [f"flat_{stride}"]))
    tensors.append(numpy_helper.from_array(np.array([0, channels, -1], np.int64), "flat"))
    nodes.append(helper.make_node("Concat", ["flat_8", "flat_16", "flat_32"], ["all"], axis=2))
    nodes.append(helper.make_node("Transpose", ["all"], ["o"], perm=[0, 2, 1] if rows else [0, 1, 2]))
    shape = (1, CELLS, channels) if rows else (1, channels, CELLS)
    return save(path, nodes, tensors, [helper.make_tensor_value_info("o", TensorProto.FLOAT, shape)])


def write_joined(path: Path, parts: Sequence[tuple[str, int]], rows: int) -> ModelFiles:
    """Write a network whose output joins columns of rows. parts: the operator that computes each, and the number of its columns."""
    constants = {f"part_{place}": np.zeros((1, rows, number), np.float32) for place, (_, number) in enumerate(parts)}
    names = [f"column_{place}" for place in range(len(parts))]
    nodes = [
        helper.make_node(operator, [f"part_{place}_seen"], [name])
        for place, (name, (operator, _)) in enumerate(zip(names, parts, strict=True))
    ]
    nodes.append(helper.make_node("Concat", names, ["o"], axis=2))
    return write_graph(path, nodes, constants, (1, rows, sum(number for _, number in parts)))


def write_probabilities(path: Path, classes: int = 2, count: int = CELLS, fractions: bool = False) -> ModelFiles:
    """Write a network with corners and, as a second output ``p``, the scores of a logistic function. fractions: also boxes are."""
    constants = {"boxes": cells(corners(), count)[None], "raw": cells(np.tile(SCORES, classes // 2), count)[None]}
    nodes = [
        helper.make_node("Sigmoid" if fractions else "Identity", ["boxes_seen"], ["o"]),
        helper.make_node("Sigmoid", ["raw_seen"], ["p"]),
    ]
    files = write_graph(path, nodes, constants, (1, count, 4))
    model = onnx.load(path)
    model.graph.output.append(helper.make_tensor_value_info("p", TensorProto.FLOAT, (1, count, classes)))
    path.write_bytes(model.SerializeToString())
    return files


def write_damo_yolo(path: Path) -> ModelFiles:
    """Write a network with DAMO-YOLO's outputs: scores, and then corners, each side of which is computed on its own."""
    sides = {f"side_{place}": np.zeros((1, CELLS), np.float32) for place in range(4)}
    nodes = [helper.make_node("Sigmoid", ["raw_seen"], ["o"])]
    for place, operator in enumerate(("Sub", "Sub", "Add", "Add")):
        nodes.append(helper.make_node(operator, ["points_seen", f"side_{place}_seen"], [f"moved_{place}"]))
        nodes.append(helper.make_node("Unsqueeze", [f"moved_{place}", "last"], [f"column_{place}"]))
    nodes.append(helper.make_node("Concat", [f"column_{place}" for place in range(4)], ["p"], axis=2))
    constants = {"raw": np.zeros((1, CELLS, 2), np.float32), "points": np.zeros((1, CELLS), np.float32), "last": np.array([2]), **sides}
    files = write_graph(path, nodes, constants, (1, CELLS, 2))
    model = onnx.load(path)
    model.graph.output.append(helper.make_tensor_value_info("p", TensorProto.FLOAT, (1, CELLS, 4)))
    path.write_bytes(model.SerializeToString())
    return files


def write_suppressed(path: Path, of_each_class: bool = True, iou: float = 0.6, minimum: float = 0.3, limit: int = 100) -> ModelFiles:
    """Write a network with a suppression inside, as YOLOv7's export does: rows of picture, corners, class id, score.

    of_each_class: whether boxes of other classes are moved away.
    """
    rows = np.concatenate([corners(), SCORES], axis=1)[None].astype(np.float32)
    constants: dict[str, NDArray[Any]] = {"rows": rows, "far": np.array(4096, np.float32)}
    constants |= {f"at_{number}": np.array([number]) for number in (0, 2, 4, 6)}
    constants |= {"limit": np.array([limit]), "minimum": np.array([minimum], np.float32), "iou": np.array([iou], np.float32)}
    nodes = [
        helper.make_node("Slice", ["rows_seen", "at_0", "at_4", "at_2"], ["boxes"]),
        helper.make_node("Slice", ["rows_seen", "at_4", "at_6", "at_2"], ["scores"]),
        helper.make_node("ReduceMax", ["scores"], ["strongest"], axes=[2], keepdims=1),
        helper.make_node("ArgMax", ["scores"], ["ids"], axis=2, keepdims=1),
        helper.make_node("Cast", ["ids"], ["numbers"], to=TensorProto.FLOAT),
        helper.make_node("Mul", ["numbers", "far"], ["offsets"]),
        helper.make_node("Add", ["boxes", "offsets" if of_each_class else "nothing"], ["moved"]),
        helper.make_node("Transpose", ["strongest"], ["strongest_first"], perm=[0, 2, 1]),
        helper.make_node("NonMaxSuppression", ["moved", "strongest_first", "limit", "iou", "minimum"], ["kept"]),
        helper.make_node("Gather", ["kept", "at_0"], ["pictures"], axis=1),
        helper.make_node("Gather", ["kept", "at_2"], ["places"], axis=1),
        helper.make_node("Concat", ["pictures", "places"], ["where"], axis=1),
        helper.make_node("Cast", ["pictures"], ["picture_numbers"], to=TensorProto.FLOAT),
        *(helper.make_node("GatherND", [name, "where"], [f"{name}_kept"]) for name in ("boxes", "ids", "strongest")),
        helper.make_node("Cast", ["ids_kept"], ["class_numbers"], to=TensorProto.FLOAT),
        helper.make_node("Concat", ["picture_numbers", "boxes_kept", "class_numbers", "strongest_kept"], ["o"], axis=1),
    ]
    return write_graph(path, nodes, constants, ("found", 7), {"names": "['cat', 'dog']"})


def write_red(path: Path, kind: int, channels_last: bool) -> ModelFiles:
    """Write a network whose score is the mean of red, from 0 to 1; it scales bytes itself. kind: the input's element type."""
    shape = (1, SIDE, SIDE, 3) if channels_last else (1, 3, SIDE, SIDE)
    constants = {"box": SORTED[:1, :4], "id": np.zeros((1, 1), np.float32), "red": np.array([0]), "factor": np.array(255.0, np.float32)}
    constants["factor"] = np.array(255 if kind == TensorProto.UINT8 else 1, np.float32)
    nodes = [
        helper.make_node("Cast", ["images"], ["numbers"], to=TensorProto.FLOAT),
        helper.make_node("ReduceMean", ["numbers"], ["means"], axes=[1, 2] if channels_last else [2, 3], keepdims=0),
        helper.make_node("Gather", ["means", "red"], ["mean_red"], axis=1),
        helper.make_node("Div", ["mean_red", "factor"], ["score"]),
        helper.make_node("Concat", ["box", "score", "id"], ["row"], axis=1),
        helper.make_node("Unsqueeze", ["row", "red"], ["o"]),
    ]
    tensors = [numpy_helper.from_array(array, name) for name, array in constants.items()]
    outputs = [helper.make_tensor_value_info("o", TensorProto.FLOAT, (1, 1, 6))]
    pictures = helper.make_tensor_value_info("images", kind, shape)
    graph = helper.make_graph(nodes, "red", [pictures], outputs, tensors)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    helper.set_model_props(model, {"names": "['cat', 'dog', 'hare']"})
    path.write_bytes(model.SerializeToString())
    return ModelFiles(path, path)


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
