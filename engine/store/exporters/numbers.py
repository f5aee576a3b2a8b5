"""How detections are written as JSON: boxes as x, y, width, height to 1/100 pixel, confidences to 4 decimals."""

from __future__ import annotations

import json
from collections.abc import Sequence

import numpy as np

from engine.types import Detections

to_json = json.JSONEncoder(ensure_ascii=False).encode
"""One encoder for all lines: json.dumps would make a new one each time."""


def rounded_boxes(detections: Detections) -> list[list[float]]:
    """x, y, width, height in source pixels, one list a box."""
    boxes = detections.boxes.astype(np.float64)
    boxes[:, 2:] -= boxes[:, :2]
    rows: list[list[float]] = (np.round(boxes, 2) + 0.0).tolist()  # + 0.0: no "-0.0"
    return rows


def rounded_scores(detections: Detections) -> list[float]:
    """Confidences, 0..1."""
    scores: list[float] = np.round(detections.scores.astype(np.float64), 4).tolist()
    return scores


def label_of(labels: Sequence[str], class_id: int) -> str:
    """The label of a class; its number where the list is too short."""
    return labels[class_id] if 0 <= class_id < len(labels) else str(class_id)
