"""Converts a network's raw outputs to detections, for all backends."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from framefleet.engine.detection.nms import nms
from framefleet.engine.detection.preprocess import Fit
from framefleet.engine.detection.yolo import decode
from framefleet.engine.model.network import Network
from framefleet.engine.settings import EngineSettings
from framefleet.engine.types import Detections, Found, InferenceFailure

NOT_FINITE = InferenceFailure("the network's outputs are not finite: check the weights, or try --precision fp32")

MOST_CANDIDATES = 100_000
"""Most boxes of a picture that are compared: a million would take minutes. Trained networks give a few thousand, even at 0.001."""

TOO_MANY = InferenceFailure(f"more than {MOST_CANDIDATES:,} boxes reach the confidence threshold: check the weights, or raise --confidence")


def detections(network: Network, heads: Sequence[NDArray[np.float32]], fits: Sequence[Fit], settings: EngineSettings) -> list[Found]:
    """Return the detections of each picture, or why it has none: its outputs are not finite, or almost every cell has a box.

    Boxes are in the picture's pixels and clipped to it; boxes outside the picture are dropped.

    heads: the raw outputs, one float32 (batch, anchors · (5 + classes), rows, columns) per YOLO layer; batch ≥ len(fits).
    fits: the position of each picture in the network's input.
    """
    found: list[Found] = []
    candidates = decode([head[: len(fits)] for head in heads], network.heads, network.width, network.height, settings.confidence)
    for picture, fit in zip(candidates, fits, strict=True):
        if not picture.finite:
            found.append(NOT_FINITE)
            continue
        if len(picture) > MOST_CANDIDATES:
            found.append(TOO_MANY)
            continue
        keep = nms(picture.boxes, picture.scores, picture.class_ids, settings.iou, network.heads[-1].diou_beta, fit.aspect)
        boxes, class_ids = fit.to_source(picture.boxes[keep]), picture.class_ids[keep]
        wanted = (boxes[:, 0] < boxes[:, 2]) & (boxes[:, 1] < boxes[:, 3])
        if settings.classes is not None:
            wanted &= np.isin(class_ids, list(settings.classes))
        found.append(Detections(boxes, picture.scores[keep], class_ids).select(wanted))
    return found
