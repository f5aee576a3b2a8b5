"""Rounds detections for text formats: boxes x, y, width, height to 1/100 pixel, confidences to 4 decimals."""

import json
from collections.abc import Iterator

import numpy as np

from framefleet.engine.types import Detections, FrameResult

to_json = json.JSONEncoder(ensure_ascii=False).encode
"""A shared encoder: ``json.dumps`` would create an encoder for each line."""


def rounded(detections: Detections) -> Iterator[tuple[int, float, list[float]]]:
    """Yield class id, confidence and box (x, y, width, height in source pixels) of each detection, rounded."""
    boxes = detections.boxes.astype(np.float64)
    boxes[:, 2:] -= boxes[:, :2]
    scores = np.round(detections.scores.astype(np.float64), 4)
    boxes = np.round(boxes, 2) + 0.0  # + 0.0: no "-0.0"
    return zip(detections.class_ids.tolist(), scores.tolist(), boxes.tolist(), strict=True)


def marks(detections: Detections, tracked: bool) -> list[dict[str, object]]:
    """Return what else is known of each detection, for JSON: ``track``, None if it has none, and ``verified`` if anything was corrected.

    tracked: whether the session has tracks; else ``track`` is left out.
    """
    found: list[dict[str, object]] = [{} for _ in range(len(detections))]
    if tracked:
        tracks = [-1] * len(found) if detections.tracks is None else detections.tracks.tolist()
        found = [{"track": None if track < 0 else track} for track in tracks]
    if detections.verified is not None:
        found = [{**mark, "verified": verified} for mark, verified in zip(found, detections.verified.tolist(), strict=True)]
    return found


def relative(frame: FrameResult) -> Iterator[tuple[int, int, float, list[float]]]:
    """Yield place in the frame, class id, confidence and box of each detection, rounded.

    Boxes are x, y, width, height as shares of the picture. They are cut to the picture, because readers of these formats reject others. A
    box without any area in the picture is left out.
    """
    if frame.detections is None:
        return
    size = np.array([frame.width, frame.height] * 2, np.float64)
    boxes = np.clip(frame.detections.boxes / size, 0, 1)
    boxes[:, 2:] -= boxes[:, :2]
    scores = np.round(frame.detections.scores.astype(np.float64), 4)
    boxes = np.round(boxes, 6) + 0.0
    found = zip(frame.detections.class_ids.tolist(), scores.tolist(), boxes.tolist(), strict=True)
    for place, (class_id, score, box) in enumerate(found):
        if box[2] > 0 and box[3] > 0:
            yield place, class_id, score, box
