"""Greedy non-maximum suppression within each class, by IoU as in OpenCV, or by DIoU as some Darknet cfgs specify.

Formulas: AlexeyAB/darknet, ``src/box.c`` (``diounms_sort``, ``box_diounms``). Darknet applies them to boxes in fractions of the picture
(``correct_yolo_boxes``). The IoU is the same in all units; a distance is not, where width and height have different units.
"""

import numpy as np
from numpy.typing import NDArray

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
