"""Converts a network's raw outputs to detections, for all backends; those of Darknet's networks with the formulas of AlexeyAB's Darknet.

Formulas: AlexeyAB/darknet, ``src/yolo_layer.c`` (``get_yolo_box``, ``forward_yolo_layer``, ``get_yolo_detections``).
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from framefleet.engine.detection.candidates import Candidates, logistic, logit
from framefleet.engine.detection.preprocess import Fit
from framefleet.engine.detection.readings import NEEDS_NMS, read_outputs
from framefleet.engine.model.network import Yolo
from framefleet.engine.model.onnx.network import Model, OnnxNetwork, Reading, Suppression
from framefleet.engine.notices import Notice, Option
from framefleet.engine.settings import EngineSettings
from framefleet.engine.types import Detections, Found, InferenceFailure

# Greedy non-maximum suppression within each class, by IoU as in OpenCV, or by DIoU as some Darknet cfgs specify.
#
# Formulas: AlexeyAB/darknet, ``src/box.c`` (``diounms_sort``, ``box_diounms``). Darknet applies them to boxes in fractions of the picture
# (``correct_yolo_boxes``). The IoU is the same in all units; a distance is not, where width and height have different units.

_PAIRS = 1 << 14
"""Number of pairs of boxes compared at once: large arrays amortise NumPy's overhead, small arrays fit into the cache."""

_CROWD = 256
"""A box with at least this number of weaker boxes in its class is processed separately, and skipped if it is dropped already."""

_TINY = float(np.finfo(np.float32).tiny)
_SQUARE = np.float32(1)


def nms(
    boxes: NDArray[np.float32],
    scores: NDArray[np.float32],
    class_ids: NDArray[np.int32],
    iou: float,
    diou_beta: float | None = None,
    aspect: np.float32 = _SQUARE,
) -> NDArray[np.intp]:
    """Choose the boxes to keep. A box is dropped if its overlap with a stronger kept box of its class is above ``iou``.

    Parameters
    ----------
    boxes : float32 array (n, 4)
        x1 y1 x2 y2 in pixels of the network's input.
    scores : float32 array (n,)
    class_ids : int32 array (n,)
    iou : float
    diou_beta : float, optional
        The overlap is IoU - (d² / c²)^beta, where d is the distance of the centres and c the diagonal of the box around both, in fractions
        of the picture. None: the overlap is the IoU.
    aspect : float32, optional
        ``Fit.aspect``: multiplies vertical distances, which are then in the unit of horizontal ones.

    Returns
    -------
    intp array (kept,)
        Indices, highest score first; equal scores in input order.
    """
    order = np.lexsort((-scores, class_ids))  # by class, then by descending score; stable
    sides, classes = np.ascontiguousarray(boxes[order].T), class_ids[order]
    count = len(order)
    weaker = np.searchsorted(classes, classes, side="right") - np.arange(1, count + 1)  # number of weaker boxes in the class of each box
    pairs = np.cumsum(weaker)
    alive = np.ones(count, np.bool_)
    start = 0
    while start < count:
        if weaker[start] >= _CROWD:
            if alive[start]:
                rest = slice(start + 1, start + 1 + weaker[start])
                alive[rest] &= _excess(sides[:, start : start + 1], sides[:, rest], iou, diou_beta, aspect) <= 0
            start += 1
            continue
        compared = pairs[start - 1] if start else 0
        stop = max(start + 1, int(np.searchsorted(pairs, compared + _PAIRS, side="right")))
        strong = start + np.flatnonzero(alive[start:stop])
        repeats = weaker[strong]
        first = np.repeat(strong, repeats)
        second = first + 1 + np.arange(len(first)) - np.repeat(np.cumsum(repeats) - repeats, repeats)
        hits = np.flatnonzero(_excess(sides[:, first], sides[:, second], iou, diou_beta, aspect) > 0)
        for winner, loser in zip(first[hits].tolist(), second[hits].tolist(), strict=True):
            if alive[winner]:
                alive[loser] = False
        start = stop
    kept = np.sort(order[alive])
    return kept[np.argsort(-scores[kept], kind="stable")]


def _excess(a: NDArray[np.float32], b: NDArray[np.float32], iou: float, diou_beta: float | None, aspect: np.float32) -> NDArray[np.float32]:
    """Compute a value for each pair of boxes that is positive if their overlap exceeds the limit. a, b: float32 (4, n) or (4, 1)."""
    (left, top, right, bottom), (other_left, other_top, other_right, other_bottom) = a, b
    width = np.maximum(np.minimum(right, other_right) - np.maximum(left, other_left), 0)
    overlap = width * np.maximum(np.minimum(bottom, other_bottom) - np.maximum(top, other_top), 0)
    union = (right - left) * (bottom - top) + (other_right - other_left) * (other_bottom - other_top) - overlap
    excess: NDArray[np.float32] = overlap - iou * union
    if diou_beta is None:
        return excess
    near = np.flatnonzero(excess > 0)  # the distance term can only reduce the excess
    distance = (left + right - other_left - other_right)[near] ** 2
    distance += ((top + bottom - other_top - other_bottom)[near] * aspect) ** 2
    around = (np.maximum(right, other_right) - np.minimum(left, other_left))[near] ** 2
    around += ((np.maximum(bottom, other_bottom) - np.minimum(top, other_top))[near] * aspect) ** 2
    excess[near] = overlap[near] / np.maximum(union[near], _TINY) - (distance / 4 / np.maximum(around, _TINY)) ** diou_beta - iou
    return excess


_WIDEST = 20.0
"""The limit for raw widths and heights: exp(20) times an anchor exceeds any picture, and float32 can still represent its square."""


def decode(heads: Sequence[NDArray[np.float32]], layers: Sequence[Yolo], width: int, height: int, confidence: float) -> list[Candidates]:
    """Return the candidates of each picture in a batch.

    Parameters
    ----------
    heads
        The raw outputs, one float32 (batch, anchors · (5 + classes), rows, columns) per layer.
    width, height
        Size of the network's input, pixels.
    confidence
        The minimum of objectness · class probability.
    """
    pictures = []
    with np.errstate(over="ignore", invalid="ignore"):  # exp(1000) overflows to a logistic of 0
        for picture in range(len(heads[0])):
            parts = [_decode_head(head[picture], layer, width, height, confidence) for head, layer in zip(heads, layers, strict=True)]
            boxes, scores, class_ids = (np.concatenate([part[column] for part in parts]) for column in range(3))
            pictures.append(Candidates(boxes, scores, class_ids, all(finite for *_, finite in parts)))
    return pictures


def decode_cells(
    heads: Sequence[NDArray[np.float32]], layers: Sequence[Yolo], width: int, height: int
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Decode every cell and anchor, to compare networks.

    Returns
    -------
    tuple[ndarray, ndarray]
        boxes, float32 (n, 4), and class scores, float32 (n, classes).
    """
    boxes, scores = [], []
    with np.errstate(over="ignore", invalid="ignore"):
        for head, layer in zip(heads, layers, strict=True):
            pictures, rows, columns = len(head), *head.shape[2:]
            by_anchor = head.reshape(pictures, len(layer.anchors), 5 + layer.classes, rows * columns)
            values = by_anchor.transpose(0, 1, 3, 2).reshape(-1, 5 + layer.classes)
            anchor, cell = np.divmod(np.arange(len(values)) % (len(layer.anchors) * rows * columns), rows * columns)
            boxes.append(_boxes(values[:, :4], layer, anchor, cell, (rows, columns), (width, height)))
            probabilities = values[:, 4:] if layer.new_coords else logistic(values[:, 4:])
            scores.append(probabilities[:, :1] * probabilities[:, 1:])
    return np.concatenate(boxes), np.concatenate(scores)


def _decode_head(
    head: NDArray[np.float32], layer: Yolo, width: int, height: int, confidence: float
) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.int32], bool]:
    rows, columns = head.shape[1:]
    values = head.reshape(len(layer.anchors), 5 + layer.classes, rows * columns)

    # a score is never higher than its objectness or its class probability: these comparisons reject most cells
    floor = confidence if layer.new_coords else logit(confidence)
    objectness = values[:, 4]
    anchor, cell = np.nonzero(objectness >= floor)
    found = values[anchor, :, cell]
    finite = bool(np.isfinite(objectness).all() and np.isfinite(found).all())
    row, class_id = np.nonzero(found[:, 5:] >= floor)
    probability = partial(np.minimum, 1) if layer.new_coords else logistic
    scores = probability(found[row, 4]) * probability(found[row, 5 + class_id])
    keep = scores >= confidence
    row, class_id, scores = row[keep], class_id[keep], scores[keep]

    boxes = _boxes(found[row, :4], layer, anchor[row], cell[row], (rows, columns), (width, height))
    numbers = np.isfinite(boxes).all(axis=1)
    return boxes[numbers], scores[numbers], class_id[numbers].astype(np.int32), finite


def _boxes(
    values: NDArray[np.float32],
    layer: Yolo,
    anchor: NDArray[np.intp],
    cell: NDArray[np.intp],
    grid: tuple[int, int],
    size: tuple[int, int],
) -> NDArray[np.float32]:
    """Return boxes x1 y1 x2 y2, float32 (n, 4), in pixels of the network's input. values: raw x, y, width and height, (n, 4)."""
    rows, columns = grid
    place, extent = values[:, :2], values[:, 2:]
    if layer.new_coords:
        scale = np.square(2 * extent)
    else:
        place, scale = logistic(place), np.exp(np.minimum(extent, _WIDEST))
    place = place * layer.scale_x_y - 0.5 * (layer.scale_x_y - 1)
    stride = np.array([size[0] / columns, size[1] / rows], np.float32)
    centre = (place + np.stack([cell % columns, cell // columns], axis=1)) * stride
    half = scale * layer.anchors[anchor] / 2
    return np.concatenate([centre - half, centre + half], axis=1).astype(np.float32, copy=False)


NOT_FINITE = InferenceFailure(Notice("detection.not_finite", option=Option("precision", "fp32")))

MAX_CANDIDATES = 100_000
"""Most boxes of a picture that are compared: a million would take minutes. Trained networks give a few thousand, even at 0.001."""

TOO_MANY = InferenceFailure(Notice("detection.too_many_boxes", most=MAX_CANDIDATES, option=Option("confidence")))


NO_SUCH_CLASS = InferenceFailure(Notice("detection.no_such_class", option=Option("labels")))

MAX_SCORE = 1.01
"""Highest score that is a probability: one with the rounding error of BF16."""

NO_PROBABILITY = InferenceFailure(Notice("detection.no_probability", option=Option("reading", "NAME")))


def detections(network: Model, heads: Sequence[NDArray[np.float32]], fits: Sequence[Fit], settings: EngineSettings) -> list[Found]:
    """Return the detections of each picture, or why it has none: its outputs are not what the reading says, or almost every cell has a box.

    Boxes are in the picture's pixels and clipped to it; boxes outside the picture are dropped.

    Parameters
    ----------
    heads
        The raw outputs: one float32 (batch, anchors · (5 + classes), rows, columns) per YOLO layer, or the outputs of an ``OnnxNetwork``
        as its reading describes them; batch ≥ len(fits).
    fits
        The position of each picture in the network's input.
    """
    settings = with_own_thresholds(network, settings)
    outputs = [head[: len(fits)] for head in heads]
    suppress, diou_beta = True, None
    if isinstance(network, OnnxNetwork) and network.reading is not Reading.FRAMEFLEET:
        candidates = read_outputs(network, outputs, settings.stored_confidence)
        suppress = network.reading in NEEDS_NMS
    else:
        candidates = decode(outputs, network.heads, network.width, network.height, settings.stored_confidence)
        diou_beta = network.heads[-1].diou_beta
    found = [_found(picture, fit, settings, network.classes, suppress, diou_beta) for picture, fit in zip(candidates, fits, strict=True)]
    own = cut_off(network)
    return found if own is None else strongest(found, own)


def strongest(found: Sequence[Found], suppression: Suppression) -> list[Found]:
    """Keep as many detections of each picture as a suppression keeps. They are sorted by their scores."""
    return [each if isinstance(each, InferenceFailure) else each.select(np.arange(len(each))[: suppression.limit]) for each in found]


def cut_off(network: Model) -> Suppression | None:
    """The network's own suppression, if it was cut off."""
    return network.suppression if isinstance(network, OnnxNetwork) and network.reading is Reading.BEFORE_NMS else None


def with_own_thresholds(network: Model, settings: EngineSettings) -> EngineSettings:
    """The settings with the thresholds of the network's own suppression, if that was cut off."""
    own = cut_off(network)
    if own is None:
        return settings
    return replace(settings, iou=own.iou, stored_confidence=max(own.confidence, settings.stored_confidence))


def _found(picture: Candidates, fit: Fit, settings: EngineSettings, classes: int, suppress: bool, diou_beta: float | None) -> Found:
    """The detections of a picture. suppress: whether boxes of one object overlap."""
    if not picture.finite:
        return NOT_FINITE
    if len(picture) > MAX_CANDIDATES:
        return TOO_MANY
    if len(picture) and not 0 <= picture.class_ids.min() <= picture.class_ids.max() < classes:
        return NO_SUCH_CLASS
    if len(picture) and picture.scores.max() > MAX_SCORE:
        return NO_PROBABILITY
    if suppress:
        keep = nms(picture.boxes, picture.scores, picture.class_ids, settings.iou, diou_beta, fit.aspect)
    else:
        keep = np.argsort(-picture.scores, kind="stable")
    boxes, class_ids = fit.to_source(picture.boxes[keep]), picture.class_ids[keep]
    wanted = (boxes[:, 0] < boxes[:, 2]) & (boxes[:, 1] < boxes[:, 3])
    if settings.classes is not None:
        wanted &= np.isin(class_ids, list(settings.classes))
    return Detections(boxes, picture.scores[keep], class_ids).select(wanted)
