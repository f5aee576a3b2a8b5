"""Suppression as AlexeyAB's Darknet computes it, written from its C code: an independent reference."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from framefleet.engine.detection.preprocess import Fit

MARGIN = 1e-5
"""Overlaps that are closer to the threshold may fall on either side in float32; ``kept_by_darknet`` refuses them."""


def kept_by_darknet(
    boxes: NDArray[np.float32], scores: NDArray[np.float32], class_ids: NDArray[np.int32], placed: Fit, threshold: float, beta: float
) -> list[int]:
    """Indices of the kept boxes, highest score first, as ``diounms_sort`` with DIOU_NMS.

    boxes: x1 y1 x2 y2 in pixels of the network's input. They become centre and size in fractions of the picture (``correct_yolo_boxes``).
    """
    inner = np.array([placed.inner_width, placed.inner_height], np.float64)
    corners = (boxes.astype(np.float64).reshape(-1, 2, 2) - [placed.left, placed.top]) / inner
    centres, sizes = corners.mean(axis=1), corners[:, 1] - corners[:, 0]
    alive = [True] * len(boxes)
    order = np.argsort(-scores, kind="stable").tolist()
    for place, strong in enumerate(order):
        for weak in order[place + 1 :]:
            if alive[strong] and alive[weak] and class_ids[strong] == class_ids[weak]:
                overlap = box_diounms((*centres[strong], *sizes[strong]), (*centres[weak], *sizes[weak]), beta)
                assert abs(overlap - threshold) > MARGIN, "too close to call: take another seed"
                alive[weak] = overlap <= threshold
    return [index for index in order if alive[index]]


Box = tuple[float, float, float, float]
"""Centre x, centre y, width and height."""


def box_iou(a: Box, b: Box) -> float:
    """Intersection over union."""
    width = _overlap(a[0], a[2], b[0], b[2])
    height = _overlap(a[1], a[3], b[1], b[3])
    shared = 0.0 if width < 0 or height < 0 else width * height
    union = a[2] * a[3] + b[2] * b[3] - shared
    return 0.0 if shared == 0 or union == 0 else shared / union


def box_diounms(a: Box, b: Box, beta: float) -> float:
    """The IoU minus a power of the squared distance of the centres ÷ the squared diagonal of the box around both."""
    left, right = min(a[0] - a[2] / 2, b[0] - b[2] / 2), max(a[0] + a[2] / 2, b[0] + b[2] / 2)
    top, bottom = min(a[1] - a[3] / 2, b[1] - b[3] / 2), max(a[1] + a[3] / 2, b[1] + b[3] / 2)
    diagonal = (right - left) ** 2 + (bottom - top) ** 2
    if diagonal == 0:
        return box_iou(a, b)
    distance = (a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2
    return float(box_iou(a, b) - (distance / diagonal) ** beta)


def _overlap(x1: float, w1: float, x2: float, w2: float) -> float:
    return min(x1 + w1 / 2, x2 + w2 / 2) - max(x1 - w1 / 2, x2 - w2 / 2)
