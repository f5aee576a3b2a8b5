"""YOLOX, written from its paper and its demo's behaviour, apart from Framefleet: preparation, decoding and suppression of one picture."""

from __future__ import annotations

from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

Boxes = list[tuple[int, float, list[float]]]
"""Class id, score, and x1 y1 x2 y2 in the picture."""


def prepare(picture: NDArray[np.uint8], side: int) -> tuple[NDArray[np.float32], float]:
    """The network's input, float32 (1, 3, side, side), and the scale. picture: blue, green, red."""
    height, width = picture.shape[:2]
    scale = min(side / height, side / width)
    resized = cv2.resize(picture, (int(width * scale), int(height * scale)), interpolation=cv2.INTER_LINEAR)
    padded = np.full((side, side, 3), 114, np.uint8)
    padded[: resized.shape[0], : resized.shape[1]] = resized
    return padded.transpose(2, 0, 1)[None].astype(np.float32), scale


def decode(output: NDArray[Any], side: int, scale: float, confidence: float = 0.25, iou: float = 0.45) -> Boxes:
    """The boxes in the picture. output: (1, cells, 5 + classes)."""
    found: Boxes = []
    row = 0
    for stride in (8, 16, 32):
        for y in range(side // stride):
            for x in range(side // stride):
                cell = output[0, row].astype(float)
                row += 1
                if cell[4] < confidence:  # the score cannot be higher than this
                    continue
                class_id = int(np.argmax(cell[5:]))
                score = float(cell[4] * cell[5 + class_id])
                if score >= confidence:
                    centre = [(cell[0] + x) * stride, (cell[1] + y) * stride]
                    half = [np.exp(cell[2]) * stride / 2, np.exp(cell[3]) * stride / 2]
                    sides = [centre[0] - half[0], centre[1] - half[1], centre[0] + half[0], centre[1] + half[1]]
                    found.append((class_id, score, [value / scale for value in sides]))
    found.sort(key=lambda box: -box[1])
    kept: Boxes = []
    for box in found:
        if all(box[0] != other[0] or overlap(box[2], other[2]) <= iou for other in kept):
            kept.append(box)
    return kept


def overlap(a: list[float], b: list[float]) -> float:
    """The IoU of two boxes."""
    width = min(a[2], b[2]) - max(a[0], b[0])
    height = min(a[3], b[3]) - max(a[1], b[1])
    if width <= 0 or height <= 0:
        return 0.0
    shared = width * height
    return shared / ((a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - shared)


def matched(ours: Boxes, theirs: Boxes, size: tuple[int, int], iou: float = 0.99, score: float = 0.005) -> int:
    """The number of our boxes that are among theirs. size: width and height, to which boxes are clipped."""

    def clipped(box: list[float]) -> list[float]:
        return [min(max(value, 0), size[place % 2]) for place, value in enumerate(box)]

    return sum(
        any(
            class_id == other and abs(confidence - other_confidence) <= score and overlap(clipped(box), clipped(other_box)) >= iou
            for other, other_confidence, other_box in theirs
        )
        for class_id, confidence, box in ours
    )


def boxes_of(lines: list[dict[str, Any]]) -> list[Boxes]:
    """The boxes of each frame of a JSON Lines export."""
    return [
        [
            (each["class_id"], each["confidence"], [*each["box"][:2], each["box"][0] + each["box"][2], each["box"][1] + each["box"][3]])
            for each in line["detections"]
        ]
        for line in lines
    ]
