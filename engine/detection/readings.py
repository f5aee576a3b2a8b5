"""Converts the outputs of a network in an ONNX file to candidates, by its ``Reading``. Everything is NumPy; boxes are in input pixels."""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from framefleet.engine.detection.candidates import Candidates, logistic, logit
from framefleet.engine.model.onnx.network import OnnxNetwork, Reading

_Array: TypeAlias = NDArray[np.float32]
_Boxes: TypeAlias = tuple[_Array, _Array, NDArray[Any]]
"""Corners (n, 4), scores (n,) and class ids (n,)."""

MAX_QUERIES = 300
"""Maximum number of boxes of a network with queries, as its authors define it."""

NEEDS_NMS = frozenset(
    {
        Reading.YOLOV8,
        Reading.YOLOV8_CORNERS,
        Reading.YOLOV5,
        Reading.YOLOX,
        Reading.YOLOX_DECODED,
        Reading.YOLOV4,
        Reading.BEFORE_NMS,
    }
)
"""Readings whose candidates overlap."""

_WIDEST = 20.0
"""The limit for raw widths and heights, as in ``postprocess.py``."""


def read_outputs(network: OnnxNetwork, outputs: Sequence[_Array], confidence: float) -> list[Candidates]:
    """Return the candidates of each picture in a batch. A box has one class, the one with the highest score, except for queries.

    Boxes with a negative size are left out: YOLO26 may compute them.

    Parameters
    ----------
    outputs
        The network's outputs as float32, the first axis is the batch.
    confidence
        The minimum score.
    """
    read = _READERS[network.reading]
    pictures = []
    with np.errstate(over="ignore", invalid="ignore"):
        for picture in range(len(outputs[0])):
            boxes, scores, class_ids = read(network, [output[picture] for output in outputs], confidence)
            finite = bool(np.isfinite(scores).all() and np.isfinite(boxes).all())
            sized = ~((boxes[:, 2:] < boxes[:, :2]).any(axis=1))
            boxes, scores, class_ids = boxes[sized], scores[sized], class_ids[sized]
            ids = class_ids.astype(np.int32) if finite else np.zeros(len(scores), np.int32)
            pictures.append(Candidates(np.asarray(boxes, np.float32), np.asarray(scores, np.float32), ids, finite))
    return pictures


def _strong(boxes: _Array, scores: _Array, class_ids: NDArray[Any], confidence: float) -> _Boxes:
    """Leave out weak boxes. Scores that are no numbers stay, so that they are noticed."""
    keep = ~(scores < confidence)
    return boxes[keep], scores[keep], class_ids[keep]


def _corners(boxes: _Array) -> _Array:
    """Convert centre and size, (n, 4), to corners."""
    half = boxes[:, 2:] / 2
    return np.concatenate([boxes[:, :2] - half, boxes[:, :2] + half], axis=1)


def _best(boxes: _Array, scores: _Array, confidence: float) -> _Boxes:
    """Take the best class of each box. scores: (n, classes)."""
    class_ids = scores.argmax(axis=1)
    return _strong(boxes, scores[np.arange(len(scores)), class_ids], class_ids, confidence)


def _yolov8(_: OnnxNetwork, outputs: Sequence[_Array], confidence: float) -> _Boxes:
    values = outputs[0].T
    boxes, scores, class_ids = _best(values[:, :4], values[:, 4:], confidence)
    return _corners(boxes), scores, class_ids


def _yolov8_corners(_: OnnxNetwork, outputs: Sequence[_Array], confidence: float) -> _Boxes:
    values = outputs[0].T
    return _best(values[:, :4], values[:, 4:], confidence)


def _with_objectness(values: _Array, confidence: float) -> _Boxes:
    """Read rows of centre, size, objectness and class scores. Returns centre and size."""
    values = values[~(values[:, 4] < confidence)]  # a score is never higher than its objectness
    return _best(values[:, :4], values[:, 4:5] * values[:, 5:], confidence)


def _yolov5(_: OnnxNetwork, outputs: Sequence[_Array], confidence: float) -> _Boxes:
    boxes, scores, class_ids = _with_objectness(outputs[0], confidence)
    return _corners(boxes), scores, class_ids


def _yolox(network: OnnxNetwork, outputs: Sequence[_Array], confidence: float) -> _Boxes:
    values = outputs[0]
    cells = grid_cells(network.width, network.height, len(values))
    if cells is None:
        return values[:, :4], np.full(len(values), np.nan, np.float32), np.zeros(len(values), np.intp)
    rows = np.flatnonzero(~(values[:, 4] < confidence))
    x, y, stride = cells[rows].T
    chosen = values[rows]
    centre = (chosen[:, :2] + np.stack([x, y], axis=1)) * stride[:, None]
    size = np.exp(np.minimum(chosen[:, 2:4], _WIDEST)) * stride[:, None]
    boxes, scores, class_ids = _best(np.concatenate([centre, size], axis=1), chosen[:, 4:5] * chosen[:, 5:], confidence)
    return _corners(boxes), scores, class_ids


def grid_cells(width: int, height: int, count: int) -> _Array | None:
    """Column, row and stride of each cell, float32 (count, 3): the grids of YOLOX in order. None: no grids have this number of cells."""
    for strides in ((8, 16, 32), (8, 16, 32, 64), (4, 8, 16, 32), (16, 32)):
        parts = []
        for stride in strides:
            rows, columns = -(-height // stride), -(-width // stride)
            y, x = np.divmod(np.arange(rows * columns), columns)
            parts.append(np.stack([x, y, np.full(len(x), stride)], axis=1))
        cells = np.concatenate(parts).astype(np.float32)
        if len(cells) == count:
            return cells
    return None


def _end2end(_: OnnxNetwork, outputs: Sequence[_Array], confidence: float) -> _Boxes:
    values = outputs[0]
    return _strong(values[:, :4], values[:, 4], values[:, 5], confidence)


def _rtdetr(network: OnnxNetwork, outputs: Sequence[_Array], confidence: float) -> _Boxes:
    values = outputs[0]
    boxes, scores, class_ids = _best(values[:, :4], values[:, 4:], confidence)
    return _corners(boxes) * _size(network), scores, class_ids


def _rtdetr_sorted(network: OnnxNetwork, outputs: Sequence[_Array], confidence: float) -> _Boxes:
    boxes, scores, class_ids = _end2end(network, outputs, confidence)
    return _corners(boxes) * _size(network), scores, class_ids


def _size(network: OnnxNetwork) -> _Array:
    return np.array([network.width, network.height] * 2, np.float32)


def _detr(_: OnnxNetwork, outputs: Sequence[_Array], confidence: float) -> _Boxes:
    class_ids, boxes, scores = outputs
    return _strong(boxes, scores, class_ids, confidence)


def _logits(network: OnnxNetwork, outputs: Sequence[_Array], confidence: float) -> _Boxes:
    """Each pair of a query and a class is a box; the strongest ones are kept."""
    boxes, logits = outputs
    if not np.isfinite(logits).all():
        return boxes, np.full(len(boxes), np.nan, np.float32), np.zeros(len(boxes), np.intp)
    query, class_ids = np.nonzero(logits >= logit(confidence))
    scores = logistic(logits[query, class_ids])
    order = np.argsort(-scores, kind="stable")[:MAX_QUERIES]
    order = order[scores[order] >= confidence]
    return _corners(boxes[query[order]]) * _size(network), scores[order], class_ids[order]


def _probabilities(network: OnnxNetwork, outputs: Sequence[_Array], confidence: float) -> _Boxes:
    boxes, scores, class_ids = _best(outputs[0], outputs[1], confidence)
    return _corners(boxes) * _size(network), scores, class_ids


def _yolov4(network: OnnxNetwork, outputs: Sequence[_Array], confidence: float) -> _Boxes:
    boxes, scores, class_ids = _best(outputs[0][:, 0], outputs[1], confidence)
    return boxes * _size(network), scores, class_ids


def _efficient_nms(_: OnnxNetwork, outputs: Sequence[_Array], confidence: float) -> _Boxes:
    number, boxes, scores, class_ids = outputs
    count = int(np.clip(number.reshape(-1)[0], 0, len(scores)))
    return _strong(boxes[:count], scores[:count], class_ids[:count], confidence)


def _before_nms(network: OnnxNetwork, outputs: Sequence[_Array], confidence: float) -> _Boxes:
    boxes, scores, class_ids = _best(outputs[0], outputs[1], confidence)
    return _corners(boxes) if network.centre_boxes else boxes, scores, class_ids


def _nms_rows(_: OnnxNetwork, outputs: Sequence[_Array], confidence: float) -> _Boxes:
    values = outputs[0]
    return _strong(values[:, 1:5], values[:, 6], values[:, 5], confidence)


def _nms_scored_rows(_: OnnxNetwork, outputs: Sequence[_Array], confidence: float) -> _Boxes:
    values = outputs[0]
    return _strong(values[:, 1:5], values[:, 5], values[:, 6], confidence)


_READERS: Mapping[Reading, Callable[[OnnxNetwork, Sequence[_Array], float], _Boxes]] = MappingProxyType(
    {
        Reading.YOLOV8: _yolov8,
        Reading.YOLOV8_CORNERS: _yolov8_corners,
        Reading.YOLOV5: _yolov5,
        Reading.YOLOX: _yolox,
        Reading.YOLOX_DECODED: _yolov5,
        Reading.END2END: _end2end,
        Reading.RTDETR: _rtdetr,
        Reading.RTDETR_SORTED: _rtdetr_sorted,
        Reading.DETR: _detr,
        Reading.RF_DETR: _logits,
        Reading.DETR_LOGITS: _logits,
        Reading.DETR_SOFTMAX: _probabilities,
        Reading.YOLOV4: _yolov4,
        Reading.EFFICIENT_NMS: _efficient_nms,
        Reading.BEFORE_NMS: _before_nms,
        Reading.NMS_ROWS: _nms_rows,
        Reading.NMS_SCORED_ROWS: _nms_scored_rows,
    }
)
