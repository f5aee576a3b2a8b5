"""Greedy non-maximum suppression, class by class: by IoU, as OpenCV does it, or by DIoU, as Darknet's cfgs ask for.

Formulas: AlexeyAB/darknet, ``src/box.c`` (``diounms_sort``, ``box_diounms``).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def nms(
    boxes: NDArray[np.float32], scores: NDArray[np.float32], class_ids: NDArray[np.int32], iou: float, diou_beta: float | None = None
) -> NDArray[np.intp]:
    """Indices of the boxes to keep, strongest first; equal scores in input order.

    A box goes when a stronger kept box of its class overlaps it by an IoU above ``iou``; with ``diou_beta``, by an
    IoU - (d² / c²)^beta above it, d being the distance of the centres and c the diagonal of the box around both.
    boxes: float32 (n, 4), x1 y1 x2 y2. scores: float32 (n,). class_ids: int32 (n,).
    """
    order = np.lexsort((-scores, class_ids))  # each class in one run, strongest first; stable
    left, top, right, bottom = np.ascontiguousarray(boxes[order].T)
    area = (right - left) * (bottom - top)
    ordered = class_ids[order]
    ends = np.searchsorted(ordered, ordered, side="right").tolist()
    alive = np.ones(len(order), np.bool_)
    for index, end in enumerate(ends):
        if index + 1 == end or not alive[index]:
            continue
        rest = slice(index + 1, end)
        width = np.minimum(right[rest], right[index]) - np.maximum(left[rest], left[index])
        height = np.minimum(bottom[rest], bottom[index]) - np.maximum(top[rest], top[index])
        overlap = np.maximum(width, 0) * np.maximum(height, 0)
        union = area[rest] + area[index] - overlap
        if diou_beta is None:
            alive[rest] &= overlap <= iou * union
        else:
            distance = (left[rest] + right[rest] - left[index] - right[index]) ** 2
            distance += (top[rest] + bottom[rest] - top[index] - bottom[index]) ** 2
            around = (np.maximum(right[rest], right[index]) - np.minimum(left[rest], left[index])) ** 2
            around += (np.maximum(bottom[rest], bottom[index]) - np.minimum(top[rest], top[index])) ** 2
            tiny = np.finfo(np.float32).tiny  # two empty boxes in one place have no union and no diagonal
            alive[rest] &= overlap / np.maximum(union, tiny) - (distance / 4 / np.maximum(around, tiny)) ** diou_beta <= iou
    kept = np.sort(order[alive])
    return kept[np.argsort(-scores[kept], kind="stable")]
