"""Rounds detections for text formats: boxes x, y, width, height to 1/100 pixel, confidences to 4 decimals."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

import numpy as np

from engine.types import Detections

to_json = json.JSONEncoder(ensure_ascii=False).encode
"""A shared encoder: ``json.dumps`` would create an encoder for each line."""


def rounded(detections: Detections) -> Iterator[tuple[int, float, list[float]]]:
    """Yield class id, confidence and box (x, y, width, height in source pixels) of each detection, rounded."""
    boxes = detections.boxes.astype(np.float64)
    boxes[:, 2:] -= boxes[:, :2]
    scores = np.round(detections.scores.astype(np.float64), 4)
    boxes = np.round(boxes, 2) + 0.0  # + 0.0: no "-0.0"
    return zip(detections.class_ids.tolist(), scores.tolist(), boxes.tolist(), strict=True)


def label_of(labels: Sequence[str], class_id: int) -> str:
    """Return the label of a class, or its number if there is no label."""
    return labels[class_id] if 0 <= class_id < len(labels) else str(class_id)
